"""From rounds to a page: ratios, geometric means, what must hold and what is aimed at.

Why it exists: docs/performance.md is written by the measurement, never by hand.
"""

import dataclasses
import datetime
import math
import pathlib

from engines import Round
from matmul_limit import MatmulResult

MIB = 1 << 20
#: What loading may add to the encoded weights: the window and a margin.
LOAD_ALLOWANCE = 20 * MIB
MUST_TIME, GOAL_TIME, GOAL_WORST_TIME = 1.25, 0.9, 1.05
MUST_PEAK = 0.5
GOAL_MATMUL = 0.92


@dataclasses.dataclass(frozen=True)
class ModelResult:
    name: str
    threads: int
    ours: Round
    theirs: Round

    @property
    def time_ratio(self) -> float:
        return self.ours.run_seconds / self.theirs.run_seconds

    @property
    def peak_ratio(self) -> float:
        return self.ours.added_peak_bytes / self.theirs.added_peak_bytes


@dataclasses.dataclass(frozen=True)
class LoadResult:
    name: str
    weight_bytes: int
    ours: Round
    theirs: Round | None  #: None where ONNX Runtime does not run it

    @property
    def allowed_bytes(self) -> int:
        return self.ours.encoded_bytes + LOAD_ALLOWANCE


@dataclasses.dataclass
class Results:
    models: list[ModelResult] = dataclasses.field(default_factory=list)
    loads: list[LoadResult] = dataclasses.field(default_factory=list)
    matmul: MatmulResult | None = None


@dataclasses.dataclass(frozen=True)
class Verdict:
    must: bool
    holds: bool
    text: str

    def sentence(self) -> str:
        return f"{'must' if self.must else 'goal'} {'holds' if self.holds else 'FAILS'}: {self.text}"


def geometric_mean(values) -> float:
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def judge(results: Results) -> list[Verdict]:
    verdicts = []
    for threads in sorted({one.threads for one in results.models}):
        models = [one for one in results.models if one.threads == threads]
        form = f"{threads} thread{'s' * (threads > 1)}"
        mean = geometric_mean(one.time_ratio for one in models)
        worst = max(models, key=lambda one: one.time_ratio)
        largest = max(models, key=lambda one: one.peak_ratio)
        verdicts += [
            Verdict(True, mean <= MUST_TIME,
                    f"time, {form}: {mean:.2f}× of ONNX Runtime's, geometric mean; at most "
                    f"{MUST_TIME}×"),
            Verdict(False, mean <= GOAL_TIME, f"time, {form}: {mean:.2f}×; at most {GOAL_TIME}×"),
            Verdict(False, worst.time_ratio <= GOAL_WORST_TIME,
                    f"slowest, {form}: {worst.name} {worst.time_ratio:.2f}×; at most "
                    f"{GOAL_WORST_TIME}×"),
            Verdict(True, largest.peak_ratio <= MUST_PEAK,
                    f"added peak, {form}: at most {largest.peak_ratio:.2f}× on each "
                    f"({largest.name}); at most {MUST_PEAK}×"),
        ]
    for load in results.loads:
        verdicts.append(Verdict(
            True, load.ours.added_peak_bytes <= load.allowed_bytes,
            f"load of {load.name}: +{load.ours.added_peak_bytes / MIB:.1f} MiB; encoded weights, "
            f"window and margin are {load.allowed_bytes / MIB:.1f}"))
    if results.matmul:
        verdicts.append(Verdict(False, results.matmul.share >= GOAL_MATMUL,
                                f"{results.matmul.sentence()}; at least {GOAL_MATMUL * 100:.0f} %"))
    return verdicts


def cpu_model() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def vector_units() -> str:
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    known = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16")
    return ", ".join(name for name in known if f" {name} " in flags or f" {name}\n" in flags)


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def model_table(models: list[ModelResult]) -> str:
    return table(
        ["model", "ours, ms", "ORT, ms", "ratio", "create, ms", "ORT", "added peak, MB", "ORT", "ratio"],
        [[one.name, f"{one.ours.run_seconds * 1e3:.1f}", f"{one.theirs.run_seconds * 1e3:.1f}",
          f"{one.time_ratio:.2f}", f"{one.ours.create_seconds * 1e3:.0f}",
          f"{one.theirs.create_seconds * 1e3:.0f}", f"{one.ours.added_peak_bytes / 1e6:.1f}",
          f"{one.theirs.added_peak_bytes / 1e6:.1f}", f"{one.peak_ratio:.2f}"] for one in models])


def load_table(loads: list[LoadResult]) -> str:
    rows = []
    for one in loads:
        theirs = one.theirs
        rows.append([
            one.name, f"{one.weight_bytes / MIB:.0f}", f"{one.ours.added_peak_bytes / MIB:.1f}",
            f"{one.allowed_bytes / MIB:.1f}",
            f"{theirs.added_peak_bytes / MIB:.0f}" if theirs else "does not run it",
            f"{one.ours.create_seconds:.2f}", f"{theirs.create_seconds:.2f}" if theirs else "",
            f"{one.ours.run_seconds * 1e3:.1f}",
            f"{theirs.run_seconds * 1e3:.1f}" if theirs else ""])
    return table(["case", "weight, MiB", "added peak, MiB", "allowed", "ORT", "create, s", "ORT",
                  "run, ms", "ORT"], rows)


def write_page(results: Results, path: pathlib.Path, version: str) -> None:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    parts = [
        "# Performance",
        "Written by `bench/compare_onnxruntime.py`; do not edit. Each engine ran in a small process of "
        "its own, in alternating rounds; times are medians, peaks the largest of all rounds. *Added "
        "peak* is the kernel's VmHWM above the process as it was before the model was opened. ORT is "
        f"ONNX Runtime {version} from PyPI with its default options. CPUs differ, and other guests of "
        "a shared machine disturb: compare only within one table.",
        f"Measured on {today}: {cpu_model()}, 2 cores used, {vector_units()}.",
        "## What must hold, and what is aimed at",
        "\n".join(f"- {verdict.sentence()}" for verdict in judge(results)),
    ]
    for threads in sorted({one.threads for one in results.models}):
        parts += [f"## Models, {threads} thread{'s' * (threads > 1)}",
                  model_table([one for one in results.models if one.threads == threads])]
    parts += [
        "## Loading one large weight, 1 thread",
        "A generated model around one weight. Allowed: the encoded weight, a window of 16 MiB and "
        "4 MiB. Create is the time from opening the model until it could run.",
        load_table(results.loads),
    ]
    if results.matmul:
        parts += ["## Kernels", results.matmul.sentence() + " measured in the same run "
                  "(bench/fma_limit.cpp)."]
    path.write_text("\n\n".join(parts) + "\n", "utf-8")
