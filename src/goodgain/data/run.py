"""Runs: the ranked documents of one system, with scores, ranks, or in order."""

from __future__ import annotations

import os

from goodgain.errors import InputError, core_errors
from goodgain.io.columns import core_columns, find_columns
from goodgain.io.limits import check_rows
from goodgain.io.naming import compression_of, is_place, system_name
from goodgain.io.sources import Source, resolve, run_names
from goodgain.records import dataclass
from goodgain.results.hints import ConstructorHints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from goodgain._core import Prepared, Scores

_LINE_BYTES = 24  # of a line of text, about
_PACKED = 4  # times the size of a compressed file, about


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
    _arrow: list[Any]  # Arrow data, once they can be read again; shared by renamed copies
    _names: dict[
        bool, list[str]
    ]  # the runs that the table names, with bad rows skipped or not; shared
    only: str | None  # of a table that holds several runs: which one

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
        if resolved.kind == "runs" and len(resolved.value) == 1:
            ((only, resolved),) = resolved.value.items()
            name = name or (None if is_file else only)
        values = {
            "name": name or (_name_of(os.fspath(source)) if is_file else "run"),
            "source": resolved,
            "latency": _numbers(latency, "latency"),
            "cost": _numbers(cost, "cost"),
            "_arrow": [],
            "_names": {},
            "only": None,
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

    def split(self, *, skip_bad: bool = False) -> list[Run]:
        """The runs of a table with a column that names them; otherwise the run itself.

        A file with one of them keeps its own name. A run whose every row is bad has no name: unless bad
        rows are skipped, they are an error.
        """
        names = self._run_names(skip_bad)
        if not names:
            return [self]
        if len(names) == 1:
            from_file = self.source.stat is not None and not is_place(self.source.name)
            return [
                self._part(names[0], self.name if self.name != "run" or from_file else names[0])
            ]
        prefix = "" if self.name in ("run", _name_of(self.source.name)) else f"{self.name}/"
        return [self._part(name, f"{prefix}{name}") for name in names]

    def _part(self, only: str, name: str) -> Run:
        from copy import copy

        run = copy(self)
        if self.source.kind == "runs":
            object.__setattr__(run, "source", self.source.value[only])
        else:
            object.__setattr__(run, "only", only)
        object.__setattr__(run, "name", name)
        return run

    def _run_names(self, skip_bad: bool = True) -> list[str]:
        """The runs that the table names; empty if it names none."""
        source = self.source
        if self.only is not None or source.kind in ("dict", "rows"):
            return []
        if skip_bad not in self._names:
            arrow = self._arrow_data() if source.kind == "arrow" else None
            self._names[skip_bad] = run_names(source, arrow, skip_bad=skip_bad)
        return self._names[skip_bad]

    def require_one_run(self) -> None:
        """Raise an error if the table holds several runs, rather than measure a mixture."""
        if self.only is None and len(names := self._run_names()) > 1:
            raise InputError(
                f"the table holds {len(names):,} runs, such as '{names[0]}' and '{names[1]}'",
                where=self.source.name,
                hint="pass it to evaluate() as it is, which measures each of them",
            )

    def scores(self, prepared: Prepared) -> Scores:
        """The core's scores of this run."""
        scores = self._scores(prepared)
        check_rows(scores.documents, self.name)
        return scores

    def _scores(self, prepared: Prepared) -> Scores:
        self.require_one_run()
        source = self.source
        where = source.name if source.stat else self.name
        with core_errors():
            if source.ranking == "rank":
                prepared = prepared.by_rank()
            if source.kind == "dict":
                return prepared.dict(source.value, where, source.stat is None)
            if source.kind == "file":
                from goodgain.io.files import open_run

                file = open_run(source.value, source.columns)
                return file.scores(prepared.by_rank() if file.by_rank else prepared, self.only)
            if source.kind == "arrow":
                columns, by_rank = self._arrow_columns()
                prepared = prepared.by_rank() if by_rank else prepared
                data = self._arrow_data()
                if hasattr(data, "read_pieces"):
                    return data.scores(prepared, columns)  # type: ignore[no-any-return]
                without = [query for run, query in source.without_results if run == self.only]
                return prepared.arrow(data, columns, without)
            return prepared.rows(source.value, where)

    @property
    def has_scores(self) -> bool:
        """Whether documents have scores, rather than only ranks or an order."""
        if self.source.kind == "arrow":
            return not self._arrow_columns()[1]
        from goodgain.io.rows import has_scores

        return has_scores(self.source)

    def _roles(self) -> dict[str, str]:
        """The columns of Arrow data by what they hold."""
        data, source = self._arrow_data(), self.source
        names = data.column_names if hasattr(data, "read_pieces") else data.columns()
        return find_columns(names, "run", source.name, source.columns)

    def _arrow_columns(self) -> tuple[dict[str, str], bool]:
        """The columns for the core, and whether the values are ranks."""
        roles = self._roles()
        columns, by_rank = core_columns(roles)
        if self.only is not None:
            columns |= {"run": roles["run"], "only": self.only}
        return columns, by_rank

    def _arrow_data(self) -> Any:
        """The Arrow data as a table of the core, or as what can be read in pieces; a stream is read once."""
        if not self._arrow:
            from goodgain.io.arrow_pieces import readable

            with core_errors():
                source = self.source
                self._arrow.append(readable(source.value, source.name, source.columns))
        return self._arrow[0]

    def about_rows(self) -> int:
        """About how many rows the source holds, also those of other runs in it."""
        source = self.source
        if source.kind == "file":
            size = source.stat[0] if source.stat is not None else 0
            return size * (_PACKED if compression_of(source.name) else 1) // _LINE_BYTES
        if source.kind == "arrow":
            data = self._arrow_data()
            if hasattr(data, "read_pieces"):
                return int(data.rows)
            value = source.value  # a frame, a table, or a short stream
            return int(
                getattr(value, "num_rows", None) or (len(value) if hasattr(value, "__len__") else 0)
            )
        return sum(map(len, source.value.values())) if source.kind == "dict" else len(source.value)

    def rows(self) -> tuple[list[str], list[str], list[float]]:
        """The columns query, doc and score, in the order of the source."""
        from goodgain.io.rows import rows_of

        self.require_one_run()
        source = self.source
        if source.kind == "arrow":
            from dataclasses import replace

            data = self._arrow_data()
            if hasattr(data, "read_pieces"):
                data = data.read(list(dict.fromkeys(self._roles().values())))
            source = replace(source, value=data)
        rows = rows_of(source, "run", self.only)
        if not rows and source.stat is not None:  # a file without a row is one that went wrong
            from goodgain.io.line_formats import EMPTY

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


def _name_of(path: str) -> str:
    """The name of the system behind a path."""
    if not is_place(path):
        return system_name(path)
    from goodgain.io.locations import run_name

    return run_name(path)


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
