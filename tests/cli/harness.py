"""Starts the program as a user's shell does, for tests of the command line.

Why it exists: exit codes, streams and sentences are a contract with scripts and people; the tests of
this folder hold them, each file one part of it. Called as `FILE.py PROGRAM`.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

SECONDS = 120
DONE, USAGE, BAD_INPUT, DOES_NOT_FIT, OVER_LIMIT, FAILURE = 0, 2, 3, 4, 5, 6


class CommandLineTest(unittest.TestCase):
    """A test with the program and a folder of its own."""

    program = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plimsoll-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *arguments) -> subprocess.CompletedProcess:
        return subprocess.run([self.program, *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace",
                              timeout=SECONDS, check=False)

    def expect(self, code: int, *arguments) -> subprocess.CompletedProcess:
        done = self.start(*arguments)
        self.assertEqual(done.returncode, code,
                         f"{' '.join(map(str, arguments))}:\n{done.stdout}{done.stderr}")
        return done

    def report(self, *arguments, code: int = DONE) -> dict:
        """The JSON that a command puts on standard output."""
        return json.loads(self.expect(code, *arguments, "--json", "-").stdout)

    def expect_sentence(self, code: int, arguments, words) -> str:
        """One message on standard error, none on standard output, with all these words in it."""
        done = self.expect(code, *arguments)
        message = done.stderr.strip()
        self.assertEqual(done.stdout, "", "a message went to standard output")
        self.assertTrue(message.startswith("plimsoll: "), message)
        for word in words:
            self.assertIn(word, message)
        return message


def main() -> None:
    CommandLineTest.program = sys.argv.pop(1)
    unittest.main(verbosity=1)
