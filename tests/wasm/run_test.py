"""`plimsoll wasm run` as a user meets it: arguments and results by type, exit codes, the report.

Why it exists: the exit code is the guest's own, so everything else has to be told apart by a contract.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

import harness  # noqa: E402
import jsonschema  # noqa: E402
from guest_builder import build, require_compiler  # noqa: E402
from harness import BAD_INPUT, DOES_NOT_FIT, DONE, USAGE, CommandLineTest  # noqa: E402

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs/schemas/wasm_run.schema.json"
TRAP = 134
# (func $f) (start $f) with the body `unreachable`
START_TRAPS = bytes([0, 0x61, 0x73, 0x6D, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 8, 1, 0,
                     10, 5, 1, 3, 0, 0, 0x0B])
# (func (export "v") (param v128) (result v128 externref) local.get 0 ref.null extern)
VECTOR = bytes([0, 0x61, 0x73, 0x6D, 1, 0, 0, 0, 1, 7, 1, 0x60, 1, 0x7B, 2, 0x7B, 0x6F, 3, 2, 1, 0,
                7, 5, 1, 1, 0x76, 0, 0, 10, 8, 1, 6, 0, 0x20, 0, 0xD0, 0x6F, 0x0B])
# (import "env" "f" (func))
IMPORTS = bytes([0, 0x61, 0x73, 0x6D, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2, 9, 1, 3, 0x65, 0x6E, 0x76,
                 1, 0x66, 0, 0])


class Run(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.module = build("numbers", self.folder, with_library=False)

    def write(self, name: str, binary: bytes) -> pathlib.Path:
        path = self.folder / name
        path.write_bytes(binary)
        return path

    def invoke(self, code: int, name: str, *arguments, options=()):
        """What was printed, what was said, and the report."""
        file = self.folder / "report.json"
        done = self.expect(code, "wasm", "run", self.module, "--invoke", name, "--json", file,
                           *options, "--", *arguments)
        report = json.loads(file.read_text())
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(report)
        self.assertEqual(report["exit_code"], code)
        return done.stdout, done.stderr, report

    def test_results_by_type(self):
        for name, arguments, printed in (
                ("add", (-5, "0x10"), "11"), ("add", (2147483647, 1), "-2147483648"),
                ("add", (4294967295, "-0x80000000"), "2147483647"),
                ("add_long", (18446744073709551615, 3), "2"), ("half", ("0.2",), "0.1"),
                ("half", ("-inf",), "-inf"), ("half_float", ("0x1p-2",), "0.125")):
            out, _, report = self.invoke(DONE, name, *arguments)
            self.assertEqual(out, f"{printed}\n", f"{name}{arguments}")
            self.assertEqual((report["exit_reason"], report["results"]), ("guest", [printed]))

    def test_vectors_and_references(self):
        self.module = self.write("vector.wasm", VECTOR)
        out, _, _ = self.invoke(DONE, "v", "0x1f000000000000000002")
        self.assertEqual(out, f"0x{0x1f000000000000000002:032x}\nnull\n")
        for bad in ("0x", "1", "0x" + 33 * "1", "0x-1"):
            self.invoke(BAD_INPUT, "v", bad)

    def test_bad_arguments(self):
        for value in ("", " 1", "x", "4294967296", "-2147483649", "1.5", "0x", "--1", "1 "):
            _, said, report = self.invoke(BAD_INPUT, "add", 1, value)
            self.assertIn(f"'{value}' is no i32", said)
            self.assertEqual(report["exit_reason"], "error")
        self.assertIn("takes 2 arguments, 3 are given", self.invoke(USAGE, "add", 1, 2, 3)[1])
        self.assertIn("exported functions: add, add_long", self.invoke(BAD_INPUT, "none")[1])
        self.assertIn("no function 'memory'", self.invoke(BAD_INPUT, "memory")[1])

    def test_traps(self):
        for name, arguments, message in (("crash", (), "unreachable"),
                                         ("divide", (1, 0), "integer divide by zero"),
                                         ("divide", (-2147483648, -1), "integer overflow"),
                                         ("deep", (100_000_000,), "call stack exhausted")):
            out, said, report = self.invoke(TRAP, name, *arguments)
            self.assertEqual(out, "")
            self.assertIn(f"trap: {message}", said)
            self.assertEqual((report["exit_reason"], report["message"]), ("trap", message))
        self.assertEqual(self.invoke(DONE, "deep", 1000)[2]["exit_reason"], "guest")
        self.invoke(TRAP, "deep", 1000, options=("--stack-size", "16KiB"))
        self.invoke(DONE, "divide", 7, 2, options=("--bounds", "explicit"))
        started = self.write("start.wasm", START_TRAPS)
        self.assertIn("unreachable", self.expect(TRAP, "wasm", "run", started).stderr)

    def test_limits(self):
        _, said, report = self.invoke(DOES_NOT_FIT, "add", 1, 2, options=("--memory-limit", "1MiB"))
        self.assertEqual(report["exit_reason"], "limit")
        self.assertIn(report["message"], said)
        out, _, report = self.invoke(DONE, "grow", 4096, options=("--memory-limit", "40MiB"))
        self.assertEqual(out, "-1\n")
        self.assertLess(report["kernel_peak_bytes"], 40 << 20)

    def test_without_invoke(self):
        self.expect(DONE, "wasm", "run", self.module)  # nothing to start
        self.expect_sentence(USAGE, ("wasm", "run", self.module, "--json", "-"), ("needs a file",))
        imports = self.write("imports.wasm", IMPORTS)
        self.expect_sentence(BAD_INPUT, ("wasm", "run", imports), ("function 'env'.'f'", str(imports)))
        cut = self.write("cut.wasm", VECTOR[:-4])
        self.expect_sentence(BAD_INPUT, ("wasm", "run", cut), ("unexpected end",))


if __name__ == "__main__":
    require_compiler(with_library=False)
    harness.main()
