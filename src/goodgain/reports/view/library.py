"""The saved results and experiments in a folder."""

from __future__ import annotations

import os
import re
import stat
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from goodgain.errors import InputError
from goodgain.results.loading import load, saved_kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

HISTORY = "check history"  # the lines that `goodgain check --history FILE` appends
_KIND = re.compile(rb'\s*\{\s*"goodgain":\s*"([a-z ]+)"')  # how every saved result starts
_HISTORY_LINE = re.compile(rb'\{"date": "[^"]*", "version": .*"verdict": ')
_EXPERIMENT = ("experiment.json", "calls.jsonl", "scores.json", "comparison.json")
_START = 400  # bytes that tell what a file is


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A saved result. URLs use its key, so that no path is ever read from a URL."""

    key: str
    name: str
    kind: str
    path: Path
    version: str  # differs when the content may have changed
    changed: float
    size: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or folder that could not be looked at."""

    name: str
    why: str


class Library:
    """A folder of saved results. Every scan looks at names and times; only what has changed is read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not Path(path).exists():
            raise InputError(
                f"path not found: '{path}'", hint="pass a saved result or a folder of them"
            )
        if not Path(path).is_dir():
            load(path)  # a file that is no saved result is refused
        self.root = Path(path).resolve()
        self.folder = self.root if self.root.is_dir() else self.root.parent
        self.kinds = saved_kinds()
        self.problems: list[Problem] = []
        self.foreign = 0  # JSON files that are no saved results
        self._seen: dict[str, tuple[str, str | None]] = {}  # path: version and kind
        self._entries: dict[str, Entry] = {}
        self._next_scan = 0.0
        self._lock = Lock()

    def entries(self) -> dict[str, Entry]:
        """The entries by key, sorted by name.

        A scan that takes long is repeated after twice its time at the earliest.
        """
        with self._lock:
            start = time.monotonic()
            if start >= self._next_scan:
                self.problems, self.foreign = [], 0
                seen, self._seen = self._seen, {}
                listed = sorted(self._scan(seen), key=lambda entry: entry.name)
                self._entries = {entry.key: entry for entry in listed}
                end = time.monotonic()
                self._next_scan = end + 2 * (end - start) if end - start > 0.05 else 0.0
            return self._entries

    def _scan(self, seen: dict[str, tuple[str, str | None]]) -> Iterator[Entry]:
        if self.root.is_file():
            yield from self._file(self.root, self.root.stat(), seen)
            return
        folders = [self.root]
        while folders:
            here = folders.pop()
            try:
                with os.scandir(here) as items:
                    listed = list(items)
            except OSError as error:
                self._problem(here, error.strerror or "cannot be read")
                continue
            names = {item.name for item in listed}
            if "experiment.json" in names:
                yield from self._experiment(here, [f for f in _EXPERIMENT if f in names])
                continue
            for item in listed:
                yield from self._item(item, folders, seen)

    def _item(
        self, item: os.DirEntry[str], folders: list[Path], seen: dict[str, tuple[str, str | None]]
    ) -> Iterator[Entry]:
        path = Path(item.path)
        try:
            if item.is_dir(follow_symlinks=False):
                if not item.name.startswith("."):
                    folders.append(path)
                return
            if not item.name.endswith((".json", ".jsonl")):
                return
            if item.is_symlink() and not self._is_inside(path):
                return
            facts = item.stat()
        except OSError as error:  # a link that leads to itself, or to nothing
            self._problem(path, error.strerror or "cannot be read")
            return
        if stat.S_ISREG(facts.st_mode):
            yield from self._file(path, facts, seen)

    def _is_inside(self, link: Path) -> bool:
        return Path(os.path.realpath(link)).is_relative_to(self.folder)

    def _problem(self, path: Path, why: str) -> None:
        self.problems.append(Problem(path.relative_to(self.folder).as_posix(), why.lower()))

    def _experiment(self, here: Path, names: list[str]) -> Iterator[Entry]:
        try:
            facts = [(here / name).stat() for name in names]
        except OSError as error:
            self._problem(here, error.strerror or "cannot be read")
            return
        yield self._entry(here, "experiment", facts)

    def _file(
        self, path: Path, facts: os.stat_result, seen: dict[str, tuple[str, str | None]]
    ) -> Iterator[Entry]:
        version, key = _version([facts]), os.fspath(path)
        known = seen.get(key)
        try:
            kind = known[1] if known and known[0] == version else self._kind(path)
        except OSError as error:
            self._problem(path, error.strerror or "cannot be read")
            return
        self._seen[key] = version, kind
        if kind is not None:
            yield self._entry(path, kind, [facts])
        elif path.suffix == ".json":
            self.foreign += 1

    def _kind(self, path: Path) -> str | None:
        """What a file is, by its first bytes; None if it is no saved result."""
        with path.open("rb") as file:
            start = file.read(_START)
        match = _KIND.match(start)
        if match:
            kind = match[1].decode()
            return kind if kind in self.kinds else None
        return HISTORY if path.suffix == ".jsonl" and _HISTORY_LINE.match(start) else None

    def _entry(self, path: Path, kind: str, facts: list[os.stat_result]) -> Entry:
        name = path.relative_to(self.folder).as_posix()
        return Entry(
            key=sha256(os.fsencode(name)).hexdigest()[:16],
            name=name if name != "." else self.folder.name,
            kind=kind,
            path=path,
            version=_version(facts),
            changed=max(each.st_mtime for each in facts),
            size=sum(each.st_size for each in facts),
        )


def _version(facts: list[os.stat_result]) -> str:
    return "-".join(f"{f.st_ino:x}.{f.st_mtime_ns:x}.{f.st_size:x}" for f in facts)
