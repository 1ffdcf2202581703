"""A tantivy index: one that exists, or made of the corpus in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.experiment.queries import accepted_values, filters_of
from goodgain.experiment.retrievers.base import DEPTH, check_ranking, import_extra
from goodgain.experiment.retrievers.stores import Store, choose, quoted_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.experiment.retrievers.base import ScoredDocument

MATCH = ("any", "all", "syntax")


class Tantivy(Store):
    """Full text search by BM25 over `fields`.

    `match` says whether any or all words of a query must occur; with "syntax" a query is written in
    tantivy's query language, otherwise none of its characters is an operator. `id` is a stored field.
    `tokenizer` is that of an index made here.
    """

    name = "tantivy"

    def __init__(
        self,
        *,
        path: str = "",
        fields: Sequence[str] = ("text",),
        id: str = "id",  # noqa: A002
        match: str = "any",
        tokenizer: str = "en_stem",
        client: Any = None,
        depth: int = DEPTH,
    ) -> None:
        choose("match", match, MATCH)
        if not fields or isinstance(fields, str):
            raise UsageError(f"fields must be a list of names, got {fields!r}")
        self.path, self.fields, self.id, self.match = path, list(fields), id, match
        self.tokenizer, self.client, self.depth = tokenizer, client, depth

    @property
    def is_own(self) -> bool:
        """Whether the corpus is indexed here."""
        return not (self.path or self.has_client())

    def load(self) -> None:
        """Import tantivy."""
        self._module = import_extra("tantivy", "the retriever 'tantivy'", "tantivy", "tantivy")

    def build(self, documents: Mapping[str, str]) -> None:
        """Open the index, or make one of the corpus."""
        if self.has_client():
            self._index = self.client
        elif self.is_own:
            self._index = self._fill(documents)
        else:
            try:
                self._index = self._module.Index.open(self.path)
            except ValueError as error:
                raise InputError(f"cannot open the tantivy index '{self.path}': {error}") from None
        self._index.reload()
        self._searcher = self._index.searcher()
        for field in self.fields:
            self._parse("word", [field])  # says if there is no such field

    def _fill(self, documents: Mapping[str, str]) -> Any:
        builder = self._module.SchemaBuilder()
        builder.add_text_field(self.id, stored=True, tokenizer_name="raw")
        for field in self.fields:
            builder.add_text_field(field, tokenizer_name=self.tokenizer)
        index = self._module.Index(builder.build())
        writer = index.writer(num_threads=1)  # one segment order, and so one order of ties
        for doc, text in documents.items():
            entry = self._module.Document()
            entry.add_text(self.id, doc)
            entry.add_text(self.fields[0], text)
            writer.add_document(entry)
        writer.commit()
        writer.wait_merging_threads()
        return index

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The documents that match best."""
        parsed = self._query(query)
        if parsed is None:
            return []
        matches = self._searcher.search(parsed, limit=depth, count=False).hits
        return check_ranking(
            [(self._key(address), score) for score, address in matches], depth, "best"
        )

    def _query(self, query: str) -> Any:
        text = str(query)
        if self.match != "syntax":
            words = quoted_words(text)
            if not words:
                return None
            text = " ".join(words)
        parsed = self._parse(text, self.fields)
        for field, value in filters_of(query).items():
            terms = [
                (self._module.Occur.Should, self._term(field, each))
                for each in accepted_values(value)
            ]
            filtered = self._module.Query.const_score_query(
                self._module.Query.boolean_query(terms), 0.0
            )
            parsed = self._module.Query.boolean_query(
                [(self._module.Occur.Must, parsed), (self._module.Occur.Must, filtered)]
            )
        return parsed

    def _parse(self, text: str, fields: list[str]) -> Any:
        try:
            return self._index.parse_query(text, fields, conjunction_by_default=self.match == "all")
        except ValueError as error:
            raise InputError(f"tantivy cannot read the query: {error}") from None

    def _term(self, field: str, value: Any) -> Any:
        try:
            return self._module.Query.term_query(self._index.schema, field, value)
        except ValueError as error:
            raise InputError(f"cannot filter by '{field}': {error}") from None

    def _key(self, address: Any) -> str:
        values = self._searcher.doc(address)[self.id]
        if not values:
            raise InputError(f"a document has no stored field '{self.id}'")
        return str(values[0])
