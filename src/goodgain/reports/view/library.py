"""The saved results and experiments in a folder."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import InputError
from goodgain.results.loading import saved_kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

_KIND = re.compile(rb'\s*\{\s*"goodgain":\s*"([a-z ]+)"')  # how every saved result starts
_EXPERIMENT = ("experiment.json", "calls.jsonl", "scores.json", "comparison.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A saved result. URLs use its key, so that no path is ever read from a URL."""

    key: str
    name: str
    kind: str
    path: Path
    version: str  # differs when the content may have changed
    changed: float


class Library:
    """A folder of saved results, scanned anew on each access."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not Path(path).exists():
            raise InputError(
                f"path not found: '{path}'", hint="pass a saved result or a folder of them"
            )
        self.root = Path(path).resolve()
        self.folder = self.root if self.root.is_dir() else self.root.parent
        self.kinds = saved_kinds()

    def entries(self) -> dict[str, Entry]:
        """The entries by key, sorted by name."""
        entries = sorted(self._scan(), key=lambda entry: entry.name)
        return {entry.key: entry for entry in entries}

    def _scan(self) -> Iterator[Entry]:
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
            return  # a link out of the folder
        try:
            with real.open("rb") as file:
                start = _KIND.match(file.read(200))
            kind = start[1].decode() if start else None
            if kind in self.kinds:
                yield self._entry(path, kind, [real])
        except OSError:
            return  # deleted meanwhile, or not readable

    def _entry(self, path: Path, kind: str, files: list[Path]) -> Entry:
        name = path.relative_to(self.folder).as_posix()
        stats = [file.stat() for file in files]
        version = "-".join(f"{stat.st_mtime_ns:x}.{stat.st_size:x}" for stat in stats)
        key = sha256(os.fsencode(name)).hexdigest()[:16]
        return Entry(
            key=key,
            name=name if name != "." else self.folder.name,
            kind=kind,
            path=path,
            version=version,
            changed=max(stat.st_mtime for stat in stats),
        )
