#!/usr/bin/env python3
"""Runs a real model with Plimsoll and with ONNX Runtime and compares the outputs.

  compare_with_onnxruntime.py PROGRAM CASE [--long]

Why it exists: the same file, the same inputs, another engine. The largest difference allowed is 1e-4 of
the output's largest absolute value, for every kernel target that this CPU runs. What must not matter
at all, the number of threads and the policy, is compared bit by bit within each target.

The short form gives the portable and the emulated target smaller inputs and one run for each thread
count and policy; --long (or PLIMSOLL_LONG=1) runs every combination on the full inputs.
"""

import argparse
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402  the tests' folder must be on the path first
import onnx  # noqa: E402
import onnxruntime  # noqa: E402

from support.handed_models import Case, case_named  # noqa: E402
from support.program import Program  # noqa: E402

TOLERANCE = 1e-4
NATIVE = ("avx2", "avx512")
FULL = ((1, "favor-speed"), (2, "favor-speed"), (1, "favor-min-peak"), (2, "favor-min-peak"))
SHORT = ((1, "favor-speed"), (2, "favor-min-peak"))


def spell_sigmoids(graph: onnx.GraphProto, prefix: str = "spelled_sigmoid") -> int:
    """Replaces each Sigmoid by 1 / (1 + exp(-x)) in ONNX's own operators; returns how many."""
    nodes = []
    count = 0
    for index, node in enumerate(graph.node):
        name = f"{prefix}_{index}"
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                count += spell_sigmoids(attribute.g, name)
        if node.op_type != "Sigmoid" or node.domain not in ("", "ai.onnx"):
            nodes.append(node)
            continue
        count += 1
        one = onnx.numpy_helper.from_array(np.float32(1))
        nodes += [
            onnx.helper.make_node("Constant", [], [f"{name}_one"], value=one),
            onnx.helper.make_node("Neg", [node.input[0]], [f"{name}_negative"]),
            onnx.helper.make_node("Exp", [f"{name}_negative"], [f"{name}_power"]),
            onnx.helper.make_node("Add", [f"{name}_power", f"{name}_one"], [f"{name}_sum"]),
            onnx.helper.make_node("Div", [f"{name}_one", f"{name}_sum"], [node.output[0]]),
        ]
    del graph.node[:]
    graph.node.extend(nodes)
    return count


class Reference:
    """ONNX Runtime's outputs of a case: of the model as it is, and with its Sigmoids spelled out.

    Its Sigmoid is a rational function that is right to some 1e-7 of 1, not of the result. An output
    whose largest value is 3e-4 is so no reference to 1e-4 of its scale; computed by the same engine
    as 1 / (1 + exp(-x)) it is.
    """

    def __init__(self, case: Case):
        self.names, self.plain = self._run(case, str(case.path))
        model = onnx.load(case.path)
        self.spelled = None
        if spell_sigmoids(model.graph) > 0:
            self.spelled = self._run(case, model.SerializeToString())[1]

    @staticmethod
    def _run(case: Case, model) -> tuple[list[str], dict[str, np.ndarray]]:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 2
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        return names, dict(zip(names, session.run(None, case.feed(session.get_inputs()))))

    def difference(self, name: str, ours: np.ndarray) -> tuple[float, str]:
        """The difference to the model as it is, or where that is too large, with Sigmoids spelled."""
        plain = difference(ours, self.plain[name])
        if plain <= TOLERANCE or self.spelled is None:
            return plain, ""
        spelled = difference(ours, self.spelled[name])
        return spelled, f"{name}: {plain:.1e} to its own Sigmoid, {spelled:.1e} to Sigmoid spelled out"


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference as a share of the reference's largest absolute value."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise AssertionError(f"is {ours.dtype} {ours.shape}, should be {theirs.dtype} {theirs.shape}")
    if theirs.size == 0:
        return 0.0
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    if not np.array_equal(np.isfinite(ours), np.isfinite(theirs)):
        raise AssertionError("infinities or NaNs stand in other places")
    finite = np.isfinite(theirs)
    scale = np.abs(theirs[finite]).max(initial=0.0)
    worst = np.abs(ours[finite] - theirs[finite]).max(initial=0.0)
    return float(worst / scale) if scale > 0 else float(worst)


def run_outputs(program: Program, case: Case, names, folder: str, options) -> dict[str, np.ndarray]:
    files = {name: os.path.join(folder, f"{index}.npy") for index, name in enumerate(names)}
    arguments = case.arguments() + list(options)
    for name, file in files.items():
        arguments += ["--output", f"{name}={file}"]
    result = program.call("run", case.path, arguments)
    if result.exit_code != 0:
        raise AssertionError(f"exit {result.exit_code}: {result.text}")
    return {name: np.load(file) for name, file in files.items()}


def compare_target(program: Program, case: Case, target: str, forms, reference: Reference) -> list[str]:
    """What does not hold for one target, as sentences."""
    faults = []
    notes = []
    first = None
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for threads, policy in forms:
            form = f"{target}, {threads} thread{'s' * (threads > 1)}, {policy}"
            try:
                outputs = run_outputs(program, case, reference.names, folder,
                                      ["--target", target, "--threads", threads, "--policy", policy])
            except AssertionError as error:
                faults.append(f"{form}: {error}")
                continue
            if first is not None:
                faults += [f"{form}: {name} differs in bits from {first[0]}" for name in outputs
                           if outputs[name].tobytes() != first[1][name].tobytes()]
                continue
            first = (form, outputs)
            for name, ours in outputs.items():
                try:
                    off, note = reference.difference(name, ours)
                except AssertionError as error:
                    faults.append(f"{form}: {name} {error}")
                    continue
                worst = max(worst, off)
                if note:
                    notes.append(note)
                if not off <= TOLERANCE:
                    faults.append(f"{form}: {name} is off by {off:.2e} of its scale")
    print(f"  {target}: {len(forms)} runs, largest difference {worst:.1e}", *notes, sep="\n      ",
          flush=True)
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program")
    parser.add_argument("case")
    parser.add_argument("--long", action="store_true", default=bool(os.environ.get("PLIMSOLL_LONG")))
    arguments = parser.parse_args()
    case = case_named(arguments.case)
    if not case.path.exists():
        print(f"{case.path} is missing: scripts/fetch_models.py --only onnx fetches it")
        return 1
    program = Program(arguments.program)
    targets = program.targets(case.path)
    faults = []
    references: dict[str, Reference] = {}
    for target in targets:
        full = arguments.long or target in NATIVE
        given = case if full else case.smaller()
        key = str(given.shapes)
        if key not in references:
            references[key] = Reference(given)
        faults += compare_target(program, given, target, FULL if full else SHORT, references[key])
    for target in ("avx2", "avx512"):
        if target not in targets:
            print(f"  {target}: SKIPPED, this CPU does not run it")
    for fault in faults:
        print(f"FAULT {case.name}: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
