#!/usr/bin/env bash
# A memory control group for demonstrations and tests.
#   memory_group.sh make MIB      makes a group with that limit and prints its folder; fails without the right to
#   memory_group.sh run GROUP CMD runs a command in it
#   memory_group.sh remove GROUP
set -eu
case $1 in
  make)
    if [ -d /sys/fs/cgroup/memory ]; then
      group=/sys/fs/cgroup/memory/whystop-$$
      mkdir "$group"
      echo $(($2 << 20)) >"$group/memory.limit_in_bytes"
      echo $(($2 << 20)) >"$group/memory.memsw.limit_in_bytes" 2>/dev/null || true
    else
      group=/sys/fs/cgroup/whystop-$$
      grep -qw memory /sys/fs/cgroup/cgroup.subtree_control || echo +memory >/sys/fs/cgroup/cgroup.subtree_control
      mkdir "$group"
      echo $(($2 << 20)) >"$group/memory.max"
      echo 0 >"$group/memory.swap.max" 2>/dev/null || true
    fi
    echo "$group"
    ;;
  run)
    echo $$ >"$2/cgroup.procs"
    shift 2
    exec "$@"
    ;;
  remove)
    rmdir "$2"
    ;;
esac
