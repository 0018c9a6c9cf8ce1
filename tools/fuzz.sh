#!/usr/bin/env bash
# Builds the fuzzers and runs each for FUZZ_SECONDS (60). A crash input lands in fuzz/regressions/<target>/, where the
# ordinary tests replay it.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
cmake --preset fuzz
ninja -C build-fuzz
total=0
for program in build-fuzz/*_fuzz; do
  name=$(basename "$program")
  target=${name%_fuzz}
  corpus=build-fuzz/corpus/$target
  mkdir -p "$corpus" "fuzz/regressions/$target"
  seeds=()
  [ -d "fuzz/seeds/$target" ] && seeds=("fuzz/seeds/$target")
  echo "== $target, $seconds s"
  "$program" -max_total_time="$seconds" -print_final_stats=1 -rss_limit_mb=2048 \
    -artifact_prefix="fuzz/regressions/$target/" "$corpus" "${seeds[@]}" 2>"build-fuzz/$target.log" ||
    { tail -40 "build-fuzz/$target.log"; echo "$target: found a fault; its input is in fuzz/regressions/$target"; exit 1; }
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/$target.log")
  echo "   $executions executions"
  total=$((total + executions))
done
echo "$total executions in all, no fault"
