"""What each outcome exits with, and what it says.

Why it exists: 0, 2, 3, 4 and 6 are what scripts branch on. (5, the kernel saw more than the limit, is a
fault that no input should be able to bring about; tests/limits look for one.)
"""

import harness
from harness import BAD_INPUT, DOES_NOT_FIT, DONE, FAILURE, USAGE, CommandLineTest
from support import small_models


class ExitCodes(CommandLineTest):
    def test_help_is_no_fault(self):
        for arguments in (["--help"], ["run", "--help"], ["plan", "--help"], ["inspect", "--help"],
                          ["bench", "--help"], ["--version"]):
            done = self.expect(DONE, *arguments)
            self.assertTrue(done.stdout)
            self.assertEqual(done.stderr, "")
            for line in done.stdout.splitlines():
                self.assertLess(len(line), 120)

    def test_usage(self):
        model = small_models.scale(self.folder)
        random = ["--input", "random:1"]
        for arguments, words in (
                ([], ["run, plan, inspect, bench"]),
                (["fly"], ["'fly'", "run, plan, inspect, bench"]),
                (["--fly"], ["'--fly'"]),
                (["run"], ["MODEL"]),
                (["run", model, "--fly"], ["--fly", "plimsoll run --help"]),
                (["inspect", model, "--threads", "2"], ["--threads"]),
                (["run", model, *random, "--memory-limit", "many"], ["'many'", "KiB"]),
                (["run", model, *random, "--memory-limit", "5XB"], ["'XB'"]),
                (["run", model, *random, "--memory-limit", "0"], ["'0'"]),
                (["run", model, *random, "--memory-limit", "-1"], ["-1"]),
                (["run", model, *random, "--memory-limit", "101%"], ["100%"]),
                (["run", model, *random, "--memory-limit", "99999999999GiB"], ["2^60"]),
                (["run", model, *random, "--threads", "0"], ["--threads", "1 to 64"]),
                (["run", model, *random, "--threads", "65"], ["--threads", "1 to 64"]),
                (["run", model, *random, "--repeat", "0"], ["--repeat"]),
                (["run", model, *random, "--policy", "hope"], ["--policy", "favor-min-peak"]),
                (["run", model, *random, "--target", "z80"], ["'z80'", "generic"]),
                (["run", model, *random, "--image-range", "1..2"], ["--image-range", "0..255"]),
                (["run", model, *random, "--dim", "rows"], ["--dim", "NAME=N"]),
                (["run", model, *random, "--dim", "rows=-2"], ["--dim", "whole number"]),
                (["run", model, *random, "--dim", "columns=2"], ["'columns'", "'rows'"]),
                (["run", model, *random, "--shape", "z=2x4"], ["'z=2x4'", "x"]),
                (["run", model, *random, "--state", "y=nothing"], ["--state", "outputs", "inputs"]),
                (["run", model, "--input", "x=1x4xf32=1", "--input", "x=1x4xf32=2"], ["twice"]),
                (["run", model, *random, "--input", "1x4xf32=1", "--input", "1x4xf32=1"],
                 ["no input is left"]),
                (["run", model, *random, "--output", "z=a.npy"], ["'z'", "it has: "]),
                (["run", model, *random, "--output", "a.npy", "--output", "b.npy"],
                 ["no output is left"])):
            with self.subTest(arguments=arguments[2:] or arguments):
                self.expect_sentence(USAGE, arguments, words)

    def test_inputs_that_are_missing_are_listed_with_their_shapes(self):
        model = small_models.counter(self.folder)
        message = self.expect_sentence(BAD_INPUT, ["run", model, "--input", "x=2xf32=1"],
                                       ["net/state:0  f32 2", "--input"])
        self.assertNotIn("x  f32", message)
        self.expect_sentence(BAD_INPUT, ["run", model], ["net/state:0  f32 2", "x  f32 2"])

    def test_an_operator_that_is_not_supported(self):
        model = small_models.unknown_operator(self.folder)
        for command in ("run", "plan", "bench"):
            self.expect_sentence(BAD_INPUT, [command, model, "--input", "random:1", "--quiet"],
                                 ["'Frobnicate'", "'com.example'", "'odd one'", "not supported"])

    def test_refused(self):
        model = small_models.dense(self.folder, 1024)
        for command in ("run", "plan", "bench"):
            self.expect_sentence(
                DOES_NOT_FIT,
                [command, model, "--input", "random:1", "--memory-limit", "6MiB", "--quiet"],
                ["does not fit", "6.0 MiB", "the smallest that would work", "--memory-limit "])

    def test_the_limit_that_a_refusal_names_works(self):
        model = small_models.dense(self.folder, 1024)
        for limit in ("1", "3MiB", "5MiB", "6MiB"):
            with self.subTest(limit=limit):
                done = self.expect(DOES_NOT_FIT, "run", model, "--input", "random:1",
                                   "--memory-limit", limit, "--quiet")
                named = done.stderr.rpartition("--memory-limit ")[2].strip()
                self.expect(DONE, "run", model, "--input", "random:1", "--memory-limit", named)

    def test_refused_when_the_size_is_known(self):
        model = small_models.growing(self.folder)
        small = ["--input", "n=i64=1000", "--memory-limit", "20MiB"]
        large = ["--input", "n=i64=9000000", "--memory-limit", "20MiB"]
        self.expect(DONE, "plan", model, "--memory-limit", "20MiB")
        self.expect(DONE, "run", model, *small)
        self.expect_sentence(DOES_NOT_FIT, ["run", model, *large, "--quiet"], ["does not fit"])

    def test_failures_while_running(self):
        model = small_models.scale(self.folder)
        for option in (["--output", "/dev/full"], ["--json", "/dev/full"],
                       ["--timeline", "/dev/full"], ["--profile", "/dev/full"]):
            with self.subTest(option=option):
                done = self.expect(FAILURE, "run", model, "--input", "random:1", *option)
                self.assertIn("'/dev/full' cannot be written: No space left", done.stderr)

    def test_places_that_cannot_be_written_are_found_before_the_run(self):
        model = small_models.scale(self.folder)
        for option in ("--output", "--json", "--timeline", "--profile"):
            for place in (self.folder / "no" / "file", self.folder):
                with self.subTest(option=option, place=str(place)):
                    self.expect_sentence(BAD_INPUT, ["run", model, "--input", "random:1", option,
                                                     place], [str(place), "cannot be written"])


if __name__ == "__main__":
    harness.main()
