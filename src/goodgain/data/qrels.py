"""Judgments: what each document is worth for each query."""

from __future__ import annotations

import os
from collections.abc import Mapping

from goodgain.cores import available_cores, thread_count
from goodgain.errors import DuplicateError, InputError, core_errors
from goodgain.io.columns import find_columns, kinds_of_header
from goodgain.io.files import is_store
from goodgain.io.limits import check_rows
from goodgain.io.sources import Source, resolve
from goodgain.records import dataclass
from goodgain.results.hints import ConstructorHints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from goodgain._core import Qrels as CoreQrels


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Qrels(metaclass=ConstructorHints):
    """A table of query, doc, gain, and optionally target and aspect; read once and never changed.

    The second column of TREC qrels is an aspect to measures over aspects if its values look like
    subtopics, and to all measures with `columns={"aspect": "iteration"}`. Otherwise it is ignored, and a
    document that is judged in two iterations is a duplicate.

    >>> import goodgain as gg
    >>> qrels = gg.Qrels([("q1", "paper-1", 2), ("q1", "paper-2", 0), ("q2", "paper-3", 1)])
    >>> qrels
    Qrels('qrels', 2 queries, 3 judgments)
    >>> qrels["q1"]["paper-1"]
    2.0
    """

    table: CoreQrels  # as it was read
    source: Source

    def __init__(
        self, source: Any, *, columns: Mapping[str, str] | None = None, name: str | None = None
    ) -> None:
        self._read(resolve(source, "qrels", columns, name), available_cores())

    def _read(self, source: Source, threads: int) -> None:
        object.__setattr__(self, "source", source)
        with core_errors():
            object.__setattr__(self, "table", _core_qrels(source, threads))
        check_rows(self.table.judgments, source.name)

    def __getstate__(self) -> dict[str, Any]:
        """The judgments themselves, so that a copy needs neither the file nor the frame they came from."""
        from dataclasses import replace

        source = self.source if self.source.stat else replace(self.source, value=None)
        return {"table": self.table.state(), "source": source}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from goodgain import _core

        with core_errors():
            object.__setattr__(self, "table", _core.Qrels.from_state(state["table"]))
        object.__setattr__(self, "source", state["source"])

    @classmethod
    def of(
        cls, source: Any, columns: Mapping[str, str] | None = None, threads: int | None = None
    ) -> Qrels:
        """The table itself, or judgments read from anything else, labels and label stores too."""
        if isinstance(source, Qrels):
            return source
        if isinstance(source, str | os.PathLike) and is_store(os.fspath(source)):
            from goodgain.results.loading import load

            source = load(source)
        if hasattr(source, "to_qrels"):
            qrels: Qrels = source.to_qrels()
            return qrels
        qrels = object.__new__(cls)
        qrels._read(resolve(source, "qrels", columns, None), thread_count(threads))
        return qrels

    def judged_by(self, judge: Mapping[str, Any] | None) -> Qrels:
        """The same judgments with what is known of the judge that gave them."""
        from dataclasses import replace

        qrels: Qrels = object.__new__(Qrels)
        object.__setattr__(qrels, "table", self.table)
        object.__setattr__(qrels, "source", replace(self.source, judge=judge))
        return qrels

    @property
    def core(self) -> CoreQrels:
        """The judgments in the core; two judgments of a document are an error."""
        return self.for_measures()

    def for_measures(self, *, aspects: bool = False, duplicates: str = "error") -> CoreQrels:
        """The judgments in the core for measures over aspects, or for others.

        `duplicates` is the policy for a document that TREC qrels judge in two iterations.
        """
        repeated = self.table.repeated
        if repeated is None or (aspects and self.table.has_aspects):
            return self.table
        if duplicates != "error":
            return self.table.merged(duplicates == "first")
        _, message, where, hint = repeated
        raise DuplicateError(
            f"{message}, in another iteration",
            where=where,
            hint=f"{hint}, or say duplicates=first or duplicates=best; if the second column holds "
            "subtopics: columns={'aspect': 'iteration'} (--columns aspect=iteration)",
        )

    @property
    def name(self) -> str:
        """The path of the file, or "qrels"."""
        return self.source.name

    @property
    def queries(self) -> list[str]:
        """The ids of the judged queries, in order of appearance."""
        return self.table.queries()

    @property
    def judgments(self) -> int:
        """The number of judged documents over all queries."""
        return self.table.judgments

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[str]:
        return iter(self.queries)

    def __contains__(self, query: object) -> bool:
        return self.table.judgments_of(str(query)) is not None

    def __getitem__(self, query: str) -> dict[str, float]:
        """The gains of one query's judged documents."""
        gains = self.core.judgments_of(query)
        if gains is None:
            raise KeyError(query)
        return gains

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {doc: gain}}."""
        return {query: self[query] for query in self.queries}

    def __repr__(self) -> str:
        return f"Qrels('{self.name}', {len(self):,} queries, {self.judgments:,} judgments)"


def _core_qrels(source: Source, threads: int) -> CoreQrels:
    from goodgain import _core

    match source.kind:
        case "file":
            from goodgain.io.files import open_lines

            file = open_lines(source.value, "qrels", source.columns)
            with file.places():
                return _core.Qrels.from_file(file.fd, file.name, file.format, threads)
        case "dict":
            return _core.Qrels.from_dict(source.value, source.name, source.stat is None)
        case "rows":
            return _core.Qrels.from_rows(source.value, source.name)
        case "arrow":
            value = source.value
            if hasattr(value, "read_pieces"):  # of files, only the columns that are used
                roles = find_columns(value.column_names, "qrels", source.name, source.columns)
                if hasattr(value, "qrels") and (judgments := value.qrels(roles)) is not None:
                    return judgments  # type: ignore[no-any-return]
                value = value.read(list(roles.values()))
            table = _core.ArrowTable.of(value, source.name)
            columns = find_columns(table.columns(), "qrels", source.name, source.columns)
            return table.qrels(columns)
    raise InputError(f"cannot read judgments from {source.kind}")


def looks_like_qrels(value: Any) -> bool:
    """Whether a value holds judgments rather than scores of systems, by its first row."""
    if isinstance(value, Qrels) or hasattr(value, "to_qrels"):  # labels
        return True
    if isinstance(value, Mapping):  # {query: {document: gain}}
        first = next(iter(value.values()), None)
        return isinstance(first, Mapping) and all(
            isinstance(gain, int | float) for gain in first.values()
        )
    if isinstance(value, str | os.PathLike):
        from goodgain.io.convert import table_kinds

        return table_kinds(os.fspath(value)) == {"qrels"}
    names = getattr(value, "columns", None)
    if names is not None and not callable(names):
        return "qrels" in kinds_of_header([str(name) for name in names])
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple):
        return len(value[0]) >= 3 and isinstance(value[0][2], int | float)
    return False
