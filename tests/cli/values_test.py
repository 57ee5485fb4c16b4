"""Every form of a value, a shape and a size that the command line takes, and what is written.

Why it exists: the forms of docs/command-line.md are a contract; each is used here once, and what comes
out is compared with what numpy says should.
"""

import pathlib

import harness  # first: it puts the tests' folder on the path
import numpy as np
import onnx
from harness import CommandLineTest
from onnx import TensorProto, numpy_helper
from PIL import Image
from support import small_models
from support.values import random_values

TYPES = {
    "f64": (TensorProto.DOUBLE, np.float64), "f32": (TensorProto.FLOAT, np.float32),
    "f16": (TensorProto.FLOAT16, np.float16), "i64": (TensorProto.INT64, np.int64),
    "i32": (TensorProto.INT32, np.int32), "i16": (TensorProto.INT16, np.int16),
    "i8": (TensorProto.INT8, np.int8), "u64": (TensorProto.UINT64, np.uint64),
    "u32": (TensorProto.UINT32, np.uint32), "u16": (TensorProto.UINT16, np.uint16),
    "u8": (TensorProto.UINT8, np.uint8), "bool": (TensorProto.BOOL, np.bool_),
}


class ValueTest(CommandLineTest):
    def through(self, model, value, *options) -> np.ndarray:
        """The first output of a run with one value."""
        file = self.folder / "out.npy"
        self.expect(0, "run", model, "--input", value, "--output", file, "--quiet", *options)
        return np.load(file)


class Values(ValueTest):
    def test_constants_of_every_type(self):
        for name, (element, dtype) in TYPES.items():
            with self.subTest(type=name):
                model = small_models.typed(self.folder, element, [2, 3], name)
                values = self.through(model, f"2x3x{name}=1")
                self.assertEqual(values.dtype, dtype)
                np.testing.assert_array_equal(values, np.ones((2, 3), dtype))
        model = small_models.typed(self.folder, TensorProto.BFLOAT16, [2], "bf16")
        values = self.through(model, "2xbf16=0.5")
        self.assertEqual(values.dtype, np.float32)  # numpy has no bf16
        np.testing.assert_array_equal(values, np.float32([0.5, 0.5]))

    def test_numbers(self):
        model = small_models.typed(self.folder, TensorProto.FLOAT, [1])
        for text, number in (("0.5", 0.5), ("-1e-3", -1e-3), ("inf", np.inf), ("7", 7)):
            self.assertEqual(self.through(model, f"1xf32={text}")[0], np.float32(number))
        self.assertTrue(np.isnan(self.through(model, "1xf32=nan")[0]))
        model = small_models.typed(self.folder, TensorProto.INT64, [], "scalar")
        self.assertEqual(self.through(model, "i64=-9223372036854775808"), np.iinfo(np.int64).min)
        model = small_models.typed(self.folder, TensorProto.UINT64, [], "unsigned")
        self.assertEqual(self.through(model, "u64=18446744073709551615"), np.iinfo(np.uint64).max)

    def test_random_numbers(self):
        for name, (element, dtype) in TYPES.items():
            with self.subTest(type=name):
                model = small_models.typed(self.folder, element, [64], name)
                values = self.through(model, f"64x{name}=random:5")
                np.testing.assert_array_equal(values, random_values(5, 0, [64], dtype))
                np.testing.assert_array_equal(values, self.through(model, "random:5"))
                if name[0] == "f":
                    self.assertTrue(((values >= 0) & (values < 1)).all())
                else:
                    self.assertEqual(set(values.tolist()), {0, 1})
        self.assertFalse(np.array_equal(values, self.through(model, "random:6")))

    def test_arrays(self):
        model = small_models.typed(self.folder, TensorProto.FLOAT, [2, 3])
        values = np.arange(6, dtype=np.float32).reshape(2, 3)
        for name, array in (("plain", values), ("columns", np.asfortranarray(values)),
                            ("turned", values.astype(">f4"))):
            with self.subTest(name=name):
                np.save(self.folder / f"{name}.npy", array)
                np.testing.assert_array_equal(self.through(model, self.folder / f"{name}.npy"), values)
        np.savez(self.folder / "two.npz", a=values * 2, b=values)
        np.testing.assert_array_equal(self.through(model, f"{self.folder}/two.npz:b"), values)
        np.savez_compressed(self.folder / "small.npz", a=values)
        np.testing.assert_array_equal(self.through(model, f"{self.folder}/small.npz:a"), values)

    def test_protobuf(self):
        model = small_models.typed(self.folder, TensorProto.FLOAT, [2, 3])
        values = np.arange(6, dtype=np.float32).reshape(2, 3)
        (self.folder / "raw.pb").write_bytes(numpy_helper.from_array(values).SerializeToString())
        typed = onnx.helper.make_tensor("x", TensorProto.FLOAT, [2, 3], values.ravel())
        (self.folder / "typed.pb").write_bytes(typed.SerializeToString())
        for name in ("raw", "typed"):
            np.testing.assert_array_equal(self.through(model, self.folder / f"{name}.pb"), values)

    def test_pictures(self):
        pixels = np.random.default_rng(2).integers(0, 256, (6, 8, 3), np.uint8)
        Image.fromarray(pixels).save(self.folder / "p.png")
        Image.fromarray(np.full((6, 8, 3), 200, np.uint8)).save(self.folder / "P.JPG", quality=95)
        rows = small_models.typed(self.folder, TensorProto.FLOAT, [1, 6, 8, 3], "nhwc")
        planes = small_models.typed(self.folder, TensorProto.FLOAT, [1, 3, 6, 8], "nchw")
        bytes_ = small_models.typed(self.folder, TensorProto.UINT8, [6, 8, 3], "u8")
        alpha = small_models.typed(self.folder, TensorProto.FLOAT, [1, 6, 8, 4], "alpha")
        free = small_models.typed(self.folder, TensorProto.FLOAT, [1, "h", "w", 3], "free")
        picture = self.folder / "p.png"
        np.testing.assert_array_equal(self.through(rows, picture)[0], pixels)
        np.testing.assert_array_equal(self.through(free, picture)[0], pixels)
        np.testing.assert_array_equal(self.through(bytes_, picture), pixels)
        np.testing.assert_array_equal(self.through(planes, picture)[0], pixels.transpose(2, 0, 1))
        np.testing.assert_array_equal(self.through(alpha, picture)[0, :, :, :3], pixels)
        np.testing.assert_allclose(self.through(rows, picture, "--image-range", "0..1")[0],
                                   pixels / 255, atol=1e-6)
        np.testing.assert_allclose(self.through(rows, picture, "--image-range", "-1..1")[0],
                                   pixels / 127.5 - 1, atol=1e-6)
        np.testing.assert_allclose(self.through(rows, self.folder / "P.JPG")[0],
                                   np.full((6, 8, 3), 200), atol=3)
        larger = small_models.typed(self.folder, TensorProto.FLOAT, [1, 12, 16, 3], "larger")
        resized = self.through(larger, picture)[0]
        self.assertEqual(resized.shape, (12, 16, 3))
        self.assertLess(abs(resized.mean() - pixels.mean()), 8)


class NamesAndShapes(ValueTest):
    def test_names_with_colons_and_slashes(self):
        model = small_models.counter(self.folder)
        file = self.folder / "total.npy"
        self.expect(0, "run", model, "--input", "net/state:0=2xf32=5", "--input", "x=2xf32=1",
                    "--output", f"net/total:0={file}")
        np.testing.assert_array_equal(np.load(file), [6, 6])

    def test_values_without_a_name_take_the_order_of_the_inputs(self):
        model = small_models.picked(self.folder)
        np.save(self.folder / "x.npy", np.float32([0, 10, 20, 30]))
        file = self.folder / "y.npy"
        self.expect(0, "run", model, "--input", "i=1xi64=2", "--input", self.folder / "x.npy",
                    "--output", file)
        np.testing.assert_array_equal(np.load(file), [20])

    def test_random_fills_what_is_left(self):
        model = small_models.counter(self.folder)
        file = self.folder / "total.npy"
        self.expect(0, "run", model, "--input", "x=2xf32=0", "--input", "random:3", "--output", file)
        np.testing.assert_array_equal(np.load(file), random_values(3, 1, [2], np.float32))

    def test_open_dimensions(self):
        model = small_models.scale(self.folder)
        for options, rows in (([], 1), (["--dim", "rows=3"], 3), (["--shape", "x=5x4"], 5),
                              (["--dim", "rows=0"], 0)):
            with self.subTest(options=options):
                self.assertEqual(self.through(model, "random:1", *options).shape, (rows, 4))

    def test_a_state(self):
        model = small_models.counter(self.folder)
        file = self.folder / "total.npy"
        self.expect(0, "run", model, "--input", "x=2xf32=1", "--input", "net/state:0=2xf32=10",
                    "--state", "net/total:0=net/state:0", "--repeat", 5, "--output", file)
        np.testing.assert_array_equal(np.load(file), [15, 15])

    def test_a_sequence_is_numbered_files(self):
        model = small_models.split_sequence(self.folder)
        self.expect(0, "run", model, "--input", "3x2xf32=4", "--output",
                    f"rows={self.folder / 'row.npy'}")
        self.assertEqual(sorted(path.name for path in self.folder.glob("row*")),
                         ["row.0.npy", "row.1.npy", "row.2.npy"])
        np.testing.assert_array_equal(np.load(self.folder / "row.1.npy"), [[4, 4]])


class Sizes(CommandLineTest):
    def limit(self, text: str) -> int:
        report = self.report("plan", self.model, "--memory-limit", text)
        self.assertEqual(report["limit_source"], "option")
        return report["limit_bytes"]

    def test_sizes(self):
        self.model = small_models.scale(self.folder)
        for text, size in (("50000000", 50_000_000), ("65536KiB", 65536 << 10), ("64MiB", 64 << 20),
                           ("1.5GiB", 3 << 29), ("50000kB", 50_000_000), ("60MB", 60_000_000),
                           ("2GB", 2_000_000_000)):
            with self.subTest(text=text):
                self.assertEqual(self.limit(text), size)

    def test_a_share_of_the_machine(self):
        self.model = small_models.scale(self.folder)
        whole = self.limit("100%")
        self.assertEqual(self.limit("50%"), whole // 2)
        fields = dict(line.split(":") for line in
                      pathlib.Path("/proc/meminfo").read_text().splitlines())
        self.assertLessEqual(whole, int(fields["MemTotal"].split()[0]) * 1024)


if __name__ == "__main__":
    harness.main()
