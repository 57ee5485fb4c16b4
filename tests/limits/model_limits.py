#!/usr/bin/env python3
"""One real model under 20 random limits, at its smallest workable limit, and just below that.

  model_limits.py PROGRAM CASE [--limits 20] [--seed 1]

Why it exists: the limit is the contract. Each run is either refused (exit 4, before anything large) or
ends with the kernel's peak below the limit, as the program and as its parent see it.
"""

import argparse
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from limits.limit_checks import Checker, Subject  # noqa: E402
from support.handed_models import case_named  # noqa: E402
from support.program import Program  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program")
    parser.add_argument("case")
    parser.add_argument("--limits", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    case = case_named(arguments.case)
    if not case.path.exists():
        print(f"{case.path} is missing: scripts/fetch_models.py --only onnx fetches it")
        return 1
    checker = Checker(Program(arguments.program),
                      Subject(case.name, str(case.path), tuple(case.arguments())))
    faults = checker.prediction() + checker.smallest_works()
    generator = random.Random(f"{arguments.seed} {case.name}")
    refused = 0
    for _ in range(arguments.limits):
        result, more = checker.under(checker.random_limit(generator))
        refused += result.exit_code == 4
        faults += more
    print(f"  {arguments.limits} random limits: {refused} refused, {arguments.limits - refused} run")
    for fault in faults:
        print(f"FAULT {case.name}: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
