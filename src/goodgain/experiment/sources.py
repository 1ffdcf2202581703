"""Where the data of an experiment may come from.

Tables of any kind, a folder as BEIR, MTEB or MS MARCO lay them out, a data set of ir_datasets by its id, its
object or its iterators.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MissingExtraError, UsageError
from goodgain.experiment.data_folders import DataFolder
from goodgain.io.texts import Texts, read_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PREFIXES = ("ir_datasets:", "irds:")
KINDS = ("corpus", "queries", "qrels")
# The fields of the tuples that ir_datasets yields.
_ID = {"corpus": "doc_id", "queries": "query_id"}


@dataclass(frozen=True, slots=True)
class Data:
    """Documents, queries with their other columns, and judgments in any form that Qrels or spans take."""

    documents: dict[str, str]
    queries: dict[str, str]
    columns: dict[str, dict[str, str]]
    values: Mapping[str, Mapping[str, Any]]  # the same columns with values as they are
    qrels: Any
    notes: tuple[str, ...] = ()
    is_whole: bool = False  # one data set, of whose queries only some may be judged


def read_data(
    *, data: Any = None, split: str | None = None, corpus: Any = None, queries: Any = None,
    qrels: Any = None,
) -> Data:  # fmt: skip
    """Read documents, queries and judgments; `data` holds all three, and each can be replaced."""
    sources = {"corpus": corpus, "queries": queries, "qrels": qrels}
    notes: list[str] = []
    for kind, source in sources.items():
        if source is None and data is not None:
            sources[kind] = _component(data, kind, split, notes)
        elif source is None:
            raise UsageError(
                f"the experiment has no {kind}", hint=f"pass {kind}=..., or data=... for all three"
            )
        else:
            sources[kind] = _resolved(source, kind, split, notes)
    if split is not None and not notes:
        raise UsageError(
            f"split='{split}' needs a folder with splits", hint="data = FOLDER, or leave it out"
        )
    documents = _texts(sources["corpus"], "corpus")
    texts = _texts(sources["queries"], "queries")
    return Data(
        documents=documents.texts,
        queries=texts.texts,
        columns=texts.columns,
        values=texts.values,
        qrels=sources["qrels"],
        notes=(*dict.fromkeys(notes), *documents.notes, *texts.notes),
        is_whole=data is not None and queries is None,
    )


def is_path(source: Any) -> bool:
    """Whether a text names a file or folder rather than a data set."""
    return isinstance(source, str | os.PathLike) and not os.fspath(source).startswith(PREFIXES)


def _component(data: Any, kind: str, split: str | None, notes: list[str]) -> Any:
    """The corpus, the queries or the judgments of a data set."""
    if isinstance(data, Mapping):
        if kind not in data:
            raise UsageError(
                f"the data has no '{kind}'", hint=f"available: {', '.join(map(str, data))}"
            )
        return _resolved(data[kind], kind, split, notes)
    if is_path(data) and not Path(data).exists():
        raise InputError(
            f"folder not found: '{data}'",
            hint=f"a data set of ir_datasets is written '{PREFIXES[0]}{data}'",
        )
    if is_path(data) and not Path(data).is_dir():
        raise InputError(
            f"'{data}' is not a folder", hint="name files with corpus, queries and qrels"
        )
    return _resolved(data, kind, split, notes)


def _resolved(source: Any, kind: str, split: str | None, notes: list[str]) -> Any:
    """A source that `read_texts` or `Qrels` reads: paths of folders and data sets are looked into."""
    if is_path(source):
        if not Path(source).is_dir():
            return source
        folder = DataFolder(Path(source))
        files = folder.files(kind, split)
        if kind == "qrels":
            notes.append(f"judgments of '{os.path.relpath(files[0], source)}' in '{source}'")
        return files
    if isinstance(source, str):
        return _records(_load_dataset(source), kind)
    if any(hasattr(source, f"{name}_iter") for name in ("docs", "queries", "qrels")):
        return _records(source, kind)
    if isinstance(source, Iterable) and not isinstance(source, Mapping | str | bytes):
        return _rows(source, kind)
    return source


def _load_dataset(name: str) -> Any:
    """The data set of ir_datasets that `ir_datasets:ID` names."""
    identifier = name.partition(":")[2]
    try:
        import ir_datasets  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise MissingExtraError(
            f"'{name}' needs the package ir_datasets", hint="pip install ir_datasets"
        ) from None
    try:
        return ir_datasets.load(identifier)
    except KeyError:
        raise InputError(
            f"unknown data set '{identifier}' of ir_datasets",
            hint="the list: https://ir-datasets.com",
        ) from None


def _records(dataset: Any, kind: str) -> Any:
    """The rows of a data set of ir_datasets."""
    method = {"corpus": "docs_iter", "queries": "queries_iter", "qrels": "qrels_iter"}[kind]
    what = {"corpus": "documents", "queries": "queries", "qrels": "judgments"}[kind]
    if not hasattr(dataset, method):
        name = getattr(dataset, "dataset_id", lambda: "")()
        raise InputError(
            f"the data set {repr(name) + ' ' if name else ''}has no {what}",
            hint="a part of it may have them, such as '/test'; see https://ir-datasets.com",
        )
    try:
        return _rows(getattr(dataset, method)(), kind)
    except (InputError, UsageError):
        raise
    except Exception as error:  # whatever a download raises
        raise InputError(
            f"cannot read the {what} of the data set: {error}",
            hint="ir_datasets downloads a data set when it is first used",
        ) from None


def _rows(source: Any, kind: str) -> Any:
    """Tuples of ir_datasets as plain rows; anything else as it is."""
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "columns"):
        return source
    items = iter(source)
    if items is not source and not isinstance(source, list | tuple):
        return source  # a table of a library, which knows better
    first = next(items, None)
    if first is None or not hasattr(first, "_fields"):
        if isinstance(source, list | tuple):
            return source
        return [] if first is None else [first, *items]
    return list(_plain_rows(_chained(first, items), kind))


def _chained(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _plain_rows(items: Iterator[Any], kind: str) -> Iterator[dict[str, Any]]:
    for item in items:
        fields = item._fields
        if kind == "qrels":
            row = {"query": item.query_id, "doc": item.doc_id, "gain": item.relevance}
            aspect = getattr(item, "subtopic_id", None)
            yield row if aspect is None else {**row, "aspect": aspect}
            continue
        if _ID[kind] not in fields:
            raise InputError(
                f"no field {_ID[kind]} in {type(item).__name__}",
                hint=f"its fields: {', '.join(fields)}",
            )
        text = item.default_text() if hasattr(item, "default_text") else item.text
        yield {"id": getattr(item, _ID[kind]), "text": text}


def _texts(source: Any, kind: str) -> Texts:
    what = "query" if kind == "queries" else "document"
    if not isinstance(source, list) or not source or not isinstance(source[0], Path):
        return read_texts(source, what)
    shards = [read_texts(str(path), what) for path in source]
    texts: dict[str, str] = {}
    for path, shard in zip(source, shards, strict=True):
        for key in shard.texts:
            if key in texts:
                raise InputError(
                    f"duplicate {what} id '{key}'", where=str(path), hint="ids must be unique"
                )
        texts |= shard.texts
    columns, values = _joined([s.columns for s in shards]), _joined([s.values for s in shards])
    return Texts(texts, columns, values, shards[0].notes)


def _joined(tables: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    columns: dict[str, dict[str, Any]] = {}
    for table in tables:
        for name, values in table.items():
            columns.setdefault(name, {}).update(values)
    return columns
