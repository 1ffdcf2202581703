"""DuckDB: a table by vectors or full text, one's own SQL, or the corpus indexed in memory."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.experiment.queries import filters_of
from goodgain.experiment.retrievers.base import DEPTH, import_extra
from goodgain.experiment.retrievers.embed import LSA
from goodgain.experiment.retrievers.stores import (
    Embed,
    Store,
    choose,
    corpus_vectors,
    equalities,
    not_available,
    query_embedding,
    quoted_name,
    ranked_rows,
)
from goodgain.experiment.services import from_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.experiment.retrievers.base import ScoredDocument

# Higher is better in all of them.
METRICS = {
    "cosine": "array_cosine_similarity({}, {})",
    "dot": "array_inner_product({}, {})",
    "l2": "-array_distance({}, {})",
}


class DuckDB(Store):
    """A table: by nearest vectors in the column `vector` if there is `embed`, by `sql`, or by full text.

    Full text search needs DuckDB's extension fts, and an index of the table (PRAGMA create_fts_index). Your
    own `sql` selects id and score (or only ids), best first, with $query and $depth as parameters.
    """

    name = "duckdb"

    def __init__(
        self,
        *,
        path: str = "",
        table: str = "",
        embed: Embed | None = None,
        vector: str = "vector",
        metric: str = "cosine",
        id: str = "id",  # noqa: A002
        text: str = "text",
        sql: str | None = None,
        client: Any = None,
        depth: int = DEPTH,
    ) -> None:
        choose("metric", metric, METRICS)
        if embed == LSA:
            raise UsageError("duckdb needs a model or a function as embed")
        self.path, self.table, self.embed, self.vector = path, table, embed, vector
        self.metric, self.id, self.text, self.sql = metric, id, text, sql
        self.client, self.depth = client, depth
        self._local = threading.local()
        if not self.is_own and not table and not sql:
            raise UsageError("duckdb needs a table", hint='table = "..." or sql = "SELECT ..."')
        if self.is_own and (table or sql):
            raise UsageError("duckdb needs the path of the database", hint='path = "docs.duckdb"')

    @property
    def is_own(self) -> bool:
        """Whether the corpus is indexed here."""
        return not (self.path or self.has_client())

    @property
    def takes_filters(self) -> bool:  # type: ignore[override]
        """SQL of one's own says itself which rows count."""
        return not self.is_own and self.sql is None

    def load(self) -> None:
        """Import DuckDB and, if needed, the model."""
        self._module = import_extra("duckdb", "the retriever 'duckdb'", "duckdb", "duckdb")
        if self.embed is not None:
            self._embed = query_embedding(self.embed, "the retriever 'duckdb'")

    def build(self, documents: Mapping[str, str]) -> None:
        """Open the table, or make one of the corpus."""
        self._local = threading.local()
        self._connection = self._connect()
        if self.is_own:
            self._fill(documents)
        if self.sql is not None:
            return
        columns = self._columns()
        needed = (self.id, self.vector) if self.embed is not None else (self.id,)
        for name in needed:
            if name not in columns:
                not_available("the column", name, list(columns))
        if self.embed is None:
            self._load_full_text()

    def _connect(self) -> Any:
        if self.has_client():
            return self.client
        path = from_environment(self.path)
        if path and not Path(path).exists():
            raise InputError(f"file not found: '{self.path}'")
        try:
            return self._module.connect(
                path or ":memory:", read_only=bool(path), **self.client_arguments()
            )
        except self._module.Error as error:
            raise InputError(f"cannot open the database '{self.path}': {error}") from None

    def _fill(self, documents: Mapping[str, str]) -> None:
        connection, size = self._connection, 0
        vectors: list[Any] = [None] * len(documents)
        if self.embed is not None:
            vectors = corpus_vectors(self.embed, documents, "the retriever 'duckdb'")
            size = len(vectors[0])
        column = f", {quoted_name(self.vector)} FLOAT[{size}]" if size else ""
        connection.execute(
            f"CREATE TABLE corpus ({quoted_name(self.id)} VARCHAR, {quoted_name(self.text)} VARCHAR{column})"
        )
        marks = "(?, ?, ?)" if size else "(?, ?)"
        rows = [
            [doc, text, vector] if size else [doc, text]
            for (doc, text), vector in zip(documents.items(), vectors, strict=True)
        ]
        connection.executemany(f"INSERT INTO corpus VALUES {marks}", rows)
        if not size:
            self._load_full_text()
            connection.execute(f"PRAGMA create_fts_index('corpus', '{self.id}', '{self.text}')")

    def _load_full_text(self) -> None:
        try:
            self._connection.execute("LOAD fts")
        except self._module.Error:
            raise InputError(
                "DuckDB's extension 'fts' is not installed",
                hint="INSTALL fts once, with a network; or use embed, or your own sql",
            ) from None

    def _columns(self) -> dict[str, str]:
        table = "corpus" if self.is_own else self.table
        try:
            rows = self._connection.execute(f"DESCRIBE {quoted_name(table)}").fetchall()
        except self._module.CatalogException:
            rows = self._connection.execute("SHOW TABLES").fetchall()
            return not_available("the table", table, [row[0] for row in rows])
        return {row[0]: row[1] for row in rows}

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The nearest rows, or the rows that match best."""
        if self.sql is not None:
            values: Any = {
                name: value
                for name, value in (("query", str(query)), ("depth", depth))
                if f"${name}" in self.sql
            }
            return ranked_rows(self._rows(self.sql, values), depth, "the result of the SQL")
        table = "corpus" if self.is_own else self.table
        key = quoted_name(self.id)
        conditions, values_of_filters = equalities(filters_of(query), quoted_name)
        if self.embed is not None:
            vector = self._embed(query)
            scored = METRICS[self.metric].format(
                quoted_name(self.vector), f"CAST(? AS FLOAT[{len(vector)}])"
            )
            first: Any = vector
        else:
            schema = "fts_" + (table if "." in table else f"main.{table}").replace(".", "_")
            scored, first = f"{quoted_name(schema)}.match_bm25({key}, ?)", str(query)
        statement = (
            f"SELECT * FROM (SELECT CAST({key} AS VARCHAR) AS doc, {scored} AS score "
            f"FROM {quoted_name(table)} WHERE TRUE{conditions}) "
            "WHERE score IS NOT NULL ORDER BY score DESC, doc DESC LIMIT ?"
        )
        rows = self._rows(statement, [first, *values_of_filters, depth])
        return ranked_rows(rows, depth, "the table")

    def _rows(self, statement: str, values: Any) -> list[Any]:
        """The rows; every thread has a cursor of its own."""
        cursor = getattr(self._local, "cursor", None)
        if cursor is None:
            cursor = self._local.cursor = self._connection.cursor()
        try:
            return cursor.execute(statement, values).fetchall()  # type: ignore[no-any-return]
        except self._module.Error as error:
            raise InputError(f"DuckDB: {str(error).splitlines()[0]}") from None
