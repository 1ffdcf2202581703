"""Retrievers made of others: fused, or ranked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import (
    DEPTH,
    Hit,
    Retriever,
    Search,
    bound,
    checked,
    needed,
    positive,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def ask(part: Any, query: str, depth: int) -> list[Hit]:
    """The best `depth` documents of any retriever."""
    if isinstance(part, Retriever):
        return part.search(query, depth)
    answer = part(query)
    if hasattr(answer, "__await__"):
        import asyncio

        async def wait() -> Any:
            return await answer

        answer = asyncio.run(wait())
    return checked(answer, depth)


class Hybrid(Retriever):
    """Any fusion of other systems: the method, normalisation, weights and parameter of `goodgain fuse`.

    `of` names systems of the experiment, or holds retrievers; `pool` is how deep each is asked.
    """

    name = "hybrid"

    def __init__(
        self,
        of: Sequence[str | Search] = (),
        method: str = "rrf",
        norm: str | None = None,
        weights: Sequence[float] | None = None,
        params: Mapping[str, Any] | None = None,
        pool: int | None = None,
        depth: int = DEPTH,
    ) -> None:
        from goodgain.fusion.methods import find_method

        if isinstance(of, str) or len(of) < 2:
            raise UsageError(
                "a hybrid needs at least two systems", hint='for example of = ["keyword", "knn"]'
            )
        if find_method(method).trained:
            raise UsageError(f"the fusion '{method}' learns from judgements, a retriever has none")
        self.of, self.method, self.norm, self.weights, self.params = (
            list(of),
            method,
            norm,
            weights,
            params,
        )
        self.pool, self.depth = pool, depth
        self._parts: list[Any] = list(of)

    def parts(self) -> list[Any]:
        """What is fused."""
        return self._parts

    def bind(self, systems: Mapping[str, Search]) -> None:
        """Find the systems by their names."""
        self._parts = [bound(part, systems) for part in self.of]

    def replace_parts(self, parts: list[Any]) -> None:
        """Fuse these instead."""
        self._parts = parts

    def search(self, query: str, depth: int) -> list[Hit]:
        """Ask all parts and fuse their answers."""
        from goodgain.fusion import fuse

        found = [
            dict(ask(part, query, self.pool or max(depth, self.depth))) for part in self._parts
        ]
        runs = [{"q": docs} for docs in found if docs]
        if len(runs) < 2 and self.weights is None:  # nothing to fuse with: the one that answered
            runs += [{"q": {}}] * (2 - len(runs))
        elif self.weights is not None:
            runs = [{"q": docs} for docs in found]
        if not any(run["q"] for run in runs):
            return []
        fused = fuse(
            runs,
            self.method,
            self.norm,
            weights=self.weights,
            depth=depth,
            threads=1,
            **(self.params or {}),
        )
        return list(fused.to_dict().get("q", {}).items())


class OverOne(Retriever):
    """What is built on one other system."""

    def __init__(self, of: str | Search) -> None:
        self.of: str | Search = of
        self._part: Any = of

    def parts(self) -> list[Any]:
        """The one that is asked first."""
        return [self._part]

    def bind(self, systems: Mapping[str, Search]) -> None:
        """Find the system by its name."""
        self._part = bound(self.of, systems)

    def replace_parts(self, parts: list[Any]) -> None:
        """Ask this one instead."""
        (self._part,) = parts


class Rerank(OverOne):
    """The best of another system, ranked again by a scorer that reads query and text.

    `scorer` is a function (query, texts) -> scores, or the name or path of a cross-encoder of
    sentence-transformers. What is not in the pool is not returned.
    """

    name = "rerank"

    def __init__(
        self,
        of: str | Search = "",
        scorer: str | Callable[[str, list[str]], Sequence[float]] = "",
        pool: int = 50,
        depth: int = DEPTH,
    ) -> None:
        if not of or not scorer:
            raise UsageError(
                "a reranker needs a system and a scorer",
                hint='for example of = "keyword", scorer = "my_module:score"',
            )
        positive(pool=pool)
        super().__init__(of)
        self.scorer, self.pool, self.depth = scorer, pool, depth
        self._score: Callable[[str, list[str]], Any] | None = None

    def build(self, documents: Mapping[str, str]) -> None:
        """Keep the texts for the scorer."""
        self._texts = documents

    def load(self) -> None:
        """Load the cross-encoder, if it is one."""
        if not isinstance(self.scorer, str):
            self._score = self.scorer
            return
        models = needed("sentence_transformers", f"the cross-encoder '{self.scorer}'",
                        "sentence-transformers", "embed")  # fmt: skip
        try:
            model = models.CrossEncoder(self.scorer)
        except Exception as error:
            raise UsageError(f"the model '{self.scorer}' cannot be loaded: {error}") from None
        self._score = lambda query, texts: model.predict(
            [(query, text) for text in texts], show_progress_bar=False
        )

    def search(self, query: str, depth: int) -> list[Hit]:
        """Score the pool."""
        assert self._score is not None
        names = [doc for doc, _ in ask(self._part, query, self.pool)]
        scores = self._score(query, [self._texts[doc] for doc in names]) if names else []
        return checked(zip(names, scores, strict=True), depth)
