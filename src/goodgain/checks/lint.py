"""Problems of a golden set that a reviewer would point out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goodgain.checks.matching import is_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodgain.checks.golden import Case, GoldenSet
    from goodgain.checks.matching import Answer
    from goodgain.checks.session import Call

SMALLEST_TAG = 5
_ALIKE = 0.8  # the share of words that two queries must share to be reported


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: an error makes the lint fail, a warning does not."""

    level: Literal["error", "warning"]
    where: str
    text: str


def lint(golden: GoldenSet, calls: Sequence[Call] | None = None) -> list[Problem]:
    """The problems of a golden set; with the target's answers also what it does not know."""
    problems = [*_repeated(golden), *_alike(golden), *_small_tags(golden), *_contradictions(golden)]
    if calls is not None:
        problems += _unknown(golden, calls)
    return problems


def _words(query: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", query.casefold()))


def _repeated(golden: GoldenSet) -> Iterator[Problem]:
    by_text: dict[str, Case] = {}
    for case in golden.cases:
        key = " ".join(case.query.casefold().split())
        first = by_text.setdefault(key, case)
        if first is not case:
            yield Problem(
                "error", case.where, f"'{case.id}' asks the same as '{first.id}' ({first.where})"
            )


def _alike(golden: GoldenSet) -> Iterator[Problem]:
    """Near-identical queries count one thing twice; across tags they leak from one into another."""
    words = [_words(case.query) for case in golden.cases]
    by_word: dict[str, list[int]] = {}
    for i, (case, own) in enumerate(zip(golden.cases, words, strict=True)):
        candidates = {j for word in own for j in by_word.get(word, ())[-200:]}
        for j in sorted(candidates):
            other = golden.cases[j]
            same_text = " ".join(case.query.casefold().split()) == " ".join(
                other.query.casefold().split()
            )
            union = len(own | words[j])
            if not same_text and union and len(own & words[j]) / union >= _ALIKE:
                leak = set(case.tags) ^ set(other.tags) if case.tags and other.tags else set()
                tags = f", under different tags ({', '.join(sorted(leak))})" if leak else ""
                text = f"'{case.id}' asks nearly the same as '{other.id}' ({other.where}){tags}"
                yield Problem("warning", case.where, text)
        for word in own:
            by_word.setdefault(word, []).append(i)


def _small_tags(golden: GoldenSet) -> Iterator[Problem]:
    for tag, cases in golden.tags.items():
        if len(cases) < SMALLEST_TAG:
            yield Problem(
                "warning",
                cases[0].where,
                f"tag '{tag}' has {len(cases)} cases: fewer than {SMALLEST_TAG} cannot show a loss",
            )
    if len(golden.cases) < 25:
        yield Problem(
            "warning",
            golden.path,
            f"{len(golden.cases)} cases: with fewer than 25 only large losses can be seen",
        )


def _contradictions(golden: GoldenSet) -> Iterator[Problem]:
    from fnmatch import fnmatchcase

    for case in golden.cases:
        for pattern in (p for p in case.forbidden if "*" in p):
            clash = next((name for name in case.relevant if fnmatchcase(name, pattern)), None)
            if clash:
                yield Problem(
                    "error", case.where, f"'{clash}' is relevant, but '{pattern}' forbids it"
                )


def _unknown(golden: GoldenSet, calls: Sequence[Call]) -> Iterator[Problem]:
    """Names and quotes that no result of any query has: misspelt, renamed or gone."""
    answers: list[Answer] = [answer for call in calls for answer in call.answers]
    from goodgain.checks.matching import match

    for case, call in zip(golden.cases, calls, strict=True):
        if call.status in ("error", "timeout"):
            yield Problem("error", case.where, f"'{case.id}': the target failed: {call.problem}")
            continue
        for name in case.relevant:
            if not any(is_named(answer, name) for answer in answers):
                yield Problem(
                    "warning", case.where, f"'{name}' is in no result of any query: is it misspelt?"
                )
        missing = set(case.quotes) - set(match(case, answers).ranks)
        for quote in sorted(missing):
            yield Problem(
                "warning", case.where, f"no result of any query contains the quote '{quote[:80]}'"
            )
