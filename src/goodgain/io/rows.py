"""The rows of any source as columns, for conversion and for what the core does not evaluate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import InputError, core_errors
from goodgain.io.columns import core_columns, find_columns
from goodgain.io.result_lists import finite_number, id_text, is_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.io.columns import TableKind
    from goodgain.io.sources import Source


class Rows(NamedTuple):
    """Columns of equal length; `target` and `aspect` are None in rows without one."""

    query: list[str]
    doc: list[str]
    value: list[float]
    target: list[str | None]
    aspect: list[str | None]

    def __bool__(self) -> bool:
        return bool(self.query)

    @classmethod
    def of(cls, table: dict[str, dict[str, float]]) -> Rows:
        """The rows of a dictionary {query: {document: value}}."""
        listed = list(dict_rows(table))
        return cls(
            [row[0] for row in listed],
            [row[1] for row in listed],
            [row[2] for row in listed],
            [None] * len(listed),
            [None] * len(listed),
        )

    def by_round(self) -> bool:
        """Whether a number among the aspects is no whole one: then they are rounds of judging."""
        for aspect in set(self.aspect):
            try:
                number = float(aspect or "0")
            except ValueError:
                continue
            if number < 0 or not number.is_integer():
                return True
        return False

    def without_aspects(self) -> Rows:
        """The same rows, with aspects left out."""
        return self._replace(aspect=[None] * len(self.aspect))


def rows_of(
    source: Source, table: TableKind, only: str | None = None, *, checked: bool = True
) -> Rows:
    """The rows in the order of the source; `only` those of one run, where a column names runs.

    Rows of Python that are not `checked` are left to whoever measures them.
    """
    from goodgain import _core

    with core_errors():
        if source.kind == "file":
            from goodgain.io.files import open_lines

            file = open_lines(source.value, table, source.columns)
            with file.places():
                form = file.of_run(only)
                rows = Rows(*_core.file_rows(file.fd, file.name, form, table == "run"))
            return _scored(rows, source.name) if file.by_rank else rows
        if source.kind == "arrow":
            arrow = source.value
            if not isinstance(arrow, _core.ArrowTable):
                arrow = _core.ArrowTable.of(source.value, source.name)
            roles = find_columns(arrow.columns(), table, source.name, source.columns)
            columns, by_rank = core_columns(roles)
            if only is not None:
                columns |= {"run": roles["run"], "only": only}
            rows = Rows(*arrow.rows(columns, table == "run"))
            return _scored(rows, source.name) if by_rank else rows
    listed = list(dict_rows(source.value, source.name)) if source.kind == "dict" else source.value
    queries, docs = _Ids("query", checked=checked), _Ids("document", checked=checked)
    for number, row in enumerate(listed if checked else (), 1):
        _check_row(row, f"{source.name} row {number}")
    rows = Rows(
        [queries.text(row[0], source.name) for row in listed],
        [docs.text(row[1], source.name) for row in listed],
        [float(row[2]) for row in listed],
        [_optional(row, 3) for row in listed],
        [_optional(row, 4) for row in listed],
    )
    return _scored(rows, source.name) if source.ranking == "rank" else rows


def has_scores(source: Source) -> bool:
    """Whether the documents of a run have scores, rather than only ranks or an order."""
    if source.kind == "file":
        from os import close

        from goodgain.io.files import open_lines

        file = open_lines(source.value, "run", source.columns)
        close(file.fd)
        return not file.by_rank
    if source.kind == "arrow":
        from goodgain import _core

        names = _core.ArrowTable.of(source.value, source.name).columns()
        return "rank" not in find_columns(names, "run", source.name, source.columns)
    return source.ranking == "score"


def dict_rows(table: dict[Any, Any], name: str = "run") -> Iterator[tuple[Any, Any, Any]]:
    """(query, document, value) of a dictionary, with ids of their own type; a list of ids is ranked."""
    first: tuple[Any, bool] | None = None  # a query, and whether its documents have scores
    for query, docs in table.items():
        if not isinstance(docs, Iterable) or isinstance(docs, str | bytes):
            raise InputError(
                f"cannot read the documents of query {query!r:.80} from {docs!r:.80}",
                where=name,
                hint="expected {query: {document: number}}",
            )
        for number, item in enumerate(docs.items() if isinstance(docs, dict) else docs, 1):
            scored = not is_id(item)
            first = first or (query, scored)
            if scored != first[1]:
                which = f"{item!r} of query {query!r}" if query == first[0] else f"query {query!r}"
                raise InputError(
                    f"{which} has {'' if scored else 'no '}scores, but query {first[0]!r} has "
                    f"{'none' if scored else 'them'}",
                    where=name,
                )
            if scored and (not isinstance(item, tuple | list) or len(item) != 2):
                raise InputError(f"expected a (document, score) pair, got {item!r:.80}", where=name)
            yield (query, *item) if scored else (query, item, -float(number))


def _check_row(row: Any, where: str) -> None:
    """Refuse what the core refuses: a row that is too short, and a value that is not a finite number."""
    if len(row) < 3:
        raise InputError(
            f"the row {row!r:.80} has {len(row)} fields",
            where=where,
            hint="expected (query, document, number)",
        )
    if finite_number(row[2]) is not None:
        return
    raise InputError(
        f"the value {row[2]!r:.80} is not a finite number",
        where=where,
        hint="remove the row, or correct it",
    )


class _Ids:
    """Ids as text. Like in the core, those of a table are all text or all integers."""

    def __init__(self, what: str, *, checked: bool) -> None:
        self._what, self._checked = what, checked
        self._kind: type | None = None

    def text(self, id_: Any, where: str) -> str:
        if type(id_) is str and self._kind is str:
            return id_
        text = id_text(id_)
        if not self._checked:
            return str(id_) if text is None else text
        if text is None:
            raise InputError(
                f"the {self._what} id {id_!r:.80} must be text or an integer",
                where=where,
                hint="convert ids first, for example with str()",
            )
        kind = str if isinstance(id_, str) else int
        if self._kind not in (None, kind):
            raise InputError(
                f"{self._what} ids mix text and integers: {id_!r:.80} is "
                f"{'text' if kind is str else 'an integer'}",
                where=where,
                hint="1 and '1' are different ids: use one type, for example with str()",
            )
        self._kind = kind
        return text


def _scored(rows: Rows, name: str) -> Rows:
    """Ranks as scores that order documents in the same way."""
    for query, doc, rank in zip(rows.query, rows.doc, rows.value, strict=True):
        if not (rank >= 0 and rank == int(rank)):
            raise InputError(
                f"the rank {rank:g} of document '{doc}' for query '{query}' must be a non-negative "
                "integer",
                where=name,
            )
    return rows._replace(value=[-rank for rank in rows.value])


def _optional(row: Any, index: int) -> str | None:
    return str(row[index]) if len(row) > index and row[index] is not None else None
