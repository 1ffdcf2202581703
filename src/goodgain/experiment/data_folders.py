"""Folders of test collections: which file holds the corpus, the queries, and the judgments of a split.

corpus.jsonl, queries.jsonl, qrels/test.tsv                       BEIR
corpus/*.parquet, queries/*.parquet, data/test-*.parquet          MTEB and others on the Hugging Face hub
collection.tsv, queries.dev.small.tsv, qrels.dev.small.tsv        MS MARCO
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from goodgain.errors import InputError
from goodgain.io.naming import format_of, system_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SHARD = re.compile(r"-\d{5}-of-\d{5}")
_SPLIT = re.compile(
    r"(?<![a-z])(train|dev|test|validation|valid|val|eval)(?:[._-](small|\d+))?(?![a-z])"
)
_KINDS = {
    "qrels": "qrels",
    "queries": "queries|topics",
    "corpus": "corpus|collection|documents|docs",
}
_PLURALS = {"corpus": "corpora", "queries": "tables of queries", "qrels": "tables of judgments"}
# Configurations of the hub that hold judgments under the name of the split alone.
_DEFAULTS = ("data", "default")
_IGNORED = {"readme", "license", "dataset_info", "dataset_dict", "state", "metadata"}


class _Group(NamedTuple):
    """A table in one file or in several shards."""

    kind: str
    split: str  # "" where the name has none
    name: str  # its path without suffix and shard
    files: list[Path]


class DataFolder:
    """A folder that holds a test collection."""

    def __init__(self, path: Path) -> None:
        self.path = path
        groups: dict[str, _Group] = {}
        for file in _tables(path, 3):
            relative = file.relative_to(path)
            name = str(relative.with_name(_SHARD.sub("", system_name(file)))).casefold()
            kind = _kind(name)
            if kind:
                split = _split(name) if kind != "corpus" else ""
                group = groups.setdefault(name, _Group(kind, split, name, []))
                group.files.append(file)
        self._groups = list(groups.values())

    def files(self, kind: str, split: str | None) -> list[Path]:
        """The files of the corpus, the queries or the judgments."""
        groups = [group for group in self._groups if group.kind == kind]
        if not groups:
            raise InputError(
                f"no {kind} in the folder '{self.path}'",
                hint="expected corpus.jsonl, queries.jsonl and qrels/test.tsv (BEIR), parquet files in "
                "corpus, queries and data or qrels (MTEB), or collection.tsv, queries.tsv and qrels.tsv",
            )
        chosen = _of_split(
            groups, self._split(split), is_required=kind == "qrels" and split is not None
        )
        if chosen is None or len({group.name for group in chosen}) > 1:
            listed = ", ".join(sorted(group.split or group.name for group in groups))
            has_splits = kind == "qrels" and all(group.split for group in groups)
            problem = f"no split '{split}'" if chosen is None else f"several {_PLURALS[kind]}"
            raise InputError(
                f"the folder '{self.path}' has {problem}: {listed}",
                hint='split = "..." chooses one' if has_splits else f'{kind} = "FILE" chooses one',
            )
        return chosen[0].files

    def _split(self, split: str | None) -> str:
        """The split that is asked for; else test, or the only one that has judgments."""
        if split is not None:
            return split.casefold()
        splits = {group.split for group in self._groups if group.kind == "qrels"}
        return next(iter(splits)) if len(splits) == 1 else "test"


def _tables(folder: Path, depth: int) -> Iterator[Path]:
    """The files of tables in a folder and those below it; folders of experiments are left out."""
    if (folder / "experiment.json").exists():
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            if depth > 1:
                yield from _tables(path, depth - 1)
        elif format_of(path) is not None and system_name(path).casefold() not in _IGNORED:
            yield path


def _of_split(groups: list[_Group], split: str, is_required: bool) -> list[_Group] | None:
    """The tables of a split, else those that belong to all splits; None if there are none."""
    own = [group for group in groups if group.split == split]
    if not own and is_required:
        return None
    chosen = own or [group for group in groups if not group.split] or groups
    least = min(group.name.count("/") for group in chosen)
    return [group for group in chosen if group.name.count("/") == least]


def _kind(name: str) -> str | None:
    for kind, pattern in _KINDS.items():
        if re.search(pattern, name):
            return kind
    is_default = name.split("/")[0] in _DEFAULTS or "/" not in name
    return "qrels" if is_default and _SPLIT.fullmatch(name.split("/")[-1]) else None


def _split(name: str) -> str:
    match = _SPLIT.search(name)
    return "" if match is None else match[0]
