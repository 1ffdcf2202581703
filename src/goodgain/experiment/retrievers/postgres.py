"""A PostgreSQL table: full text search, or nearest vectors with pgvector."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import DEPTH, Retriever, check_ranking, import_extra
from goodgain.experiment.retrievers.embed import embedding, require_vector_settings
from goodgain.experiment.services import from_environment

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.experiment.retrievers.base import ScoredDocument
    from goodgain.experiment.retrievers.embed import Embedding

MATCH = ("any", "all", "web")
RANKINGS = ("ts_rank", "ts_rank_cd")


class Postgres(Retriever):
    """An existing table whose rows have the ids of the corpus.

    Full text search reads the column `text`, or a tsvector from the column `tsvector`; `match` says whether
    any or all words must occur, or that the query is written as for a web search (websearch_to_tsquery).
    `ranking` is ts_rank or ts_rank_cd with their `normalization`: by default the logarithm of the length
    (1), without which long documents win. Vector search reads the pgvector column `vector`, with `embed`,
    a model or a function. Your own `sql` must select id and score, with %(query)s and %(depth)s as
    parameters. `dsn` is never saved; environment variables of the client (PGHOST, PGPASSWORD, ...) apply.
    """

    name = "postgres"
    secret = ("dsn",)

    def __init__(
        self,
        *,
        dsn: str = "",
        table: str = "",
        id: str = "id",  # noqa: A002
        text: str = "text",
        tsvector: str | None = None,
        language: str = "english",
        match: str = "any",
        ranking: str = "ts_rank",
        normalization: int = 1,
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
            raise UsageError(f"invalid match='{match}'", hint=f"available: {', '.join(MATCH)}")
        if ranking not in RANKINGS:
            raise UsageError(
                f"invalid ranking='{ranking}'", hint=f"available: {', '.join(RANKINGS)}"
            )
        if not isinstance(normalization, int) or not 0 <= normalization < 64:
            raise UsageError(
                f"normalization must be an integer from 0 to 63, got {normalization}",
                hint="a sum of 1, 2, 4, 8, 16 and 32, as PostgreSQL's manual lists them",
            )
        require_vector_settings("vector", vector, embed)
        self.dsn, self.table, self.id, self.text, self.tsvector = dsn, table, id, text, tsvector
        self.language, self.match = language, match
        self.ranking, self.normalization = ranking, normalization
        self.vector, self.embed, self.sql, self.depth = vector, embed, sql, depth
        self._local = threading.local()
        self._embedding: Embedding | None = None

    def load(self) -> None:
        """Import the client and, if needed, the model."""
        import_extra("psycopg", "the retriever 'postgres'", "psycopg", "postgres")
        if self.embed is not None and self._embedding is None:
            self._embedding = embedding(self.embed, 0, None)

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Search the table."""
        import psycopg

        connection = getattr(self._local, "connection", None)
        if connection is None or connection.closed:
            connection = self._local.connection = psycopg.connect(
                from_environment(self.dsn), autocommit=True
            )
        vector = None
        if self._embedding is not None:
            vector = "[" + ",".join(map(repr, self._embedding.embed([query])[0].tolist())) + "]"
        values = {"query": query, "depth": depth, "language": self.language, "vector": vector}
        rows = connection.execute(self._statement(), values).fetchall()
        return check_ranking([(row[0], row[1]) for row in rows], depth)

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
        parser = sql.SQL("websearch_to_tsquery" if self.match == "web" else "plainto_tsquery")
        plain: sql.Composable = sql.SQL("{}(%(language)s::regconfig, %(query)s)").format(parser)
        if self.match == "any":  # the parser joins words with 'and'
            plain = sql.SQL("replace({}::text, '&', '|')::tsquery").format(plain)
        words = (
            name(self.tsvector)
            if self.tsvector
            else sql.SQL("to_tsvector(%(language)s::regconfig, {})").format(name(self.text))
        )
        return sql.SQL(
            "SELECT {key}, {rank}({words}, parsed, {normalization}) AS score "
            "FROM {table} CROSS JOIN (SELECT {plain} AS parsed) AS a "
            "WHERE {words} @@ parsed ORDER BY score DESC, {key} DESC LIMIT %(depth)s"
        ).format(
            key=key,
            words=words,
            table=table,
            plain=plain,
            rank=sql.SQL(self.ranking),
            normalization=sql.Literal(self.normalization),
        )
