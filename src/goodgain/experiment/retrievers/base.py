"""What a retriever is, and what the built-in ones share."""

from __future__ import annotations

import copy
import inspect
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

from goodgain.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

Hit: TypeAlias = tuple[str, float]
Hits: TypeAlias = Sequence[Hit]
# Anything that answers a query, now or later.
Search: TypeAlias = Callable[[str], Hits | Awaitable[Hits]]

DEPTH = 100


class Retriever:
    """A built-in retriever: a callable with an index, made of settings that are its parameters.

    A subclass keeps each parameter under its own name (a saved experiment is told apart by them),
    names in `secret` those that must not be saved, and in `chance` whether its answers depend on a seed.
    """

    name: ClassVar[str]
    secret: ClassVar[tuple[str, ...]] = ()
    chance: ClassVar[bool] = False

    depth: int = DEPTH
    build_seconds: float = 0.0
    _documents: Mapping[str, str] | None = None

    def __call__(self, query: str) -> list[Hit]:
        """The best documents, best first."""
        return self.search(query, self.depth)

    def search(self, query: str, depth: int) -> list[Hit]:
        """The best `depth` documents, best first."""
        raise NotImplementedError

    def load(self) -> None:
        """Import what it needs, so that a missing package shows at once and no time counts as indexing."""

    def build(self, documents: Mapping[str, str]) -> None:
        """Make the index; nothing by default."""

    def parts(self) -> list[Any]:
        """The retrievers that this one asks; names of systems until `bind` has replaced them."""
        return []

    def bind(self, systems: Mapping[str, Search]) -> None:
        """Replace names of systems by the systems."""

    def index(self, documents: Mapping[str, str]) -> None:
        """Index the documents, the parts first; what is indexed already is not indexed again."""
        for part in self.parts():
            index_of(part)(documents)
        if self._documents is not documents:
            self.load()
            start = time.perf_counter()
            self.build(documents)
            self.build_seconds = time.perf_counter() - start
            self._documents = documents

    def index_seconds(self) -> float:
        """How long indexing took, with all parts."""
        own = [each for each in self.everything() if isinstance(each, Retriever)]
        return sum(each.build_seconds for each in own)

    def index_bytes(self) -> int:
        """How much memory the arrays of the index hold, with all parts."""
        from goodgain.experiment.retrievers.memory import bytes_of

        return bytes_of([vars(each) for each in self.everything() if isinstance(each, Retriever)])

    def everything(self) -> Iterator[Search]:
        """The retriever itself and all its parts, each once."""
        seen: dict[int, Search] = {}
        waiting: list[Any] = [self]
        while waiting:
            each = waiting.pop()
            if id(each) not in seen:
                seen[id(each)] = each
                waiting += each.parts() if isinstance(each, Retriever) else []
        yield from seen.values()

    def seeded(self, seed: int) -> Self:
        """The same retriever with another seed, and its parts too; the index is shared."""
        twin = copy.copy(self)
        if self.chance:
            twin.seed = seed  # type: ignore[attr-defined]
        twin.replace_parts([p.seeded(seed) if has_chance(p) else p for p in self.parts()])
        return twin

    def replace_parts(self, parts: list[Any]) -> None:
        """Ask these retrievers instead, in the order of `parts`."""

    def settings(self) -> dict[str, Any]:
        """The parameters, for the record: functions by their name, secrets not at all."""
        names = [p for p in inspect.signature(type(self)).parameters if p not in self.secret]
        return {"retriever": self.name, **{name: told(getattr(self, name)) for name in names}}

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self.settings().items() if k != "retriever")
        return f"{type(self).__name__}({shown:.200})"


def has_chance(search: Any) -> bool:
    """Whether a system answers by a seed: a built-in one that says so, or any with `seeded(seed)`."""
    if isinstance(search, Retriever):
        return search.chance or any(has_chance(part) for part in search.parts())
    return hasattr(search, "seeded")


def index_of(search: Any) -> Callable[[Mapping[str, str]], None]:
    """How a retriever takes the documents; one without `index` has its own."""
    return cast(
        "Callable[[Mapping[str, str]], None]", getattr(search, "index", lambda documents: None)
    )


def bound(part: Any, systems: Mapping[str, Search]) -> Any:
    """The system that a name stands for; a retriever stands for itself."""
    if not isinstance(part, str):
        return part
    if part not in systems:
        raise UsageError(
            f"there is no system '{part}' to build on", hint=f"there is: {', '.join(systems)}"
        )
    return systems[part]


def told(value: Any) -> Any:
    """A setting as JSON has it: plain values as they are, tables by their contents, functions by name."""
    if isinstance(value, str):
        return re.sub(r"://[^/@\s]+@", "://", value)  # an account in a URL is nobody's business
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Retriever):
        return value.settings()
    if isinstance(value, Mapping):
        return {str(k): told(v) for k, v in value.items()}
    if callable(value):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        return f"{getattr(value, '__module__', '')}:{name}"
    if isinstance(value, Sequence):
        if len(value) > 100:  # a graph's edges: enough to tell two apart
            from hashlib import sha256

            return f"{len(value)} items, sha256 {sha256(repr(list(value)).encode()).hexdigest()}"
        return [told(each) for each in value]
    return repr(value)


def needed(
    module: str, purpose: str, package: str | None = None, extra: str = "retrieve"
) -> ModuleType:
    """Import an optional package, or say how to install it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        name = package or module.partition(".")[0]
        raise MissingExtraError.for_package(name, extra, purpose) from None


def positive(**values: float) -> None:
    """Refuse parameters that are not above 0."""
    for name, value in values.items():
        if not value > 0:
            raise UsageError(f"{name}={value} is not a number above 0")


def checked(hits: Any, depth: int) -> list[Hit]:
    """What a retriever answered as (document, score), cut to depth; anything else is refused."""
    import math

    pairs = hits.items() if isinstance(hits, Mapping) else hits
    found: dict[str, float] = {}
    try:
        for doc, score in pairs:
            number = float(score)
            if not math.isfinite(number):
                raise UsageError(f"the score {number} of document '{doc}' is not a finite number")
            if str(doc) in found:
                raise UsageError(f"document '{doc}' was retrieved twice")
            found[str(doc)] = number
    except (TypeError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"the answer {hits!r:.80} is not [(document, score), ...]") from None
    best = sorted(found.items(), key=lambda hit: (hit[1], hit[0]), reverse=True)
    return best[:depth]
