"""Every JSON that the program writes fits its published schema, and its figures agree with one another.

Why it exists: scripts are built on these files. The schemas are those of docs/schemas/.
"""

import json
import pathlib
import unittest

import harness  # first: it puts the tests' folder on the path
import jsonschema
import numpy as np
from harness import DOES_NOT_FIT, CommandLineTest
from support import small_models

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"
MIB = 1 << 20


def checked(document: dict, schema: str) -> dict:
    text = json.loads((SCHEMAS / f"{schema}.schema.json").read_text())
    validator = jsonschema.Draft202012Validator
    validator.check_schema(text)
    validator(text).validate(document)
    return document


class RunReports(CommandLineTest):
    def test_a_run(self):
        model = small_models.dense(self.folder, 256)
        file = self.folder / "y.npy"
        report = checked(self.report("run", model, "--input", "3x256xf32=random:1", "--output", file,
                                     "--memory-limit", "30MiB", "--repeat", 3, "--threads", 2),
                         "report")
        self.assertEqual(report["command"], "run")
        self.assertEqual(report["model"], str(model))
        self.assertEqual(report["limit_bytes"], 30 * MIB)
        self.assertEqual(report["limit_source"], "option")
        self.assertEqual(report["verdict"], "fits")
        self.assertEqual(report["threads"], 2)
        self.assertEqual(len(report["run_seconds"]), 3)
        self.assertGreater(report["kernel_peak_bytes"], report["base_bytes"])
        self.assertLessEqual(report["kernel_peak_bytes"], report["limit_bytes"])
        self.assertLessEqual(report["predicted_peak_bytes"], report["smallest_workable_limit_bytes"])
        self.assertEqual([phase["name"] for phase in report["phases"]],
                         ["import", "inputs", "encode", "run"])
        for phase in report["phases"]:
            self.assertLessEqual(phase["kernel_peak_bytes"], report["kernel_peak_bytes"])
            self.assertLessEqual(phase["predicted_peak_bytes"], report["predicted_peak_bytes"])
            self.assertGreater(phase["kernel_peak_bytes"], 0)
        self.assertEqual(report["weights"]["source_bytes"], 256 * 256 * 4)
        self.assertLessEqual(report["weights"]["encoded_bytes"], 256 * 256 * 4 * 1.02)
        self.assertEqual([item["name"] for item in report["weights"]["items"]], ["w"])
        self.assertEqual(report["outputs"][0] | {"minimum": 0, "maximum": 0, "mean": 0},
                         {"name": "y", "type": "f32", "shape": [3, 256], "file": str(file),
                          "minimum": 0, "maximum": 0, "mean": 0, "not_numbers": 0})
        values = np.load(file)
        self.assertAlmostEqual(report["outputs"][0]["maximum"], float(values.max()), places=5)
        self.assertAlmostEqual(report["outputs"][0]["mean"], float(values.mean()), places=5)

    def test_a_plan_agrees_with_the_run(self):
        model = small_models.dense(self.folder, 512)
        options = ("--input", "3x512xf32=random:1", "--memory-limit", "40MiB")
        plan = checked(self.report("plan", model, *options), "report")
        run = checked(self.report("run", model, *options), "report")
        for key in ("limit_bytes", "verdict", "activation_bytes", "weights", "target"):
            self.assertEqual(plan[key], run[key], key)
        self.assertLess(abs(plan["predicted_peak_bytes"] - run["predicted_peak_bytes"]), MIB)
        self.assertLess(plan["kernel_peak_bytes"], run["kernel_peak_bytes"])

    def test_without_a_limit_the_machine_gives_one(self):
        report = checked(self.report("plan", small_models.scale(self.folder)), "report")
        self.assertIn(report["limit_source"], ("cgroup", "available"))
        self.assertGreater(report["limit_bytes"], 0)

    def test_a_bench(self):
        report = checked(self.report("bench", small_models.scale(self.folder), "--input", "random:1",
                                     "--repeat", 5), "report")
        self.assertEqual(report["command"], "bench")
        self.assertEqual(len(report["run_seconds"]), 5)
        self.assertEqual(report["median_seconds"], sorted(report["run_seconds"])[2])
        self.assertEqual(report["minimum_seconds"], min(report["run_seconds"]))
        self.assertEqual(report["maximum_seconds"], max(report["run_seconds"]))

    def test_a_refusal(self):
        model = small_models.dense(self.folder, 1024)
        for command in ("plan", "run"):
            report = checked(self.report(command, model, "--input", "random:1", "--memory-limit",
                                         "6MiB", code=DOES_NOT_FIT), "report")
            self.assertEqual(report["verdict"], "does-not-fit")
            self.assertEqual(report["run_seconds"], [])
            self.assertEqual(report["outputs"], [])
            smallest = report["smallest_workable_limit_bytes"]
            self.assertGreater(smallest, report["limit_bytes"])
            works = checked(self.report(command, model, "--input", "random:1", "--memory-limit",
                                        smallest), "report")
            self.assertNotEqual(works["verdict"], "does-not-fit")

    def test_what_depends_on_data(self):
        report = checked(self.report("plan", small_models.growing(self.folder)), "report")
        self.assertEqual(report["verdict"], "fits-so-far")
        self.assertIn("Range", report["stage"])

    def test_measures(self):
        model = small_models.dense(self.folder, 2048)
        options = ("--input", "random:1", "--output", self.folder / "y.npy")
        smallest = self.report("plan", model)["smallest_workable_limit_bytes"]
        whole = checked(self.report("run", model, *options), "report")
        expected = np.load(self.folder / "y.npy")
        report = checked(self.report("run", model, *options, "--memory-limit", smallest), "report")
        self.assertEqual((whole["verdict"], report["verdict"]), ("fits", "fits-with-measures"))
        self.assertLessEqual(report["kernel_peak_bytes"], smallest)
        self.assertLess(report["kernel_peak_bytes"], whole["kernel_peak_bytes"])
        self.assertGreater(report["weights"]["streamed_bytes"], 0)
        self.assertIn("streamed", [item["residency"] for item in report["weights"]["items"]])
        np.testing.assert_array_equal(np.load(self.folder / "y.npy"), expected)

    def test_a_sequence(self):
        report = checked(self.report("run", small_models.split_sequence(self.folder), "--input",
                                     "random:1", "--output", self.folder / "rows.npy"), "report")
        self.assertEqual([output["shape"] for output in report["outputs"]], [[1, 2]] * 3)
        for output in report["outputs"]:
            self.assertEqual(np.load(output["file"]).shape, (1, 2))


class OtherFiles(CommandLineTest):
    def test_an_inspection(self):
        model = small_models.external(self.folder, "w.bin")
        (self.folder / "w.bin").write_bytes(bytes(16))
        report = checked(self.report("inspect", model), "inspect")
        self.assertEqual(report["inputs"],
                         [{"name": "x", "type": "f32", "sequence": False, "shape": ["rows", 4]}])
        self.assertEqual(report["operators"], {"Mul": 1})
        self.assertEqual(report["weights"], [{"name": "two", "type": "f32", "shape": [4], "bytes": 16,
                                              "source": "inline"}])
        self.assertEqual(report["weight_bytes"], 16)
        self.assertEqual(report["unsupported"], [])

    def test_where_a_weight_is(self):
        model = small_models.dense(self.folder, 256)
        source = checked(self.report("inspect", model), "inspect")["weights"][0]["source"]
        name, _, place = source.rpartition(":")
        offset, length = map(int, place.split("+"))
        self.assertEqual(length, 256 * 256 * 4)
        weight = np.frombuffer(model.read_bytes()[offset:offset + length], np.float32)
        self.assertLessEqual(np.abs(weight).max(), 0.05)
        self.assertIn("dense256.onnx", name)

    def test_an_inspection_lists_what_is_not_supported(self):
        report = checked(self.report("inspect", small_models.unknown_operator(self.folder)), "inspect")
        self.assertEqual(report["unsupported"], ["com.example.Frobnicate"])

    def test_a_profile(self):
        file = self.folder / "profile.json"
        self.expect(0, "run", small_models.dense(self.folder, 64), "--input", "random:1", "--profile",
                    file)
        trace = checked(json.loads(file.read_text()), "profile")
        self.assertEqual([event["cat"] for event in trace["traceEvents"]], ["MatMul"])

    def test_names_that_are_not_utf8(self):
        path = small_models.scale(self.folder)
        path.write_bytes(path.read_bytes().replace(b"double", b"dou\xffle"))
        file = self.folder / "report.json"
        self.expect(0, "run", path, "--input", "random:1", "--profile", self.folder / "p.json",
                    "--json", file)
        checked(json.loads(file.read_text("utf-8")), "report")
        checked(json.loads((self.folder / "p.json").read_text("utf-8")), "profile")


if __name__ == "__main__":
    harness.main()
