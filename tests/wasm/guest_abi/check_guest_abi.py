"""The rules of docs/guest-abi.md as LLVM emits them.

Why it exists: the baseline compiler keeps the same rules by hand, so each is shown to be emittable by
the optimiser's back end before anything depends on it. Every FILE.ll beside this script is compiled
with llc-19 and its assembly compared with the file's own comments:

  ; expect FUNCTION: TEXT    TEXT occurs in the function's assembly, after what was expected before it
  ; forbid FUNCTION: TEXT    TEXT does not occur in it
  ; expect: TEXT             TEXT occurs somewhere in the output

$PARAMETERS, $TYPES and $POISON_… stand for the prototype that all guest functions share.
"""

import pathlib
import re
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
NUMBERS, VECTORS = 8, 8
HEAD = """target triple = "x86_64-unknown-linux-gnu"
%results = type { i64, <4 x i32> }
"""
TAIL = '\nattributes #0 = { "frame-pointer"="all" }\n'


def expand(text: str) -> str:
    numbers = [f"i64 %n{i}" for i in range(NUMBERS)]
    vectors = [f"<4 x i32> %v{i}" for i in range(VECTORS)]
    parameters = ", ".join(["ptr %context", *numbers, *vectors])
    return HEAD + (text.replace("$PARAMETERS", parameters)
                   .replace("$TYPES", re.sub(r" %\w+", "", parameters))
                   .replace("$POISON_NUMBERS_1", ", ".join(["i64 poison"] * (NUMBERS - 1)))
                   .replace("$POISON_VECTORS_1", ", ".join(["<4 x i32> poison"] * (VECTORS - 1)))
                   ) + TAIL


def function_text(assembly: str, name: str) -> str:
    match = re.search(rf"^{name}:(.*?)^\.Lfunc_end", assembly, re.DOTALL | re.MULTILINE)
    assert match, f"no function '{name}' in the output"
    return match.group(1)


def check_file(llc: str, path: pathlib.Path) -> int:
    source = path.read_text()
    done = subprocess.run([llc, "-O2", "-stack-size-section", "-o", "-", "-"], input=expand(source),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{path.name}: {done.stderr}"
    assembly = re.sub(r"[ \t]+", " ", done.stdout)
    reached: dict[str, int] = {}
    rules = re.findall(r"^; (expect|forbid) ?(\w*): (.*)$", source, re.MULTILINE)
    assert rules, f"{path.name}: says nothing about its output"
    for kind, function, wanted in rules:
        text = function_text(assembly, function) if function else assembly
        start = reached.get(function, 0) if function and kind == "expect" else 0
        found = text.find(wanted, start)
        if kind == "expect":
            assert found >= 0, f"{path.name}: '{wanted}' is not where it should be in:\n{text}"
            reached[function] = found + len(wanted)
        else:
            assert found < 0, f"{path.name}: '{wanted}' should not be in:\n{text}"
    return len(rules)


def main() -> None:
    llc = shutil.which("llc-19")
    if llc is None:
        print("SKIPPED: llc-19 is not installed (Debian: llvm-19)")
        sys.exit(77)
    for path in sorted(FOLDER.glob("*.ll")):
        print(f"{path.name}: {check_file(llc, path)} statements hold")


if __name__ == "__main__":
    main()
