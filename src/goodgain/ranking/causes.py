"""The causes of a difference between two conventions, and each cause's share of it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from goodgain.ranking.policy import CHOICES, Policy
from goodgain.ranking.presets import Convention

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goodgain.measures.definition import Measure

# The causes of a difference, and the policies and options of the core that belong to each.
CAUSES: dict[str, tuple[str, ...]] = {
    "score precision": ("scores",),
    "ties": ("ties",),
    "unjudged": ("unjudged", "negative_judged", "empty_zero"),
    "duplicates": ("duplicates",),
    "same id": ("same_id",),
    "gain form": ("exp_gain", "min_gain", "max_grade", "scale", "binary"),
    "discount": ("p",),
    "ideal": ("ideal_retrieved", "ideal_length"),
    "denominator": ("returned", "beta"),
    "cut-off": ("cutoff", "recall", "recall_ceil", "overlap_depth"),
    "missing queries": ("missing",),
    # Also every option that no other cause names, so that the shares cover the whole difference.
    "definition": ("kernel",),
}


def differing(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The causes whose options differ, with those options."""
    keys = {k for k in {**ours, **theirs} if k != "measure" and ours.get(k) != theirs.get(k)}
    named = {key for listed in CAUSES.values() for key in listed}
    causes = {cause: tuple(k for k in listed if k in keys) for cause, listed in CAUSES.items()}
    causes["definition"] += tuple(sorted(keys - named))
    return {cause: listed for cause, listed in causes.items() if listed}


def flat(used: Convention) -> dict[str, Any]:
    """A convention as one table of options, to switch one cause at a time."""
    options = used.for_core()
    policy: dict[str, Any] = options.pop("policy")
    return {**options, **policy, "measure": used.measure}


def mixed(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], switched: Iterable[str]
) -> dict[str, Any]:
    """Our convention with some options of theirs."""
    result = dict(ours)
    for key in switched:
        if key in theirs:
            result[key] = theirs[key]
        else:
            result.pop(key, None)
    return result


def as_convention(options: Mapping[str, Any]) -> Convention:
    """The reverse of `flat`."""
    policy = Policy(**{n: options[n] for n in CHOICES})
    measure: Measure = options["measure"]
    return Convention(replace(measure), policy, kernel_options(options))


def kernel_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without policies."""
    return {k: v for k, v in options.items() if k not in CHOICES and k != "measure"}


def shapley(cause: str, causes: Sequence[str], values: Mapping[frozenset[str], float]) -> float:
    """The mean of what switching a cause adds, over all orders of switching the causes.

    Between two values that are defined, a mixture of the two conventions that is undefined counts as
    our own value: no share depends on it, and the shares still add up.
    """
    start, end = values[frozenset()], values[frozenset(causes)]
    if start != start or end != end:
        return math.nan
    defined = {s: v if v == v else start for s, v in values.items()}
    others = [c for c in causes if c != cause]
    n = len(causes)
    terms = []
    for size in range(n):
        weight = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
        for chosen in combinations(others, size):
            without = frozenset(chosen)
            terms.append(weight * (defined[without | {cause}] - defined[without]))
    return math.fsum(terms)


_WORDS: dict[str, dict[bool, str]] = {
    "exp_gain": {True: "2^g - 1", False: "linear"},
    "returned": {True: "returned", False: "k"},
    "recall_ceil": {True: "recall up", False: "recall to nearest"},
    "ideal_length": {True: "as long as the list", False: "all judged"},
    "ideal_retrieved": {True: "own documents", False: "all judged"},
    "negative_judged": {True: "negative nonrelevant", False: "negative unjudged"},
}


def wording(cause: str, side: Mapping[str, Any]) -> str:
    """How a convention handles a cause, in a word."""
    if cause == "definition":
        measure: Measure = side["measure"]
        own = side["kernel"] == measure.definition.kernel
        return measure.name if own else f"{measure.name} of trec_eval"
    words = []
    for key in CAUSES[cause]:
        value = side.get(key)
        if key in CHOICES:
            words.append(str(value))
        elif key in _WORDS:
            word = _WORDS[key].get(bool(value))
            if word and word not in words:
                words.append(word)
        elif value is not None and not isinstance(value, bool):
            words.append(f"{key}={value:g}" if isinstance(value, int | float) else f"{key}={value}")
    if cause == "ideal":
        return "as long as the list" if side.get("ideal_length") else words[0]
    return ", ".join(words) or "-"
