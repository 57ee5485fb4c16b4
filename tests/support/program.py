"""Starts the `plimsoll` program and reads its reports.

Why it exists: memory must be measured from outside too. The kernel hands a process's peak to whoever
waits for it, but a child of a fat process starts with its parent's figure; so /usr/bin/time, which is
small, is put between.
"""

import dataclasses
import json
import pathlib
import signal
import subprocess
import tempfile

TIME = "/usr/bin/time"


@dataclasses.dataclass
class Result:
    exit_code: int
    report: dict | None
    text: str  #: what it wrote to standard error
    outside_peak_bytes: int  #: as the kernel told /usr/bin/time


class Program:
    def __init__(self, path: str | pathlib.Path, seconds: float = 900):
        self.path = str(path)
        self.seconds = seconds

    def call(self, command: str, model, arguments=()) -> Result:
        """`plimsoll COMMAND MODEL --json - ARGUMENTS`; nothing is raised for its exit code."""
        with tempfile.NamedTemporaryFile("r", suffix=".peak") as peak:
            done = subprocess.run(
                [TIME, "--quiet", "--format", "%M", "--output", peak.name, self.path, command,
                 str(model), "--json", "-", *map(str, arguments)],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=self.seconds,
                check=False)
            kibibytes = peak.read().split()
        if done.returncode > 128 or done.returncode < 0:
            number = done.returncode - 128 if done.returncode > 128 else -done.returncode
            raise RuntimeError(f"'{command}' was ended by {signal.Signals(number).name}: "
                               f"{done.stderr.strip()}")
        report = json.loads(done.stdout) if done.stdout.strip() else None
        return Result(done.returncode, report, done.stderr.strip(),
                      int(kibibytes[-1]) * 1024 if kibibytes else 0)

    def targets(self, model) -> list[str]:
        """The kernel targets that this CPU runs: the program names them when asked for another."""
        done = subprocess.run([self.path, "plan", str(model), "--target", "none", "--input",
                               "random:1"], capture_output=True, text=True, check=False)
        assert done.returncode == 2, f"--target none: exit {done.returncode}: {done.stderr}"
        return done.stderr.strip().splitlines()[0].partition("runs: ")[2].split(", ")
