"""A LanceDB table: by vectors or full text, or made of the corpus in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.experiment.queries import accepted_values, filters_of
from goodgain.experiment.retrievers.base import DEPTH, check_ranking, import_extra
from goodgain.experiment.retrievers.embed import LSA
from goodgain.experiment.retrievers.stores import (
    Embed,
    Store,
    choose,
    corpus_vectors,
    not_available,
    query_embedding,
)
from goodgain.experiment.services import from_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.experiment.retrievers.base import ScoredDocument

METRICS = ("cosine", "dot", "l2")


class LanceDB(Store):
    """A table, by nearest vectors if there is `embed`, otherwise by full text (BM25) in the column `text`.

    LanceDB returns distances by every metric; their negative is the score. `metric` is by default that of
    the vector index, or cosine for an index made here; a table without an index has LanceDB's default, l2.
    """

    name = "lancedb"

    def __init__(
        self,
        *,
        uri: str = "",
        table: str = "",
        embed: Embed | None = None,
        vector: str = "vector",
        text: str = "text",
        id: str = "id",  # noqa: A002
        metric: str | None = None,
        client: Any = None,
        depth: int = DEPTH,
    ) -> None:
        if metric is not None:
            choose("metric", metric, METRICS)
        if embed == LSA:
            raise UsageError("lancedb needs a model or a function as embed")
        self.uri, self.table, self.embed, self.vector = uri, table, embed, vector
        self.text, self.id, self.metric = text, id, metric
        self.client, self.depth = client, depth
        if not self.is_own and not table:
            raise UsageError("lancedb needs the name of a table", hint='table = "..."')

    @property
    def is_own(self) -> bool:
        """Whether the corpus is indexed here."""
        return not (self.uri or self.has_client())

    def load(self) -> None:
        """Import the client and, if needed, the model."""
        self._module = import_extra("lancedb", "the retriever 'lancedb'", "lancedb", "lancedb")
        if self.embed is not None:
            self._embed = query_embedding(self.embed, "the retriever 'lancedb'")

    def build(self, documents: Mapping[str, str]) -> None:
        """Open the table, or make one of the corpus."""
        if self.is_own:
            self._table = self._fill(documents)
        else:
            self._table = self._open()
            names = self._table.schema.names
            for name in (self.id, self.vector if self.embed is not None else self.text):
                if name not in names:
                    not_available("the column", name, names)
        self._metric = self.metric or self._index_metric()

    def _open(self) -> Any:
        try:
            connection = (
                self.client
                if self.has_client()
                else self._module.connect(from_environment(self.uri), **self.client_arguments())
            )
            return connection.open_table(self.table)
        except Exception as error:
            if "not found" not in str(error):
                raise InputError(f"cannot open LanceDB at '{self.uri}': {error}") from None
        tables = connection.list_tables()
        return not_available("the table", self.table, list(getattr(tables, "tables", tables)))

    def _fill(self, documents: Mapping[str, str]) -> Any:
        rows: list[dict[str, Any]] = [
            {self.id: doc, self.text: text} for doc, text in documents.items()
        ]
        if self.embed is not None:
            vectors = corpus_vectors(self.embed, documents, "the retriever 'lancedb'")
            for row, vector in zip(rows, vectors, strict=True):
                row[self.vector] = vector
        table = self._module.connect("memory://", **self.client_arguments()).create_table(
            "corpus", rows
        )
        if self.embed is None:
            from lancedb.index import FTS

            table.create_index(self.text, config=FTS())
        return table

    def _index_metric(self) -> str:
        if self.is_own:
            return "cosine"
        for index in self._table.list_indices():
            if self.vector in index.columns:
                metric = self._table.index_stats(index.name).distance_type
                if metric:
                    return str(metric)
        return "l2"

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The nearest rows, or the rows that match best."""
        if self.embed is None:
            from lancedb.query import MatchQuery

            matches = self._table.search(MatchQuery(str(query), self.text), query_type="fts")
            field, sign = "_score", 1
        else:
            vector = self._embed(query)
            matches = self._table.search(vector, vector_column_name=self.vector)
            matches = matches.distance_type(self._metric)
            field, sign = "_distance", -1
        if condition := _where(filters_of(query)):
            matches = matches.where(condition, prefilter=True)
        rows = matches.select([self.id, field]).limit(depth).to_list()
        return check_ranking([(row[self.id], sign * row[field]) for row in rows], depth, "best")


def _where(filters: Mapping[str, Any]) -> str:
    """The condition in SQL; LanceDB has no parameters, so that values are quoted here."""
    conditions = []
    for field, value in filters.items():
        accepted = ", ".join(map(_literal, accepted_values(value)))
        name = "`" + field.replace("`", "``") + "`"
        conditions.append(f"{name} IN ({accepted})" if accepted else "FALSE")
    return " AND ".join(conditions)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"
