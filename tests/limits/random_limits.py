#!/usr/bin/env python3
"""Many runs of real models under random limits, threads, policies and targets: the long form.

  random_limits.py PROGRAM [--runs 1000] [--seed 1] [--only CASE]

Why it exists: the limit must hold for whatever is asked, not only for what a test thought of. Every
run is printed so that one that failed can be repeated by hand; the summary counts.
"""

import argparse
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from limits.limit_checks import Checker, Subject, mib  # noqa: E402
from support.handed_models import CASES, case_named  # noqa: E402
from support.program import Program  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one model case")
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    program = Program(arguments.program)
    cases = [case_named(arguments.only)] if arguments.only else [c for c in CASES if c.path.exists()]
    checkers = {case.name: Checker(program, Subject(case.name, str(case.path),
                                                    tuple(case.arguments()))) for case in cases}
    # The portable kernels are slow on the large networks: they get their share on the small ones.
    targets = program.targets(cases[0].path)
    native = [target for target in targets if target != "generic"] or targets
    began = time.monotonic()
    counts = {"run": 0, "refused": 0, "faults": 0}
    tightest = 1.0
    for number in range(1, arguments.runs + 1):
        case = generator.choice(cases)
        checker = checkers[case.name]
        large = checker.plan["predicted_peak_bytes"] > 30 << 20
        options = ["--threads", generator.choice((1, 2, 3, 8)),
                   "--policy", generator.choice(("favor-speed", "favor-min-peak")),
                   "--target", generator.choice(native if large else targets)]
        # One in five at the smallest workable limit itself, where there is least room.
        at_smallest = generator.random() < 0.2
        limit = checker.smallest_with(options) if at_smallest else checker.random_limit(generator)
        result, faults = checker.under(limit, options)
        outcome = "refused" if result.exit_code == 4 else "run"
        counts[outcome] += 1
        counts["faults"] += bool(faults)
        if result.exit_code == 0:
            tightest = min(tightest, 1 - result.outside_peak_bytes / limit)
        print(f"{number:5} {case.name} {mib(limit)} {' '.join(map(str, options))}: {outcome}, "
              f"peak {mib(result.outside_peak_bytes)}", *faults, sep="\n      FAULT ", flush=True)
    print(f"{arguments.runs} runs, seed {arguments.seed}, in {time.monotonic() - began:.0f} s: "
          f"{counts['run']} ran, {counts['refused']} were refused, {counts['faults']} with faults; "
          f"the closest a run came to its limit was {tightest * 100:.2f} % below it")
    return 1 if counts["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
