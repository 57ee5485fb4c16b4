#!/usr/bin/env python3
"""The random inputs of the command line, in Python, bit for bit (docs/formats.md, "Random values").

    values.py --type f32 --shape 1x3x8x8 --seed 7 --input 0 > raw-little-endian-bytes

Why it exists: tests give Plimsoll and another program the same numbers without a file between them.
With NumPy there, `random_values` makes them quickly for large inputs; `raw_bytes` needs nothing but
Python's own library.
"""
import argparse
import math
import struct
import sys

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15
# Type: struct's letter for one element, and how many of the top bits make a float (0: an integer).
TYPES = {
    "f64": ("d", 53), "f32": ("f", 24), "f16": ("e", 11), "bf16": ("H", 8),
    "i64": ("q", 0), "i32": ("i", 0), "i16": ("h", 0), "i8": ("b", 0),
    "u64": ("Q", 0), "u32": ("I", 0), "u16": ("H", 0), "u8": ("B", 0), "bool": ("B", 0),
}


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def start(seed, number):
    """The state before the first element of input `number` (from 0)."""
    return mix((mix((seed + GAMMA) & MASK) + number + GAMMA) & MASK)


def raw_bytes(kind, count, seed, number):
    """The elements as they lie in memory, little-endian."""
    letter, bits = TYPES[kind]
    state = start(seed, number)
    pieces = []
    for _ in range(count):
        state = (state + GAMMA) & MASK
        word = mix(state)
        if bits == 0:
            value = word >> 63
        else:
            value = (word >> (64 - bits)) * 2.0**-bits
            if kind == "bf16":  # the upper half of the f32, which is exact
                value = struct.unpack("<I", struct.pack("<f", value))[0] >> 16
        pieces.append(struct.pack("<" + letter, value))
    return b"".join(pieces)


def random_bits(seed, number, count):
    """The 64-bit words behind the elements, as a NumPy array."""
    import numpy as np
    with np.errstate(over="ignore"):
        z = np.uint64(start(seed, number)) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(
            GAMMA)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def random_values(seed, number, shape, dtype):
    """The same as a NumPy array, of any dtype that NumPy has."""
    import numpy as np
    dtype = np.dtype(dtype)
    made = random_bits(seed, number, math.prod(shape))
    if dtype == np.float64:
        values = (made >> np.uint64(11)).astype(np.float64) * 2.0**-53
    elif dtype.kind == "f" or dtype.name == "bfloat16":  # an extension type to NumPy
        bits = {"float16": 11, "bfloat16": 8}.get(dtype.name, 24)
        values = (made >> np.uint64(64 - bits)).astype(np.float32) * np.float32(2.0**-bits)
    else:
        values = made >> np.uint64(63)
    return values.astype(dtype).reshape(shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--type", required=True, choices=TYPES)
    parser.add_argument("--shape", required=True, help="1x3x8x8")
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--input", required=True, type=int, help="number of the input, from 0")
    arguments = parser.parse_args()
    count = math.prod(int(dimension) for dimension in arguments.shape.split("x"))
    sys.stdout.buffer.write(raw_bytes(arguments.type, count, arguments.seed, arguments.input))


if __name__ == "__main__":
    main()
