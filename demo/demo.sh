#!/usr/bin/env bash
# Runs small sick jobs under whystop and prints each verdict. Usage: demo.sh path/to/whystop python-with-torch
set -u
whystop=$(realpath "$1")
python=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")  # Not realpath: the link is what makes it a virtual environment.
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

show() {
  local title=$1 name=$2
  shift 2
  printf '\n=== %s\n    whystop run -- %s\n\n' "$title" "$*"
  "$whystop" run --quiet --dir "$work/$name" -- "$@" >"$work/$name.out" 2>&1
  printf '(exit status %d)\n' $?
  "$whystop" why "$work/$name"
}

cp "$here"/*.py .
show "An exception in the training loop" raised python3 raises.py
show "Killed by hand" killed sh -c 'sleep 1; kill -9 $$'
show "A crash in native code" crashed python3 crashes.py
show "Stopped by its own early stopping" early python3 stops_early.py
show "PyTorch: a loop that runs, and learns nothing" torch "$python" learns_nothing.py
show "A learning rate that is too high" diverged "$(dirname "$whystop")"/cpp_trainer --task classes --lr 300 --optimizer sgd

# A real memory control group needs the right to make one (root, cgroup v1 or v2).
group=$("$here"/memory_group.sh make 128 2>/dev/null) && {
  show "Out of memory in a control group" oom "$here"/memory_group.sh run "$group" python3 eats_memory.py
  "$here"/memory_group.sh remove "$group"
}
cp "$here"/slurm-4711.out .
printf '\n=== A run that whystop did not watch\n    whystop why slurm-4711.out\n\n'
touch -d '2 hours ago' slurm-4711.out
"$whystop" why slurm-4711.out

printf '\nThe recordings were made in a temporary folder and are gone now. Try it on your own run:\n'
printf '    %s run -- python train.py\n    %s why\n' "$whystop" "$whystop"
