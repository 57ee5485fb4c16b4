"""Programs compiled against the C library, run by `plimsoll wasm run`.

Why it exists: WASI is what they see of the system, and what they must not see of it.
"""

import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

import harness  # noqa: E402
from guest_builder import build, require_compiler  # noqa: E402
from harness import BAD_INPUT, DONE, USAGE, CommandLineTest  # noqa: E402

TRAP = 134


class Streams(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.module = build("streams", self.folder, with_library=True)

    def run_guest(self, code: int, *arguments, options=(), **streams):
        done = subprocess.run([self.program, "wasm", "run", str(self.module), *options, "--",
                               *map(str, arguments)], capture_output=True, text=True, check=False,
                              timeout=harness.SECONDS,
                              **{"stdin": subprocess.DEVNULL, **streams})
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def test_arguments_and_environment(self):
        done = self.run_guest(DONE, "arguments", "", "--json", "ä b",
                              options=("--env", "A=1", "--env", "B=x=y", "--env", "C="))
        self.assertEqual(done.stdout, "[streams.wasm][arguments][][--json][ä b]{A=1}{B=x=y}{C=}\n")
        # Nothing of the host's own environment.
        self.assertEqual(self.run_guest(DONE, "arguments").stdout, "[streams.wasm][arguments]\n")
        for bad in ("A", "=1", ""):
            self.expect(USAGE, "wasm", "run", self.module, "--env", bad)

    def test_exit_codes(self):
        for code in (0, 1, 2, 3, 4, 5, 6, 134, 255):
            self.run_guest(code, "exit", code)
        self.run_guest(1, "exit", 257)
        report = self.folder / "report.json"
        self.run_guest(3, "exit", 3, options=("--json", str(report)))
        found = json.loads(report.read_text())
        self.assertEqual((found["exit_reason"], found["exit_code"]), ("guest", 3))
        self.run_guest(TRAP, "abort", options=("--json", str(report)))
        self.assertEqual(json.loads(report.read_text())["exit_reason"], "trap")

    def test_streams(self):
        text = "".join(f"line {number}\n" for number in range(5000)) + "no end"
        done = self.run_guest(DONE, "echo", stdin=None, input=text)
        self.assertEqual(done.stdout, "".join(f"> {line}\n" for line in text.split("\n"))[:-1])
        done = self.run_guest(DONE, "error")
        self.assertEqual((done.stdout, done.stderr), ("", "to standard error\n"))
        for task in ("closed", "seek", "wrong", "random", "yield"):
            self.run_guest(DONE, task, stdin=subprocess.PIPE)
        self.assertAlmostEqual(int(self.run_guest(DONE, "times").stdout), time.time(), delta=10)

    def test_closed_pipe(self):
        with subprocess.Popen([self.program, "wasm", "run", str(self.module), "--", "pipe"],
                              stdout=subprocess.PIPE) as guest:
            guest.stdout.close()
            self.assertEqual(guest.wait(harness.SECONDS), 7)

    def test_unknown_call(self):
        # (import "wasi_snapshot_preview1" "fd_fly" (func)), then fd_close of a wrong type.
        for name, words in (("fd_fly", "'fd_fly', which nothing"), ("fd_close", "incompatible")):
            entry = bytes([22]) + b"wasi_snapshot_preview1" + bytes([len(name)]) + name.encode()
            body = bytes([1]) + entry + bytes([0, 0])
            path = self.folder / f"{name}.wasm"
            path.write_bytes(bytes([0, 0x61, 0x73, 0x6D, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2,
                                    len(body)]) + body)
            self.expect_sentence(BAD_INPUT, ("wasm", "run", path), (words,))


if __name__ == "__main__":
    require_compiler(with_library=True)
    harness.main()
