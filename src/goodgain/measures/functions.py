"""Measures of plain lists, without tables: what a notebook or a quick check needs."""

from __future__ import annotations

from goodgain.errors import InputError, UsageError, core_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence
    from typing import Any, Literal, TypedDict, Unpack

    class LossSettings(TypedDict, total=False):
        """The settings that the three functions of gain and loss share."""

        fp_penalty: float
        fn_penalty: float
        invert: bool
        punish_max: bool
        gain: str


def cg(gains: Iterable[float], k: int | None = None) -> float:
    """Cumulative gain of the first k gains.

    >>> import goodgain as gg
    >>> gg.cg([3, 2, 0, 1])
    6.0
    >>> gg.cg([3, 2, 0, 1], k=2)
    5.0
    """
    return _measure(gains, k, kernel="cg")


def dcg(
    gains: Iterable[float],
    k: int | None = None,
    exp: bool = True,
    *,
    gain: Literal["linear", "exp"] | None = None,
) -> float:
    """Discounted cumulative gain of a list.

    Each gain g counts as 2^g - 1, with `exp=False` (or `gain="linear"`) as g. The measure `DCG` of
    `evaluate` is linear by default, as in trec_eval.

    >>> import goodgain as gg
    >>> round(gg.dcg([3, 2, 0, 1], gain="linear"), 4)
    4.6925
    >>> round(gg.dcg([3, 2, 0, 1]), 4)
    9.3235
    """
    return _measure(gains, k, kernel="dcg", exp_gain=_is_exponential(exp, gain))


def ndcg(
    gains: Iterable[float],
    k: int | None = None,
    exp: bool = True,
    *,
    gain: Literal["linear", "exp"] | None = None,
    ideal: Literal["retrieved"] | Iterable[float] = "retrieved",
) -> float:
    """DCG of a list divided by the DCG of its ideal order; 0 if that is 0.

    This differs from the measure `nDCG` of `evaluate` in two ways: gains are exponential (2^g - 1), and
    the ideal is the best order of this very list, so that relevant documents it lacks cost nothing.
    `gain="linear"` and `ideal=[gains of all judged documents]` give the value of the measure.

    >>> import goodgain as gg
    >>> round(gg.ndcg([3, 2, 0, 1]), 4)
    0.9926
    >>> round(gg.ndcg([3, 2, 0, 1], k=3, gain="linear", ideal=[3, 3, 2, 1]), 4)
    0.7232
    """
    exponential = _is_exponential(exp, gain)
    if isinstance(ideal, str):
        if ideal != "retrieved":
            raise UsageError(
                f"invalid ideal='{ideal}'",
                hint="'retrieved', or the gains of all judged documents: ideal=[3, 2, 1]",
            )
        return _measure(gains, k, kernel="ndcg", exp_gain=exponential, ideal_retrieved=True)
    best = _measure(sorted(ideal, reverse=True), k, kernel="dcg", exp_gain=exponential)
    value = _measure(gains, k, kernel="dcg", exp_gain=exponential)
    return value / best if best else 0.0


def _is_exponential(exp: bool, gain: str | None) -> bool:
    if gain is None:
        return exp
    if gain not in ("linear", "exp"):
        raise UsageError(f"invalid gain='{gain}'", hint="'linear' or 'exp'")
    return gain == "exp"


def gsb(good: int | Iterable[str], same: int | None = None, bad: int | None = None) -> float:
    """(good - bad) / (good + same + bad), from three counts or from Good/Same/Bad labels.

    >>> import goodgain as gg
    >>> gg.gsb(good=42, same=38, bad=20)
    0.22
    >>> gg.gsb(["Good", "Same", "Good", "Bad"])
    0.25
    """
    if isinstance(good, int):
        if same is None or bad is None:
            raise UsageError(
                "gsb takes three counts or one list of labels",
                hint='gsb(1, 1, 2) or gsb(["Good", "Same", "Bad", "Bad"])',
            )
        counts = [good, same, bad]
        if min(counts) < 0:
            raise InputError(f"counts must not be negative, got {min(counts)}")
    else:
        counts = [0, 0, 0]
        for label in good:
            place = {"good": 0, "g": 0, "same": 1, "s": 1, "bad": 2, "b": 2}.get(
                str(label).strip().casefold()
            )
            if place is None:
                raise InputError(f"invalid label '{label}'", hint="one of: Good, Same, Bad")
            counts[place] += 1
    if not sum(counts):
        raise InputError("nothing to compare: all counts are 0")
    return (counts[0] - counts[2]) / sum(counts)


def _measure(gains: Iterable[float], k: int | None, **options: Any) -> float:
    from goodgain._core import measure_list

    numbers = [float(g) for g in gains]
    if any(g - g != 0 for g in numbers):
        raise InputError("gains must be finite numbers")
    if k is not None:
        options["cutoff"] = _positive(k)
    with core_errors():
        return measure_list(numbers, options)


def _positive(k: int) -> int:
    if k < 1:
        raise UsageError(f"k must be a positive integer, got {k}")
    return k


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
    *,
    normalise: bool = False,
) -> float:
    """Rank-discounted cumulative gain and loss.

    `true_relevance_set` gives each true item its rank; with `invert` a smaller rank is better.
    `gain="documented"` is the formula as documented, `gain="reference"` that of the published
    package, number for number. `normalise` divides by the score of the perfect list.

    >>> import goodgain as gg
    >>> round(gg.rdcgl(["a", "x", "b"], {"a": 1, "b": 2}), 4)
    3.0
    >>> gg.rdcgl(["a", "b"], {"a": 1, "b": 2}, normalise=True)
    1.0
    """
    from goodgain._core import gain_loss

    if gain not in ("documented", "reference"):
        raise UsageError(f"invalid gain='{gain}'", hint="'documented' or 'reference'")
    if not true_relevance_set:
        raise InputError("the true relevance set is empty")
    if fp_penalty < 0 or fn_penalty < 0:
        raise UsageError("penalties must not be negative")
    for item, rank in true_relevance_set.items():
        if not (rank >= 1 and rank - rank == 0):
            raise InputError(f"the rank of {item!r} must be at least 1, got {rank}")
    if len(set(search_results)) != len(search_results):
        seen: set[Hashable] = set()
        repeated = next(item for item in search_results if item in seen or seen.add(item))  # type: ignore[func-returns-value]
        raise InputError(f"duplicate item {repeated!r} in the search results")

    largest = max(true_relevance_set.values())
    worth = {
        item: (largest + 1 - rank if invert else rank) for item, rank in true_relevance_set.items()
    }
    nan = float("nan")
    options = {
        "kernel": None,
        "cutoff": 0 if k is None else _positive(k),
        "fp_penalty": fp_penalty,
        "fn_penalty": fn_penalty,
        "punish_max": punish_max,
        "reference": gain == "reference",
    }
    retrieved = set(search_results)
    with core_errors():
        return gain_loss(
            [worth.get(item, nan) for item in search_results],
            [w for item, w in worth.items() if item not in retrieved],
            list(worth.values()),
            options,
            invert,
            float(largest),
            normalise,
        )


def nrdcgl(
    search_results: Sequence[Hashable],
    true_relevance_set: Mapping[Any, float],
    k: int | None = None,
    **settings: Unpack[LossSettings],
) -> float:
    """`rdcgl` divided by the score of the perfect list.

    >>> import goodgain as gg
    >>> round(gg.nrdcgl(["a", "x", "b"], {"a": 1, "b": 2}), 4)
    0.8262
    >>> gg.nrdcgl(["a", "b"], {"a": 1, "b": 2})
    1.0
    """
    return rdcgl(search_results, true_relevance_set, k, normalise=True, **settings)


def pnrdcgl(
    search_results: Sequence[Hashable],
    true_relevance_set: Mapping[Any, float],
    k: int | None = None,
    **settings: Unpack[LossSettings],
) -> float:
    """`nrdcgl`, but not below 0.

    >>> import goodgain as gg
    >>> gg.pnrdcgl(["x", "y", "z"], {"a": 1, "b": 2})
    0.0
    >>> round(gg.nrdcgl(["x", "y", "z"], {"a": 1, "b": 2}), 4)
    -2.1738
    """
    return max(0.0, nrdcgl(search_results, true_relevance_set, k, **settings))
