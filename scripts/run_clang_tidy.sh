#!/usr/bin/env bash
# Runs clang-tidy 19 with the rules of .clang-tidy; any finding fails.
#
#   scripts/run_clang_tidy.sh         what changed against the main branch (committed or not), at most
#                                     MOST files, and one file that includes every public header
#   scripts/run_clang_tidy.sh --all   the whole tree (some ten minutes on 2 cores)
#
# Needs build/release/compile_commands.json (cmake --preset release). A changed header is checked
# through the files beside it that include it.
set -euo pipefail
cd "$(dirname "$0")/.."
MOST=16
database=build/release
[ -f "$database/compile_commands.json" ] || {
  echo "run_clang_tidy: configure first: cmake --preset release" >&2
  exit 1
}
known() { python3 -c '
import json, os, sys
root = os.getcwd() + "/"
for entry in json.load(open(sys.argv[1])):
    print(entry["file"].removeprefix(root))' "$database/compile_commands.json" | sort -u; }

tidy() {  # tidy FILE...
  printf '%s\n' "$@" | xargs -P "$(nproc)" -n 2 clang-tidy-19 --quiet -p "$database" \
    2> >(grep -v -E 'warnings? (and [0-9]+ errors? )?generated|^Suppressed|^Use -header' >&2)
}

if [ "${1:-}" = --all ]; then
  mapfile -t files < <(known)
  tidy "${files[@]}"
  exit
fi

base=""
for branch in origin/main origin/master main; do
  if git rev-parse -q --verify "$branch^{commit}" >/dev/null 2>&1; then
    base=$(git merge-base HEAD "$branch" 2>/dev/null) || base=""
    [ -z "$base" ] || break
  fi
done
# On the main branch itself: against the commit before.
if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
  base=$(git rev-parse -q --verify HEAD~1 || git rev-parse HEAD)
fi
mapfile -t changed < <({ git diff --name-only --diff-filter=d "$base" -- '*.cpp' '*.h' '*.inc'
  git ls-files -o --exclude-standard -- '*.cpp' '*.h' '*.inc'; } | sort -u)
mapfile -t files < <(
  for file in "${changed[@]}"; do
    case "$file" in
      *.cpp) echo "$file" ;;
      *) # A header: its own .cpp if there is one, else the first file that includes it.
        if [ -f "${file%.*}.cpp" ]; then
          echo "${file%.*}.cpp"
        else
          include=${file#src/}
          include=${include#include/}
          grep -rlF --include='*.cpp' "\"$include\"" src tests bench 2>/dev/null | sort | head -n 1 || true
        fi
        ;;
    esac
  done | sort -u | comm -12 - <(known) | head -n "$MOST"
)
headers=build/release/all_public_headers.cpp
for header in include/plimsoll/*.h; do
  echo "#include \"plimsoll/$(basename "$header")\"  // IWYU pragma: keep"
done >"$headers"
echo "public headers, and ${#files[@]} changed files"
clang-tidy-19 --quiet "$headers" -- -std=c++23 -Iinclude -Isrc \
  2> >(grep -v -E 'warnings? (and [0-9]+ errors? )?generated' >&2)
[ "${#files[@]}" = 0 ] || tidy "${files[@]}"
