"""The table of fusion methods and normalisations, from which help, docs and checks are generated.

A method is the points that a run gives a document and the way the points of several runs are combined; the
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
    "none": "scores unchanged",
    "min-max": "(s - min) / (max - min)",
    "min-max-inverted": "(max - s) / (max - min): for distances, where lower is closer",
    "max": "s / max",
    "sum": "(s - min) / sum of (s - min)",
    "zmuv": "(s - mean) / standard deviation",
    "rank": "1 - (rank - 1) / documents",
    "borda": "1 - (rank - 1) / candidates; documents missing from a run share the remaining points",
}

ABSENT_ODDS = math.log(0.001 / 0.999)  # log odds of a document that is missing from a run


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """A numeric parameter of a method."""

    name: str
    default: float
    low: float
    high: float
    meaning: str
    grid: tuple[float, ...]  # values that tuning tries
    whole: bool = False
    slot: str = "parameter"  # the core's name for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A fusion method: its description for people, its options for the core."""

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

    @property
    def notes(self) -> str:
        """What the method takes, for lists of methods: "k=60", "weights", "trained"."""
        notes = [f"{self.param.name}={self.param.default:g}"] if self.param else []
        notes += ["weights"] if self.weighted else []
        notes += ["trained"] if self.trained else []
        return ", ".join(notes)


_FOX = "Fox & Shaw, Combination of multiple searches, TREC-2 1993"
_LEE = "Lee, Analyses of multiple evidence combination, SIGIR 1997"
_MOURAO = (
    "Mourão et al., Multimodal medical information retrieval with unsupervised rank fusion, 2015"
)
_ASLAM = "Aslam & Montague, Models for metasearch, SIGIR 2001"
_LILLIS = "Lillis et al., Estimating probabilities for effective data fusion, SIGIR 2010"
_WU = "Wu & Crestani, Data fusion with estimated weights, CIKM 2002"
_MONTAGUE = "Montague & Aslam, Condorcet fusion for improved retrieval, CIKM 2002"
_SHOKOUHI = "Shokouhi, Segmentation of search engine results for effective data-fusion, ECIR 2007"
_BAILEY = "Bailey et al., Retrieval consistency in the presence of query variations, SIGIR 2017"
_TENTHS = tuple(i / 10 for i in range(1, 10))

METHODS = {
    m.name: m
    for m in (
        Method(name="min", summary="The lowest score of any run.", citation=_FOX, combine="min"),
        Method(name="max", summary="The highest score of any run.", citation=_FOX, combine="max"),
        Method(name="med", summary="The median over the runs that contain the document.", citation=_FOX,
               combine="median"),
        Method(name="sum", summary="The sum of the scores.", citation=_FOX),
        Method(name="anz", summary="The mean over the runs that contain the document.", citation=_FOX,
               combine="mean"),
        Method(name="mnz", summary="The sum times the number of runs that contain the document.",
               citation=_FOX, combine="times_count"),
        Method(name="gmnz",
               summary="The sum times the number of runs that contain the document, to the power gamma.",
               citation=_LEE, combine="times_count",
               param=Param(name="gamma", default=1.0, low=0, high=100,
                           meaning="exponent of the number of runs",
                           grid=tuple(i / 10 for i in range(0, 21, 2)), slot="exponent")),
        Method(name="isr", summary="The sum of 1 / rank^2, times the number of runs.", citation=_MOURAO,
               points="inverse_square", combine="times_count"),
        Method(name="log_isr",
               summary="The sum of 1 / rank^2, times the logarithm of the number of runs.",
               citation=_MOURAO, points="inverse_square", combine="times_log_count"),
        Method(name="logn_isr",
               summary="As log_isr, with sigma added to the number of runs so that one run does not score 0.",
               citation=_MOURAO, points="inverse_square", combine="times_log_count",
               param=Param(name="sigma", default=0.01, low=0, high=1,
                           meaning="added before the logarithm", grid=(0.01, 0.05, *_TENTHS),
                           slot="log_shift")),
        Method(name="rrf", summary="Reciprocal rank fusion: the sum of 1 / (k + rank).",
               citation="Cormack et al., Reciprocal rank fusion outperforms Condorcet, SIGIR 2009",
               points="reciprocal",
               param=Param(name="k", default=60, low=0, high=1e9,
                           meaning="rank constant; the larger, the less the top ranks stand out",
                           grid=(1, 2, 5, 10, 20, 40, 60, 80, 100, 200))),
        Method(name="posfuse",
               summary="The sum of the probabilities of relevance at each rank, from training queries.",
               citation=_LILLIS, points="table", trained=True),
        Method(name="probfuse",
               summary="As posfuse by segments of the list, divided by the segment's number.",
               citation="Lillis et al., ProbFuse: a probabilistic approach to data fusion, SIGIR 2006",
               points="segments", trained=True,
               param=Param(name="n_segments", default=25, low=1, high=100_000,
                           meaning="segments per list", grid=(1, 2, 5, 10, 25, 50, 100), whole=True,
                           slot="training")),
        Method(name="segfuse",
               summary="As probfuse with segments that double in size, times the score + 1.",
               citation=_SHOKOUHI,
               points="segments_times_score", trained=True),
        Method(name="slidefuse", summary="As posfuse, averaged over a window of neighbouring ranks.",
               citation="Lillis et al., Extending probabilistic data fusion using sliding windows, ECIR 2008",
               points="window", trained=True,
               param=Param(name="w", default=5, low=0, high=100_000, meaning="ranks on each side",
                           grid=tuple(range(1, 11)), whole=True)),
        Method(name="mapfuse", summary="The sum of each run's training AP divided by the rank.",
               citation=_LILLIS, points="inverse", trained=True),
        Method(name="bordafuse",
               summary="Each run gives points by rank; documents missing from it share the remaining points.",
               citation=_ASLAM, points="borda"),
        Method(name="w_bordafuse", summary="As bordafuse, with a weight for each run.", citation=_ASLAM,
               points="borda", weighted=True),
        Method(name="condorcet", summary="Ranks documents by pairwise majority votes of the runs.",
               citation=_MONTAGUE, combine="condorcet"),
        Method(name="w_condorcet", summary="As condorcet, with a weight for each run.",
               citation=_MONTAGUE, combine="condorcet", weighted=True),
        Method(name="bayesfuse",
               summary="The sum of the log odds of relevance at each rank, from training queries.",
               citation=_ASLAM, points="table", trained=True, options={"absent": ABSENT_ODDS}),
        Method(name="mixed", summary="The weighted sum times the square root of the number of runs.",
               citation=_WU, combine="times_root_count", weighted=True),
        Method(name="wmnz", summary="The sum times the weights of the runs that contain the document.",
               citation=_WU, combine="times_weight", weighted=True),
        Method(name="wsum", summary="The weighted sum of the scores.", citation=_FOX, weighted=True),
        Method(name="rbc", summary="Rank-biased centroid: the sum of (1 - phi) phi^(rank - 1).",
               citation=_BAILEY,
               points="geometric",
               param=Param(name="phi", default=0.8, low=0, high=1, meaning="persistence of the reader",
                           grid=(*_TENTHS, 0.95, 0.98))),
    )
}  # fmt: skip


def find_method(name: Any, call: str = "") -> Method:
    """The method of this name; `call` is how the caller's arguments are ordered, for the hint."""
    if not isinstance(name, str):
        raise UsageError(f"method must be a string, not {type(name).__name__}", hint=call)
    if name in METHODS:
        return METHODS[name]
    from difflib import get_close_matches

    near = get_close_matches(name, METHODS, n=1)
    suggestion = f"did you mean '{near[0]}'? " if near else ""
    raise UsageError(
        f"unknown fusion method '{name}'", hint=f"{suggestion}available: {', '.join(METHODS)}"
    )


def find_norm(name: str | None, method: Method) -> str:
    """The normalisation of this name; by default min-max for methods that use scores, else none."""
    if name is None:
        return "min-max" if method.uses_scores else "none"
    dashed = name.replace("_", "-")
    if dashed not in NORMS:
        raise UsageError(f"unknown normalisation '{name}'", hint=f"available: {', '.join(NORMS)}")
    return dashed


def check_params(method: Method, params: Mapping[str, Any]) -> dict[str, float]:
    """The method's parameter and its value, by default its default."""
    param = method.param
    for name in params:
        if param is None or name != param.name:
            raise UsageError(
                f"unknown parameter '{name}' for {method.name}",
                hint=f"available: {param.name if param else 'none'}",
            )
    if param is None:
        return {}
    value = params.get(param.name, param.default)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not param.low <= number <= param.high or (param.whole and number != int(number)):
        kind = "an integer" if param.whole else "a number"
        raise UsageError(
            f"invalid {param.name}={value} for {method.name}",
            hint=f"{kind} from {param.low:g} to {param.high:g}",
        )
    return {param.name: number}
