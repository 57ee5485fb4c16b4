"""Compiles the guests of tests/wasm/guests with clang-19.

Why it exists: tests run real programs. Where the compiler or the C library for WASI is missing, tests
say so and are skipped (exit code 77).
"""

import pathlib
import shutil
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parent / "guests"
SKIPPED = 77


def require_compiler(with_library: bool) -> None:
    missing = [tool for tool in ("clang-19", "wasm-ld-19") if shutil.which(tool) is None]
    if with_library and not pathlib.Path("/usr/lib/wasm32-wasi/libc.a").exists():
        missing.append("wasi-libc")
    if missing:
        print(f"SKIPPED: missing: {', '.join(missing)}; scripts/install_dependencies.sh --all")
        sys.exit(SKIPPED)


def build(name: str, folder: pathlib.Path, with_library: bool) -> pathlib.Path:
    """Compiles NAME.c into FOLDER/NAME.wasm."""
    module = folder / f"{name}.wasm"
    # The C stack of the guest is so large that the real one ends first.
    kind = (["--target=wasm32-wasi", "-Wl,-z,stack-size=67108864"] if with_library
            else ["--target=wasm32", "-nostdlib", "-Wl,--no-entry"])
    subprocess.run(["clang-19", *kind, "-O1", "-Wall", "-Werror", str(SOURCES / f"{name}.c"), "-o",
                    str(module)], check=True)
    return module
