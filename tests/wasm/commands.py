"""`plimsoll wasm inspect` and `validate` as a user meets them.

Why it exists: exit codes and JSON are contracts with scripts, and what validation takes is a promise:
a real engine's module is checked whole in a few MiB, whatever its size.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.program import Program  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINE = ROOT / ".cache/models/onnxruntime-web/ort-wasm-simd-threaded.wasm"
MIB = 1 << 20
DONE, USAGE, BAD_INPUT, DOES_NOT_FIT = 0, 2, 3, 4
PREAMBLE = b"\0asm" + struct.pack("<I", 1)
# (func (export "f") (result i32) i32.const 1 i32.extend8_s)
SMALL = (PREAMBLE + bytes([1, 5, 1, 0x60, 0, 1, 0x7F, 3, 2, 1, 0, 7, 5, 1, 1]) + b"f" + bytes([0, 0])
         + bytes([10, 7, 1, 5, 0, 0x41, 1, 0xC0, 0x0B]))


def check(condition: bool, sentence: str) -> None:
    if not condition:
        raise AssertionError(sentence)


def small_module(program: Program, folder: pathlib.Path) -> None:
    path = folder / "small.wasm"
    path.write_bytes(SMALL)
    result = program.call("wasm", "inspect", [path])
    report = result.report
    check(result.exit_code == DONE, f"inspect: exit {result.exit_code}: {result.text}")
    check(report["exports"] == [{"name": "f", "kind": "function", "index": 0, "type": "() -> (i32)"}],
          f"exports: {report['exports']}")
    check(report["features"] == ["sign-extension"], f"features: {report['features']}")
    check([s["name"] for s in report["sections"]] == ["type", "function", "export", "code"],
          f"sections: {report['sections']}")
    check(report["largest_bodies"] == [{"function": 0, "name": "f", "bytes": 5}],
          f"largest: {report['largest_bodies']}")
    refused = program.call("wasm", "validate", [path, "--features", "1.0"])
    check(refused.exit_code == BAD_INPUT, f"--features 1.0: exit {refused.exit_code}")
    check("sign-extension" in refused.text and str(path) in refused.text, refused.text)
    for added in ("1.0,sign-extension", "2.0", "3.0,-simd"):
        check(program.call("wasm", "validate", [path, "--features", added]).exit_code == DONE, added)
    unknown = program.call("wasm", "validate", [path, "--features", "3.0,-simd,simdd"])
    check(unknown.exit_code == USAGE and "simdd" in unknown.text, unknown.text)


def bad_files(program: Program, folder: pathlib.Path) -> None:
    cut = folder / "cut.wasm"
    cut.write_bytes(SMALL[:-3])
    empty = folder / "empty.wasm"
    empty.write_bytes(b"")
    text = folder / "text.wasm"
    text.write_bytes(b"(module (func (export \"f\")))")
    for path, word in ((cut, "unexpected end"), (empty, "is empty"), (text, "magic header"),
                       (folder, "not a regular file"), (folder / "none", "cannot be opened")):
        result = program.call("wasm", "validate", [path])
        check(result.exit_code == BAD_INPUT and word in result.text and str(path) in result.text,
              f"{path}: exit {result.exit_code}: {result.text}")
    for arguments in ([], ["validate"], ["nonsense", cut]):
        done = subprocess.run([program.path, "wasm", *map(str, arguments)], capture_output=True,
                              check=False)
        check(done.returncode == USAGE, f"{arguments}: exit {done.returncode}")


def engine_module(program: Program) -> None:
    result = program.call("wasm", "validate", [ENGINE])
    report = result.report
    check(result.exit_code == DONE, f"exit {result.exit_code}: {result.text}")
    check(report["functions"] == 17288, f"functions: {report['functions']}")
    above = report["kernel_peak_bytes"] - report["base_bytes"]
    print(f"validated {report['body_bytes']} bytes of bodies in {report['seconds'] * 1e3:.0f} ms, "
          f"{above / MIB:.2f} MiB above the process")
    check(above < 4 * MIB, f"validation took {above / MIB:.2f} MiB above the process")
    check(abs(result.outside_peak_bytes - report["kernel_peak_bytes"]) < MIB,
          f"peak outside {result.outside_peak_bytes}, reported {report['kernel_peak_bytes']}")
    limit = report["base_bytes"] + 2 * MIB
    fits = program.call("wasm", "validate", [ENGINE, "--memory-limit", limit])
    check(fits.exit_code == DONE, f"under {limit}: exit {fits.exit_code}: {fits.text}")
    refused = program.call("wasm", "validate",
                           [ENGINE, "--memory-limit", report["base_bytes"] + MIB // 2])
    check(refused.exit_code == DOES_NOT_FIT, f"too small a limit: exit {refused.exit_code}")


def main() -> None:
    program = Program(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        small_module(program, pathlib.Path(folder))
        bad_files(program, pathlib.Path(folder))
    if ENGINE.exists():
        engine_module(program)
    else:
        print("SKIPPED: ONNX Runtime's module: scripts/fetch_models.py --package onnxruntime-web")


if __name__ == "__main__":
    main()
