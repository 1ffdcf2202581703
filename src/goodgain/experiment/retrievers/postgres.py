"""A PostgreSQL table: full text search, or nearest vectors with pgvector."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.experiment.queries import accepted_values, filters_of
from goodgain.experiment.retrievers.base import DEPTH, Retriever, import_extra
from goodgain.experiment.retrievers.embed import require_vector_settings
from goodgain.experiment.retrievers.stores import choose, query_embedding, ranked_rows
from goodgain.experiment.services import from_environment

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.experiment.retrievers.base import ScoredDocument

MATCH = ("any", "all", "web")
RANKINGS = ("ts_rank", "ts_rank_cd")
# The operator of pgvector, and the score in which higher is better: all operators are distances.
METRICS = {
    "cosine": ("<=>", "1 - ({})"),
    "dot": ("<#>", "-({})"),
    "l2": ("<->", "-({})"),
    "l1": ("<+>", "-({})"),
}


class Postgres(Retriever):
    """An existing table whose rows have the ids of the corpus.

    Full text search reads the column `text`, or a tsvector from the column `tsvector`; `match` says whether
    any or all words must occur, or that the query is written as for a web search (websearch_to_tsquery).
    `ranking` is ts_rank or ts_rank_cd with their `normalization`: by default the logarithm of the length
    (1), without which long documents win. Vector search reads the pgvector column `vector`, with `embed`,
    a model or a function, by the `metric` cosine, dot, l2 or l1, which should be that of the column's index.
    Filters are columns of the table. Your own `sql` selects id and score (or only ids), best first, with
    %(query)s and %(depth)s as parameters. `dsn` is never saved; environment variables of the client (PGHOST,
    PGPASSWORD, ...) apply.
    """

    name = "postgres"
    secret = ("dsn",)

    @property
    def takes_filters(self) -> bool:  # type: ignore[override]
        """SQL of one's own says itself which rows count."""
        return self.sql is None

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
        metric: str = "cosine",
        sql: str | None = None,
        depth: int = DEPTH,
    ) -> None:
        if not table and not sql:
            raise UsageError(
                "postgres needs a table", hint='table = "documents", or sql = "SELECT ..."'
            )
        choose("match", match, MATCH)
        choose("ranking", ranking, RANKINGS)
        choose("metric", metric, METRICS)
        if not isinstance(normalization, int) or not 0 <= normalization < 64:
            raise UsageError(
                f"normalization must be an integer from 0 to 63, got {normalization}",
                hint="a sum of 1, 2, 4, 8, 16 and 32, as PostgreSQL's manual lists them",
            )
        require_vector_settings("vector", vector, embed)
        self.dsn, self.table, self.id, self.text, self.tsvector = dsn, table, id, text, tsvector
        self.language, self.match = language, match
        self.ranking, self.normalization = ranking, normalization
        self.vector, self.embed, self.metric = vector, embed, metric
        self.sql, self.depth = sql, depth
        self._local = threading.local()
        self._embed: Callable[[str], list[float]] | None = None

    def load(self) -> None:
        """Import the client and, if needed, the model."""
        import_extra("psycopg", "the retriever 'postgres'", "psycopg", "postgres")
        if self.embed is not None and self._embed is None:
            self._embed = query_embedding(self.embed, "the retriever 'postgres'")

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Search the table."""
        import psycopg

        filters = filters_of(query)
        values: dict[str, Any] = {
            "query": str(query), "depth": depth, "language": self.language,
            **{f"filter{i}": accepted_values(v) for i, v in enumerate(filters.values())},
        }  # fmt: skip
        if self._embed is not None:
            values["vector"] = "[" + ",".join(map(repr, self._embed(query))) + "]"
        try:
            rows = self._connection().execute(self._statement(list(filters)), values).fetchall()
        except psycopg.Error as error:
            raise InputError(f"PostgreSQL: {(str(error).splitlines() or [''])[0]}") from None
        return ranked_rows(rows, depth, "the result of the SQL" if self.sql else "the table")

    def _connection(self) -> Any:
        """A connection of this thread."""
        import psycopg

        connection = getattr(self._local, "connection", None)
        if connection is None or connection.closed:
            connection = psycopg.connect(from_environment(self.dsn), autocommit=True)
            self._local.connection = connection
            weakref.finalize(self, connection.close)  # a thread may end before anybody closes it
        return connection

    def _statement(self, filters: list[str]) -> Any:
        from psycopg import sql

        if self.sql is not None:
            return self.sql
        name = sql.Identifier
        table, key = name(*self.table.split(".")), name(self.id)
        # as everywhere, equal scores by descending id, whatever the language of the database
        ties = sql.SQL('{}::text COLLATE "C" DESC').format(key)
        conditions: sql.Composable = sql.SQL("").join(
            sql.SQL(" AND {} = ANY(%(filter{})s)").format(name(field), sql.SQL(str(i)))
            for i, field in enumerate(filters)
        )
        if self.vector is not None:
            operator, score = METRICS[self.metric]
            distance = sql.SQL("{} {} %(vector)s::vector").format(
                name(self.vector), sql.SQL(operator)
            )
            return sql.SQL(
                "SELECT {}, {} FROM {} WHERE {} IS NOT NULL{} ORDER BY {}, {} LIMIT %(depth)s"
            ).format(
                key, sql.SQL(score).format(distance), table, name(self.vector), conditions,
                distance, ties,
            )  # fmt: skip
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
            "WHERE {words} @@ parsed{conditions} ORDER BY score DESC, {ties} LIMIT %(depth)s"
        ).format(
            key=key,
            words=words,
            table=table,
            plain=plain,
            conditions=conditions,
            ties=ties,
            rank=sql.SQL(self.ranking),
            normalization=sql.Literal(self.normalization),
        )
