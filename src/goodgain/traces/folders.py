"""Folders of trace files, and patterns such as `logs/*.json`."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.errors import InputError
from goodgain.io.descriptors import read_at
from goodgain.io.files import plain_descriptor
from goodgain.io.naming import COMPRESSIONS, STDIN
from goodgain.traces.recorder import is_recording

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


def sources_in(path: str) -> list[str]:
    """As `expand`, but a pattern of recordings alone is one source: one may continue another."""
    matches = expand(path)
    return [path] if len(matches) > 1 and all(map(_is_recording, matches)) else matches


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
    path: str,
    files: list[str],
    context: Context,
    open_file: Callable[[str], OpenedTraces],
    open_recordings: Callable[[list[str]], OpenedTraces],
) -> Conversations:
    """The conversations of all files in order; what is not a trace is reported.

    Recordings come last, as one: their conversations may go on from file to file.
    """
    others = [f for f in files if _suffix(f) not in (*_SURE, *_PERHAPS)]
    listed = [f for f in files if f not in set(others)]
    recordings = [f for f in listed if _is_recording(f)]
    read = 0
    for file in [f for f in listed if f not in set(recordings)]:
        try:
            opened = open_file(file)
        except InputError as error:
            if _suffix(file) in _PERHAPS and error.message == "unrecognised trace format":
                others.append(file)
            else:
                context.skip(error)
            continue
        read += 1
        yield from _read_one(opened, context)
    if recordings:
        read += len(recordings)
        yield from _read_one(open_recordings(recordings), context)
    names = [Path(f).name for f in others]
    if not read:
        raise InputError(
            f"no trace files in '{path}'",
            hint=f"seen: {', '.join(names[:5])}" if names else "the folder is empty",
        )
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        context.note(f"{path}: not read, since not traces: {', '.join(names[:3])}{more}")


def _read_one(opened: OpenedTraces, context: Context) -> Conversations:
    try:
        yield from opened.read()
    finally:
        context.ledger.merge(opened.ledger)
        context.skipped += opened.skipped
        context.examples.extend(opened.context.examples)
        for note in opened.notes:
            context.note(note)


def _is_recording(path: str) -> bool:
    """Whether a file was written by a recorder or by live capture; compressed ones are decompressed."""
    try:
        fd = plain_descriptor(path)
    except InputError:
        return False
    try:
        return is_recording(read_at(fd, 100, 0))
    finally:
        os.close(fd)
