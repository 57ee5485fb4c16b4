"""`plimsoll archive`: what it lists, writes and refuses.

Why it exists: archives come from elsewhere and go elsewhere; scripts rely on the listing.
"""

import json
import pathlib
import struct

import harness  # first: it puts the tests' folder on the path
import jsonschema
from harness import BAD_INPUT, DOES_NOT_FIT, USAGE, CommandLineTest

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"


def irpa(entries) -> bytes:
    """An IRPA archive of (name, bytes) and (name, length, pattern)."""
    table, names, storage = b"", b"", b""
    for entry in entries:
        table += b"\0" * (-len(table) % 16)
        name = entry[0].encode()
        if len(entry) == 3:
            kind, alignment = 1, 0
            tail = struct.pack("<Q16sB", entry[1], entry[2], len(entry[2]))
        else:
            kind, alignment = 2, 64
            storage += b"\0" * (-len(storage) % 64)
            tail = struct.pack("<QQ", len(storage), len(entry[1]))
            storage += entry[1]
        table += struct.pack("<QIQQQQQQ", 60 + len(tail), kind, 0, len(names), len(name),
                             len(names) + len(name), 0, alignment) + tail
        names += name
    begin = 96 + len(table) + len(names)
    begin += -begin % 64
    header = struct.pack("<4sHHQQQQ6Q", b"IRPA", 0, 0, 88, 0, 0, len(entries), 96, len(table),
                         96 + len(table), len(names), begin, len(storage))
    return ((header + b"\0" * 8 + table + names).ljust(begin, b"\0") + storage)


class Listing(CommandLineTest):
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
        header = json.dumps({"w": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [0, 4]}}).encode()
        file = self.write("a.safetensors", struct.pack("<Q", len(header)) + header + b"wwww")
        entry = self.checked(file)["entries"][0]
        self.assertEqual((entry["type"], entry["shape"], entry["offset"], entry["length"]),
                         ("bf16", [1, 2], 8 + len(header), 4))
        index = self.write("m.safetensors.index.json",
                           json.dumps({"weight_map": {"w": "a.safetensors"}}).encode())
        document = self.checked(index)
        self.assertEqual((document["format"], document["entries"][0]["file"]),
                         ("safetensors", str(file)))
        self.assertIn("w  bf16 1x2  4 bytes at", self.expect(0, "archive", "list", file).stdout)

    def test_gguf(self):
        head = (struct.pack("<4sIQQQ", b"GGUF", 3, 1, 0, 1) + b"w"
                + struct.pack("<IQQIQ", 2, 256, 3, 12, 0))
        file = self.write("a.gguf", head.ljust(96, b"\0") + b"q" * 432)
        entry = self.checked(file)["entries"][0]
        self.assertEqual((entry["type"], entry["shape"], entry["offset"], entry["length"]),
                         ("q4_k", [3, 256], 96, 432))

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
