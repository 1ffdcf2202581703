"""A table of PostgreSQL: full text search, or the nearest vectors of pgvector."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import DEPTH, Hit, Retriever, checked, needed
from goodgain.experiment.retrievers.embed import Embedding, embedding

if TYPE_CHECKING:
    from collections.abc import Callable

MATCH = ("any", "all")


class Postgres(Retriever):
    """A table that is there already; its ids are those of the corpus.

    Full text: `text` is a column of text, or with `tsvector` one that holds the tsvector; `match` says
    whether any or all words must be there. Vectors: `vector` is a column of pgvector, and `embed` a model
    or a function. Or `sql` of your own that selects id and score, with %(query)s and %(depth)s.
    `dsn` is never saved; the client's own variables (PGHOST, PGPASSWORD, ...) are read too.
    """

    name = "postgres"
    secret = ("dsn",)

    def __init__(
        self,
        dsn: str = "",
        table: str = "",
        id: str = "id",  # noqa: A002
        text: str = "text",
        tsvector: str | None = None,
        language: str = "english",
        match: str = "any",
        vector: str | None = None,
        embed: str | Callable[[list[str]], Any] | None = None,
        sql: str | None = None,
        depth: int = DEPTH,
    ) -> None:
        if not table and not sql:
            raise UsageError(
                "postgres needs a table", hint='table = "documents", or sql = "SELECT ..."'
            )
        if match not in MATCH:
            raise UsageError(f"match='{match}' is not one of {', '.join(MATCH)}")
        if bool(vector) != bool(embed) or embed == "lsa":
            raise UsageError(
                "a search by vectors needs both vector and embed, a model or a function",
                hint='vector = "embedding", embed = "my_module:embed"',
            )
        self.dsn, self.table, self.id, self.text, self.tsvector = dsn, table, id, text, tsvector
        self.language, self.match, self.vector, self.embed, self.sql = (
            language,
            match,
            vector,
            embed,
            sql,
        )
        self.depth = depth
        self._local = threading.local()
        self._embedding: Embedding | None = None

    def load(self) -> None:
        """Import the client, and the model if there is one."""
        needed("psycopg", "the retriever 'postgres'", "psycopg", "postgres")
        if self.embed is not None and self._embedding is None:
            self._embedding = embedding(self.embed, 0, None)

    def search(self, query: str, depth: int) -> list[Hit]:
        """Ask the table."""
        import psycopg

        connection = getattr(self._local, "connection", None)
        if connection is None or connection.closed:
            connection = self._local.connection = psycopg.connect(self.dsn, autocommit=True)
        vector = None
        if self._embedding is not None:
            vector = "[" + ",".join(map(repr, self._embedding.embed([query])[0].tolist())) + "]"
        values = {"query": query, "depth": depth, "language": self.language, "vector": vector}
        rows = connection.execute(self._statement(), values).fetchall()
        return checked([(row[0], row[1]) for row in rows], depth)

    def _statement(self) -> Any:
        from psycopg import sql

        if self.sql is not None:
            return self.sql
        name = sql.Identifier
        table, key = name(*self.table.split(".")), name(self.id)
        if self.vector is not None:
            distance = sql.SQL("{} <=> %(vector)s::vector").format(name(self.vector))
            return sql.SQL("SELECT {}, 1 - ({}) FROM {} ORDER BY {} LIMIT %(depth)s").format(
                key, distance, table, distance
            )
        plain: sql.Composable = sql.SQL("plainto_tsquery(%(language)s::regconfig, %(query)s)")
        if self.match == "any":  # words joined by 'and' become words joined by 'or'
            plain = sql.SQL("replace({}::text, '&', '|')::tsquery").format(plain)
        words = (
            name(self.tsvector)
            if self.tsvector
            else sql.SQL("to_tsvector(%(language)s::regconfig, {})").format(name(self.text))
        )
        return sql.SQL(
            "SELECT {key}, ts_rank_cd({words}, asked) AS score "
            "FROM {table} CROSS JOIN (SELECT {plain} AS asked) AS a "
            "WHERE {words} @@ asked ORDER BY score DESC, {key} DESC LIMIT %(depth)s"
        ).format(key=key, words=words, table=table, plain=plain)
