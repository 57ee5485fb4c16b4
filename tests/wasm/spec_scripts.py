"""The specification's scripts through `plimsoll wasm wast`, in each form of code.

Why it exists: assertions must hold, and what is left out must be left out by name and never grow. The
totals per kind are recorded in spec_totals.json; fewer than recorded fails.

  spec_scripts.py PLIMSOLL            check
  spec_scripts.py PLIMSOLL --record   write the totals as they are now
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = ROOT / ".cache/spec"
RECORD = pathlib.Path(__file__).resolve().parent / "spec_totals.json"
FORMS = (("--bounds", "guard"), ("--bounds", "explicit"))


def run(program: str, form: tuple[str, ...]) -> tuple[dict[str, int], str]:
    scripts = sorted(map(str, SPEC.glob("*/script.json")))
    done = subprocess.run([program, "wasm", "wast", *form, *scripts], capture_output=True, text=True,
                          check=False, timeout=900)
    assert done.returncode == 0, f"{form}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    totals = {kind: int(count) for kind, count in
              re.findall(r"^(\w+) +(\d+) hold$", done.stdout, re.MULTILINE)}
    return totals, done.stdout


def main() -> None:
    if not (SPEC / "i32/script.json").exists():
        print("SKIPPED: the test suite is not converted: scripts/convert_spec.sh does it")
        sys.exit(77)
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for form in FORMS:
        totals, text = run(sys.argv[1], form)
        print(" ".join(form) + "\n" + text)
        if "--record" in sys.argv[2:]:
            recorded = totals
        for kind, count in recorded.items():
            assert totals.get(kind, 0) >= count, \
                f"{form}: {totals.get(kind, 0)} {kind} hold, {count} are recorded"
    if "--record" in sys.argv[2:]:
        RECORD.write_text(json.dumps(recorded, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
