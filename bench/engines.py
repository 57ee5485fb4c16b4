"""Starts each engine in a process of its own and reads what a round of runs took.

Why it exists: the comparison, the tables and the judgement speak of rounds, not of processes.
"""

import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 1200


@dataclasses.dataclass(frozen=True)
class Subject:
    """A model with its inputs, in the form that each engine takes them."""

    name: str
    model: pathlib.Path
    options: tuple[str, ...]  #: of the plimsoll program
    inputs: pathlib.Path  #: an .npz for ONNX Runtime


@dataclasses.dataclass(frozen=True)
class Round:
    create_seconds: float
    run_seconds: float  #: median of the round's runs
    added_peak_bytes: int
    encoded_bytes: int = 0


class EngineError(Exception):
    """The engine did not run the model; the text says why."""


def _start(command) -> dict:
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise EngineError(lines[-1])
    return json.loads(done.stdout)


def plimsoll_round(program, subject: Subject, threads: int, repeat: int, options=()) -> Round:
    """Added peak: VmHWM above the process before the model was opened; its inputs are within."""
    report = _start([program, "bench", subject.model, *subject.options, "--threads", threads,
                     "--repeat", repeat, "--json", "-", "--quiet", *options])
    phases = {phase["name"]: phase["seconds"] for phase in report["phases"]}
    return Round(phases.get("import", 0) + phases.get("encode", 0), report["median_seconds"],
                 report["kernel_peak_bytes"] - report["base_bytes"],
                 report["weights"]["encoded_bytes"])


def onnxruntime_round(subject: Subject, threads: int, repeat: int) -> Round:
    """Added peak: as above, with its inputs outside: they were there before."""
    result = _start([sys.executable, HERE / "onnxruntime_process.py", subject.model, subject.inputs,
                     threads, repeat])
    return Round(result["create_seconds"], statistics.median(result["run_seconds"]),
                 result["added_peak_bytes"])


def middle(rounds: list[Round]) -> Round:
    """Medians of times, the largest of peaks."""
    return Round(statistics.median(one.create_seconds for one in rounds),
                 statistics.median(one.run_seconds for one in rounds),
                 max(one.added_peak_bytes for one in rounds), rounds[0].encoded_bytes)
