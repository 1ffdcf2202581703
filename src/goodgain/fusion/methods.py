"""The one table of fusion methods and normalisations; help, docs and checks are made from it.

Each method is points that a run gives a document, and how the points of several runs are combined; the
core does both. Names and numbers are those of ranx.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

NORMS = {
    "none": "scores as they are",
    "min-max": "(s - min) / (max - min)",
    "min-max-inverted": "(max - s) / (max - min): for distances, where less is nearer",
    "max": "s / max",
    "sum": "(s - min) / sum of (s - min)",
    "zmuv": "(s - mean) / standard deviation",
    "rank": "1 - (rank - 1) / documents",
    "borda": "1 - (rank - 1) / candidates; documents that a run lacks share what is left",
}

ABSENT_ODDS = math.log(0.001 / 0.999)  # of a document that a run does not have


@dataclass(frozen=True, slots=True)
class Param:
    """A number that a method takes."""

    name: str
    default: float
    low: float
    high: float
    meaning: str
    grid: tuple[float, ...]  # what tuning tries
    whole: bool = False
    slot: str = "parameter"  # where the core takes it


@dataclass(frozen=True, slots=True)
class Method:
    """A way to fuse: what it does, for people and for the core."""

    name: str
    summary: str
    citation: str
    points: str = "score"
    combine: str = "sum"
    param: Param | None = None
    weighted: bool = False
    trained: bool = False
    options: Mapping[str, float] = field(default_factory=dict)

    @property
    def uses_scores(self) -> bool:
        """Whether scores matter, not only ranks."""
        return self.points in ("score", "segments_times_score") and self.combine != "condorcet"


_FOX = "Fox & Shaw, Combination of multiple searches, TREC-2 1993"
_LEE = "Lee, Analyses of multiple evidence combination, SIGIR 1997"
_MOURAO = (
    "Mourão et al., Multimodal medical information retrieval with unsupervised rank fusion, 2015"
)
_ASLAM = "Aslam & Montague, Models for metasearch, SIGIR 2001"
_LILLIS = "Lillis et al., Estimating probabilities for effective data fusion, SIGIR 2010"
_WU = "Wu & Crestani, Data fusion with estimated weights, CIKM 2002"
_MONTAGUE = "Montague & Aslam, Condorcet fusion for improved retrieval, CIKM 2002"
_TENTHS = tuple(i / 10 for i in range(1, 10))

METHODS = {
    m.name: m
    for m in (
        Method("min", "The lowest score of any run.", _FOX, combine="min"),
        Method("max", "The highest score of any run.", _FOX, combine="max"),
        Method("med", "The median of the runs that have the document.", _FOX, combine="median"),
        Method("sum", "The sum of the scores.", _FOX),
        Method("anz", "The mean of the runs that have the document.", _FOX, combine="mean"),
        Method("mnz", "The sum times the number of runs that have the document.", _FOX,
               combine="times_count"),
        Method("gmnz", "The sum times that number to the power gamma.", _LEE, combine="times_count",
               param=Param("gamma", 1.0, 0, 100, "the power of the number of runs",
                           tuple(i / 10 for i in range(0, 21, 2)), slot="exponent")),
        Method("isr", "The sum of 1 / rank^2, times the number of runs.", _MOURAO, "inverse_square",
               "times_count"),
        Method("log_isr", "The sum of 1 / rank^2, times the logarithm of the number of runs.", _MOURAO,
               "inverse_square", "times_log_count"),
        Method("logn_isr", "The same with sigma added to the number, so that one run is not 0.", _MOURAO,
               "inverse_square", "times_log_count",
               Param("sigma", 0.01, 0, 1, "what is added before the logarithm",
                     (0.01, 0.05, *_TENTHS), slot="log_shift")),
        Method("rrf", "Reciprocal rank fusion: the sum of 1 / (k + rank).",
               "Cormack et al., Reciprocal rank fusion outperforms Condorcet, SIGIR 2009", "reciprocal",
               param=Param("k", 60, 0, 1e9, "how little the first ranks stand out",
                           (1, 2, 5, 10, 20, 40, 60, 80, 100, 200))),
        Method("posfuse", "The sum of the chances that a rank is relevant, seen in training.", _LILLIS,
               "table", trained=True),
        Method("probfuse", "The same by segments of the list, over the segment's number.",
               "Lillis et al., ProbFuse: a probabilistic approach to data fusion, SIGIR 2006",
               "segments", trained=True,
               param=Param("n_segments", 25, 1, 100_000, "how many segments a list has",
                           (1, 2, 5, 10, 25, 50, 100), whole=True, slot="training")),
        Method("segfuse", "The same by segments that double in size, times the score + 1.",
               "Shokouhi, Segmentation of search engine results for effective data-fusion, ECIR 2007",
               "segments_times_score", trained=True),
        Method("slidefuse", "The chances averaged over a window of neighbouring ranks.",
               "Lillis et al., Extending probabilistic data fusion using sliding windows, ECIR 2008",
               "window", trained=True,
               param=Param("w", 5, 0, 100_000, "how many ranks on each side", tuple(range(1, 11)),
                           whole=True)),
        Method("mapfuse", "The sum of a run's AP in training over the rank.", _LILLIS, "inverse",
               trained=True),
        Method("bordafuse", "Each run gives points by rank; documents it lacks share the rest.", _ASLAM,
               "borda"),
        Method("w_bordafuse", "The same with a weight for each run.", _ASLAM, "borda", weighted=True),
        Method("condorcet", "Between two documents the majority of runs decides.", _MONTAGUE,
               combine="condorcet"),
        Method("w_condorcet", "The same with a weight for each run.", _MONTAGUE, combine="condorcet",
               weighted=True),
        Method("bayesfuse", "The sum of the log odds of a rank's relevance, seen in training.", _ASLAM,
               "table", trained=True, options={"absent": ABSENT_ODDS}),
        Method("mixed", "The weighted sum times the root of the number of runs.", _WU,
               combine="times_root_count", weighted=True),
        Method("wmnz", "The sum times the weights of the runs that have the document.", _WU,
               combine="times_weight", weighted=True),
        Method("wsum", "The weighted sum of the scores.", _FOX, weighted=True),
        Method("rbc", "Rank-biased centroid: the sum of (1 - phi) phi^(rank - 1).",
               "Bailey et al., Retrieval consistency in the presence of query variations, SIGIR 2017",
               "geometric",
               param=Param("phi", 0.8, 0, 1, "how far a reader goes on", (*_TENTHS, 0.95, 0.98))),
    )
}  # fmt: skip


def method_of(name: str) -> Method:
    """The entry of a method."""
    if name in METHODS:
        return METHODS[name]
    from difflib import get_close_matches

    near = get_close_matches(name, METHODS, n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    raise UsageError(
        f"there is no fusion method '{name}'", hint=f"{hint}one of: {', '.join(METHODS)}"
    )


def norm_of(name: str | None, method: Method) -> str:
    """The normalisation asked for; without one, min-max where scores matter, else none."""
    if name is None:
        return "min-max" if method.uses_scores else "none"
    plain = name.replace("_", "-")
    if plain not in NORMS:
        raise UsageError(f"there is no normalisation '{name}'", hint=f"one of: {', '.join(NORMS)}")
    return plain


def checked(method: Method, params: Mapping[str, Any]) -> dict[str, float]:
    """The method's parameter, given or by default."""
    known = method.param
    for name in params:
        if known is None or name != known.name:
            own = known.name if known else "none"
            raise UsageError(
                f"{method.name} has no parameter '{name}'", hint=f"its parameters: {own}"
            )
    if known is None:
        return {}
    value = params.get(known.name, known.default)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not known.low <= number <= known.high or (known.whole and number != int(number)):
        kind = "whole number" if known.whole else "number"
        raise UsageError(
            f"{known.name}={value} is no value of {method.name}",
            hint=f"a {kind} from {known.low:g} to {known.high:g}",
        )
    return {known.name: number}
