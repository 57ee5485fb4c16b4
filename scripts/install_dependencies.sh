#!/usr/bin/env bash
# Installs what the build, the tests and the demo need from Debian 12's packages. Quiet when all is there.
set -euo pipefail
packages=(cmake ninja-build g++ git clang-format-19 libfmt-dev libcli11-dev nlohmann-json3-dev
  libstb-dev libgtest-dev libgmock-dev libonnx-testdata python3 python3-venv python3-pip npm
  ca-certificates)
missing=()
for package in "${packages[@]}"; do
  case "$package" in
    npm) command -v npm >/dev/null && continue ;;
    git) command -v git >/dev/null && continue ;;
    python3) command -v python3 >/dev/null && continue ;;
    python3-venv) python3 -c 'import venv, ensurepip' 2>/dev/null && continue ;;
    python3-pip) python3 -m pip --version >/dev/null 2>&1 && continue ;;
  esac
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
command -v apt-get >/dev/null || {
  echo "apt-get is missing: install these yourself: ${missing[*]}" >&2
  exit 1
}
root=()
[ "$(id -u)" -eq 0 ] || root=(sudo)
echo "installing: ${missing[*]}"
"${root[@]}" apt-get update -qq
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" >/dev/null
