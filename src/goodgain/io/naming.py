"""What a file's name says: its compression, its format, and the name of the system it comes from."""

from __future__ import annotations

import os
from collections import Counter
from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "lzma"}
FORMATS = {
    ".txt": "trec", ".trec": "trec", ".run": "trec", ".res": "trec", ".qrels": "trec", ".qrel": "trec",
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json",
    ".parquet": "parquet", ".orc": "orc", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
STDIN = "-"
METADATA = ".metadata.json"  # of Iceberg, in a folder `metadata`


def compression_of(path: str | os.PathLike[str]) -> str | None:
    """The compression that the last suffix names."""
    return COMPRESSIONS.get(os.path.splitext(_name(path))[1].lower())


def format_of(path: str | os.PathLike[str]) -> str | None:
    """The format that the suffix names, compressed or not: csv for `run.csv.gz`."""
    return FORMATS.get(_split(path)[1].lower())


def display_name(path: str) -> str:
    """The name of a file in messages."""
    return "<stdin>" if path == STDIN else path


def is_url(path: str) -> bool:
    """Whether a path leads to an object store or another file system."""
    scheme, separator, _ = path.partition("://")
    return bool(separator) and scheme.isalnum() and scheme not in ("postgresql", "postgres")


def split_options(path: str) -> tuple[str, str]:
    """A URL without its options, and options such as `?region=eu-west-1`; other paths have none."""
    before, mark, after = path.rpartition("?")
    if mark and is_url(path) and "=" in after and "/" not in after.partition("=")[0]:
        return before, f"?{after}"
    return path, ""


def without_options(path: str) -> str:
    """A path, or a URL without its options."""
    return split_options(path)[0]


def is_glob(path: str) -> bool:
    """Whether a local path has wildcards and no file has that name."""
    return any(c in path for c in "*?[") and not os.path.exists(path)


def is_place(path: str) -> bool:
    """Whether there may be more than one file behind a path: a folder, a glob, a URL or metadata."""
    return is_url(path) or os.path.isdir(path) or is_metadata(path) or is_glob(path)


def is_metadata(path: str) -> bool:
    """Whether a path is that of a file that describes an Iceberg table."""
    return path.endswith(METADATA) and path.rpartition("/")[0].endswith("metadata")


def system_name(path: str | os.PathLike[str]) -> str:
    """The name of the system whose output a file holds.

    Without compression and one format suffix, never cut at another dot: `bm25.run.gz` is `bm25`, but
    `gpt-4.1.jsonl` is `gpt-4.1`.
    """
    if os.fspath(path) in (STDIN, display_name(STDIN)):
        return "stdin"
    stem, suffix = _split(path)
    return stem if suffix.lower() in FORMATS else stem + suffix


def unique_names(names: Iterable[str]) -> list[str]:
    """The names, with a number for each that comes more than once: `run#1`, `run#2`."""
    listed = list(names)
    frequency = Counter(listed)
    used = {name for name, times in frequency.items() if times == 1}
    numbers = {name: count(1) for name, times in frequency.items() if times > 1}
    unique = []
    for name in listed:
        if name in numbers:
            candidates = (f"{name}#{number}" for number in numbers[name])
            name = next(candidate for candidate in candidates if candidate not in used)
            used.add(name)
        unique.append(name)
    return unique


_SHORTEST_PREFIX = 6  # characters that are worth leaving out


def without_shared_prefix(names: Iterable[str]) -> dict[str, str]:
    """Names without the beginning that all share, up to a separator: `…k1=0.9` for `runs/bm25-k1=0.9`."""
    listed = list(dict.fromkeys(names))
    if len(listed) < 2:
        return {name: name for name in listed}
    first, last = min(listed), max(listed)  # what these two share, all share
    shared = next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )
    size = 1 + max(first[:shared].rfind(separator) for separator in "/-_.: [")
    if size < _SHORTEST_PREFIX or any(len(name) == size for name in listed):
        return {name: name for name in listed}
    return {name: f"…{name[size:]}" for name in listed}


def _name(path: str | os.PathLike[str]) -> str:
    """The last part of a path, which may be a folder."""
    return os.path.basename(split_options(os.fspath(path))[0].rstrip("/"))


def _split(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The stem and the suffix of a file's name, without suffixes of compression."""
    stem, suffix = os.path.splitext(_name(path))
    while suffix.lower() in COMPRESSIONS:
        stem, suffix = os.path.splitext(stem)
    return stem, suffix
