#!/usr/bin/env python3
"""What loading a large weight takes at its peak, whatever the weight's type and the operator.

  load_peak.py PROGRAM [CASE]...   all cases unless some are named

Why it exists: engines hold a weight twice and more while they prepare it. Here the peak of the whole
process, run included, is at most base + encoded weight + 16 MiB of window + 4 MiB; the encoded weight
is at most 1.02 of its source; and the result is right.
"""

import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402

from support.large_models import LoadCase, load_cases  # noqa: E402
from support.program import Program  # noqa: E402
from support.values import random_values  # noqa: E402

MIB = 1 << 20
WINDOW = 16 * MIB
MARGIN = 4 * MIB
ENCODED_SHARE = 1.02


def check(program: Program, case: LoadCase, folder: pathlib.Path, options) -> list[str]:
    path = case.write(folder)
    output = folder / "y.npy"
    result = program.call("run", path, ["--input", "x=random:1", "--output", f"y={output}", *options])
    form = f"{case.name} {' '.join(options)}".strip()
    if result.exit_code != 0:
        return [f"{form}: exit {result.exit_code}: {result.text}"]
    faults = []
    report = result.report
    encoded = report["weights"]["encoded_bytes"]
    allowed = report["base_bytes"] + encoded + WINDOW + MARGIN
    print(f"  {form}: weight {case.weight.bytes / MIB:.0f} MiB, encoded {encoded / MIB:.1f}, base "
          f"{report['base_bytes'] / MIB:.1f}, peak {result.outside_peak_bytes / MIB:.1f} of "
          f"{allowed / MIB:.1f} MiB allowed, load {report['load_seconds']:.2f} s", flush=True)
    # Constants beside the weight (scales, a bias) are weights too.
    source = case.weight.bytes + sum(value.nbytes for _, value in case.constants)
    if encoded > source * ENCODED_SHARE:
        faults.append(f"{form}: {encoded} encoded bytes of {source}")
    if result.outside_peak_bytes > allowed:
        faults.append(f"{form}: the kernel saw {result.outside_peak_bytes / MIB:.1f} MiB, "
                      f"{allowed / MIB:.1f} are allowed")
    x = random_values(1, 0, case.input_shape, case.weight.dtype if case.element != 1 else np.float32)
    expected = case.expected(x.astype(np.float32), case.weight.values())
    off = np.abs(np.load(output).astype(np.float32) - expected).max() / np.abs(expected).max()
    # f16 and bf16 results are rounded to 11 and 8 bits.
    bound = {1: 1e-5, 10: 1e-3, 16: 8e-3}[case.element]
    if not off <= bound:
        faults.append(f"{form}: the result is off by {off:.1e} of its scale")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    program = Program(arguments.program)
    cases = [case for case in load_cases() if not arguments.cases or case.name in arguments.cases]
    faults = []
    for case in cases:
        for options in ([], ["--policy", "favor-min-peak"]):
            # On a disk, not in a memory file system: the files are as large as the weights.
            with tempfile.TemporaryDirectory(dir=pathlib.Path.cwd()) as folder:
                faults += check(program, case, pathlib.Path(folder), options)
    for fault in faults:
        print(f"FAULT {fault}")
    return 1 if faults or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
