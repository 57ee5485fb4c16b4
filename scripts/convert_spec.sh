#!/bin/sh
# Converts the WebAssembly test suite into .cache/spec: FOLDER/script.json and the modules beside it.
# Quiet and fast when it is there. Without the suite (../shared/spec, or the folder that
# PLIMSOLL_SPEC_SOURCE names) it says so and the tests that need it are skipped.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
source=${PLIMSOLL_SPEC_SOURCE:-$root/../shared/spec}
target=$root/.cache/spec

if [ ! -f "$source/i32.wast" ]; then
  echo "convert_spec: no WebAssembly test suite in $source; its tests will be skipped" >&2
  exit 0
fi
wasm_tools=$root/.venv/bin/wasm-tools
if [ ! -x "$wasm_tools" ]; then
  echo "convert_spec: wasm-tools is missing; scripts/test_environment.sh installs it" >&2
  exit 1
fi
# What is converted is named by the suite's contents and the converter's version.
stamp=$("$wasm_tools" --version; cd "$source" && cat ./*.wast proposals/threads/*.wast | sha256sum)
if [ -f "$target/stamp" ] && [ "$(cat "$target/stamp")" = "$stamp" ]; then
  exit 0
fi

echo "converting the WebAssembly test suite"
rm -rf "$target"
for file in "$source"/*.wast "$source"/proposals/threads/*.wast; do
  name=${file#"$source"/}
  folder=$target/${name%.wast}
  mkdir -p "$folder"
  "$wasm_tools" json-from-wast "$file" -o "$folder/script.json" --wasm-dir "$folder"
done
printf '%s\n' "$stamp" >"$target/stamp"
