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


SEEDS = {"onnx": onnx_seeds, "tensor_proto": tensor_proto_seeds, "npy": npy_seeds,
         "image": image_seeds, "wasm": wasm_seeds}


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
