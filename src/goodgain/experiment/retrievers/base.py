"""The base class of retrievers and the helpers they share."""

from __future__ import annotations

import copy
import inspect
import os
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from goodgain.errors import GoodgainError, MissingExtraError, UsageError
from goodgain.experiment.retrievers.answers import metered
from goodgain.experiment.stages import Stages, Use
from goodgain.fingerprint import fingerprint
from goodgain.io.sources import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ScoredDocument: TypeAlias = tuple[str, float]
# Pairs, or results without scores, best first: ids, dictionaries, documents of a framework.
Ranking: TypeAlias = Sequence[Any] | Mapping[str, float]
# Anything that answers a query, sync or async.
SearchFunction: TypeAlias = Callable[[str], Ranking | Awaitable[Ranking]]

DEPTH = 100
_PLAIN = (str, bool, int, float, type(None), Mapping, Sequence, PurePath)


class Retriever:
    """A callable with an index and with settings, which are the parameters of its constructor.

    A subclass defines `name` and `search`, and stores each parameter under the parameter's own name,
    because a saved experiment identifies its systems by them. `secret` names parameters that must not be
    saved; `uses_seed` says that results depend on the attribute `seed`.
    """

    name: ClassVar[str] = ""
    stage: ClassVar[str] = "search"  # what kind of stage an answer is
    secret: ClassVar[tuple[str, ...]] = ()
    files: ClassVar[tuple[str, ...]] = ()  # parameters that may be paths, known by their content
    uses_seed: ClassVar[bool] = False
    takes_filters: bool = False  # whether the filters of a query reach the documents

    depth: int = DEPTH
    version: str | None = None  # for state that cannot be read
    build_seconds: float = 0.0
    stages: Stages | None = None  # where `build` finds what was computed before
    uses: tuple[Use, ...] = ()  # of stages, by `build`
    original: Retriever | None = None  # of the same retriever with another seed
    _documents: Mapping[str, str] | None = None
    _is_loaded: bool = False
    _indexed_with: Stages | None = None

    def __call__(self, query: str) -> Any:
        """The best documents, best first; an `Answer` if tokens or cost were reported."""
        return metered(lambda: self.search(query, self.depth))

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The best `depth` documents, best first."""
        raise NotImplementedError

    def load(self) -> None:
        """Import packages and models, so that a missing one is reported early and not timed as indexing."""

    def ensure_loaded(self) -> None:
        """Load, unless that has been done."""
        if not self._is_loaded:
            self.load()
            self._is_loaded = True

    def use_queries(self, queries: Mapping[str, str]) -> None:
        """The queries of the experiment by id, before `build`; most retrievers do not need them."""

    def build(self, documents: Mapping[str, str]) -> None:
        """Build the index; by default there is none."""

    def notes(self) -> list[str]:
        """What a reader of the results should know about the index."""
        return []

    def components(self) -> list[Any]:
        """The retrievers that this one calls; names of systems until `bind` has resolved them."""
        return []

    def bind(self, systems: Mapping[str, SearchFunction]) -> None:
        """Resolve names of systems."""

    def replace_components(self, components: list[Any]) -> None:
        """Call these retrievers instead, in the order of `components()`."""

    def index(self, documents: Mapping[str, str]) -> None:
        """Index the documents, components first; documents that are indexed already are skipped."""
        for component in self.components():
            if hasattr(component, "index"):
                component.index(documents)
        self.index_own(self.result_texts(documents))

    def result_texts(self, documents: Mapping[str, str]) -> Mapping[str, str]:
        """The texts of what it returns, by id: the documents, or chunks if its components return these."""
        inner = [c.result_texts(documents) for c in self.components() if isinstance(c, Retriever)]
        distinct = list({id(texts): texts for texts in inner}.values())
        if len(distinct) < 2:
            return distinct[0] if distinct else documents
        return {name: text for texts in distinct for name, text in texts.items()}

    def index_own(self, documents: Mapping[str, str]) -> None:
        """Build its own index, unless it is of these documents already."""
        if self._documents is not documents:
            self.ensure_loaded()
            stages = self.stages = self.stages or Stages()
            start = time.perf_counter()
            with stages.recording() as uses:
                self.build(documents)
            self.build_seconds = time.perf_counter() - start
            # what was computed for another system of this run would have taken its time here, too
            self.build_seconds += sum(u.seconds for u in uses if not u.computed and not u.earlier)
            self.uses = tuple(uses)
            self._documents, self._indexed_with = documents, stages

    def index_seconds(self) -> float:
        """How long indexing took, components included."""
        return sum(retriever.build_seconds for retriever in self.all_retrievers())

    def reused(self) -> list[str]:
        """The kinds of stages that were computed in an earlier run, so that `index_seconds` lacks them."""
        kinds = [use.kind for r in self.all_retrievers() for use in r.uses if use.earlier]
        if any(r._indexed_with not in (None, self.stages) for r in self.all_retrievers()):
            kinds.append("index")
        return list(dict.fromkeys(kinds))

    def index_bytes(self) -> int:
        """The memory of the arrays in the index, components included."""
        from goodgain.experiment.retrievers.memory import bytes_of

        shared = ("stages", "_indexed_with")  # they hold what other systems computed, too
        return bytes_of(
            [
                value
                for retriever in self.all_retrievers()
                for name, value in vars(retriever).items()
                if name not in shared
            ]
        )

    def all_retrievers(self) -> Iterator[Retriever]:
        """The retriever itself and all those it is built on, each once."""
        visited: dict[int, Retriever] = {}
        waiting: list[Any] = [self]
        while waiting:
            each = waiting.pop()
            if isinstance(each, Retriever) and id(each) not in visited:
                visited[id(each)] = each
                waiting += each.components()
        yield from visited.values()

    def seeded(self, seed: int) -> Self:
        """The same retriever and components with another seed, sharing the index."""
        twin = copy.copy(self)
        twin.original = self.original or self
        if self.uses_seed:
            twin.seed = seed  # type: ignore[attr-defined]
        twin.replace_components(
            [c.seeded(seed) if depends_on_seed(c) else c for c in self.components()]
        )
        return twin

    def settings(self) -> dict[str, Any]:
        """The parameters for the record: functions by name, secrets left out."""
        names = [p for p in inspect.signature(type(self)).parameters if p not in self.secret]
        label = self.name or _qualified_name(type(self))
        own = {} if is_built_in(type(self)) else {"code": fingerprint(type(self)).digest}
        values = {name: to_json(getattr(self, name)) for name in names}
        paths = {name: getattr(self, name) for name in self.files if name in names}
        contents = {
            name: digest
            for name, path in paths.items()
            if isinstance(path, str | os.PathLike) and (digest := sha256_of(os.fspath(path)))
        }
        return {"retriever": label, **own, **values, **({"contents": contents} if contents else {})}

    def unknown_state(self) -> list[str]:
        """What its settings cannot tell: parameters that hold, say, a client."""
        names = inspect.signature(type(self)).parameters
        values = {name: getattr(self, name) for name in names if name not in self.secret}
        return [
            f"{name}: {what}"
            for name, value in values.items()
            if not isinstance(value, (*_PLAIN, Retriever))
            for what in fingerprint(value).unknown
        ]

    def __repr__(self) -> str:
        text = ", ".join(f"{k}={v!r}" for k, v in self.settings().items() if k != "retriever")
        return f"{type(self).__name__}({text:.200})"


def depends_on_seed(search: Any) -> bool:
    """Whether results depend on a seed: the retriever says so, or another object has `seeded(seed)`."""
    if isinstance(search, Retriever):
        return search.uses_seed or any(map(depends_on_seed, search.components()))
    return hasattr(search, "seeded")


def find_system(component: Any, systems: Mapping[str, SearchFunction]) -> Any:
    """The system of this name; a retriever stands for itself."""
    if not isinstance(component, str):
        return component
    if component not in systems:
        raise UsageError(
            f"unknown system '{component}'", hint=f"available systems: {', '.join(systems)}"
        )
    return systems[component]


def to_json(value: Any) -> Any:
    """A setting as JSON: plain values as they are, long sequences as a hash, functions by name."""
    if isinstance(value, str):
        return re.sub(r"://[^/@\s]+@", "://", value)  # never save the account in a URL
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Retriever):
        return value.settings()
    if isinstance(value, Mapping):
        if len(value) > 100:  # vectors by document, for example
            return f"{len(value)} items, {fingerprint(dict(value)).digest}"
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, PurePath):
        return str(value)
    if callable(value):  # its code is part of what it is: an edited function is another one
        return f"{_qualified_name(value)} {fingerprint(value).digest}"
    if isinstance(value, Sequence):
        if len(value) > 100:  # the edges of a graph, for example
            from hashlib import sha256

            return f"{len(value)} items, sha256 {sha256(repr(list(value)).encode()).hexdigest()}"
        return [to_json(each) for each in value]
    return f"{_qualified_name(type(value))} {fingerprint(value).digest}"


def _qualified_name(value: Any) -> str:
    name = getattr(value, "__qualname__", type(value).__qualname__)
    return f"{getattr(value, '__module__', '')}:{name}"


def is_built_in(kind: type) -> bool:
    """Whether a class belongs to goodgain."""
    return kind.__module__.startswith("goodgain.")


def import_extra(
    module: str, purpose: str, package: str | None = None, extra: str = "retrieve"
) -> ModuleType:
    """Import an optional package, or raise an error with its install command."""
    from importlib import import_module

    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        name = package or module.partition(".")[0]
        raise MissingExtraError.for_package(name, extra, purpose) from None


def require_positive(**values: float) -> None:
    """Refuse parameters that are not above 0."""
    for name, value in values.items():
        if not value > 0:
            raise UsageError(f"{name} must be positive, got {value}")


def require_share(**values: float) -> None:
    """Refuse parameters that are not between 0 and 1."""
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise UsageError(f"{name} must be between 0 and 1, got {value}")


class CheckedRanking(list[ScoredDocument]):
    """(document, score) pairs, best first, each document once; `repeated` counts those left out.

    `ascending` says that the answer listed its pairs by rising scores, as it would distances.
    """

    repeated: int = 0
    ascending: bool = False


class RankedByOrder(CheckedRanking):
    """A ranking without scores of its own: those in the pairs are negated ranks."""


def check_ranking(
    answer: Any,
    depth: int,
    duplicates: str = "error",
    canonical: Callable[[str], str] | None = None,
) -> CheckedRanking:
    """What a retriever returned as (document, score) pairs, best first and cut to `depth`.

    It may return {document: score}, pairs, or results as frameworks have them; ids and results without
    scores are ranked by their order. `canonical` gives the id that a document counts as. A document that
    comes twice is an error, or counts where it first came ("first") or with its best score ("best").
    """
    from goodgain.io.result_lists import finite_number

    scores: dict[str, float] = {}
    repeated = 0
    try:
        pairs, has_scores = _pairs_of(answer)
        ascending = has_scores and not isinstance(answer, Mapping) and _ascend(pairs)
        for doc, score in pairs:
            number = finite_number(score)
            if number is None:
                raise UsageError(
                    f"the score of document '{doc}' must be a finite number, got {score!r:.80}"
                )
            name = _id_of(doc) if canonical is None else canonical(_id_of(doc))
            if name in scores:
                if duplicates == "error" and canonical is None:
                    raise UsageError(f"duplicate document '{doc}'")
                repeated += 1
                if duplicates == "first":
                    continue
                number = max(number, scores[name])
            scores[name] = number
    except (TypeError, ValueError, IndexError) as error:
        if isinstance(error, GoodgainError):
            raise
        raise UsageError(
            f"a retriever must return [(document, score), ...] or [document, ...], got {answer!r:.80}"
        ) from None
    best = sorted(scores.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)[:depth]
    ranking = CheckedRanking(best) if has_scores else RankedByOrder(best)
    ranking.repeated, ranking.ascending = repeated, ascending
    return ranking


def _id_of(doc: Any) -> str:
    """The id of a document; besides text and integers a UUID, which databases have."""
    from goodgain.io.result_lists import id_text

    text = str(doc) if type(doc).__name__ == "UUID" else id_text(doc)
    if text is None:
        raise UsageError(
            f"the document id {doc!r:.80} must be text or an integer",
            hint="convert ids first, for example with str()",
        )
    return text


def _ascend(pairs: Any) -> bool:
    """Whether scores rise from the first pair to the last, and no pair has a lower one than that before."""
    if len(pairs) < 2 or not pairs[0][1] < pairs[-1][1]:
        return False
    return all(one[1] <= other[1] for one, other in pairwise(pairs))


def _pairs_of(answer: Any) -> tuple[Any, bool]:
    """(document, score) pairs, and whether the scores are the retriever's own."""
    from goodgain.io.result_lists import has_fields, is_id, is_list, rank_list

    if isinstance(answer, Mapping):
        return answer.items(), True
    if isinstance(answer, str | bytes):
        raise TypeError
    if isinstance(answer, Set):
        raise UsageError(
            "a retriever returned a set, which has no order", hint="return a list, best first"
        )
    results = answer if isinstance(answer, RankedByOrder) else list(answer)
    if isinstance(results, RankedByOrder):
        return results, False
    first = results[0] if results else None
    inner = first[0] if is_list(first) and first else first
    if is_id(first):  # of a database, or a column of numpy
        if not all(is_id(doc) for doc in results):
            raise UsageError("a ranking has scores for all of its documents or for none")
        return [(doc, -rank) for rank, doc in enumerate(results, 1)], False
    if not has_fields(inner):
        return results, True
    listed, ranking = rank_list(results, "the retriever's answer")
    if ranking == "order":
        return [(doc, -rank) for rank, doc in enumerate(listed, 1)], False
    sign = 1 if ranking == "score" else -1
    return [(doc, sign * float(value)) for doc, value in listed], ranking == "score"
