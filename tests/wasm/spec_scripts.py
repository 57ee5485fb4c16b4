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
BOUNDS = ("guard", "explicit")
#: Group of scripts and the features of its time. The converter writes element segments in the form
#: that came with bulk memory.
GROUPS = {"core": (".", "3.0"), "threads": ("proposals/threads", "1.0,threads,bulk-memory")}


def run(program: str, group: str, bounds: str) -> tuple[dict[str, int], str]:
    folder, features = GROUPS[group]
    scripts = sorted(map(str, (SPEC / folder).glob("*/script.json")))
    done = subprocess.run([program, "wasm", "wast", "--bounds", bounds, "--features", features,
                           *scripts], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, \
        f"{group}, {bounds}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    totals = {kind: int(count) for kind, count in
              re.findall(r"^(\w+) +(\d+) hold$", done.stdout, re.MULTILINE)}
    return totals, done.stdout


def main() -> None:
    if not (SPEC / "i32/script.json").exists():
        print("SKIPPED: the test suite is not converted: scripts/convert_spec.sh does it")
        sys.exit(77)
    record = "--record" in sys.argv[2:]
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() and not record else {}
    for group in GROUPS:
        for bounds in BOUNDS:
            totals, text = run(sys.argv[1], group, bounds)
            print(f"{group}, {bounds} bounds\n{text}")
            if record:
                recorded.setdefault(group, totals)
            for kind, count in recorded[group].items():
                assert totals.get(kind, 0) >= count, \
                    f"{group}, {bounds}: {totals.get(kind, 0)} {kind} hold, {count} are recorded"
    if record:
        RECORD.write_text(json.dumps(recorded, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
