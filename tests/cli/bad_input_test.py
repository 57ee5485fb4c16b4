"""Files, models and values that are not what they should be: exit 3 and one sentence.

Why it exists: the sentence must name the thing, the cause and what to do, and nothing may be allocated
for a number that nobody checked: each case runs under a limit that such a number would break.
"""

import struct
import zlib

import harness  # first: it puts the tests' folder on the path
import numpy as np
import onnx
from harness import BAD_INPUT, CommandLineTest
from onnx import TensorProto
from support import small_models

LIMIT = ("--memory-limit", "30MiB")


def png(width: int, height: int, data: bytes = b"") -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return (struct.pack(">I", len(body)) + kind + body
                + struct.pack(">I", zlib.crc32(kind + body)))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data))
            + chunk(b"IEND", b""))


class BadInput(CommandLineTest):
    def file(self, name: str, content: bytes | str):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def expect_bad_model(self, path, *words):
        for command in ("run", "plan"):
            self.expect_sentence(BAD_INPUT, [command, path, "--input", "random:1", *LIMIT],
                                 [str(path), *words])
        self.expect_sentence(BAD_INPUT, ["inspect", path], [str(path), *words])

    def expect_bad_value(self, model, value, *words):
        """Found before a plan is printed."""
        for command in ("run", "plan"):
            self.expect_sentence(BAD_INPUT, [command, model, "--input", value, *LIMIT],
                                 ["input 'x'", *words])


class BadModels(BadInput):
    def test_files_that_are_no_models(self):
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
        text = 'ir_version: 8\ngraph {\n  node {\n    op_type: "Relu"\n  }\n}\n'
        for name, content, words in (
                ("pointer.onnx", pointer, ["Git LFS pointer", "git lfs pull"]),
                ("text.onnx", text, ["is text", "converted to binary"]),
                ("empty.onnx", "", ["is empty", "fetch it again"]),
                ("page.onnx", "<html>not found</html>", ["web page"]),
                ("random.onnx", np.random.default_rng(1).bytes(4096), ["damaged"])):
            with self.subTest(name=name):
                self.expect_bad_model(self.file(name, content), *words)

    def test_places_without_a_model(self):
        self.expect_bad_model(self.folder, "is a directory", "give the path of a file")
        self.expect_bad_model(self.folder / "none.onnx", "does not exist", "check the path")
        self.expect_bad_model("/dev/zero", "not a regular file")

    def test_a_cut_file(self):
        whole = small_models.dense(self.folder, 64).read_bytes()
        for length in (1, 7, 40, len(whole) // 2, len(whole) - 1):
            with self.subTest(length=length):
                path = self.file("cut.onnx", whole[:length])
                self.expect_bad_model(path, "the file was cut", "fetch it again")

    def test_every_cut_and_every_changed_byte_ends_well(self):
        whole = small_models.scale(self.folder).read_bytes()
        path = self.folder / "changed.onnx"
        for position in range(len(whole)):
            for content in (whole[:position],
                            whole[:position] + b"\xff" + whole[position + 1:]):
                path.write_bytes(content)
                done = self.start("run", path, "--input", "random:1", "--quiet", *LIMIT)
                self.assertIn(done.returncode, (0, 3, 4), f"byte {position}: {done.stderr}")

    def test_external_data(self):
        self.file("short.bin", bytes(8))
        self.file("data.bin", bytes(64))
        (self.folder / "link.bin").symlink_to("/etc/hostname")
        huge = 1 << 64
        for location, offset, length, words in (
                ("none.bin", 0, 16, ["none.bin", "does not exist", "check the path"]),
                ("short.bin", 0, 16, ["short.bin", "only 8 bytes", "fetch it again"]),
                ("data.bin", 56, 16, ["data.bin", "only 64 bytes", "fetch it again"]),
                ("../data.bin", 0, 16, ["'../data.bin'", "outside", "beside the model"]),
                ("/etc/hostname", 0, 16, ["'/etc/hostname'", "absolute path", "relative"]),
                ("link.bin", 0, 16, ["'link.bin'", "outside", "beside the model"]),
                ("data.bin", huge - 8, 16, ["data.bin", "only 64 bytes"]),
                ("data.bin", huge, 16, ["offset", "no number of bytes", "export"]),
                ("data.bin", -8, 16, ["'-8'", "no number of bytes", "export"]),
                ("data.bin", 0, huge - 1, ["need 16", "export"]),
                ("data.bin", 0, 12, ["need 16", "export"])):
            with self.subTest(location=location, offset=offset, length=length):
                path = small_models.external(self.folder, location, offset, length)
                self.expect_bad_model(path, "tensor 'two'", *words)

    def test_dimensions(self):
        for dimensions, words in (
                ([1 << 40, 1 << 40], ["2^62", "check"]),
                ([1 << 62, 4], ["2^62", "check"]),
                ([-4], ["negative", "check"]),
                ([1 << 40], ["two"])):
            with self.subTest(dimensions=dimensions):
                model = onnx.load(small_models.scale(self.folder))
                model.graph.initializer[0].dims[:] = dimensions
                path = small_models.save(model, self.folder, "dimensions")
                self.expect_bad_model(path, "tensor 'two'", *words)

    def test_a_cycle(self):
        self.expect_bad_model(small_models.cyclic(self.folder), "cycle", "'first'", "export")


class BadValues(BadInput):
    def test_types_ranks_and_shapes(self):
        model = small_models.scale(self.folder)
        for value, words in (
                ("1x4xi64=1", ["i64", "f32 rowsx4", "convert"]),
                ("4xf32=1", ["its shape is 4", "rowsx4", "reshape"]),
                ("2x5xf32=1", ["2x5", "rowsx4", "reshape"]),
                ("2x4x1xf32=1", ["2x4x1", "rowsx4", "reshape"]),
                ("f32=1", ["scalar", "rowsx4"])):
            with self.subTest(value=value):
                self.expect_bad_value(model, value, *words)

    def test_texts_that_are_no_values(self):
        model = small_models.scale(self.folder)
        for value, words in (
                ("nonsense", ["'nonsense'", ".npy"]),
                ("file.txt", ["'file.txt'", ".npy"]),
                ("1x4xf33=1", ["no value"]),
                ("1x4xf32=much", ["'much'", "f32", "give a number"]),
                ("1x4xf32=1e39", ["larger"]),
                ("1x4xu8=256", ["255"]),
                ("1x4xi8=-129", ["-128"]),
                ("1x4xbool=2", ["true"]),
                ("99999999999x99999999999xf32=1", ["2^62"]),
                ("random:x", ["seed"]),
                ("1x4xf32=random:-1", ["seed"])):
            with self.subTest(value=value):
                self.expect_sentence(BAD_INPUT, ["run", model, "--input", value, *LIMIT], words)

    def test_arrays(self):
        model = small_models.scale(self.folder)
        np.save(self.folder / "good.npy", np.zeros((2, 4), np.float32))
        good = (self.folder / "good.npy").read_bytes()
        self.expect(0, "run", model, "--input", self.folder / "good.npy")
        for name, content, words in (
                ("empty", b"", ["0 bytes", "numpy.save"]),
                ("other", b"PK\x03\x04" + bytes(100), ["no .npy file"]),
                ("more", good.replace(b"(2, 4)", b"(9, 4)"), ["144 bytes", "32 are there"]),
                ("wrapped", good.replace(b"(2, 4), }  ", b"(2, " + b"9" * 4 + b"), }"), ["x9999"]),
                ("negative", good.replace(b"(2, 4)", b"(-2,4)"), ["damaged", "numpy.save"]),
                ("header", good[:8] + b"\xff\xff" + good[10:], ["header", "damaged"]),
                ("cut_header", good[:40], ["header"]),
                ("cut", good[:-1], ["is cut", "write it again"]),
                ("objects", good.replace(b"'<f4'", b"'|O'"), ["type"])):
            with self.subTest(name=name):
                path = self.file(f"{name}.npy", content)
                self.expect_bad_value(model, path, str(path), *words)
        huge = good.replace(b"(2, 4), }" + b" " * 30, b"(" + b"4611686018427387904, 4), }" + b" " * 12)
        self.assertEqual(len(huge), len(good))
        self.expect_bad_value(model, self.file("huge.npy", huge), "huge.npy", "2^62")

    def test_archives(self):
        model = small_models.scale(self.folder)
        np.savez(self.folder / "two.npz", first=np.zeros((1, 4), np.float32))
        path = self.folder / "two.npz"
        self.expect(0, "run", model, "--input", f"{path}:first")
        self.expect_bad_value(model, f"{path}:second", "'second'", "first")
        cut = self.file("cut.npz", path.read_bytes()[:-10])
        self.expect_bad_value(model, f"{cut}:first", str(cut))

    def test_images(self):
        model = small_models.typed(self.folder, TensorProto.FLOAT, [1, 8, 8, 3])
        for name, content, words in (
                ("nothing.png", png(0, 0), ["0×0", "give one that has some"]),
                ("flat.png", png(8, 0), ["8×0"]),
                ("vast.png", png(2**31 - 1, 2**31 - 1), ["2147483647", "scale it down"]),
                ("lying.png", png(20000, 20000), ["20000×20000", "damaged"]),
                ("short.png", png(8, 8), ["damaged", "save it again"]),
                ("empty.png", b"", ["empty.png"]),
                ("text.jpg", b"hello, this is no image", ["text.jpg"]),
                ("cut.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF", ["cut.jpg"])):
            with self.subTest(name=name):
                path = self.file(name, content)
                done = self.start("run", model, "--input", path, "--quiet", *LIMIT)
                self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
                for word in ["input 'x'", str(path), *words]:
                    self.assertIn(word, done.stderr)
        good = self.file("good.png", png(2, 2, b"\0" + bytes(6) + b"\0" + bytes(6)))
        self.expect(0, "run", model, "--input", good)
        numbers = small_models.typed(self.folder, TensorProto.INT64, [1, 8, 8, 3], "numbers")
        self.expect_bad_value(numbers, good, "i64", ".npy")
        vector = small_models.typed(self.folder, TensorProto.FLOAT, [8], "vector")
        self.expect_bad_value(vector, good, "channels", "--shape")

    def test_names_that_a_terminal_would_obey(self):
        model = small_models.scale(self.folder)
        path = self.file("names.onnx", model.read_bytes().replace(b"rows", b"\x1b[2J"))
        done = self.expect(BAD_INPUT, "run", path)
        self.assertIn("?[2J", done.stderr)
        self.assertNotIn("\x1b", done.stderr + self.expect(0, "inspect", path).stdout)

    def test_protobuf_values(self):
        model = small_models.scale(self.folder)
        tensor = onnx.numpy_helper.from_array(np.zeros((2, 4), np.float32))
        content = tensor.SerializeToString()
        self.expect(0, "run", model, "--input", self.file("good.pb", content))
        for name, content in (("cut.pb", content[:-3]), ("empty.pb", b""), ("text.pb", b"dims: 4")):
            with self.subTest(name=name):
                self.expect_bad_value(model, self.file(name, content), name)

    def test_a_value_that_fails_while_running(self):
        model = small_models.picked(self.folder)
        done = self.expect(BAD_INPUT, "run", model, "--input", "x=4xf32=1", "--input", "i=1xi64=9")
        self.assertIn("Gather 'pick': index 9", done.stderr)


if __name__ == "__main__":
    harness.main()
