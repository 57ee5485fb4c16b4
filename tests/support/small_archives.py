"""Small parameter archives, byte by byte.

Why it exists: tests and fuzz seeds need them, and packages that write them hide where bytes lie.
"""

import json
import struct


def irpa(entries) -> bytes:
    """An IRPA archive of (name, bytes) and (name, length, pattern)."""
    table, names, storage = bytearray(), bytearray(), bytearray()
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


def safetensors(tensors) -> bytes:
    """Of (key, dtype, shape, bytes)."""
    header, data = {}, b""
    for key, dtype, shape, content in tensors:
        header[key] = {"dtype": dtype, "shape": shape,
                       "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def gguf(tensors, facts: bytes = b"", fact_count: int = 0, version: int = 3) -> bytes:
    """Of (name, ggml's type number, dimensions from the innermost on, bytes)."""
    head = struct.pack("<4sIQQ", b"GGUF", version, len(tensors), fact_count) + facts
    data = b""
    for name, kind, dimensions, content in tensors:
        data += b"\0" * (-len(data) % 32)
        head += (struct.pack("<Q", len(name)) + name.encode()
                 + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, kind,
                               len(data)))
        data += content
    return head + b"\0" * (-len(head) % 32) + data
