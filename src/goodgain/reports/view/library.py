"""What can be looked at in a folder: saved results and experiments, and nothing else."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from goodgain.errors import InputError
from goodgain.results.loading import saved_kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

_KIND = re.compile(rb'\s*\{\s*"goodgain":\s*"([a-z ]+)"')  # how every saved result begins
_EXPERIMENT = ("experiment.json", "calls.jsonl", "scores.json", "comparison.json")


class Entry(NamedTuple):
    """One thing to look at. The key stands for it in addresses, so that no path is ever taken from one."""

    key: str
    name: str
    kind: str
    path: Path
    version: str  # another one when the content may have changed
    changed: float


class Library:
    """A folder of saved results, looked through anew each time it is asked."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given = Path(path)
        if not given.exists():
            raise InputError(
                f"there is no '{path}'", hint="a folder of saved results, or one of them"
            )
        self.root = given.resolve()
        self.folder = self.root if self.root.is_dir() else self.root.parent
        self.kinds = saved_kinds()

    def entries(self) -> dict[str, Entry]:
        """Key to entry, by name."""
        found = sorted(self._found(), key=lambda entry: entry.name)
        return {entry.key: entry for entry in found}

    def _found(self) -> Iterator[Entry]:
        if self.root.is_file():
            yield from self._file(self.root)
            return
        for folder, inner, files in os.walk(self.root):  # links to folders are not followed
            inner[:] = [name for name in inner if not name.startswith(".")]
            here = Path(folder)
            if "experiment.json" in files:
                inner.clear()
                yield self._entry(here, "experiment", [here / f for f in _EXPERIMENT if f in files])
                continue
            for name in files:
                if name.endswith(".json"):
                    yield from self._file(here / name)

    def _file(self, path: Path) -> Iterator[Entry]:
        real = path.resolve()
        if not real.is_relative_to(self.folder) or not real.is_file():
            return  # a link that leads out of the folder
        try:
            with real.open("rb") as file:
                said = _KIND.match(file.read(200))
            kind = said[1].decode() if said else None
            if kind in self.kinds:
                yield self._entry(path, kind, [real])
        except OSError:
            return  # gone since, or not ours to read

    def _entry(self, path: Path, kind: str, files: list[Path]) -> Entry:
        name = path.relative_to(self.folder).as_posix()
        facts = [file.stat() for file in files]
        version = "-".join(f"{fact.st_mtime_ns:x}.{fact.st_size:x}" for fact in facts)
        changed = max(fact.st_mtime for fact in facts)
        key = sha256(os.fsencode(name)).hexdigest()[:16]
        shown = name if name != "." else self.folder.name
        return Entry(key, shown, kind, path, version, changed)
