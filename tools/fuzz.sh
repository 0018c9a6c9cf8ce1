#!/usr/bin/env bash
# Builds the fuzzers and runs one after another, each for FUZZ_SECONDS (60), or for FUZZ_RUNS executions if that is set.
# FUZZ_TARGETS ("log csv") chooses some; FUZZ_CORPUS keeps what was learned somewhere else than build-fuzz/corpus.
# A crash input lands in fuzz/regressions/<target>/, where the ordinary tests replay it. Prints a total.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
corpus_root=${FUZZ_CORPUS:-build-fuzz/corpus}
limit=("-max_total_time=$seconds")
[ -n "${FUZZ_RUNS:-}" ] && limit=("-runs=$FUZZ_RUNS")
cmake --preset fuzz
ninja -C build-fuzz fuzzers
targets=${FUZZ_TARGETS:-$(for source in fuzz/*_fuzz.cc; do basename "$source" _fuzz.cc; done)}
total=0
for target in $targets; do
  corpus=$corpus_root/$target
  log=build-fuzz/$target.log
  mkdir -p "$corpus" "fuzz/regressions/$target"
  seeds=()
  [ -d "fuzz/seeds/$target" ] && seeds=("fuzz/seeds/$target")
  # Faults hide in small inputs, and small inputs are fast; entropic scheduling costs more than these parsers.
  "build-fuzz/${target}_fuzz" "${limit[@]}" -max_len=512 -entropic=0 -print_final_stats=1 -rss_limit_mb=2048 \
    -artifact_prefix="fuzz/regressions/$target/" "$corpus" "${seeds[@]}" 2>"$log" ||
    { tail -40 "$log"; echo "$target: found a fault; its input is in fuzz/regressions/$target"; exit 1; }
  rmdir --ignore-fail-on-non-empty "fuzz/regressions/$target"
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-16s %12d executions\n' "$target" "$executions"
  total=$((total + executions))
done
printf '%-16s %12d executions, no fault\n' "in all" "$total"
