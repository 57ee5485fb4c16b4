"""`plimsoll archive`: what it lists, writes and refuses.

Why it exists: archives come from elsewhere and go elsewhere; scripts rely on the listing.
"""

import json
import pathlib
import struct
import subprocess
import time

import harness  # first: it puts the tests' folder on the path
import jsonschema
from harness import BAD_INPUT, DOES_NOT_FIT, DONE, USAGE, CommandLineTest
from support.small_archives import gguf, irpa, safetensors

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"


class ArchiveTest(CommandLineTest):
    def checked(self, file) -> dict:
        schema = json.loads((SCHEMAS / "archive.schema.json").read_text())
        document = self.report("archive", "list", file)
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(document)
        return document

    def write(self, name, data):
        file = self.folder / name
        file.write_bytes(data)
        return file


class Writing(ArchiveTest):
    def entries(self, file):
        return {entry["key"]: entry for entry in self.checked(file)["entries"]}

    def contents(self, entry) -> bytes:
        with open(entry["file"], "rb") as file:
            file.seek(entry["offset"])
            return file.read(entry["length"])

    def test_create(self):
        self.write("other.bin", b"0123456789")
        file = self.folder / "a.irpa"
        self.expect(DONE, "archive", "create", "-o", file, "--data", "w=2x3xf32=1.5",
                    "--data", "a=b=4xi8", "--splat", "s=16x2xf16=1", "--external", "e=other.bin:2:4")
        entries = self.entries(file)
        self.assertEqual(list(entries), ["s", "w", "a=b", "e"])
        self.assertEqual(self.contents(entries["w"]), struct.pack("<f", 1.5) * 6)
        self.assertEqual((entries["w"]["type"], entries["w"]["shape"]), ("f32", [2, 3]))
        self.assertEqual(self.contents(entries["a=b"]), b"\0" * 4)
        self.assertEqual((entries["s"]["splat"], entries["s"]["length"]), ("003c", 64))
        self.assertEqual(self.contents(entries["e"]), b"2345")
        self.assertEqual([entry["offset"] % 64 for entry in entries.values() if entry["type"] == "f32"],
                         [0])
        self.assertIn("4 entries are whole", self.expect(0, "archive", "verify", file).stdout)

    def test_create_refuses_what_makes_no_sense(self):
        file = self.folder / "a.irpa"
        for option in (("--data", "w"), ("--data", "=f32"), ("--splat", "s=2xf32"),
                       ("--data", "w=2xf33"), ("--external", "e=f:1"), ("--external", "e=f:x:1"),
                       ("--data", "w=f32", "--data", "w=f32")):
            done = self.start("archive", "create", "-o", file, *option)
            self.assertIn(done.returncode, (USAGE, BAD_INPUT), option)
        self.expect_sentence(BAD_INPUT, ("archive", "create", "-o", self.folder / "no/a"), ("no/a",))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_convert(self):
        tensors = self.write("a.safetensors", safetensors([
            ("w", "F32", [2], b"wwwwWWWW"), ("b.1", "U8", [3], b"bbb"), ("skip.me", "U8", [1], b"s")]))
        more = self.write("b.irpa", irpa([("w2", b"second"), ("ones", 8, b"\0\0\x80\x3f")]))
        file = self.folder / "all.irpa"
        self.expect(DONE, "archive", "convert", tensors, more, "-o", file, "--rename", "w=weight",
                    "--exclude", "skip*")
        entries = self.entries(file)
        self.assertEqual(list(entries), ["weight", "b.1", "w2", "ones"])
        self.assertEqual(self.contents(entries["weight"]), b"wwwwWWWW")
        self.assertEqual((entries["weight"]["type"], entries["weight"]["shape"]), ("f32", [2]))
        self.assertEqual(self.contents(entries["w2"]), b"second")
        self.assertEqual(entries["ones"]["splat"], "0000803f")
        self.assertIn("3 of them", self.expect(0, "archive", "verify", file).stdout)
        # Onto itself: it is read until the new one has its name.
        self.expect(DONE, "archive", "convert", file, "-o", file)
        self.assertEqual(self.contents(self.entries(file)["b.1"]), b"bbb")
        splats = self.folder / "splats.irpa"
        self.expect(DONE, "archive", "convert", tensors, "-o", splats, "--splat")
        self.assertEqual([(e["kind"], e["length"]) for e in self.entries(splats).values()],
                         [("splat", 8), ("splat", 3), ("splat", 1)])
        self.expect_sentence(BAD_INPUT, ("archive", "convert", tensors, tensors, "-o", file),
                             ("'w'", "twice"))
        self.expect_sentence(BAD_INPUT, ("archive", "convert", tensors, "-o", file, "--rename", "x=y"),
                             ("'x'",))

    def test_a_killed_writer_leaves_the_old_archive(self):
        source, file = self.folder / "source.irpa", self.folder / "a.irpa"
        self.expect(DONE, "archive", "create", "-o", source, "--data", "w=100x1000x1000xi8=3")
        self.expect(DONE, "archive", "create", "-o", file, "--data", "old=4xi8=1")
        old = file.read_bytes()
        for milliseconds in (0, 5, 10, 20, 40):
            process = subprocess.Popen([self.program, "archive", "convert", source, "-o", file])
            time.sleep(milliseconds / 1000)
            process.kill()
            process.wait()
            if file.read_bytes() != old:
                self.assertIn("are whole", self.expect(DONE, "archive", "verify", file).stdout)
                self.assertEqual(list(self.entries(file)), ["w"])
                break
        self.expect(DONE, "archive", "convert", source, "-o", file)
        self.assertIn("1 of them", self.expect(DONE, "archive", "verify", file).stdout)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["a.irpa", "source.irpa"])

    def test_a_million_entries_take_what_their_index_takes(self):
        file = self.write("a.irpa", irpa([(f"layer.{i}", 4, b"abcd") for i in range(200_000)]))
        document = self.report("archive", "list", file)
        self.assertLess(document["index_bytes"], 1.5 * file.stat().st_size)
        self.assertLess(document["kernel_peak_bytes"], document["index_bytes"] + (8 << 20))

    def test_verify_finds_damage(self):
        file = self.folder / "a.irpa"
        self.expect(DONE, "archive", "create", "-o", file, "--data", "w=1000xf32=1")
        data = bytearray(file.read_bytes())
        data[self.entries(file)["w"]["offset"] + 1234] ^= 1
        file.write_bytes(data)
        self.expect_sentence(BAD_INPUT, ("archive", "verify", file), ("'w'", "damaged"))
        self.expect(DONE, "archive", "create", "-o", file, "--external", "e=none.bin:0:4")
        self.expect_sentence(BAD_INPUT, ("archive", "verify", file), ("none.bin",))


class Listing(ArchiveTest):
    def test_irpa(self):
        file = self.write("a.irpa", irpa([("weight", b"0123456789"), ("ones", 8, b"\0\0\x80\x3f")]))
        document = self.checked(file)
        self.assertEqual((document["format"], document["entry_count"]), ("irpa", 2))
        weight, ones = document["entries"]
        self.assertEqual(file.read_bytes()[weight["offset"]:][:weight["length"]], b"0123456789")
        self.assertEqual((weight["file"], weight["splat"], weight["type"]), (str(file), None, None))
        self.assertEqual((ones["kind"], ones["splat"], ones["length"]), ("splat", "0000803f", 8))
        text = self.expect(0, "archive", "list", file).stdout
        self.assertIn("ones  8 bytes of 0x0000803f", text)

    def test_safetensors_and_their_shards(self):
        file = self.write("a.safetensors", safetensors([("w", "BF16", [1, 2], b"wwww")]))
        entry = self.checked(file)["entries"][0]
        self.assertEqual((entry["type"], entry["shape"], entry["offset"], entry["length"]),
                         ("bf16", [1, 2], file.stat().st_size - 4, 4))
        index = self.write("m.safetensors.index.json",
                           json.dumps({"weight_map": {"w": "a.safetensors"}}).encode())
        document = self.checked(index)
        self.assertEqual((document["format"], document["entries"][0]["file"]),
                         ("safetensors", str(file)))
        self.assertIn("w  bf16 1x2  4 bytes at", self.expect(0, "archive", "list", file).stdout)

    def test_gguf(self):
        file = self.write("a.gguf", gguf([("w", 12, [256, 3], b"q" * 432)]))
        entry = self.checked(file)["entries"][0]
        self.assertEqual((entry["type"], entry["shape"], entry["offset"], entry["length"]),
                         ("q4_k", [3, 256], file.stat().st_size - 432, 432))

    def test_faults(self):
        self.expect_sentence(BAD_INPUT, ("archive", "list", self.folder / "none"), ("none",))
        self.expect_sentence(BAD_INPUT, ("archive", "list", self.folder), ("directory",))
        self.expect_sentence(BAD_INPUT, ("archive", "list", self.write("x", b"what?")), ("archive",))
        self.expect(USAGE, "archive")
        self.expect(USAGE, "archive", "list")

    def test_an_index_that_does_not_fit_is_refused(self):
        file = self.write("a.irpa", irpa([(f"layer.{i}", 4, b"abcd") for i in range(10000)]))
        self.assertEqual(self.checked(file)["entry_count"], 10000)
        self.expect_sentence(DOES_NOT_FIT, ("archive", "list", file, "--memory-limit", "300KiB"),
                             ("index",))


if __name__ == "__main__":
    harness.main()
