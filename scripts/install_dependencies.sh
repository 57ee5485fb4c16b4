#!/bin/sh
# Installs what building and testing Plimsoll needs, from Debian's own packages.
# Quiet and fast when everything is there. Uses sudo when not root.
#
#   scripts/install_dependencies.sh          what ./demo needs: the compiler and the libraries
#   scripts/install_dependencies.sh --all    with what ./check needs as well
#   scripts/install_dependencies.sh --fuzz   with what ./check --fuzz needs as well
set -eu

build="ca-certificates cmake ninja-build g++ python3 libfmt-dev libcli11-dev nlohmann-json3-dev
  libstb-dev libxxhash-dev zlib1g-dev libprotobuf-dev libasmjit-dev"
test="ccache git clang-format-19 clang-tidy-19 libgtest-dev libgmock-dev libbenchmark-dev
  libonnx-testdata python3-venv time valgrind llvm-19 clang-19 lld-19 wasi-libc
  libclang-rt-19-dev-wasm32"
fuzz="libclang-rt-19-dev"

wanted=$build
case "${1:-}" in
  "") ;;
  --all) wanted="$build $test" ;;
  --fuzz) wanted="$build $test $fuzz" ;;
  *)
    echo "install_dependencies: unknown option '$1'; --all and --fuzz are known" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
  echo "install_dependencies: apt is missing here. This script knows Debian 12 and its relatives;" >&2
  echo "elsewhere install the counterparts of these packages by hand:" >&2
  echo "$wanted npm" | tr -s ' \n' ' ' >&2
  echo >&2
  exit 1
fi

missing=""
for package in $wanted; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
# npm may have come from elsewhere than Debian: what counts is that it can be called.
command -v npm >/dev/null 2>&1 || missing="$missing npm"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1; then
  as_root="sudo"
else
  echo "install_dependencies: these packages are missing, and neither root nor sudo is here to" >&2
  echo "install them:$missing" >&2
  exit 1
fi

echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_quietly() {
  if ! $as_root env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    echo "install_dependencies: '$*' failed; the lines above say why" >&2
    exit 1
  fi
}
run_quietly apt-get -q -y update
# shellcheck disable=SC2086  # a list of words on purpose
run_quietly apt-get -q -y install --no-install-recommends $missing
