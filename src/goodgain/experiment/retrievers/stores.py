"""What the retrievers of databases and engines share: query vectors, filters, rows, clients."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from goodgain.errors import InputError, UsageError
from goodgain.experiment.queries import accepted_values
from goodgain.experiment.retrievers.base import Retriever, check_ranking
from goodgain.experiment.retrievers.embed import sides_of
from goodgain.experiment.services import from_environment

if TYPE_CHECKING:
    from goodgain.experiment.retrievers.base import ScoredDocument

Embed = str | Callable[[list[str]], Any]
WORD = re.compile(r"\w+")


class Store(Retriever):
    """A collection of documents with the ids of the corpus.

    One that exists is searched as it is; without an address the corpus is indexed here, in memory, if the
    store can do that. `client` holds further arguments of the client, or is a client; it is never saved.
    """

    secret = ("client",)
    client: Any = None

    @property
    def is_own(self) -> bool:
        """Whether the corpus is indexed here."""
        return False

    @property
    def takes_filters(self) -> bool:  # type: ignore[override]
        """A collection of one's own has fields to filter by; the corpus has only texts."""
        return not self.is_own

    def client_arguments(self) -> dict[str, Any]:
        """Arguments for the client, with variables of the environment in place."""
        return from_environment(dict(self.client or {}))  # type: ignore[no-any-return]

    def has_client(self) -> bool:
        """Whether `client` is one, rather than arguments for one."""
        return self.client is not None and not isinstance(self.client, Mapping)

    def unknown_state(self) -> list[str]:
        """What its settings cannot tell, such as what the client is connected to."""
        state = super().unknown_state()
        if self.has_client():
            state.append(f"client: the state of a {type(self.client).__name__} cannot be read")
        return state


class Collection(Store):
    """A collection of vectors: at a `url`, in a folder at `path`, of a client, or made here of the corpus."""

    url: str
    path: str
    collection: str

    @property
    def is_own(self) -> bool:
        """Whether the corpus is indexed here."""
        return not (self.url or self.path or self.has_client())

    def check_place(self) -> None:
        """Refuse two places, and one without the name of a collection."""
        if self.url and self.path:
            raise UsageError(f"{self.name} takes a url or a path, not both")
        if not self.is_own and not self.collection:
            raise UsageError(
                f"{self.name} needs the name of a collection", hint='collection = "..."'
            )


def choose(name: str, value: str, choices: Sequence[str] | Mapping[str, Any]) -> None:
    """Refuse a parameter that is none of its choices."""
    if value not in choices:
        raise UsageError(f"invalid {name}='{value}'", hint=f"available: {', '.join(choices)}")


def query_embedding(embed: Embed, purpose: str) -> Callable[[str], list[float]]:
    """The vector of a query as the function or model gives it.

    It is not scaled: the distances of a store to a scaled vector would order other documents first.
    """
    _, queries = sides_of(embed, purpose, normalize=False)
    return lambda query: _rows(queries, [str(query)])[0]


def _rows(embed: Callable[[list[str]], Any], texts: list[str]) -> list[list[float]]:
    import numpy as np

    rows = np.asarray(embed(texts), dtype=np.float32)
    if rows.ndim != 2 or len(rows) != len(texts):
        raise InputError(
            f"the embedding returned an array of shape {rows.shape} for {len(texts)} texts",
            hint="it must return one row of numbers per text",
        )
    return rows.tolist()  # type: ignore[no-any-return]


def corpus_vectors(
    embed: Embed, documents: Mapping[str, str], purpose: str, batch: int = 512
) -> list[list[float]]:
    """The vectors of the documents, in their order."""
    side, _ = sides_of(embed, purpose, normalize=False)
    texts = list(documents.values())
    return [row for i in range(0, len(texts), batch) for row in _rows(side, texts[i : i + batch])]


def ranked_rows(rows: Sequence[Sequence[Any]], depth: int, source: str) -> list[ScoredDocument]:
    """Rows of (id, score) or (id,) as a ranking; scores in another order than the rows are refused.

    Rows that come with ascending numbers hold distances, or forgot their order.
    """
    if not rows or len(rows[0]) < 2:
        return check_ranking([row[0] for row in rows], depth, "best")
    scores = [_number(row[1], source) for row in rows]
    for (above, one), (below, other) in pairwise(zip(rows, scores, strict=True)):
        if one < other:
            raise InputError(
                f"{source} is not in the order of its scores: '{above[0]}' ({one:g}) comes before "
                f"'{below[0]}' ({other:g})",
                hint="higher must be better: negate distances, and put the best first",
            )
    return check_ranking([(row[0], s) for row, s in zip(rows, scores, strict=True)], depth, "best")


def _number(value: Any, source: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{source} has a score that is not a number: {value!r:.40}") from None


def equalities(
    filters: Mapping[str, Any], quote: Callable[[str], str], mark: str = "?"
) -> tuple[str, list[Any]]:
    """SQL conditions for filters, each with an 'AND' before it, and their values."""
    text, values = "", []
    for field, value in filters.items():
        accepted = accepted_values(value)
        marks = ", ".join([mark] * len(accepted))
        text += f" AND {quote(field)} IN ({marks})" if accepted else " AND FALSE"
        values += accepted
    return text, values


def quoted_name(name: str) -> str:
    """An SQL identifier; dots separate schema and table."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


def quoted_words(query: str) -> list[str]:
    """The words of a query, each in quotation marks, so that none is taken for an operator."""
    return [f'"{word}"' for word in WORD.findall(query)]


def not_available(what: str, name: str, others: Sequence[str]) -> NoReturn:
    """Refuse a table, collection or field that does not exist."""
    listed = ", ".join(sorted(others)[:20])
    raise InputError(f"{what} '{name}' not found", hint=f"available: {listed or 'none'}")


def require_embed(name: str, embed: Embed | None) -> None:
    """Refuse a vector search without an embedding."""
    if not embed or embed == "lsa":
        raise UsageError(
            f"{name} needs embed, a model or a function",
            hint='for example embed = "my_module:embed"',
        )
