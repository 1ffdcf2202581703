"""What is a search: decided by evidence, by rules that a user can override."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from goodgain.traces.results import Finding

_SEARCH_WORDS = ("search", "retriev", "query")
_OPEN_WORDS = ("open_page", "find_in_page", "get_document", "fetch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The evidence about a call; `kind` is set where the source itself says that it is a search."""

    tool: str | None = None
    description: str | None = None
    arguments: Any = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a call is taken for, and the rule that decided."""

    account: Literal["search", "open", "not a search"]
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRules:
    """Decides which calls are searches."""

    search_tools: frozenset[str] = frozenset()
    not_search_tools: frozenset[str] = frozenset()

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | None = None,
        search_tools: Iterable[str] = (),
        not_search_tools: Iterable[str] = (),
    ) -> SearchRules:
        """The built-in rules with the user's."""
        return cls(
            search_tools=frozenset(t.casefold() for t in search_tools),
            not_search_tools=frozenset(t.casefold() for t in not_search_tools),
        )

    def classify(self, call: Call, finding: Finding) -> Verdict:
        """What a call is."""
        name = (call.tool or "").casefold()
        if name in self.not_search_tools:
            return Verdict("not a search", f"--not-search-tool {call.tool}")
        if self.search_tools:
            if name in self.search_tools:
                return Verdict("search", f"--search-tool {call.tool}")
            return Verdict("not a search", "not among --search-tool")
        if call.kind:
            return Verdict("search", f"the source says that it is a {call.kind}")
        if any(word in name for word in _OPEN_WORDS):
            return Verdict("open", f"name '{call.tool}'")
        if any(word in name for word in _SEARCH_WORDS):
            return Verdict("search", f"name '{call.tool}'")
        return Verdict("not a search", f"name '{call.tool}' is no search tool")
