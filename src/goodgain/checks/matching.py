"""Which results of a search are what a case names: by id, by URL, by glob, or by a quote in their text."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goodgain.checks.golden import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One result of a target: what it can be recognised by, and its text."""

    key: str  # its id, or else its URL, or else a digest of its text
    names: tuple[str, ...] = ()  # every id and URL it has
    title: str = ""
    text: str = ""
    quotes: frozenset[str] = (
        frozenset()
    )  # digests of quotes it holds, where the text was not stored

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Answer:
        """From a result in the canonical form."""
        texts = [str(result[name]) for name in ("title", "snippet", "content") if result.get(name)]
        text = "\n".join(texts)
        names = [result.get("id"), *(result.get("ids") or {}).values(), result.get("url")]
        source = (result.get("fields") or {}).get("source")
        unique = tuple(dict.fromkeys(str(name) for name in [*names, source] if name))
        key = unique[0] if unique else f"text:{_digest(_plain(text))}"
        return cls(key=key, names=unique, title=str(result.get("title") or ""), text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """A ranked list in terms of a case, for the measures.

    A document per rank: what the case names counts once, at the first result that is it, and a later
    result that is it again earns nothing. Two quotes in one result are one document with the higher grade.
    """

    documents: tuple[str, ...]
    grades: Mapping[str, float]  # of the documents and of what was not returned
    ranks: Mapping[str, int]  # the first rank of each thing the case names
    forbidden: tuple[tuple[int, str, str], ...]  # (rank, key, pattern)
    unjudged: tuple[str, ...] = field(default=())  # keys that the case says nothing about


def match(case: Case, answers: Sequence[Answer], known: Iterable[str] = ()) -> Matches:
    """Match the results for a case; `known` are keys that a person has accepted as they are."""
    accepted = set(known)
    quotes = {quote: (_plain(quote), quote_digest(quote)) for quote in case.quotes}
    ranks: dict[str, int] = {}
    documents: list[str] = []
    grades: dict[str, float] = {}
    unjudged, forbidden = [], []
    for rank, answer in enumerate(answers, 1):
        names = [name for name in case.relevant if is_named(answer, name)]
        text = _plain(answer.text) if quotes else ""
        names += [
            q for q, (words, digest) in quotes.items() if words in text or digest in answer.quotes
        ]
        forbidden += [
            (rank, answer.key, pattern) for pattern in case.forbidden if is_named(answer, pattern)
        ]
        fresh = [name for name in names if name not in ranks]
        document = answer.key
        if fresh:
            best = max(fresh, key=lambda name: case.grades[name])
            ranks |= dict.fromkeys(fresh, rank)
            document, grade = f"={best}", case.grades[best]
        else:
            grade = 0.0
        while document in grades or document in documents:
            document, fresh = (
                f"{document} again",
                fresh or [""],
            )  # repeats are judged: worth nothing
        documents.append(document)
        is_judged = (
            fresh or names or answer.key in accepted or any(is_named(answer, n) for n in case.irrelevant)
            or any(is_named(answer, pattern) for pattern in case.forbidden)
        )  # fmt: skip
        if is_judged:
            grades[document] = grade
        else:
            unjudged.append(answer.key)
    grades |= {f"={name}": grade for name, grade in case.grades.items() if name not in ranks}
    return Matches(
        documents=tuple(documents),
        grades=grades,
        ranks=ranks,
        forbidden=tuple(forbidden),
        unjudged=tuple(unjudged),
    )


def is_named(answer: Answer, name: str) -> bool:
    """Whether a result is what a case names: exactly, then as a URL by identity, then as a glob."""
    if name in answer.names or name == answer.key:
        return True
    if "://" in name and any("://" in own and _same_page(own, name) for own in answer.names):
        return True
    return "*" in name and any(
        fnmatchcase(own, _pattern(name)) for own in (answer.key, *answer.names)
    )


def _pattern(name: str) -> str:
    """A glob in which only `*` is special."""
    return re.sub(r"([?\[])", r"[\1]", name)


@lru_cache(maxsize=100_000)
def _same_page(a: str, b: str) -> bool:
    from goodgain.identity import Identity

    return bool(Identity().compare({"type": "web", "url": a}, {"type": "web", "url": b}))


def _plain(text: str) -> str:
    """Text without differences of case, white space, compatibility forms and typographic quotes."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = folded.translate(str.maketrans("‘’‚“”„–—‐‑", "'''\"\"\"----"))
    return " ".join(folded.split())


def quote_digest(quote: str) -> str:
    """A short name of a quote for a baseline, which does not hold the results' text."""
    return _digest(_plain(quote))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
