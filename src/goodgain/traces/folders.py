"""Folders of trace files, and patterns such as `logs/*.json`."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import InputError
from goodgain.io.naming import COMPRESSIONS, STDIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.traces.context import Context
    from goodgain.traces.files import OpenedTraces
    from goodgain.traces.format import Conversations

_SURE = (".json", ".jsonl", ".ndjson", ".eval", ".sse")  # traces, or an error
_PERHAPS = (".txt", ".log")  # transcripts, or notes of people


def expand(path: str) -> list[str]:
    """The files that a pattern names, sorted; a path that is none, or that exists, as it is."""
    if path == STDIN or not glob.has_magic(path) or Path(path).exists():
        return [path]
    matches = sorted(p for p in glob.glob(path, recursive=True) if Path(p).is_file())  # noqa: PTH207
    if not matches:
        raise InputError(f"no file matches '{path}'", hint="check the spelling and the folder")
    return matches


def files_in(path: str) -> list[str] | None:
    """The files of a folder or a pattern; None for a single file."""
    folder = Path(path)
    if path != STDIN and folder.is_dir():
        files = sorted(p for p in folder.rglob("*") if p.is_file())
        return [str(p) for p in files if not _is_hidden(p.relative_to(folder))]
    matches = expand(path)
    return None if matches == [path] else matches


def _is_hidden(path: Path) -> bool:
    return any(name.startswith(".") for name in path.parts)


def _suffix(path: str) -> str:
    *_, before, last = ("", "", *(s.lower() for s in Path(path).suffixes))
    return before if last in COMPRESSIONS else last


def read_files(
    path: str, files: list[str], context: Context, open_file: Callable[[str], OpenedTraces]
) -> Conversations:
    """The conversations of all files in order; what is not a trace is reported."""
    others = [f for f in files if _suffix(f) not in (*_SURE, *_PERHAPS)]
    listed = [f for f in files if f not in set(others)]
    read = 0
    for file in listed:
        try:
            opened = open_file(file)
        except InputError as error:
            if _suffix(file) in _PERHAPS and error.message == "unrecognised trace format":
                others.append(file)
            else:
                context.skip(error)
            continue
        read += 1
        try:
            yield from opened.read()
        finally:
            context.ledger.merge(opened.ledger)
            context.skipped += opened.skipped
            context.examples.extend(opened.context.examples)
            for note in opened.notes:
                context.note(note)
    names = [Path(f).name for f in others]
    if not read:
        raise InputError(
            f"no trace files in '{path}'",
            hint=f"seen: {', '.join(names[:5])}" if names else "the folder is empty",
        )
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        context.note(f"{path}: not read, since not traces: {', '.join(names[:3])}{more}")
