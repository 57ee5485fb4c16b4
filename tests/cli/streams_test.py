"""What goes to standard output, to standard error and to a terminal, and how a run is interrupted.

Why it exists: a JSON report is piped into other programs, and people look at the rest.
"""

import json
import os
import pty
import signal
import subprocess
import time

import harness  # first: it puts the tests' folder on the path
from harness import FAILURE, SECONDS, CommandLineTest
from support import small_models


class Streams(CommandLineTest):
    def test_json_stands_alone_on_standard_output(self):
        model = small_models.scale(self.folder)
        for command in ("run", "plan", "bench"):
            done = self.expect(0, command, model, "--input", "random:1", "--json", "-")
            json.loads(done.stdout)
            self.assertIn("plan  ", done.stderr)
        json.loads(self.expect(0, "inspect", model, "--json", "-").stdout)

    def test_json_in_a_file_leaves_the_text_where_it_was(self):
        model = small_models.scale(self.folder)
        file = self.folder / "report.json"
        done = self.expect(0, "run", model, "--input", "random:1", "--json", file)
        self.assertIn("plan  ", done.stdout)
        self.assertIn("peak  ", done.stdout)
        self.assertEqual(done.stderr, "")
        json.loads(file.read_text())

    def test_quiet(self):
        model = small_models.scale(self.folder)
        for command in ("run", "plan", "bench"):
            done = self.expect(0, command, model, "--input", "random:1", "--quiet")
            self.assertEqual(done.stdout + done.stderr, "")
        done = self.expect(0, "run", model, "--input", "random:1", "--quiet", "--json", "-")
        self.assertEqual(done.stderr, "")
        json.loads(done.stdout)

    def test_a_timeline(self):
        model = small_models.dense(self.folder, 256)
        file = self.folder / "timeline.svg"
        self.expect(0, "run", model, "--input", "random:1", "--memory-limit", "40MiB", "--timeline",
                    file)
        picture = file.read_text()
        self.assertTrue(picture.startswith("<svg") or picture.startswith("<?xml"), picture[:40])
        for word in ("limit", "encode", "run", "</svg>"):
            self.assertIn(word, picture)

    def test_a_full_pipe_is_a_failure(self):
        model = small_models.scale(self.folder)
        with open("/dev/full", "w") as full:
            done = subprocess.run([self.program, "run", model, "--input", "random:1", "--json", "-"],
                                  stdout=full, stderr=subprocess.PIPE, text=True, timeout=SECONDS,
                                  check=False)
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn("standard output", done.stderr)


class Terminal(CommandLineTest):
    def start_slow(self, *options, **streams) -> subprocess.Popen:
        model = small_models.slow(self.folder, rounds=4096 if options else 1 << 30)
        return subprocess.Popen([self.program, "run", model, "--input", "random:1", "--output",
                                 self.folder / "y.npy", "--json", self.folder / "report.json",
                                 *options],
                                stdin=subprocess.DEVNULL, start_new_session=True, **streams)

    def test_an_interrupt_ends_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = self.start_slow(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                time.sleep(0.5)
                self.assertIsNone(process.poll())
                asked = time.monotonic()
                process.send_signal(number)
                _, errors = process.communicate(timeout=SECONDS)
                self.assertLess(time.monotonic() - asked, 5)
                self.assertEqual(process.returncode, FAILURE, errors)
                self.assertIn("plimsoll: interrupted", errors)
                self.assertFalse((self.folder / "y.npy").exists())

    def test_progress_is_shown_on_a_terminal_and_cleared(self):
        self.assertIn(b"\rrun   0 %\033[K", self.shown_on_a_terminal())

    def test_progress_of_many_runs(self):
        self.assertRegex(self.shown_on_a_terminal("--repeat", "100000"),
                         rb"\rrun [0-9]+ of 100000\033\[K")

    def shown_on_a_terminal(self, *options) -> bytes:
        ours, theirs = pty.openpty()
        process = self.start_slow(*options, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        time.sleep(2.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertTrue(shown.rstrip().endswith(b"plimsoll: interrupted"), shown[-200:])
        self.assertIn(b"\r\033[K", shown)
        return shown

    def test_no_progress_without_a_terminal(self):
        process = self.start_slow(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
        self.assertEqual(errors, b"plimsoll: interrupted\n")


if __name__ == "__main__":
    harness.main()
