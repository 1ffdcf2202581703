"""What a tool call is: a search, the opening of a document, or neither.

Decided by evidence, in this order: the user's lists, what the source itself says, and the rules of
`searching.toml`, which look at the name, the description, the arguments and the output.

>>> from goodgain.traces.searching import Call, SearchRules
>>> rules = SearchRules.load(not_search_tools=["wikipedia"])
>>> rules.classify(Call(tool="tavily", arguments={"query": "Seine"})).account
'search'
>>> rules.classify(Call(tool="search_and_replace")).rule
"name has 'replace': it changes text"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from goodgain.errors import InputError
from goodgain.traces.arguments import Evidence

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from goodgain.traces.results import Finding

Account = Literal["search", "open", "not a search"]
_ACCOUNTS = ("search", "open", "not a search")
_WHEN = ("query", "no query", "arguments", "target", "no target", "documents", "sql", "code")
_KEYS = ("account", "name", "unless", "description", "when", "because")
_LISTS: dict[str, Account] = {
    "search_tools": "search",
    "open_tools": "open",
    "not_search_tools": "not a search",
}
EXCLUDED = "excluded tool"  # the user said so when the call was captured
_SAID: dict[str, Account] = {
    "open": "open",
    "not a search": "not a search",
    EXCLUDED: "not a search",
}
_BUILT_IN = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The evidence about a call; `kind` is set where the source itself says what it is."""

    tool: str | None = None
    description: str | None = None
    arguments: Any = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a call is taken for, and the rule that decided."""

    account: Account
    rule: str
    by_user: bool = False  # by the user's lists of tools


# --- names ---

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
_NAMESPACE = re.compile(r"^(?:mcp__(?P<server>.+?)__|(?P<module>[\w-]+)[./:])(?=.)")
_GENERIC = {"functions", "function", "tools", "tool", "default", "api", "multi_tool_use"}


@dataclass(frozen=True, slots=True)
class Name:
    """A tool's name: as a whole, its words, and those of its server."""

    whole: str
    words: frozenset[str]
    server: frozenset[str]


@lru_cache(maxsize=4096)
def split_name(tool: str) -> Name:
    """The words of a name; a namespace before it is that of its server."""
    tool = tool[:200]
    namespace = _NAMESPACE.match(tool)
    server = (namespace["server"] or namespace["module"]) if namespace else ""
    rest = tool[namespace.end() :] if namespace else tool
    if server.casefold() in _GENERIC:
        server = ""
    return Name(_whole(rest), frozenset(_words(rest)), frozenset(_words(server)))


def _words(text: str) -> list[str]:
    joined = [_singular(w.casefold()) for w in _WORD.findall(text)]
    # context7 and web2 are one word, too
    pairs = [a + b for a, b in pairwise(joined) if b.isdigit()]
    return joined + pairs


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _whole(text: str) -> str:
    return "_".join(w.casefold() for w in _WORD.findall(text))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of names, as the rules write it."""

    text: str
    whole: str = ""
    words: tuple[str, ...] = ()
    server: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """The pattern in a text such as "open+page", "retriev*", "@kb+query" or "=find"."""
        if text.startswith("="):
            return cls(text, whole=_whole(text[1:]))
        words = [w.strip().casefold() for w in text.split("+")]
        return cls(
            text,
            words=tuple(_singular(w) for w in words if not w.endswith("*") and w[:1] != "@"),
            server=tuple(_singular(w[1:]) for w in words if w[:1] == "@"),
            prefixes=tuple(w[:-1] for w in words if w.endswith("*")),
        )

    def matches(self, name: Name) -> bool:
        """Whether a name has all that the pattern asks for."""
        if self.whole:
            return self.whole == name.whole
        return (
            all(w in name.words for w in self.words)
            and all(w in name.server for w in self.server)
            and all(any(w.startswith(p) for w in name.words) for p in self.prefixes)
        )


# --- rules ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: what a call is if its name, its description and the evidence are as it says."""

    account: Account
    because: str
    name: tuple[Pattern, ...] = ()
    unless: tuple[Pattern, ...] = ()
    description: tuple[str, ...] = ()
    when: tuple[str, ...] = ()

    def match_name(self, name: Name) -> str | None:
        """The pattern that the name has, "" if the rule has none, None if it does not apply."""
        if any(pattern.matches(name) for pattern in self.unless):
            return None
        if not self.name:
            return ""
        return next((pattern.text for pattern in self.name if pattern.matches(name)), None)

    def match_description(self, description: str) -> str | None:
        """The text that the description has; as `match_name`."""
        if not self.description:
            return ""
        return next((text for text in self.description if text in description), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRules:
    """Decides which calls are searches, and which open a document."""

    rules: tuple[Rule, ...]
    tools: Mapping[str, Account] = dataclass_field(default_factory=dict)  # the user's own
    _matches: dict[str, list[str | None]] = dataclass_field(default_factory=dict, repr=False)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | None = None,
        search_tools: Iterable[str] = (),
        not_search_tools: Iterable[str] = (),
    ) -> SearchRules:
        """The built-in rules after those of a TOML file, with the user's lists of tools."""
        rules: tuple[Rule, ...] = ()
        tools: dict[str, Account] = {}
        if path is not None:
            rules, tools = _read(Path(path))
        for names, account in ((search_tools, "search"), (not_search_tools, "not a search")):
            for name in names:
                tools[name.casefold()] = account  # type: ignore[assignment]
        return cls(rules=rules + _built_in(), tools=tools)

    def classify(self, call: Call, finding: Finding | None = None) -> Verdict:
        """What a call is, by the first evidence that decides."""
        tool = str(call.tool or "")
        listed = self.listed(tool)
        if listed is not None:
            return listed
        verdict = self._decide(call, tool, finding)
        if verdict.account == "search" and "search" in self.tools.values():
            return Verdict("not a search", "it is not among the tools listed as searches")
        return verdict

    def listed(self, tool: str) -> Verdict | None:
        """What the user's lists say, which may hold wildcards; a name may lack its namespace."""
        if not self.tools or not tool:
            return None
        name = tool.casefold()
        namespace = _NAMESPACE.match(name)
        names = (name, name[namespace.end() :]) if namespace else (name,)
        for pattern, account in self.tools.items():
            if any(fnmatchcase(n, pattern) for n in names):
                rule = f"the tool is listed by the user as '{pattern}'"
                return Verdict(account, rule, by_user=True)
        return None

    def _decide(self, call: Call, tool: str, finding: Finding | None) -> Verdict:
        if call.kind:
            said = f"the source says that it is {_article(call.kind)}"
            return Verdict(_SAID.get(call.kind, "search"), said, by_user=call.kind == EXCLUDED)
        evidence = Evidence.of(call.arguments, finding)
        description = (call.description or "").casefold()
        for rule, pattern in zip(self.rules, self._name_matches(tool), strict=True):
            if pattern is None or not evidence.has(rule.when):
                continue
            text = rule.match_description(description)
            if text is None:
                continue
            reasons = [f"name has '{pattern}'"] if pattern else []
            reasons += [f"description has '{text.strip()}'"] if text else []
            return Verdict(
                rule.account, ": ".join([", ".join(reasons), rule.because][not reasons :])
            )
        return Verdict("not a search", "no rule applies")

    def decided_by_name(self, tool: str | None) -> Verdict | None:
        """What every call of a tool is, whatever its arguments and output; None if they matter."""
        tool = str(tool or "")
        if (listed := self.listed(tool)) is not None:
            return listed
        for rule, pattern in zip(self.rules, self._name_matches(tool), strict=True):
            if pattern is not None:
                is_certain = not rule.when and not rule.description
                return Verdict(rule.account, rule.because) if is_certain else None
        return Verdict("not a search", "no rule applies")

    def _name_matches(self, tool: str) -> list[str | None]:
        """What each rule's names say about a tool, computed once for each tool."""
        matches = self._matches.get(tool)
        if matches is None:
            name = split_name(tool)
            matches = [rule.match_name(name) for rule in self.rules]
            if len(self._matches) < 4096:
                self._matches[tool] = matches
        return matches


def _article(kind: str) -> str:
    return kind if kind.startswith("not ") else f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


@lru_cache(maxsize=1)
def _built_in() -> tuple[Rule, ...]:
    return _read(_BUILT_IN)[0]


def _read(path: Path) -> tuple[tuple[Rule, ...], dict[str, Account]]:
    """The rules and the lists of tools in a TOML file, checked."""
    from goodgain.io.whole import read_toml

    data = read_toml(path, "search rules")
    if not data:
        raise InputError(
            "there are no search rules",
            where=str(path),
            hint=f"keys are [[rule]], {', '.join(_LISTS)}",
        )
    if unknown := sorted(set(data) - {"rule", *_LISTS}):
        raise InputError(
            f"unknown key '{unknown[0]}' in search rules",
            where=str(path),
            hint=f"keys are [[rule]], {', '.join(_LISTS)}",
        )
    tools = {
        tool.casefold(): account
        for key, account in _LISTS.items()
        for tool in _texts(data.get(key, []), key, str(path))
    }
    entries = data.get("rule", [])
    if not isinstance(entries, list):
        raise InputError("'rule' must be a list of tables", where=str(path), hint="write [[rule]]")
    return tuple(_rule(e, f"{path} rule {n}") for n, e in enumerate(entries, 1)), tools


def _rule(entry: Any, where: str) -> Rule:
    if not isinstance(entry, dict) or entry.get("account") not in _ACCOUNTS:
        account = entry.get("account") if isinstance(entry, dict) else entry
        hint = "accounts are " + ", ".join(f"'{a}'" for a in _ACCOUNTS)
        raise InputError(f"invalid account {account!r} in search rules", where=where, hint=hint)
    if unknown := sorted(set(entry) - set(_KEYS)):
        hint = f"keys are {', '.join(_KEYS)}"
        raise InputError(f"unknown key '{unknown[0]}' in search rules", where=where, hint=hint)
    when = _texts(entry.get("when", []), "when", where)
    if unknown := [w for w in when if w not in _WHEN]:
        hint = f"evidence is {', '.join(_WHEN)}"
        raise InputError(f"unknown evidence '{unknown[0]}'", where=where, hint=hint)
    return Rule(
        account=entry["account"],
        because=str(entry.get("because", f"rule of {where}")),
        name=tuple(map(Pattern.parse, _texts(entry.get("name", []), "name", where))),
        unless=tuple(map(Pattern.parse, _texts(entry.get("unless", []), "unless", where))),
        description=tuple(
            t.casefold() for t in _texts(entry.get("description", []), "description", where)
        ),
        when=tuple(when),
    )


def _texts(value: Any, key: str, where: str) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
        raise InputError(
            f"'{key}' must be a list of texts", where=where, hint=f'for example {key} = ["search"]'
        )
    return value
