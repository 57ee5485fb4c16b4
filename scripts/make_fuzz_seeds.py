#!/usr/bin/env python3
"""Writes small valid files for the fuzz targets to begin with: make_fuzz_seeds.py FOLDER.

Why it exists: a fuzzer that begins with nothing spends its time on magic numbers. Made, not committed:
FOLDER/TARGET/… with the first byte that some targets choose by. Needs the tests' environment.
"""

import io
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import numpy as np  # noqa: E402  the tests' folder must be on the path first
import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from PIL import Image  # noqa: E402
from support import small_models  # noqa: E402
from support.small_archives import gguf, irpa, safetensors  # noqa: E402

STANDARD = pathlib.Path("/usr/share/libonnx-testdata/data")
LARGEST = 4096


def onnx_seeds():
    with tempfile.TemporaryDirectory() as folder:
        for make in (small_models.scale, small_models.counter, small_models.growing,
                     small_models.split_sequence, small_models.cyclic, small_models.slow,
                     small_models.unknown_operator):
            yield make.__name__, make(pathlib.Path(folder)).read_bytes()
    # Of the standard's node tests every eighth: all kinds of attributes, types and subgraphs.
    for path in sorted(STANDARD.glob("node/*/model.onnx"))[::8]:
        if path.stat().st_size <= LARGEST:
            yield path.parent.name, path.read_bytes()


def tensor_proto_seeds():
    for number, path in enumerate(sorted(STANDARD.glob("node/*/test_data_set_0/*.pb"))[::16]):
        if path.stat().st_size <= LARGEST:
            yield str(number), bytes([3]) + path.read_bytes()
    small = numpy_helper.from_array(np.arange(6, dtype=np.int16).reshape(2, 3))
    yield "tensor", bytes([0]) + small.SerializeToString()
    sequence = onnx.helper.make_sequence("s", onnx.SequenceProto.TENSOR, [small, small])
    yield "sequence", bytes([1]) + sequence.SerializeToString()


def irpa_seeds():
    yield "kinds", irpa([("weight", b"0123456789"), ("ones", 8, b"\0\0\x80\x3f")])
    yield "facts", irpa([("w" + "plimsoll/1\ntype=u8\nshape=2x5\nxxh3=0123456789abcdef\n", b"01")])
    first = bytearray(irpa([("a", b"1")]).ljust(256, b"\0"))
    first[16:24] = (256).to_bytes(8, "little")
    yield "linked", bytes(first) + irpa([("b", b"2")])
    yield "empty", irpa([])


def safetensors_seeds():
    tensors = [("w", "F32", [2, 1], b"01234567"), ("scalar", "BF16", [], b"ab"), ("f4", "F4", [4], b"cd")]
    yield "three", bytes([0]) + safetensors(tensors)
    yield "empty", bytes([0]) + safetensors([])
    yield "map", bytes([1]) + (b'{"metadata": {"total_size": 8}, "weight_map": '
                               b'{"w": "1.safetensors", "v": "2.safetensors"}}')


def gguf_seeds():
    def text(value: bytes) -> bytes:
        return len(value).to_bytes(8, "little") + value
    number = (4).to_bytes(4, "little")
    facts = (text(b"general.alignment") + number + (32).to_bytes(4, "little")
             + text(b"name") + (8).to_bytes(4, "little") + text(b"llama")
             + text(b"tokens") + (9).to_bytes(4, "little") + (8).to_bytes(4, "little")
             + (2).to_bytes(8, "little") + text(b"a") + text(b"bc"))
    tensors = [("w", 0, [2, 3], b"w" * 24), ("q", 8, [32, 2], b"q" * 68)]
    yield "facts", gguf(tensors, facts, 3)
    yield "version2", gguf(tensors, version=2)
    yield "kinds", gguf([(str(kind), kind, [256], b"k" * 1024) for kind in (0, 2, 12, 14, 30)])


def npy_seeds():
    arrays = [np.arange(6).astype(dtype).reshape(2, 3)
              for dtype in ("<f4", ">f8", "<f2", "|i1", "<u8", "|b1", ">i4")]
    arrays += [np.asfortranarray(arrays[0]), np.float32(1), np.zeros((0, 3))]
    for number, array in enumerate(arrays):
        content = io.BytesIO()
        np.save(content, array)
        yield f"npy{number}", bytes([0]) + content.getvalue()
    for save in (np.savez, np.savez_compressed):
        content = io.BytesIO()
        save(content, a=arrays[0])
        yield save.__name__, bytes([1]) + content.getvalue()


def image_seeds():
    pixels = np.random.default_rng(1).integers(0, 256, (9, 7, 4), np.uint8)
    rgb = Image.fromarray(pixels[:, :, :3].copy())
    for name, image, options in (
            ("rgb", rgb, {"format": "PNG"}),
            ("rgba", Image.fromarray(pixels), {"format": "PNG"}),
            ("grey", rgb.convert("L"), {"format": "PNG"}),
            ("palette", rgb.convert("P"), {"format": "PNG"}),
            ("bits", rgb.convert("1"), {"format": "PNG"}),
            ("deep", Image.fromarray(pixels[:, :, 0].astype(np.uint16) * 257), {"format": "PNG"}),
            ("jpeg", rgb, {"format": "JPEG"}),
            ("jpeg_grey", rgb.convert("L"), {"format": "JPEG"}),
            ("jpeg_progressive", rgb, {"format": "JPEG", "progressive": True}),
            ("jpeg_whole", rgb, {"format": "JPEG", "subsampling": 0})):
        content = io.BytesIO()
        image.save(content, **options)
        yield name, content.getvalue()


def wasm_seeds():
    yield "empty", b"\0asm\x01\0\0\0"
    # (func (export "f") (param i32) (result i32) local.get 0)
    yield "identity", bytes.fromhex("0061736d0100000001060160017f017f03020100070501016600000a0601040020000b")


SEEDS = {
    "irpa": irpa_seeds, "safetensors": safetensors_seeds, "gguf": gguf_seeds, "onnx": onnx_seeds,
    "tensor_proto": tensor_proto_seeds, "npy": npy_seeds, "image": image_seeds, "wasm": wasm_seeds,
}


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__.partition("\n")[0], file=sys.stderr)
        return 2
    for target, seeds in SEEDS.items():
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in seeds():
            (folder / name).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
