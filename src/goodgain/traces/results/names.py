"""What tools call the fields of a result, and the lists that hold results.

Names are compared by their words, so `pageContent`, `page-content` and `page_content` are one. Columns of
tables of runs and judgments: goodgain.io.columns.
The names themselves are in `names.toml`.
"""

from __future__ import annotations

import re
from pathlib import Path

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")


def words_of(name: str) -> list[str]:
    """The words of a field's name, in lower case."""
    return [word.casefold() for word in _WORD.findall(name[:100])]


def normal(name: str) -> str:
    """A field's name in lower case with its words joined by underscores."""
    return "_".join(words_of(name))


def _load() -> dict[str, dict[str, str]]:
    import tomllib

    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _words(section: str, key: str) -> frozenset[str]:
    return frozenset(_NAMES[section][key].split())


_NAMES = _load()
ROLES = {role: tuple(names.split()) for role, names in _NAMES["roles"].items()}
IDS = _words("fields", "ids")
FIELDS = _words("fields", "kept")
TYPES = _words("fields", "types")
WRAPPERS = {name: rank for rank, name in enumerate(_NAMES["fields"]["wrappers"].split())}
LISTS = _words("lists", "results")
MAIN = _words("lists", "main")
ENVELOPES = _words("lists", "envelopes")
SUPPORTING = _words("lists", "supporting")
MEDIA = _words("lists", "media")
EXCLUDED = _words("lists", "excluded")
PROSE = _words("lists", "prose")
TOTALS = _words("counts", "totals")
COUNTERS = _words("counts", "counters")
ERRORS = _words("errors", "fields")
BAD_STATUS = _words("errors", "status")
TAGS = _NAMES["tags"]["documents"].split()
COLUMNS = _NAMES["columns"]
LABELS = {
    " ".join(label.split()): name
    for name, labels in _NAMES["labels"].items()
    for label in labels.split(",")
}
_NEUTRAL = _words("fields", "neutral")
_PREFIXES = _words("fields", "prefixes")
_SUFFIXES = _words("fields", "suffixes")
_SIMPLE = {
    "url": "url", "uri": "url", "link": "url", "href": "url", "title": "title", "text": "content",
    "content": "content", "body": "content", "passage": "content", "snippet": "snippet", "excerpt": "snippet",
    "description": "summary", "summary": "summary", "abstract": "summary", "score": "score", "name": "name",
    "headline": "title", "path": "path",
}  # fmt: skip
Role = tuple[str, int]
Field = tuple[str, int, str, bool]  # role, rank, normal name, whether it is kept under `fields`
FOREIGN: Role = ("foreign", 0)
NEUTRAL: Role = ("neutral", 0)
_TABLE: dict[str, Role] = dict.fromkeys((*_NEUTRAL, *FIELDS), NEUTRAL)
_TABLE |= {n: (role, rank) for role, names in ROLES.items() for rank, n in enumerate(names)}
_TABLE |= dict.fromkeys(IDS, ("ids", 0))
_TABLE |= {"source": ("source", 0), "type": ("type", 0), "role": ("speaker", 0)}
_cache: dict[str, Field] = {}


def field_of(name: str) -> Field:
    """What a field of this name holds."""
    field = _cache.get(name)
    if field is None:
        words = words_of(name)
        joined = "_".join(words)
        field = (*_find_role(words), joined, joined in FIELDS)
        if len(_cache) < 20_000 and len(name) <= 100:
            _cache[name] = field
    return field


def role_of(name: str) -> str:
    """The role of a field of this name: "url", "title", "content" ..."""
    return field_of(name)[0]


def _find_role(words: list[str]) -> Role:
    role = _TABLE.get("_".join(words))
    if role is not None:
        return role
    while len(words) > 1 and words[-1] in _SUFFIXES:  # the fields of Solr: title_txt_en
        words = words[:-1]
        role = _TABLE.get("_".join(words))
        if role is not None:
            return role
    if len(words) > 1 and words[0] == "search":  # @search.score
        return _TABLE.get("_".join(words[1:]), NEUTRAL)
    if len(words) > 1 and words[-1] in _SIMPLE and _PREFIXES.issuperset(words[:-1]):
        return _SIMPLE[words[-1]], 90 + len(words)
    if len(words) > 1 and words[-1] in (
        "id",
        "at",
        "date",
        "time",
        "type",
        "rank",
        "index",
        "count",
        "on",
    ):
        return NEUTRAL
    return FOREIGN
