#!/usr/bin/env bash
# Runs the fuzz targets one after the other; exits 1 at the end if any of them found something.
#
#   scripts/run_fuzz_targets.sh BUILD [SECONDS] [TARGET]...   600 seconds each, all targets
#
# BUILD is the folder of the preset `fuzz`. What a target learns is kept in .cache/fuzz/TARGET and
# is where its next run begins; what it finds is in BUILD/findings/TARGET-…: make a test of it.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?give the folder of the fuzz build}
seconds=${2:-600}
shift $(($# < 2 ? $# : 2))

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
  for program in "$build"/fuzz/*_fuzzer; do
    targets+=("$(basename "${program%_fuzzer}")")
  done
fi
seeds=$build/seeds
"$(scripts/test_environment.sh)" scripts/make_fuzz_seeds.py "$seeds"
mkdir -p "$build/findings"
failed=()
for target in "${targets[@]}"; do
  corpus=.cache/fuzz/$target
  log=$build/findings/$target.log
  mkdir -p "$corpus" "$seeds/$target"
  # -malloc_limit_mb: no allocation is made from a number that nobody checked.
  if "$build/fuzz/${target}_fuzzer" -max_total_time="$seconds" -max_len=8192 -timeout=20 \
    -rss_limit_mb=1536 -malloc_limit_mb=128 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$target-" "$corpus" "$seeds/$target" >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target: $runs inputs in $seconds s, nothing found"
  else
    failed+=("$target")
    echo "$target: FOUND something; the end of $log:"
    tail -n 25 "$log"
  fi
done
[ ${#failed[@]} = 0 ] || {
  echo "run_fuzz_targets: findings in: ${failed[*]}; inputs are in $build/findings" >&2
  exit 1
}
