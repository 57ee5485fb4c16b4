#!/usr/bin/env python3
"""Measures Plimsoll beside ONNX Runtime and writes docs/performance.md.

  bench/compare_onnxruntime.py                everything, some 15 minutes on 2 cores
  bench/compare_onnxruntime.py --quick        2 rounds and no load cases; writes nothing
  bench/compare_onnxruntime.py --only CASE    one model or load case; writes nothing

Why it exists: speed is what is bought with the limit, and CPUs differ, so figures only mean something
beside another engine's of the same minute. Each engine runs in a small process of its own; rounds
alternate, so that whatever else the machine does falls on both. Needs a release build
(cmake --preset release && ninja -C build/release) and the models of scripts/fetch_models.py.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv" / "bin" / "python"
if pathlib.Path(sys.prefix).resolve() != PYTHON.parents[1]:
    subprocess.run([ROOT / "scripts" / "test_environment.sh"], stdout=subprocess.DEVNULL, check=True)
    os.execv(PYTHON, [str(PYTHON), "-B", __file__, *sys.argv[1:]])

sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

import numpy as np  # noqa: E402  the folders must be on the path first
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from engines import (  # noqa: E402
    EngineError, Subject, middle, onnxruntime_round, plimsoll_round)
from matmul_limit import measure_matmul  # noqa: E402
from report import LoadResult, ModelResult, Results, judge, write_page  # noqa: E402
from support.handed_models import SEED, case_named  # noqa: E402
from support.large_models import load_cases  # noqa: E402
from support.values import random_values  # noqa: E402

SEVEN = ("mlsd_512x512_large", "mlsd_320x320_tiny", "ocr_detection", "ocr_recognition",
         "ocr_classification", "blazeface_back", "rxnmap_128")
ROUND_SECONDS = 1.0


def say(text: str) -> None:
    print(text, flush=True)


def save_inputs(feed: dict, path: pathlib.Path) -> None:
    np.savez(path, **{name.replace("/", "|"): value for name, value in feed.items()})


def model_subject(name: str, folder: pathlib.Path) -> Subject:
    case = case_named(name)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(case.path), options,
                                           providers=["CPUExecutionProvider"])
    inputs = folder / f"{name}.npz"
    save_inputs(case.feed(session.get_inputs()), inputs)
    return Subject(name, case.path, tuple(case.arguments()), inputs)


def compare_model(program, subject: Subject, threads: int, rounds: int) -> ModelResult:
    first = plimsoll_round(program, subject, threads, 3)
    repeat = int(min(100, max(3, ROUND_SECONDS / first.run_seconds)))
    ours, theirs = [], []
    for number in range(rounds):
        steps = [lambda: ours.append(plimsoll_round(program, subject, threads, repeat)),
                 lambda: theirs.append(onnxruntime_round(subject, threads, repeat))]
        for step in steps if number % 2 == 0 else reversed(steps):
            step()
    result = ModelResult(subject.name, threads, middle(ours), middle(theirs))
    say(f"  {result.name}, {threads} thread{'s' * (threads > 1)}: "
        f"{result.ours.run_seconds * 1e3:.1f} ms beside {result.theirs.run_seconds * 1e3:.1f} "
        f"({result.time_ratio:.2f}×), peak +{result.ours.added_peak_bytes / 1e6:.1f} MB beside "
        f"+{result.theirs.added_peak_bytes / 1e6:.1f} ({result.peak_ratio:.2f}×)")
    return result


def compare_load(program, case, rounds: int) -> LoadResult:
    # On a disk, not in a memory file system: the files are as large as the weights.
    with tempfile.TemporaryDirectory(dir=ROOT / ".cache") as name:
        folder = pathlib.Path(name)
        path = case.write(folder)
        inputs = folder / "inputs.npz"
        dtype = onnx.helper.tensor_dtype_to_np_dtype(case.element)
        storable = case.element != onnx.TensorProto.BFLOAT16  # no .npz holds bf16
        if storable:
            save_inputs({"x": random_values(SEED, 0, case.input_shape, dtype)}, inputs)
        subject = Subject(case.name, path, ("--input", f"x=random:{SEED}"), inputs)
        ours, theirs, why = [], [], ""
        for _ in range(rounds):
            ours.append(plimsoll_round(program, subject, 1, 3))
            try:
                if not storable:
                    raise EngineError("has no MatMul of bf16 on the CPU")
                theirs.append(onnxruntime_round(subject, 1, 3))
            except EngineError as error:
                why = str(error)[:100]
    result = LoadResult(case.name, case.weight.bytes, middle(ours),
                        middle(theirs) if theirs and not why else None)
    beside = f"+{result.theirs.added_peak_bytes / 2**20:.0f}" if result.theirs else f"({why})"
    say(f"  {case.name}: weight {case.weight.bytes / 2**20:.0f} MiB, peak "
        f"+{result.ours.added_peak_bytes / 2**20:.1f} MiB beside {beside}, create "
        f"{result.ours.create_seconds:.2f} s, run {result.ours.run_seconds * 1e3:.1f} ms")
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--program", default=ROOT / "build/release/src/cli/plimsoll")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="2 rounds, no load cases")
    parser.add_argument("--only", metavar="CASE", help="one model or load case")
    parser.add_argument("--output", default=ROOT / "docs/performance.md")
    arguments = parser.parse_args()
    rounds = 2 if arguments.quick else arguments.rounds
    results = Results()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in SEVEN:
            if arguments.only in (None, model):
                subject = model_subject(model, folder)
                for threads in (1, 2):
                    results.models.append(compare_model(arguments.program, subject, threads, rounds))
        if arguments.only in (None, "matmul"):
            results.matmul = measure_matmul(arguments.program, folder, rounds)
            say(f"  {results.matmul.sentence()}")
    if not arguments.quick:
        for case in load_cases():
            if arguments.only in (None, case.name):
                results.loads.append(compare_load(arguments.program, case, min(2, rounds)))
    whole = not arguments.quick and arguments.only is None
    if whole:
        write_page(results, pathlib.Path(arguments.output), onnxruntime.__version__)
    held = True
    for verdict in judge(results):
        say(verdict.sentence())
        held = held and (verdict.holds or not verdict.must)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
