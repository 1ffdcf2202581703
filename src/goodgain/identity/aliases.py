"""URLs and ids: which parameters matter, and which forms are aliases. The rules are in aliases.toml.

Parsing is by ada, the WHATWG parser that Node.js uses (third_party/ada), and the rules are applied in
C++, because a URL is read for every result. They are looked up by host, so their number does not matter.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Example = tuple[str, str]

_LISTS = ("hosts", "paths", "keep", "ignore", "select", "fields", "patterns")
_TEXTS = ("name", "key", "url", "host", "path", "variant", "certainty")
_FLAGS = ("any_case", "drop_fragment")
_EXAMPLES = ("same", "different")
_OF_ALIAS = {
    *_TEXTS, *_FLAGS, *_EXAMPLES, "hosts", "paths", "keep", "ignore", "select"
}  # fmt: skip
_OF_ID = {"name", "fields", "patterns", "key", *_EXAMPLES}
_OF_PARAMETERS = {"ignore", "select", "fragment_select"}
_CERTAINTIES = ("certain", "likely", "possible")

# Tables of a rule file that this module reads.
TABLES = ("parameters", "alias", "id")


class UrlRules:
    """The parameters, aliases and id rules in force, the user's before the built-in ones."""

    __slots__ = ("_hash", "aliases", "ids", "parameters")

    def __init__(
        self,
        parameters: Mapping[str, Iterable[str]],
        aliases: Iterable[Mapping[str, Any]],
        ids: Iterable[Mapping[str, Any]],
    ) -> None:
        self.parameters = {name: tuple(parameters.get(name, ())) for name in sorted(_OF_PARAMETERS)}
        self.aliases = tuple(aliases)
        self.ids = tuple(ids)
        self._hash = hash(repr((self.parameters, self.aliases, self.ids)))

    def for_core(self) -> dict[str, Any]:
        """Options for the native core, which needs no examples."""
        return {
            **{name: list(listed) for name, listed in self.parameters.items()},
            "aliases": [_without_examples(alias) for alias in self.aliases],
            "ids": [_without_examples(rule) for rule in self.ids],
        }

    def extended(self, table: Mapping[str, Any], where: str = "") -> UrlRules:
        """These rules with those of a file before them."""
        checked = _checked(table, where)
        if not (checked["parameters"] or checked["alias"] or checked["id"]):
            return self
        return UrlRules(
            {
                name: (*checked["parameters"].get(name, ()), *listed)
                for name, listed in self.parameters.items()
            },
            (*checked["alias"], *self.aliases),
            (*checked["id"], *self.ids),
        )

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, UrlRules)
            and (self.parameters, self.aliases, self.ids)
            == (other.parameters, other.aliases, other.ids)
        )

    def __hash__(self) -> int:
        return self._hash


@lru_cache(maxsize=1)
def built_in() -> UrlRules:
    """The rules of aliases.toml."""
    import tomllib
    from importlib.resources import files

    name = "aliases.toml"
    table = tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return UrlRules(table["parameters"], table["alias"], table["id"])


def _without_examples(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in rule.items() if name not in _EXAMPLES}


def _checked(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The tables of a user's file; a typo is an error that names the entry."""
    parameters = table.get("parameters", {})
    _known_names(parameters, _OF_PARAMETERS, f"{where} [parameters]".strip())
    for name, listed in parameters.items():
        _texts(listed, name, f"{where} [parameters]".strip())
    rules: dict[str, Any] = {"parameters": dict(parameters)}
    for kind, known, required in (
        ("alias", _OF_ALIAS, ("name", "hosts")),
        ("id", _OF_ID, ("name", "patterns", "key")),
    ):
        entries = table.get(kind, [])
        if not isinstance(entries, list):
            raise InputError(f"expected [[{kind}]] tables", where=where)
        rules[kind] = [
            _checked_rule(entry, known, required, f"{where} {kind} {n}".strip())
            for n, entry in enumerate(entries, 1)
        ]
    return rules


def _checked_rule(entry: Any, known: set[str], required: tuple[str, ...], where: str) -> Any:
    _known_names(entry, known, where)
    for name in required:
        if name not in entry:
            raise InputError(f"missing entry '{name}'", where=where)
    for name, value in entry.items():
        if name in _LISTS:
            _texts(value, name, where)
        elif name in _TEXTS and not isinstance(value, str):
            raise InputError(f"'{name}' must be text, got {value!r}", where=where)
        elif name in _FLAGS and not isinstance(value, bool):
            raise InputError(f"'{name}' must be true or false, got {value!r}", where=where)
        elif name in _EXAMPLES and not _are_pairs(value):
            raise InputError(
                f"'{name}' must be a list of pairs", where=where, hint='for example [["a", "b"]]'
            )
    if entry.get("certainty", "certain") not in _CERTAINTIES:
        raise InputError(
            f"invalid certainty '{entry['certainty']}'",
            where=where,
            hint=f"one of: {', '.join(_CERTAINTIES)}",
        )
    return dict(entry)


def _known_names(entry: Any, known: set[str], where: str) -> None:
    if not isinstance(entry, dict):
        raise InputError(f"expected a table, got {entry!r}", where=where)
    for name in entry:
        if name not in known:
            raise InputError(
                f"unknown entry '{name}'", where=where, hint=f"one of: {', '.join(sorted(known))}"
            )


def _texts(value: Any, name: str, where: str) -> None:
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise InputError(f"'{name}' must be a list of texts, got {value!r}", where=where)


def _are_pairs(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(pair, list | tuple)
        and len(pair) == 2
        and all(isinstance(text, str) for text in pair)
        for pair in value
    )
