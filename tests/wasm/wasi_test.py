"""Programs compiled against the C library, run by `plimsoll wasm run`.

Why it exists: WASI is what they see of the system, and what they must not see of it.
"""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

import harness  # noqa: E402
from guest_builder import build, require_compiler  # noqa: E402
from harness import BAD_INPUT, DONE, USAGE, CommandLineTest  # noqa: E402

TRAP = 134


class GuestTest(CommandLineTest):
    source = ""

    def setUp(self):
        super().setUp()
        self.module = build(self.source, self.folder, with_library=True)

    def run_guest(self, code: int, *arguments, options=(), **streams):
        done = subprocess.run([self.program, "wasm", "run", str(self.module), *options, "--",
                               *map(str, arguments)], capture_output=True, text=True, check=False,
                              timeout=harness.SECONDS,
                              **{"stdin": subprocess.DEVNULL, **streams})
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return done


class Streams(GuestTest):
    source = "streams"

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

    def test_waiting(self):
        with subprocess.Popen([self.program, "wasm", "run", str(self.module), "--", "wait"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as guest:
            self.assertEqual(guest.stdout.readline(), b"ready\n")
            guest.stdin.write(b"four")
            guest.stdin.flush()
            self.assertEqual(guest.wait(harness.SECONDS), DONE)

    def test_unknown_imports_as_traps(self):
        # (import "env" "gone" (func (param i32) (result f64))) (memory (export "memory") 1)
        # (func (export "_start")) (func (export "use") i32.const 0 call 0 drop)
        module = bytes([0, 0x61, 0x73, 0x6D, 1, 0, 0, 0, 1, 9, 2, 0x60, 1, 0x7F, 1, 0x7C, 0x60, 0, 0,
                        2, 12, 1, 3]) + b"env" + bytes([4]) + b"gone" + bytes(
                            [0, 0, 3, 3, 2, 1, 1, 5, 3, 1, 0, 1, 7, 16, 2, 6]) + b"_start" + bytes(
                                [0, 1, 3]) + b"use" + bytes(
                                    [0, 2, 10, 12, 2, 2, 0, 0x0B, 7, 0, 0x41, 0, 0x10, 0, 0x1A, 0x0B])
        path = self.folder / "unknown.wasm"
        path.write_bytes(module)
        self.expect_sentence(BAD_INPUT, ("wasm", "run", path), ("'env'.'gone'", "--unknown-imports"))
        self.expect(BAD_INPUT, "wasm", "run", path, "--unknown-imports", "error")
        self.expect(DONE, "wasm", "run", path, "--unknown-imports", "trap")
        self.expect_sentence(TRAP, ("wasm", "run", path, "--unknown-imports", "trap", "--invoke", "use"),
                             ("trap: 'env'.'gone' was called",))
        self.expect(USAGE, "wasm", "run", path, "--unknown-imports", "maybe")

    def test_calls_at_the_end_of_the_stack(self):
        for options in ((), ("--stack-size", "1GiB"), ("--stack-size", "64KiB")):
            done = self.run_guest(TRAP, "deep", options=(*options, "--dir", str(self.folder)))
            self.assertRegex(done.stderr, "trap: call stack exhausted")

    def test_unknown_call(self):
        # (import "wasi_snapshot_preview1" "fd_fly" (func)), then fd_close of a wrong type.
        for name, words in (("fd_fly", "'fd_fly', which nothing"), ("fd_close", "incompatible")):
            entry = bytes([22]) + b"wasi_snapshot_preview1" + bytes([len(name)]) + name.encode()
            body = bytes([1]) + entry + bytes([0, 0])
            path = self.folder / f"{name}.wasm"
            path.write_bytes(bytes([0, 0x61, 0x73, 0x6D, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2,
                                    len(body)]) + body)
            self.expect_sentence(BAD_INPUT, ("wasm", "run", path), (words,))


class Files(GuestTest):
    source = "files"

    def setUp(self):
        super().setUp()
        self.data = self.folder / "data-of-host"
        (self.data / "sub").mkdir(parents=True)
        (self.data / "sub" / "file").write_text("inside")
        outside = self.folder / "outside"
        outside.mkdir()
        self.secret = outside / "secret"
        self.secret.write_text("secret")

    def run_in_data(self, code: int, *arguments):
        return self.run_guest(code, *arguments, options=("--dir", f"{self.data}::data"))

    def everything(self):
        """All that lies outside of the directory, with its contents."""
        return {path: path.read_text() if path.is_file() else None
                for path in self.folder.rglob("*")
                if self.data not in (path, *path.parents) and path.suffix != ".wasm"}

    def test_all_that_a_library_does(self):
        self.run_in_data(DONE, "files")
        self.assertEqual(sorted(path.name for path in self.data.rglob("*")), ["file", "sub"])

    def test_names_of_directories(self):
        self.assertEqual(self.run_in_data(DONE, "read", "data/sub/file").stdout, "inside")
        self.run_in_data(1, "read", "/data-of-host/sub/file")
        self.run_guest(1, "read", self.secret)
        host = str(self.data)
        self.assertEqual(self.run_guest(DONE, "read", f"{host}/sub/file", options=("--dir", host)).stdout,
                         "inside")
        two = ("--dir", f"{host}::/", "--dir", f"{self.secret.parent}::/other")
        self.assertEqual(self.run_guest(DONE, "read", "/sub/file", options=two).stdout, "inside")
        self.assertEqual(self.run_guest(DONE, "read", "/other/secret", options=two).stdout, "secret")
        for bad, code in (("::x", USAGE), ("x::", USAGE), (self.folder / "none", BAD_INPUT),
                          (self.secret, BAD_INPUT)):
            self.expect_sentence(code, ("wasm", "run", self.module, "--dir", bad), (str(bad),))

    def test_no_way_out(self):
        for folder in (self.data, self.data / "sub"):
            (folder / "out").symlink_to(self.secret.parent)
            (folder / "up").symlink_to("..")
        (self.data / "sub/up").unlink()
        (self.data / "sub/up").symlink_to("../..")
        (self.data / "secret-link").symlink_to(self.secret)
        (self.data / "root").symlink_to("/")
        (self.data / "proc-link").symlink_to("/proc")
        (self.data / "dangling").symlink_to("../created")
        before = self.everything()
        self.run_in_data(DONE, "out")
        self.assertEqual(self.everything(), before)

    def test_a_link_that_changes_meanwhile(self):
        inside = self.data / "inside"
        inside.mkdir()
        (inside / "secret").write_text("inside")
        names = [self.data / name for name in ("first", "second", "changing")]
        stop = threading.Event()

        def change():
            while not stop.is_set():
                for target in ("inside", "../outside"):
                    names[0].symlink_to(target)
                    names[0].rename(names[2])

        changer = threading.Thread(target=change)
        changer.start()
        try:
            self.run_in_data(DONE, "race")
        finally:
            stop.set()
            changer.join()

    def test_waits_for_no_pipe(self):
        os.mkfifo(self.data / "pipe")
        self.assertEqual(self.run_in_data(DONE, "read", "data/pipe").stdout, "")


if __name__ == "__main__":
    require_compiler(with_library=True)
    harness.main()
