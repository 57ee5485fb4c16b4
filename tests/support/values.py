"""The random values of `--input random:SEED`, made again in Python.

Why it exists: tests give Plimsoll and ONNX Runtime the same numbers without a file between them. The
generator is that of docs/formats.md: SplitMix64 (Steele, Lea and Flood, 2014), one stream for each
input of a model, floats uniform in [0, 1), integers and booleans 0 or 1.
"""

import numpy as np

_MASK = 2**64 - 1


def random_bits(seed: int, input_number: int, count: int) -> np.ndarray:
    """`count` outputs of the stream that belongs to (seed, input_number), as u64."""
    state = (seed * 0x9E3779B97F4A7C15 + input_number * 0xD1B54A32D192ED03) & _MASK
    with np.errstate(over="ignore"):
        z = np.uint64(state) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(
            0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def random_values(seed: int, input_number: int, shape, dtype) -> np.ndarray:
    """What `--input random:SEED` puts into the model's input of that number."""
    dtype = np.dtype(dtype)
    bits = random_bits(seed, input_number, int(np.prod(shape, dtype=np.int64)))
    if dtype == np.float64:
        values = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    elif dtype.kind == "f" or dtype.name == "bfloat16":  # an extension type to NumPy
        values = (bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
    else:
        values = bits >> np.uint64(63)
    return values.astype(dtype).reshape(shape)
