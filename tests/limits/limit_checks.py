"""What must hold of any model under any limit.

Why it exists: the short test of each model, the long form over all of them, and load tests share it. A
check returns sentences about what did not hold; none means that it holds.
"""

import dataclasses
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.program import Program, Result  # noqa: E402

MIB = 1 << 20
DONE, DOES_NOT_FIT = 0, 4


@dataclasses.dataclass(frozen=True)
class Subject:
    """A model with the options that a run of it needs."""

    name: str
    path: str
    options: tuple[str, ...]


def mib(count: int) -> str:
    return f"{count / MIB:.2f} MiB"


def forget(path: str | pathlib.Path) -> None:
    """Asks the kernel to drop what it caches of a file: the next run reads it anew."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


class Checker:
    def __init__(self, program: Program, subject: Subject):
        self.program = program
        self.subject = subject
        self.plans: dict[tuple, dict] = {}
        self.plan = self.plan_with(())
        self.smallest = self.plan["smallest_workable_limit_bytes"]
        self.structure = next(phase["predicted_peak_bytes"] for phase in self.plan["phases"]
                              if phase["name"] == "import")

    def plan_with(self, options) -> dict:
        """The plan without a limit; made once for the same options."""
        key = tuple(map(str, options))
        if key not in self.plans:
            result = self.call("plan", options)
            if result.exit_code != DONE:
                raise AssertionError(f"plan without a limit: exit {result.exit_code}: {result.text}")
            self.plans[key] = result.report
        return self.plans[key]

    def smallest_with(self, options) -> int:
        return self.plan_with(options)["smallest_workable_limit_bytes"]

    def call(self, command: str, options) -> Result:
        return self.program.call(command, self.subject.path, [*self.subject.options, *options])

    def under(self, limit: int, options=()) -> tuple[Result, list[str]]:
        """Runs under a limit: refused with nothing large done, or kept to."""
        result = self.call("run", ["--memory-limit", limit, *options])
        form = f"limit {mib(limit)} {' '.join(map(str, options))}"
        faults = []
        if result.exit_code == DOES_NOT_FIT:
            smallest = self.smallest_with(options)
            if limit >= smallest:
                faults.append(f"{form}: refused, though the smallest workable limit was said to be "
                              f"{mib(smallest)}: {result.text}")
            # "Before anything large": to refuse, the model's structure has to be read, even under a
            # limit that is too small for that.
            allowed = max(limit, self.structure + MIB)
            if result.outside_peak_bytes > allowed:
                faults.append(f"{form}: refused only after {mib(result.outside_peak_bytes)}")
            if self.weights_were_read(result):
                faults.append(f"{form}: refused only after weights were read")
        elif result.exit_code == DONE:
            for who, peak in (("its own figure", result.report["kernel_peak_bytes"]),
                              ("the kernel", result.outside_peak_bytes)):
                if peak > limit:
                    faults.append(f"{form}: {who} says {mib(peak)}")
        else:
            faults.append(f"{form}: exit {result.exit_code}: {result.text}")
        return result, faults

    @staticmethod
    def weights_were_read(result: Result) -> bool:
        return bool(result.report) and any(
            phase["name"] in ("encode", "run") and phase["kernel_peak_bytes"] > 0
            for phase in result.report["phases"])

    def prediction(self) -> list[str]:
        """plan in one process and run in another agree within 5 % or 2 MiB, whether the kernel has
        the files in its cache or not."""
        predicted = self.plan["predicted_peak_bytes"]
        faults = []
        # Warm comes last: pages of a program that is not cached are mapped one by one, so that less is
        # resident, and later checks compare figures of a warm one.
        for state in ("cold", "warm"):
            for path in (self.subject.path, self.program.path):
                if state == "cold":
                    forget(path)
                else:
                    pathlib.Path(path).read_bytes()
            result = self.call("run", [])
            if result.exit_code != DONE:
                return [f"run without a limit: exit {result.exit_code}: {result.text}"]
            kernel = result.report["kernel_peak_bytes"]
            allowed = max(kernel * 5 // 100, 2 * MIB)
            print(f"  {state}: predicted {mib(predicted)}, kernel {mib(kernel)}, smallest workable "
                  f"{mib(self.smallest)}", flush=True)
            if abs(predicted - kernel) > allowed:
                faults.append(f"{state}: predicted {mib(predicted)}, the kernel saw {mib(kernel)}: off "
                              f"by more than {mib(allowed)}")
        return faults

    def smallest_works(self) -> list[str]:
        """N works and is used; 1 MiB below it is refused."""
        result, faults = self.under(self.smallest)
        if result.exit_code == DONE:
            kernel = result.report["kernel_peak_bytes"]
            wanted = self.smallest - max(self.smallest // 10, 4 * MIB)
            print(f"  at the smallest workable limit {mib(self.smallest)}: kernel {mib(kernel)}",
                  flush=True)
            if kernel < wanted:
                faults.append(f"at the smallest workable limit {mib(self.smallest)} the kernel's peak "
                              f"is only {mib(kernel)}: less would have worked")
        below, more = self.under(self.smallest - MIB)
        faults += more
        if below.exit_code != DOES_NOT_FIT:
            faults.append(f"1 MiB below the smallest workable limit: exit {below.exit_code}, "
                          f"should be {DOES_NOT_FIT}")
        elif below.report["smallest_workable_limit_bytes"] != self.smallest:
            said = below.report["smallest_workable_limit_bytes"]
            if abs(said - self.smallest) > MIB:
                faults.append(f"the refusal says {mib(said)} would work, the plan {mib(self.smallest)}")
        return faults

    def random_limit(self, generator) -> int:
        """Between half and twice the predicted peak."""
        predicted = self.plan["predicted_peak_bytes"]
        return generator.randint(predicted // 2, predicted * 2)
