"""Runs: what a system retrieved, with scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, core_errors
from goodgain.io.columns import find_columns
from goodgain.io.sources import Source, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain._core import Prepared, Scores


class Run:
    """A run with a name, read when it is evaluated, and what its queries took in time and cost."""

    __slots__ = ("_arrow", "cost", "latency", "name", "source")

    name: str
    source: Source
    latency: dict[str, float] | None
    cost: dict[str, float] | None

    def __init__(
        self,
        source: Any,
        *,
        name: str | None = None,
        columns: Mapping[str, str] | None = None,
        latency: Mapping[str, float] | None = None,
        cost: Mapping[str, float] | None = None,
    ) -> None:
        self.source = resolve(source, "run", columns)
        self.name = name or (
            stem(self.source.name) if self.source.stat or self.source.kind == "file" else "run"
        )
        self.latency = _numbers(latency, "latency")
        self.cost = _numbers(cost, "cost")
        self._arrow: Any = None

    @classmethod
    def of(
        cls, source: Any, name: str | None = None, columns: Mapping[str, str] | None = None
    ) -> Run:
        """The run itself, or the one made of anything else."""
        return source if isinstance(source, Run) else cls(source, name=name, columns=columns)

    def scores(self, prepared: Prepared) -> Scores:
        """What the core makes of this run."""
        source = self.source
        where = source.name if source.stat else self.name
        with core_errors():
            if source.kind == "dict":
                return prepared.dict(source.value, where, source.stat is None)
            if source.kind == "file":
                from goodgain.io.files import open_lines

                file = open_lines(source.value, "run", source.columns)
                return prepared.file(file.fd, file.name, file.format)
            if source.kind == "arrow":
                table = self._arrow_table()
                found = find_columns(table.columns(), "run", source.name, source.columns)
                return prepared.arrow(table, found)
            return prepared.rows(source.value, where)

    def _arrow_table(self) -> Any:
        """A stream can be read once, so the table is kept."""
        from goodgain import _core

        if self._arrow is None:
            self._arrow = _core.ArrowTable.of(self.source.value, self.source.name)
        return self._arrow

    def rows(self) -> tuple[list[str], list[str], list[float]]:
        """Its columns query, doc and score, in the order of the source."""
        from goodgain.io.rows import rows_of

        if self.source.kind == "arrow":
            self._arrow_table()
        source = self.source if self._arrow is None else replace(self.source, value=self._arrow)
        found = rows_of(source, "run")
        return found.query, found.doc, found.value

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {doc: score}}; a document twice is an error."""
        table: dict[str, dict[str, float]] = {}
        for query, doc, score in zip(*self.rows(), strict=True):
            docs = table.setdefault(query, {})
            if doc in docs:
                raise InputError(
                    f"document '{doc}' is ranked twice for query '{query}'", where=self.source.name
                )
            docs[doc] = score
        return table

    def __repr__(self) -> str:
        return f"Run('{self.name}', from {self.source.kind} '{self.source.name}')"


def stem(path: str) -> str:
    """A file's name without its endings: `bm25.run.gz` is `bm25`."""
    name = Path(path).name
    for ending in (".gz", ".zst", ".bz2", ".xz"):
        name = name.removesuffix(ending)
    known = (".txt", ".tsv", ".csv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".feather",
             ".ipc", ".run", ".trec", ".res")  # fmt: skip
    for ending in known:
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return name


def _numbers(values: Mapping[str, float] | None, what: str) -> dict[str, float] | None:
    if values is None:
        return None
    numbers = {str(query): float(value) for query, value in values.items()}
    for query, value in numbers.items():
        if not value >= 0 or value == float("inf"):
            raise InputError(f"the {what} {value} of query '{query}' is not a number from 0 on")
    return numbers
