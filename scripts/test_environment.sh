#!/bin/sh
# Makes .venv, the Python environment of the tests and benchmarks, with the versions pinned in
# scripts/requirements-test.txt. Fast when it is there; made anew when the list or Python changed.
# Prints the path of its Python.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/.venv
requirements=$root/scripts/requirements-test.txt
stamp=$venv/requirements.stamp

wanted=$(python3 -V 2>&1; cat "$requirements")
if [ -x "$venv/bin/python" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
  echo "$venv/bin/python"
  exit 0
fi

echo "making the Python environment of the tests in .venv" >&2
# The stamp is written last: an interrupted run leaves no half environment that counts as whole.
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
  --requirement "$requirements" >&2
printf '%s\n' "$wanted" >"$stamp"
echo "$venv/bin/python"
