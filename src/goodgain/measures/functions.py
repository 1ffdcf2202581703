"""Measures of plain lists, without tables: what a notebook or a quick check needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence


def cg(gains: Iterable[float], k: int | None = None) -> float:
    """Cumulative gain of the first k gains."""
    return _measure(gains, k, kernel="cg")


def dcg(gains: Iterable[float], k: int | None = None, exp: bool = True) -> float:
    """Discounted cumulative gain; `exp` takes 2^g - 1 for a gain g, else g itself."""
    return _measure(gains, k, kernel="dcg", exp_gain=exp)


def ndcg(gains: Iterable[float], k: int | None = None, exp: bool = True) -> float:
    """DCG over that of the list's own best order; 0 where that is 0."""
    return _measure(gains, k, kernel="ndcg", exp_gain=exp, ideal_retrieved=True)


def gsb(good: int | Iterable[str], same: int | None = None, bad: int | None = None) -> float:
    """(good - bad) / (good + same + bad), from three counts or from Good/Same/Bad labels."""
    if isinstance(good, int):
        if same is None or bad is None:
            raise UsageError(
                "gsb takes three counts or one list of labels",
                hint='gsb(1, 1, 2) or gsb(["Good", "Same", "Bad", "Bad"])',
            )
        counts = [good, same, bad]
        if min(counts) < 0:
            raise InputError(f"a count of {min(counts)} is below 0")
    else:
        counts = [0, 0, 0]
        for label in good:
            place = {"good": 0, "g": 0, "same": 1, "s": 1, "bad": 2, "b": 2}.get(
                str(label).strip().casefold()
            )
            if place is None:
                raise InputError(f"the label '{label}' is none of Good, Same and Bad")
            counts[place] += 1
    if not sum(counts):
        raise InputError("there is nothing to compare: all counts are 0")
    return (counts[0] - counts[2]) / sum(counts)


def _measure(gains: Iterable[float], k: int | None, **options: Any) -> float:
    from goodgain._core import measure_list

    numbers = [float(g) for g in gains]
    if any(g - g != 0 for g in numbers):
        raise InputError("a gain is not a finite number")
    if k is not None:
        if k < 1:
            raise UsageError(f"the cut-off {k} is not a whole number from 1 on")
        options["cutoff"] = k
    return measure_list(numbers, options)


# --- RaDiCuGLoss ---


def rdcgl(
    search_results: Sequence[Hashable],
    true_relevance_set: Mapping[Any, float],
    k: int | None = None,
    fp_penalty: float = 1.0,
    fn_penalty: float = 1.0,
    invert: bool = True,
    punish_max: bool = False,
    gain: str = "documented",
) -> float:
    """Rank-discounted cumulative gain and loss.

    `true_relevance_set` gives each true item its rank; with `invert` a smaller rank is better.
    `gain="documented"` is the formula as documented, `gain="reference"` that of the published
    package, number for number.
    """
    return _gain_loss(
        search_results,
        true_relevance_set,
        k,
        fp_penalty,
        fn_penalty,
        invert,
        punish_max,
        gain,
        False,
    )


def nrdcgl(
    search_results: Sequence[Hashable],
    true_relevance_set: Mapping[Any, float],
    k: int | None = None,
    fp_penalty: float = 1.0,
    fn_penalty: float = 1.0,
    invert: bool = True,
    punish_max: bool = False,
    gain: str = "documented",
) -> float:
    """`rdcgl` divided by the score of the perfect list."""
    return _gain_loss(
        search_results,
        true_relevance_set,
        k,
        fp_penalty,
        fn_penalty,
        invert,
        punish_max,
        gain,
        True,
    )


def pnrdcgl(
    search_results: Sequence[Hashable],
    true_relevance_set: Mapping[Any, float],
    k: int | None = None,
    fp_penalty: float = 1.0,
    fn_penalty: float = 1.0,
    invert: bool = True,
    punish_max: bool = False,
    gain: str = "documented",
) -> float:
    """`nrdcgl`, not below 0."""
    return max(
        0.0,
        nrdcgl(
            search_results, true_relevance_set, k, fp_penalty, fn_penalty, invert, punish_max, gain
        ),
    )


def _gain_loss(
    results: Sequence[Hashable],
    truth: Mapping[Any, float],
    k: int | None,
    fp_penalty: float,
    fn_penalty: float,
    invert: bool,
    punish_max: bool,
    gain: str,
    normalise: bool,
) -> float:
    from goodgain._core import gain_loss

    if gain not in ("documented", "reference"):
        raise UsageError(f"gain='{gain}' is neither documented nor reference")
    if not truth:
        raise InputError("the true relevance set is empty")
    if fp_penalty < 0 or fn_penalty < 0:
        raise UsageError("a penalty below 0 would be a reward")
    if k is not None and k < 1:
        raise UsageError(f"the cut-off {k} is not a whole number from 1 on")
    for item, rank in truth.items():
        if not (rank >= 1 and rank - rank == 0):
            raise InputError(f"the rank {rank} of {item!r} is not a number from 1 on")
    if len(set(results)) != len(results):
        seen: set[Hashable] = set()
        twice = next(item for item in results if item in seen or seen.add(item))  # type: ignore[func-returns-value]
        raise InputError(f"the item {twice!r} is in the search results twice")

    largest = max(truth.values())
    worth = {item: (largest + 1 - rank if invert else rank) for item, rank in truth.items()}
    nan = float("nan")
    options = {
        "kernel": None,
        "cutoff": k or 0,
        "fp_penalty": fp_penalty,
        "fn_penalty": fn_penalty,
        "punish_max": punish_max,
        "reference": gain == "reference",
    }
    found = set(results)
    return gain_loss(
        [worth.get(item, nan) for item in results],
        [w for item, w in worth.items() if item not in found],
        list(worth.values()),
        options,
        invert,
        float(largest),
        normalise,
    )
