#!/usr/bin/env bash
# Makes .venv with what the Python tests compare with. Quick when it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
stamp=.venv/.requirements
cmp -s scripts/requirements-test.txt "$stamp" && exit 0
python3 -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements-test.txt
cp scripts/requirements-test.txt "$stamp"
