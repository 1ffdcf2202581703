"""The libraries in third_party/: check their hashes, fetch the same again, or replace them by a new release.

    python scripts/vendor.py check               # every file has the hash of vendored.toml, and no file more
    python scripts/vendor.py fetch               # download the archives, and compare them with the files
    python scripts/vendor.py update NAME ARCHIVE [--sha256 HEX]

ARCHIVE is a path or URL of a .tar.gz, .tar.xz or .zip: a release of the library itself, or a package that
holds its single-header form. Review the difference, run `make check-native`, and commit the files together
with vendored.toml.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
import sys
import tarfile
import tomllib
import urllib.request
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "third_party"
TABLE = FOLDER / "vendored.toml"
_VERSION = re.compile(r'#define \w+_VERSION "([\d.]+)"')
_PARTS = re.compile(r"#define \w+_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)")


def table() -> dict[str, Any]:
    """What vendored.toml says about each library."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def digest(data: bytes) -> str:
    """The SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def problems() -> list[str]:
    """Files that differ from what vendored.toml says, are missing, or are not in it."""
    libraries = table()
    wrong = []
    for name, library in libraries.items():
        folder = FOLDER / name
        for file, expected in library["files"].items():
            path = folder / file
            if not path.is_file():
                wrong.append(f"third_party/{name}/{file}: missing")
            elif digest(path.read_bytes()) != expected:
                wrong.append(f"third_party/{name}/{file}: another hash than in vendored.toml")
        version = version_of(folder)
        if version != library["version"]:
            wrong.append(f"third_party/{name}: version {version}, not {library['version']}")
    listed = {FOLDER / n / file for n, library in libraries.items() for file in library["files"]}
    files = {path for path in FOLDER.rglob("*") if path.is_file()} - {TABLE} - listed
    return wrong + [f"{path.relative_to(ROOT)}: not in vendored.toml" for path in sorted(files)]


def version_of(folder: Path) -> str:
    """The version that a header states."""
    for header in sorted(folder.glob("*.h")):
        text = header.read_text(encoding="utf-8", errors="replace")
        if match := _VERSION.search(text):
            return match[1]
        if len(numbers := _PARTS.findall(text)) >= 3:
            return ".".join(numbers[:3])
    return "unknown"


def read_archive(source: str) -> bytes:
    """The bytes of an archive at a path or URL."""
    if source.startswith("https://"):
        with urllib.request.urlopen(source, timeout=60) as reply:
            return bytes(reply.read())
    return Path(source).read_bytes()


def members(data: bytes) -> dict[str, bytes]:
    """The files of an archive by path."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {n: archive.read(n) for n in archive.namelist() if not n.endswith("/")}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        contents = {}
        for member in archive.getmembers():
            if member.isfile() and (file := archive.extractfile(member)) is not None:
                contents[member.name] = file.read()
        return contents


def pick(contents: dict[str, bytes], name: str, files: list[str]) -> dict[str, bytes]:
    """The vendored files of a library in an archive; its single-header form, where there are several."""
    picked = {}
    for file in files:
        paths = [path for path in contents if PurePosixPath(path).name == file]
        if file == "LICENSE":
            continue  # that of a package around it may be another one
        paths.sort(key=lambda path: ("singleheader" not in path, path.count("/"), path))
        if not paths:
            sys.exit(f"vendor: no {file} of {name} in the archive")
        picked[file] = contents[paths[0]]
    return picked


def fetch() -> list[str]:
    """Download every archive and compare its files with those of the tree."""
    wrong = []
    for name, library in table().items():
        if "archive" not in library:
            print(f"{name}: no archive recorded, only the hashes of its files")
            continue
        data = read_archive(library["archive"])
        if digest(data) != library["sha256"]:
            wrong.append(f"{library['archive']}: another hash than in vendored.toml")
            continue
        for file, content in pick(members(data), name, list(library["files"])).items():
            if digest(content) != library["files"][file]:
                wrong.append(f"third_party/{name}/{file}: not the file of the archive")
    return wrong


def update(name: str, source: str, sha256: str | None) -> None:
    """Replace a library by what an archive holds, and write its version and hashes."""
    libraries = table()
    if name not in libraries:
        sys.exit(f"vendor: unknown library '{name}'; vendored: {', '.join(libraries)}")
    data = read_archive(source)
    if sha256 is not None and digest(data) != sha256.lower():
        sys.exit(f"vendor: the archive has the hash {digest(data)}, not {sha256}")
    library = libraries[name]
    folder = FOLDER / name
    for file, content in pick(members(data), name, list(library["files"])).items():
        (folder / file).write_bytes(content)
    library["version"] = version_of(folder)
    library["archive"], library["sha256"] = source, digest(data)
    library["files"] = {file: digest((folder / file).read_bytes()) for file in library["files"]}
    head = "".join(
        f"{line}\n"
        for line in TABLE.read_text(encoding="utf-8").splitlines()
        if line.startswith("#")
    )
    TABLE.write_text(head + "".join(map(_toml, libraries, libraries.values())), encoding="utf-8")
    print(f"{name} {library['version']}: review the difference, then run make check-native")


def _toml(name: str, library: dict[str, Any]) -> str:
    fields = "".join(f'{key} = "{value}"\n' for key, value in library.items() if key != "files")
    files = "".join(f'"{file}" = "{value}"\n' for file, value in library["files"].items())
    return f"\n[{name}]\n{fields}\n[{name}.files]\n{files}"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    commands.add_parser("fetch")
    replace = commands.add_parser("update")
    replace.add_argument("name")
    replace.add_argument("archive")
    replace.add_argument("--sha256")
    args = parser.parse_args()
    if args.command == "update":
        update(args.name, args.archive, args.sha256)
        return 0
    wrong = problems() if args.command == "check" else fetch()
    print("\n".join(wrong) or "third_party is as vendored.toml says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
