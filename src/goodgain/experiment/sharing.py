"""Searches that several systems of a grid have in common, made and timed once per query and repeat.

Points of a grid often differ in their last step only: five weights of a fusion search the same two
components. These are searched for the first system that needs them, really and timed; the others get the
ranking, and the time it took is added to theirs. Such a latency is composed, not measured in one piece: what
the retrievers of goodgain do one after the other takes the sum of its times. A retriever of the user's own
might search its components in parallel, so it always searches them itself.
"""

from __future__ import annotations

import copy
import json
import time
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from goodgain.experiment.addresses import describe
from goodgain.experiment.queries import filters_of
from goodgain.experiment.retrievers import Retriever
from goodgain.experiment.retrievers.answers import Answer, metered, report_usage
from goodgain.experiment.retrievers.base import depends_on_seed, is_built_in
from goodgain.experiment.retrievers.combine import search_with
from goodgain.experiment.stages import Use

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from goodgain.experiment.experiment import Experiment, Key
    from goodgain.experiment.retrievers.base import ScoredDocument

SHARED, WHOLE = "shared", "whole"
SEARCHES = {
    SHARED: "components shared by grid points are searched once, and their time is added",
    WHOLE: "every system searches everything itself",
}


@dataclass(slots=True)
class _Round:
    """What was searched for one query and repeat, and what the current call got of it."""

    answers: dict[Any, tuple[Any, float, Answer]] = field(default_factory=dict)
    seconds: float = 0.0  # that the current call did not have to wait
    reused: int = 0


class SharedSearches:
    """The components that occur in several systems, and the answers of the current round."""

    def __init__(self, experiment: Experiment) -> None:
        self._versions = experiment.version_ids
        self._addresses: dict[int, tuple[Any, str]] = {}
        self._query = ""
        self._rounds: dict[int, _Round] = {}
        self._round: _Round | None = None
        self._shared: set[str] = set()
        if experiment.grids and experiment.searches == SHARED and experiment.concurrency == 1:
            systems = Counter[str]()
            components: set[str] = set()
            for search in experiment.systems.values():
                inside = {self.address(each) for each in _components(search)}
                components |= inside
                systems.update(inside | {self.address(search)})
            self._shared = {each for each in components if systems[each] > 1}

    def address(self, search: Any) -> str:
        """The address of a search: what it is, whatever system it belongs to."""
        search = getattr(search, "original", None) or search
        if id(search) not in self._addresses:
            settings, unknown = describe(search, self._versions)
            text = json.dumps([settings, id(search) if unknown else 0], sort_keys=True)
            digest = sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:20]
            self._addresses[id(search)] = search, digest
        return self._addresses[id(search)][1]

    def uses(self, search: Any, is_left: bool) -> list[Use]:
        """The searches of a system as stages: its own and, where they are shared, those of its components."""
        inside = [each for each in _components(search) if self.address(each) in self._shared]
        return [
            Use(
                kind=each.stage if isinstance(each, Retriever) else "search",
                address=self.address(each),
                seconds=0,
                earlier=not is_left,
                computed=is_left,
            )
            for each in [search, *inside]
        ]

    def wrap(self, searches: Mapping[Key, Any]) -> dict[Key, Any]:
        """The same systems with their shared components, and themselves if others are built on them."""
        if not self._shared:
            return dict(searches)
        return {
            key: self._wrapped(search, key[1]) if isinstance(search, Retriever) else search
            for key, search in searches.items()
        }

    def _wrapped(self, search: Any, seed: int | None) -> Any:
        inner = search
        if _is_open(search) and (components := search.components()):
            inner = copy.copy(search)
            inner.replace_components([self._wrapped(each, seed) for each in components])
        address = self.address(search)
        if address not in self._shared:
            return inner
        return SharedSearch(self, inner, (address, seed if depends_on_seed(search) else None))

    def begin(self, query: str, repeat: int = 0) -> None:
        """Begin a call; it shares with others for the same query and repeat only."""
        if not self._shared:
            return
        if query != self._query:
            self._query, self._rounds = query, {}
        # a control call, which comes between others, has a number of its own
        self._round = self._rounds.setdefault(repeat, _Round())
        self._round.seconds, self._round.reused = 0.0, 0

    def end(self) -> tuple[float, int]:
        """How long the searches took that the call did not have to make, and how many there were."""
        return (self._round.seconds, self._round.reused) if self._round else (0.0, 0)

    def close(self) -> None:
        """From now on every call makes all its searches."""
        self._round = None

    @property
    def current(self) -> _Round | None:
        """The round of the call that is being made."""
        return self._round


def _is_open(search: Any) -> bool:
    """Whether the components of a system can be shared.

    Retrievers of the user's own might search them in parallel, and what indexes them itself, such as a
    system over chunks, might give them other documents.
    """
    kind = type(search)
    return isinstance(search, Retriever) and is_built_in(kind) and kind.index is Retriever.index


def _components(search: Any) -> list[Any]:
    """What the retrievers in a system call over the documents of the experiment, each once."""
    collected: dict[int, Any] = {}
    waiting = [search]
    while waiting:
        each = waiting.pop()
        if _is_open(each):
            for component in each.components():
                if id(component) not in collected:
                    collected[id(component)] = component
                    waiting.append(component)
    return list(collected.values())


class SharedSearch(Retriever):
    """A retriever whose answer to a query is computed once in a round."""

    def __init__(self, owner: SharedSearches, search: Any, key: Hashable) -> None:
        self._owner, self._search, self._key = owner, search, key
        self.depth = getattr(search, "depth", self.depth)

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The ranking, with the tokens, cost and time that it took where it was computed."""
        current = self._owner.current
        if current is None:
            return search_with(self._search, query, depth)
        key = (self._key, query, repr(filters_of(query)), depth)
        if key in current.answers:
            ranking, seconds, usage = current.answers[key]
            current.seconds += seconds
            current.reused += 1
        else:
            before, start = current.seconds, time.perf_counter()
            answer = metered(lambda: search_with(self._search, query, depth))
            seconds = time.perf_counter() - start + current.seconds - before
            usage = answer if isinstance(answer, Answer) else Answer(answer)
            ranking = usage.results
            current.answers[key] = ranking, seconds, usage
        report_usage(usage.tokens, usage.cost)
        shared: list[ScoredDocument] = copy.copy(ranking)
        return shared
