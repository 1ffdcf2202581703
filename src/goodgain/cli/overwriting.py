"""An output that is also an input, or another output, is refused before anything is read."""

from __future__ import annotations

import tomllib
from glob import iglob
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import UsageError
from goodgain.io.naming import format_of, is_glob

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_MOST_FILES = 10_000  # of a folder or a glob that are looked at
_TABLES = (
    "qrels",
    "run",
    "runs",
    "traces",
    "train",
    "train_runs",
    "tune",
)  # may be folders of files


def refuse_overwriting(outputs: list[str], inputs: Mapping[str, Any]) -> None:
    """Raise an error if a file would be written twice, or is read as well."""
    places: set[Path] = set()
    for path in outputs:
        try:
            place = Path(path).resolve()
        except (OSError, RuntimeError, ValueError):  # the writer reports a loop of links, or a NUL
            continue
        if place in places and place.parts[:2] != ("/", "dev"):
            raise UsageError(
                f"'{path}' is the output of two options", hint="write to different files"
            )
        places.add(place)
    written = {_identity(path) for path in outputs} - {None}
    if not written:
        return
    for name, value in inputs.items():
        for each in value if isinstance(value, list) else [value]:
            for file in _paths(each, name in _TABLES) if isinstance(each, str) else ():
                if _identity(file) in written:
                    raise UsageError(
                        f"'{file}' is an input, so it cannot be the output too",
                        hint="write to another file",
                    )


def _identity(path: str | Path) -> tuple[int, int] | None:
    """What two paths of one file have in common; a device has no size, and loses nothing."""
    try:
        facts = Path(path).stat()
    except (OSError, ValueError):
        return None
    return (facts.st_dev, facts.st_ino) if facts.st_size else None


def _paths(word: str, is_table: bool) -> Iterator[str | Path]:
    """The files that an argument may name: FILE, NAME=FILE, @FILE, of a TOML file, a folder or a glob."""
    yield word
    if word.startswith("@"):
        yield word[1:]
    if "=" in word:
        yield word.partition("=")[2]
    if word.endswith(".toml"):
        yield from _files_in_toml(Path(word))
    elif is_table and Path(word).is_dir():
        yield from islice(filter(format_of, Path(word).iterdir()), _MOST_FILES)
    elif is_table and is_glob(word):
        yield from islice(iglob(word, recursive=True), _MOST_FILES)  # noqa: PTH207 - as inputs are read


def _files_in_toml(path: Path) -> Iterator[Path]:
    """Every text of a TOML file as a path beside it; whoever reads the file reports what is wrong with it."""
    try:
        values: list[Any] = [tomllib.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError):
        return
    while values:
        match values.pop():
            case dict() as table:
                values += table.values()
            case list() as items:
                values += items
            case str() as text:
                yield path.parent / text
