"""The rules of identity, and their verdicts on pairs and lists of results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from goodgain.errors import InputError, UsageError, core_errors
from goodgain.identity.aliases import TABLES, UrlRules, built_in
from goodgain.identity.profiles import Profile, Unit, combined, profile_from

if TYPE_CHECKING:
    import os

    from goodgain._core import IdentityRules

Outcome = Literal["duplicate", "different", "undecided"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The verdict on a pair, the step that decided it, and the fields that it is based on.

    `keys` are the kinds of keys that propose the pair; without any it is never compared.
    """

    verdict: Outcome
    step: int
    fields: str
    keys: tuple[str, ...] = ()
    cut: str = ""  # those fields where one text is a prefix of the other
    rule: str = ""  # the aliases or the profile behind the verdict

    @property
    def same(self) -> bool:
        """Whether both count as one result: the pair was proposed and verified."""
        return self.verdict == "duplicate" and bool(self.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One entry of an audit: `result` was compared with the earlier `other`."""

    result: int
    other: int
    key: str
    verdict: Outcome
    step: int
    fields: str
    rule: str  # the aliases of the URLs, or the profile
    merged: bool
    contradicted: bool  # verified, but it differs from the first result of the other's cluster


@dataclass(frozen=True, slots=True)
class Clusters:
    """For each result the number of the first one that is the same, and the decisions behind it."""

    first: tuple[int, ...]
    decisions: tuple[Decision, ...]

    def __len__(self) -> int:
        return len(set(self.first))

    def groups(self) -> list[list[int]]:
        """The numbers of the results of each cluster, in the order of their first."""
        clusters: dict[int, list[int]] = {}
        for number, first in enumerate(self.first):
            clusters.setdefault(first, []).append(number)
        return list(clusters.values())

    def __repr__(self) -> str:
        return f"Clusters({len(self.first):,} results, {len(self):,} unique)"


class Identity:
    """Profiles, URL rules and a unit: with `unit="document"` two chunks of a document are one result.

    `rules` are profiles, or a TOML file with any of `[[profile]]`, `[[alias]]`, `[[id]]` and
    `[parameters]`; `aliases` are further aliases as dictionaries. All of them come before the built-in
    ones, and their examples must hold.

    >>> import goodgain as gg
    >>> identity = gg.Identity()
    >>> first = {"url": "https://arxiv.org/abs/1706.03762v5"}
    >>> second = {"url": "http://arxiv.org/pdf/1706.03762"}
    >>> comparison = identity.compare(first, second)
    >>> comparison.verdict, comparison.rule
    ('duplicate', 'arXiv')
    """

    __slots__ = ("profiles", "unit", "urls")

    def __init__(
        self,
        rules: Iterable[Profile | Mapping[str, Any]] | str | os.PathLike[str] = (),
        *,
        aliases: Iterable[Mapping[str, Any]] = (),
        unit: Unit = "document",
    ) -> None:
        if unit not in ("document", "passage"):
            raise UsageError(f"invalid unit='{unit}'", hint="one of: document, passage")
        where, table = "", {"alias": list(aliases)}
        if isinstance(rules, Iterable) and not isinstance(rules, str):
            own = list(rules)
        else:
            where, read = _read_rules(rules)
            own = [
                profile_from(entry, f"{where} profile {i}")
                for i, entry in enumerate(read.get("profile", []), 1)
            ]
            table = {**read, "alias": [*table["alias"], *read.get("alias", [])]}
        self.profiles = combined(own)
        self.urls = built_in().extended(table, where)
        self.unit: Unit = unit
        if self.urls is not built_in():
            self._check_examples(table, where)

    @classmethod
    def of(cls, value: Any) -> Identity:
        """The identity itself, or one made from a unit, a TOML file, or profiles."""
        if isinstance(value, Identity):
            return value
        if value is None:
            return cls()
        return cls(unit=value) if value in ("document", "passage") else cls(value)

    @property
    def core(self) -> IdentityRules:
        """The rules as the core holds them."""
        return _compiled(self.profiles, self.urls, self.unit)

    def compare(self, a: Any, b: Any) -> Comparison:
        """The verdict on two results: dictionaries in the canonical form, or `Result`s."""
        with core_errors():
            outcome = self.core.compare(_json([a, b]))
        return Comparison(**{**outcome, "keys": tuple(outcome["keys"])})

    def cluster(self, results: Iterable[Any]) -> Clusters:
        """Cluster results that are the same, in the order in which they were returned."""
        with core_errors():
            first, audit = self.core.cluster(_json(list(results)), 1e300)
        fields = Decision.__dataclass_fields__
        return Clusters(tuple(first), tuple(Decision(**{k: d[k] for k in fields}) for d in audit))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and (self.profiles, self.urls, self.unit) == (
            other.profiles,
            other.urls,
            other.unit,
        )

    def __hash__(self) -> int:
        return hash((self.profiles, self.urls, self.unit))

    def __repr__(self) -> str:
        rules = f"{len(self.profiles)} profiles, {len(self.urls.aliases)} aliases"
        return f"Identity(unit='{self.unit}', {rules})"

    def _check_examples(self, table: Mapping[str, Any], where: str) -> None:
        for kind in ("alias", "id"):
            for rule in table.get(kind, []):
                for problem in wrong_examples(self, kind, rule):
                    raise InputError(problem, where=f"{where} {kind} '{rule['name']}'".strip())


def wrong_examples(identity: Identity, kind: str, rule: Mapping[str, Any]) -> list[str]:
    """What the examples of an alias or id rule promise and the rules in force do not do."""
    field = (rule.get("fields") or ["id"])[0]
    problems = []
    for expected in ("same", "different"):
        for one, other in rule.get(expected, []):
            a, b = (
                {"url": text} if kind == "alias" else _with_id(field, text) for text in (one, other)
            )
            if identity.compare(a, b).same != (expected == "same"):
                problems.append(f"'{one}' and '{other}' should be {expected}")
    return problems


def _with_id(field: str, text: str) -> dict[str, Any]:
    return {"id": text} if field == "id" else {"ids": {field: text}}


@lru_cache(maxsize=32)
def _compiled(profiles: tuple[Profile, ...], urls: UrlRules, unit: Unit) -> IdentityRules:
    from goodgain._core import IdentityRules

    with core_errors():
        return IdentityRules.of([p.for_core(unit) for p in profiles], unit, urls.for_core())


def _json(results: list[Any]) -> bytes:
    plain = [r.to_dict() if hasattr(r, "to_dict") else r for r in results]
    return json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _read_rules(path: Any) -> tuple[str, dict[str, Any]]:
    """The name and the tables of a TOML file."""
    import os

    from goodgain.io.whole import read_toml

    name = os.fspath(path)
    table = read_toml(name, "[[profile]] and [[alias]] tables")
    known = ("profile", *TABLES)
    for unknown in sorted(set(table) - set(known)):
        raise InputError(
            f"unknown table '{unknown}'", where=name, hint=f"one of: {', '.join(known)}"
        )
    if not any(isinstance(table.get(kind), list | dict) for kind in known):
        raise InputError(
            "the file has no [[profile]] or [[alias]] table",
            where=name,
            hint="see docs/identity.md",
        )
    return name, table
