"""The rows of any source as columns, for conversion and for what the core does not evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import core_errors
from goodgain.io.columns import find_columns

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


def rows_of(source: Source, table: TableKind) -> Rows:
    """The rows in the order of the source."""
    from goodgain import _core

    with core_errors():
        if source.kind == "file":
            from goodgain.io.files import open_lines

            file = open_lines(source.value, table, source.columns)
            return Rows(*_core.file_rows(file.fd, file.name, file.format, table == "run"))
        if source.kind == "arrow":
            arrow = source.value
            if not isinstance(arrow, _core.ArrowTable):
                arrow = _core.ArrowTable.of(source.value, source.name)
            roles = find_columns(arrow.columns(), table, source.name, source.columns)
            return Rows(*arrow.rows(roles, table == "run"))
    listed = list(dict_rows(source.value)) if source.kind == "dict" else source.value
    return Rows(
        [str(row[0]) for row in listed],
        [str(row[1]) for row in listed],
        [float(row[2]) for row in listed],
        [_optional(row, 3) for row in listed],
        [_optional(row, 4) for row in listed],
    )


def dict_rows(table: dict[Any, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """(query, document, value) of a dictionary, with ids of their own type."""
    for query, docs in table.items():
        for doc, value in docs.items() if isinstance(docs, dict) else docs:
            yield query, doc, value


def _optional(row: Any, index: int) -> str | None:
    return str(row[index]) if len(row) > index and row[index] is not None else None
