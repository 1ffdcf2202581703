"""Runs: the ranked documents of one system, with scores, ranks, or in order."""

from __future__ import annotations

import os

from goodgain.errors import InputError, core_errors
from goodgain.io.columns import core_columns, find_columns
from goodgain.io.naming import system_name
from goodgain.io.sources import Source, resolve
from goodgain.records import dataclass
from goodgain.results.hints import ConstructorHints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from goodgain._core import Prepared, Scores


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Run(metaclass=ConstructorHints):
    """A run with a name, read when it is evaluated, and the latency and cost of its queries.

    >>> import goodgain as gg
    >>> run = gg.Run({"q1": {"a": 2.5, "b": 1.0}}, name="bm25", latency={"q1": 0.012})
    >>> gg.evaluate({"q1": {"b": 1}}, run, "RR Latency").means
    {'bm25': {'RR': 0.5, 'Latency': 0.012}}
    """

    name: str
    source: Source
    latency: dict[str, float] | None
    cost: dict[str, float] | None
    _arrow: list[Any]  # the table of an Arrow stream, once read; shared by renamed copies

    def __init__(
        self,
        source: Any,
        *,
        name: str | None = None,
        columns: Mapping[str, str] | None = None,
        latency: Mapping[str, float] | None = None,
        cost: Mapping[str, float] | None = None,
    ) -> None:
        resolved = resolve(source, "run", columns)
        is_file = isinstance(source, str | os.PathLike)
        values = {
            "name": name or (system_name(resolved.name) if is_file else "run"),
            "source": resolved,
            "latency": _numbers(latency, "latency"),
            "cost": _numbers(cost, "cost"),
            "_arrow": [],
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)

    @classmethod
    def of(
        cls, source: Any, name: str | None = None, columns: Mapping[str, str] | None = None
    ) -> Run:
        """The run itself, under this name if there is one, or a run read from anything else."""
        if isinstance(source, Run):
            return source.renamed(name) if name else source
        return cls(source, name=name, columns=columns)

    def renamed(self, name: str) -> Run:
        """The same run under another name."""
        if name == self.name:
            return self
        from copy import copy

        run = copy(self)
        object.__setattr__(run, "name", name)
        return run

    def scores(self, prepared: Prepared) -> Scores:
        """The core's scores of this run."""
        source = self.source
        where = source.name if source.stat else self.name
        with core_errors():
            if source.ranking == "rank":
                prepared = prepared.by_rank()
            if source.kind == "dict":
                return prepared.dict(source.value, where, source.stat is None)
            if source.kind == "file":
                from goodgain.io.files import open_lines

                file = open_lines(source.value, "run", source.columns)
                prepared = prepared.by_rank() if file.by_rank else prepared
                return prepared.file(file.fd, file.name, file.format)
            if source.kind == "arrow":
                columns, by_rank = self._arrow_columns()
                prepared = prepared.by_rank() if by_rank else prepared
                return prepared.arrow(self._arrow_table(), columns)
            return prepared.rows(source.value, where)

    @property
    def has_scores(self) -> bool:
        """Whether documents have scores, rather than only ranks or an order."""
        if self.source.kind == "arrow":
            return not self._arrow_columns()[1]
        from goodgain.io.rows import has_scores

        return has_scores(self.source)

    def _arrow_columns(self) -> tuple[dict[str, str], bool]:
        source = self.source
        names = self._arrow_table().columns()
        return core_columns(find_columns(names, "run", source.name, source.columns))

    def _arrow_table(self) -> Any:
        """The Arrow data, read once, since a stream cannot be read again."""
        from goodgain import _core

        if not self._arrow:
            self._arrow.append(_core.ArrowTable.of(self.source.value, self.source.name))
        return self._arrow[0]

    def rows(self) -> tuple[list[str], list[str], list[float]]:
        """The columns query, doc and score, in the order of the source."""
        from goodgain.io.rows import rows_of

        source = self.source
        if source.kind == "arrow":
            from dataclasses import replace

            source = replace(source, value=self._arrow_table())
        rows = rows_of(source, "run")
        if not rows and source.stat is not None:  # a file without a row is one that went wrong
            from goodgain.io.files import EMPTY

            raise InputError("the run is empty", where=source.name, hint=EMPTY)
        return rows.query, rows.doc, rows.value

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {doc: score}}; a duplicate document is an error."""
        table: dict[str, dict[str, float]] = {}
        for query, doc, score in zip(*self.rows(), strict=True):
            docs = table.setdefault(query, {})
            if doc in docs:
                raise InputError(
                    f"duplicate document '{doc}' for query '{query}'",
                    where=self.source.name,
                    hint="keep one of them",
                )
            docs[doc] = score
        return table

    def __repr__(self) -> str:
        return f"Run('{self.name}', from {self.source.kind} '{self.source.name}')"


def _numbers(values: Mapping[str, float] | None, kind: str) -> dict[str, float] | None:
    if values is None:
        return None
    numbers = {str(query): float(value) for query, value in values.items()}
    for query, value in numbers.items():
        if not value >= 0 or value == float("inf"):
            raise InputError(
                f"the {kind} of query '{query}' must be a non-negative number, got {value}"
            )
    return numbers
