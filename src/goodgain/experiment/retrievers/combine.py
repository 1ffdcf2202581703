"""Retrievers built on others: fusion and reranking."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.loops import wait_for
from goodgain.experiment.queries import with_arguments
from goodgain.experiment.retrievers.answers import report_usage, split_answer
from goodgain.experiment.retrievers.base import (
    DEPTH,
    RankedByOrder,
    Retriever,
    ScoredDocument,
    SearchFunction,
    check_ranking,
    find_system,
    require_positive,
    require_share,
)
from goodgain.experiment.retrievers.embed import load_model

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def search_with(component: Any, query: str, depth: int) -> list[ScoredDocument]:
    """The best `depth` documents of any retriever, sync or async."""
    if isinstance(component, Retriever):
        return component.search(query, depth)
    answer = with_arguments(component)(query)
    if inspect.isawaitable(answer):
        answer = wait_for(answer)
    results, extras = split_answer(answer)
    report_usage(extras.tokens, extras.cost)
    return check_ranking(results, depth, "best")


class Hybrid(Retriever):
    """A fusion of other systems, with the method, normalisation, weights and parameter of `goodgain fuse`.

    `of` lists names of systems of the experiment, or retrievers; `pool` is how many documents each of
    them returns. For two systems `alpha` is the weight of the second, and that of the first is 1 - alpha.
    """

    name = "hybrid"
    stage = "fuse"

    def __init__(
        self,
        of: Sequence[str | SearchFunction] = (),
        *,
        method: str = "rrf",
        norm: str | None = None,
        weights: Sequence[float] | None = None,
        alpha: float | None = None,
        params: Mapping[str, Any] | None = None,
        pool: int | None = None,
        depth: int = DEPTH,
    ) -> None:
        from goodgain.fusion.methods import find_method

        if isinstance(of, str) or len(of) < 2:
            raise UsageError(
                "hybrid needs at least two systems", hint='for example of = ["keyword", "knn"]'
            )
        if alpha is not None:
            require_share(alpha=alpha)
            if len(of) != 2 or weights is not None or not find_method(method).weighted:
                raise UsageError(
                    f"alpha weighs two systems, got {len(of)} with method='{method}'"
                    + (" and weights" if weights is not None else ""),
                    hint='use a method with weights, such as method = "wsum", and no weights',
                )
        if find_method(method).trained:
            raise UsageError(
                f"the fusion method '{method}' needs training judgments, which are not available "
                "in a retriever",
                hint="use an untrained method, such as rrf or wsum",
            )
        self.of, self.method, self.norm = list(of), method, norm
        self.weights, self.alpha, self.params = weights, alpha, params
        self.pool, self.depth = pool, depth
        self._components: list[Any] = list(of)

    def components(self) -> list[Any]:
        """The systems that are fused."""
        return self._components

    def bind(self, systems: Mapping[str, SearchFunction]) -> None:
        """Resolve names of systems."""
        self._components = [find_system(component, systems) for component in self.of]

    def replace_components(self, components: list[Any]) -> None:
        """Fuse these instead."""
        self._components = components

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Search with all systems and fuse their rankings."""
        from goodgain.fusion import fuse

        weights = self.weights if self.alpha is None else (1 - self.alpha, self.alpha)
        pool = self.pool or max(depth, self.depth)
        answers = [search_with(c, query, pool) for c in self._components]
        rankings: list[Any] = [  # lists where there are no scores, so that none are fused
            [doc for doc, _ in answer] if isinstance(answer, RankedByOrder) else dict(answer)
            for answer in answers
        ]
        runs = [{"q": docs} for docs in rankings if docs]
        if len(runs) < 2 and weights is None:  # nothing to fuse with: keep the only ranking
            runs += [{"q": {}}] * (2 - len(runs))
        elif weights is not None:
            runs = [{"q": docs} for docs in rankings]
        if not any(run["q"] for run in runs):
            return []
        fused = fuse(
            runs,
            self.method,
            self.norm,
            weights=weights,
            depth=depth,
            threads=1,
            **(self.params or {}),
        )
        return list(fused.to_dict().get("q", {}).items())


class DerivedRetriever(Retriever):
    """A retriever built on one other system."""

    def __init__(self, of: str | SearchFunction) -> None:
        self.of: str | SearchFunction = of
        self._component: Any = of

    def components(self) -> list[Any]:
        """The system it is built on."""
        return [self._component]

    def bind(self, systems: Mapping[str, SearchFunction]) -> None:
        """Resolve the name of the system."""
        self._component = find_system(self.of, systems)

    def replace_components(self, components: list[Any]) -> None:
        """Build on this system instead."""
        (self._component,) = components


class Rerank(DerivedRetriever):
    """The best documents of another system, reordered by a scorer that reads query and text.

    `scorer` is a function (query, texts) -> scores, or the name or path of a sentence-transformers
    cross-encoder. Only the `pool` best documents of the system are returned.
    """

    name = "rerank"
    stage = "rerank"
    files = ("scorer",)

    def __init__(
        self,
        of: str | SearchFunction = "",
        scorer: str | Callable[[str, list[str]], Sequence[float]] = "",
        *,
        pool: int = 50,
        depth: int = DEPTH,
    ) -> None:
        if not of or not scorer:
            raise UsageError(
                "rerank needs a system and a scorer",
                hint='for example of = "keyword", scorer = "my_module:score"',
            )
        require_positive(pool=pool)
        super().__init__(of)
        self.scorer, self.pool, self.depth = scorer, pool, depth
        self._score: Callable[[str, list[str]], Any] | None = None

    def build(self, documents: Mapping[str, str]) -> None:
        """Store the texts for the scorer."""
        self._texts = documents

    def load(self) -> None:
        """Load the cross-encoder, if the scorer is one."""
        if not isinstance(self.scorer, str):
            self._score = self.scorer
            return
        model = load_model("CrossEncoder", self.scorer, f"the cross-encoder '{self.scorer}'")
        self._score = lambda query, texts: model.predict(
            [(query, text) for text in texts], show_progress_bar=False
        )

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """Score the pool."""
        assert self._score is not None
        names = [doc for doc, _ in search_with(self._component, query, self.pool)]
        scores = self._score(query, [self._texts[doc] for doc in names]) if names else []
        return check_ranking(zip(names, scores, strict=True), depth)
