#!/usr/bin/env python3
"""What the program does about its limit where no single model is the point.

  program_limits.py PROGRAM

Why it exists: the default limit, refusals in the middle of a run, limits from outside and the timeline
are the same for all models; small generated ones show them.
"""

import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from support.program import Program  # noqa: E402

MIB = 1 << 20
DONE, DOES_NOT_FIT, FAILURE = 0, 4, 6


def save(path: pathlib.Path, nodes, inputs, outputs, initializers=()) -> pathlib.Path:
    graph = helper.make_graph(nodes, "generated", inputs, outputs, list(initializers))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def floats(name: str, shape) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


class ProgramLimits(unittest.TestCase):
    program: Program

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def relu(self) -> pathlib.Path:
        return save(self.folder / "relu.onnx", [helper.make_node("Relu", ["x"], ["y"])],
                    [floats("x", ["n"])], [floats("y", ["n"])])

    def staged(self) -> pathlib.Path:
        """As many rows of 4096 floats as x has elements that are not zero."""
        weight = numpy_helper.from_array(np.ones((1, 4096), np.float32), "w")
        nodes = [helper.make_node("NonZero", ["x"], ["places"], name="places"),
                 helper.make_node("Transpose", ["places"], ["rows"], perm=[1, 0]),
                 helper.make_node("Cast", ["rows"], ["numbers"], to=TensorProto.FLOAT),
                 helper.make_node("MatMul", ["numbers", "w"], ["y"], name="spread")]
        return save(self.folder / "staged.onnx", nodes, [floats("x", ["n"])],
                    [floats("y", ["found", 4096])], [weight])

    def test_without_a_limit_the_machines_is_kept(self):
        plan = self.program.call("plan", self.relu(), ["--input", "x=100xf32=1"])
        self.assertEqual(plan.exit_code, DONE, plan.text)
        self.assertIn(plan.report["limit_source"], ("cgroup", "available"))
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        available = next(int(line.split()[1]) * 1024 for line in lines
                         if line.startswith("MemAvailable"))
        self.assertLess(plan.report["limit_bytes"], available * 0.9)  # it moves between two looks
        self.assertGreater(plan.report["limit_bytes"], 0)
        # More than there is: refused like under a given limit, with nothing large done.
        elements = 2 * available // 4
        refused = self.program.call("run", self.relu(), ["--input", f"x={elements}xf32=1"])
        self.assertEqual(refused.exit_code, DOES_NOT_FIT, refused.text)
        self.assertIn(refused.report["limit_source"], ("cgroup", "available"))
        self.assertGreater(refused.report["smallest_workable_limit_bytes"], elements * 4)
        self.assertLess(refused.outside_peak_bytes, 16 * MIB)

    def test_what_depends_on_data_is_refused_when_it_is_known(self):
        model = self.staged()
        few, many = "x=8192xf32=0", "x=8192xf32=1"  # many: 128 MiB of output
        limit = ["--memory-limit", "24MiB"]
        plan = self.program.call("plan", model, ["--input", many, *limit])
        self.assertEqual(plan.exit_code, DONE, plan.text)
        self.assertEqual(plan.report["verdict"], "fits-so-far")
        self.assertIn("places", plan.report["stage"])
        run = self.program.call("run", model, ["--input", few, *limit])
        self.assertEqual(run.exit_code, DONE, run.text)
        refused = self.program.call("run", model, ["--input", many, *limit])
        self.assertEqual(refused.exit_code, DOES_NOT_FIT, refused.text)
        self.assertEqual(refused.report["verdict"], "does-not-fit")
        self.assertIn("places", refused.report["stage"])
        self.assertIn("places", refused.text)
        self.assertLess(refused.outside_peak_bytes, 24 * MIB)
        # Nothing was left to be planned, so it is known what would have worked.
        smallest = refused.report["smallest_workable_limit_bytes"]
        self.assertGreater(smallest, 128 * MIB)
        self.assertLess(smallest, 150 * MIB)
        works = self.program.call("run", model, ["--input", many, "--memory-limit", smallest])
        self.assertEqual(works.exit_code, DONE, works.text)
        self.assertLess(works.outside_peak_bytes, smallest)

    def test_what_the_kernel_refuses_is_a_failure_that_says_who_asked(self):
        def less_data():
            resource.setrlimit(resource.RLIMIT_DATA, (16 * MIB, 16 * MIB))

        done = subprocess.run(
            [self.program.path, "run", str(self.relu()), "--input", f"x={8 * MIB}xf32=1"],
            preexec_fn=less_data, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, FAILURE, done.stderr)
        self.assertIn("input 'x'", done.stderr)
        self.assertIn("the kernel refused", done.stderr)

    def test_the_timeline_shows_limit_phases_and_peaks(self):
        picture = self.folder / "timeline.svg"
        run = self.program.call("run", self.relu(), [
            "--input", f"x={MIB}xf32=1", "--memory-limit", "40MiB", "--timeline", picture])
        self.assertEqual(run.exit_code, DONE, run.text)
        root = ElementTree.parse(picture).getroot()
        words = "\n".join("".join(element.itertext()) for element in root.iter()
                          if element.tag.endswith("text"))
        for word in ("relu.onnx", "limit 40.0 MiB", "predicted peak", "kernel's peak", "import",
                     "inputs", "encode", "run", "What made each peak", "activations 4."):
            self.assertIn(word, words)


if __name__ == "__main__":
    ProgramLimits.program = Program(sys.argv.pop(1))
    unittest.main(verbosity=2)
