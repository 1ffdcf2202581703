"""SQLite: an FTS5 table, one's own SQL, or the corpus indexed in memory."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.experiment.queries import filters_of
from goodgain.experiment.retrievers.base import DEPTH
from goodgain.experiment.retrievers.stores import (
    Store,
    choose,
    equalities,
    not_available,
    quoted_name,
    quoted_words,
    ranked_rows,
)
from goodgain.experiment.services import from_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.experiment.retrievers.base import ScoredDocument

MATCH = ("any", "all", "syntax")


class SQLite(Store):
    """Full text search by BM25 in an FTS5 table, over all of its columns.

    `match` says whether any or all words of a query must occur; with "syntax" a query is written in FTS5's
    language, otherwise none of its characters is an operator. `weights` are those of the table's columns.
    FTS5's bm25() is lower for better rows; its negative is the score. `tokenize` is that of an index made
    here. Your own `sql` selects id and score (or only ids), best first, with :query and :depth as parameters.
    """

    name = "sqlite"

    def __init__(
        self,
        *,
        path: str = "",
        table: str = "",
        id: str = "id",  # noqa: A002
        match: str = "any",
        weights: Sequence[float] = (),
        tokenize: str = "porter unicode61",
        sql: str | None = None,
        depth: int = DEPTH,
    ) -> None:
        choose("match", match, MATCH)
        if path and not table and not sql:
            raise UsageError("sqlite needs a table", hint='table = "..." or sql = "SELECT ..."')
        if not path and (table or sql):
            raise UsageError("sqlite needs the path of the database", hint='path = "docs.db"')
        self.path, self.table, self.id, self.match = path, table, id, match
        self.weights, self.tokenize, self.sql = list(weights), tokenize, sql
        self.depth = depth
        self._local = threading.local()

    @property
    def is_own(self) -> bool:
        """Whether the corpus is indexed here."""
        return not self.path

    @property
    def takes_filters(self) -> bool:  # type: ignore[override]
        """SQL of one's own says itself which rows count."""
        return not self.is_own and self.sql is None

    def build(self, documents: Mapping[str, str]) -> None:
        """Look at the table, or make one of the corpus."""
        self._shared: sqlite3.Connection | None = None
        self._local = threading.local()
        if self.is_own:
            self._fill(documents)
            return
        path = from_environment(self.path)
        if not Path(path).exists():
            raise InputError(f"file not found: '{self.path}'")
        if self.sql is None:
            self._require_table()

    def _fill(self, documents: Mapping[str, str]) -> None:
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            connection.execute(
                f"CREATE VIRTUAL TABLE corpus USING fts5({quoted_name(self.id)} UNINDEXED, text, "
                f"tokenize={_literal(self.tokenize)})"
            )
        except sqlite3.OperationalError as error:
            raise InputError(f"SQLite cannot index the documents: {error}") from None
        connection.executemany("INSERT INTO corpus VALUES (?, ?)", documents.items())
        connection.commit()
        self._shared, self._lock = connection, threading.Lock()

    def _require_table(self) -> None:
        try:
            rows = self._connection().execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
            )
            tables = dict(rows.fetchall())
        except sqlite3.DatabaseError as error:
            raise InputError(f"cannot read the database '{self.path}': {error}") from None
        if self.table not in tables:
            full = [name for name, sql in tables.items() if "fts5" in str(sql).lower()]
            not_available("the table", self.table, full)
        if "fts5" not in str(tables[self.table]).lower():
            raise InputError(
                f"the table '{self.table}' has no full text index",
                hint="CREATE VIRTUAL TABLE ... USING fts5(...), or use your own sql",
            )
        rows = self._connection().execute(f"PRAGMA table_info({quoted_name(self.table)})")
        columns = [row[1] for row in rows.fetchall()]
        if self.id not in columns and self.id != "rowid":
            not_available("the column", self.id, columns)

    def _connection(self) -> sqlite3.Connection:
        """A connection of this thread, read-only."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            path = Path(from_environment(self.path)).resolve().as_uri()
            connection = sqlite3.connect(f"{path}?mode=ro", uri=True)
            self._local.connection = connection
        return connection

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The rows that match best."""
        if self.sql is not None:
            values = {"query": str(query), "depth": depth}
            return ranked_rows(self._rows(self.sql, values), depth, "the result of the SQL")
        text = self._expression(str(query))
        if not text:
            return []
        table = "corpus" if self.is_own else quoted_name(self.table)
        weights = "".join(f", {float(weight)!r}" for weight in self.weights)
        key = f"{table}.rowid" if self.id == "rowid" else f"{table}.{quoted_name(self.id)}"
        # with the table before it, since SQLite takes an unknown "name" for a text
        conditions, values_of_filters = equalities(
            filters_of(query), lambda field: f"{table}.{quoted_name(field)}"
        )
        statement = (
            f"SELECT {key}, -bm25({table}{weights}) AS score FROM {table} WHERE {table} MATCH ?"
            f"{conditions} ORDER BY score DESC, CAST({key} AS TEXT) DESC LIMIT ?"
        )
        return ranked_rows(
            self._rows(statement, [text, *values_of_filters, depth]), depth, "the table"
        )

    def _expression(self, query: str) -> str:
        if self.match == "syntax":
            return query
        return (" AND " if self.match == "all" else " OR ").join(quoted_words(query))

    def _rows(self, statement: str, values: Any) -> list[Any]:
        try:
            if self._shared is not None:
                with self._lock:
                    return self._shared.execute(statement, values).fetchall()
            return self._connection().execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise InputError(f"SQLite: {error}") from None


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
