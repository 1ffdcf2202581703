"""trec_eval's measures: the one list behind the drop-ins for trec_eval and pytrec_eval."""

from __future__ import annotations

from goodgain.errors import MeasureError
from goodgain.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal

    Params = Literal["none", "cutoffs", "points", "numbers", "gains"]

_CUTOFFS = (5.0, 10.0, 15.0, 20.0, 30.0, 100.0, 200.0, 500.0, 1000.0)
_RECALL = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
_GRADES_PER_NUMBER = 13  # digits base 14 that fit a double exactly
_DIGITS = "0123456789>-."


@dataclass(frozen=True, slots=True)
class TrecMeasure:
    """A measure as trec_eval names, parameterises, averages and prints it.

    `params`: none; whole cut-offs or recall points, each a value of its own; a list of numbers; or
    `level=gain` pairs. `ours` is the measure of goodgain's table that explains it.
    """

    name: str
    kernel: str | None
    text: str
    params: Params = "none"
    defaults: tuple[float, ...] = ()
    over: Literal["mean", "sum", "geometric", "count", "none"] = "mean"
    whole: bool = False
    per_query: bool = True
    since: int = 9
    options: Mapping[str, Any] = field(default_factory=dict)


MEASURES: tuple[TrecMeasure, ...] = (
    TrecMeasure("runid", None, "The name of the run: the last column of the last line.", over="none",
                per_query=False),
    TrecMeasure("num_q", "num_q", "Queries evaluated.", over="count", whole=True, per_query=False),
    TrecMeasure("num_ret", "num_ret", "Documents retrieved, summed over queries.", over="sum",
                whole=True),
    TrecMeasure("num_rel", "num_rel", "Relevant documents, summed over queries.", over="sum",
                whole=True),
    TrecMeasure("num_rel_ret", "num_rel_ret", "Relevant documents retrieved, summed over queries.",
                over="sum", whole=True),
    TrecMeasure("map", "ap", "Average precision: the mean of the precision at each relevant "
                "document."),
    TrecMeasure("gm_map", "te_gm_map", "The geometric mean of average precision over queries; a "
                "query counts at least .00001.", over="geometric", per_query=False),
    TrecMeasure("Rprec", "r_precision", "Precision after R documents, R relevant ones being known."),
    TrecMeasure("bpref", "bpref", "How often judged nonrelevant documents stand above relevant ones."),
    TrecMeasure("recip_rank", "rr", "One over the rank of the first relevant document."),
    TrecMeasure("iprec_at_recall", "te_iprec", "Interpolated precision at recall points: the best "
                "precision from there on.", "points", _RECALL),
    TrecMeasure("P", "precision", "Precision after k documents.", "cutoffs", _CUTOFFS),
    TrecMeasure("relstring", "te_grades", "The grades of the first documents, one character each; "
                "'-' is not judged, '.' judged with a negative grade, '>' above 9. Per query only.",
                "numbers", (10.0,), over="none"),
    TrecMeasure("recall", "recall", "Recall after k documents.", "cutoffs", _CUTOFFS),
    TrecMeasure("infAP", "infap", "Average precision estimated from a sample of judgements."),
    TrecMeasure("gm_bpref", "te_gm_bpref", "The geometric mean of bpref over queries.",
                over="geometric", per_query=False),
    TrecMeasure("Rprec_mult", "te_rprec_mult", "Precision after multiples of R documents.", "points",
                _MULTIPLES),
    TrecMeasure("utility", "te_utility", "a x relevant retrieved + b x others retrieved + c x relevant "
                "missed + d x others missed.", "numbers", (1.0, -1.0, 0.0, 0.0)),
    TrecMeasure("11pt_avg", "te_mean_iprec", "Interpolated precision averaged over recall points.",
                "numbers", _RECALL),
    TrecMeasure("binG", "te_bin_g", "The mean over relevant documents of 1 / log2(2 + nonrelevant "
                "ones above)."),
    TrecMeasure("G", "te_g", "The same with gains: less, the further the list stays behind the ideal "
                "one.", "gains"),
    TrecMeasure("dcg", "te_dcg", "Discounted cumulative gain.", "gains", since=10),
    TrecMeasure("ideal_dcg", "te_ideal_dcg", "The DCG of the best order of the judged documents.",
                "gains", since=10),
    TrecMeasure("ndcg", "te_ndcg", "DCG over the ideal DCG.", "gains"),
    TrecMeasure("ndcg_rel", "te_ndcg_rel", "nDCG averaged over the ranks of relevant documents.",
                "gains"),
    TrecMeasure("Rndcg", "te_rndcg", "nDCG averaged over the ranks where the ideal list changes its "
                "gain.", "gains"),
    TrecMeasure("ndcg_cut", "ndcg", "nDCG after k documents.", "cutoffs", _CUTOFFS),
    TrecMeasure("map_cut", "ap", "Average precision of the first k documents.", "cutoffs", _CUTOFFS),
    TrecMeasure("relative_P", "capped_recall", "Precision after k documents, relative to the best "
                "possible.", "cutoffs", _CUTOFFS),
    TrecMeasure("success", "hit", "Whether a relevant document is in the first k.", "cutoffs",
                (1.0, 5.0, 10.0)),
    TrecMeasure("set_P", "precision", "Precision of the whole list."),
    TrecMeasure("set_relative_P", "te_set_relative_p", "The same relative to the best possible."),
    TrecMeasure("set_recall", "recall", "Recall of the whole list."),
    TrecMeasure("set_map", "set_ap", "Precision times recall of the whole list."),
    TrecMeasure("set_F", "te_set_f", "(x + 1) P R / (x P + R) of the whole list.", "numbers", (1.0,)),
    TrecMeasure("num_nonrel_judged_ret", "te_judged_nonrelevant", "Judged nonrelevant documents "
                "retrieved, summed over queries.", over="sum", whole=True),
    TrecMeasure("yaap", "te_yaap", "ln((1 + s) / (1 + R - s)), s the sum of the precisions at "
                "relevant documents."),
    TrecMeasure("rbp", "te_rbp", "Rank-biased precision; p=.9 unless given, grades scaled to 0..1 "
                "within a query.", "gains", since=10, options={"p": 0.9}),
    TrecMeasure("rbp_resid", "te_rbp_resid", "What unjudged documents could add to rbp.", "gains",
                since=10, options={"p": 0.9}),
    TrecMeasure("unj", "te_unjudged", "The share of the first k that is unjudged.", "cutoffs",
                (5.0, 10.0, 20.0), since=10),
)  # fmt: skip

_OFFICIAL = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref",
             "recip_rank", "iprec_at_recall", "P")  # fmt: skip
_NOT_IN_ALL = ("dcg", "ideal_dcg", "yaap")
NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": _OFFICIAL,
    "set": ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_recall",
            "set_relative_P", "set_map", "set_F"),
    "all_trec": tuple(m.name for m in MEASURES if m.name not in _NOT_IN_ALL),
}  # fmt: skip
# Over preferences or judgement groups: known by name, not computed.
OTHER_FORMATS = ("prefs", "all_prefs", "qrels_jg")
BY_NAME = {m.name: m for m in MEASURES}
_PLAIN = {"te_ndcg": "ndcg", "te_dcg": "dcg", "te_ideal_dcg": "ideal_dcg"}


@dataclass(frozen=True, slots=True)
class Value:
    """One printed value: its name, and the columns of the core's result it is made of."""

    measure: TrecMeasure
    name: str
    columns: tuple[int, ...]
    given: bool = False  # with parameters of its own


@dataclass(frozen=True, slots=True)
class Request:
    """Measures with their parameters, as the core is asked for them."""

    values: tuple[Value, ...]
    specs: tuple[dict[str, Any], ...]


def request(
    asked: Iterable[tuple[str, str | None]],
    *,
    level: float = 1,
    documents: float = 0,
    version: int = 10,
) -> Request:
    """What (name, parameters) pairs ask for, in trec_eval's order.

    Of several parameters for one measure the first count.
    """
    wanted: dict[str, str | None] = {}
    for name, params in asked:
        for single in expanded(name, params):
            if wanted.get(single) is None:
                wanted[single] = params if single == name else None
    values: list[Value] = []
    specs: list[dict[str, Any]] = []
    for measure in MEASURES:
        if measure.name in wanted and measure.since <= version:
            for name, options in _named(measure, wanted[measure.name], level, documents, version):
                columns = tuple(range(len(specs), len(specs) + len(options)))
                specs.extend(options)
                values.append(Value(measure, name, columns, bool(wanted[measure.name])))
    return Request(tuple(values), tuple(specs))


def expanded(name: str, params: str | None = None) -> tuple[str, ...]:
    """The measures behind a name or nickname."""
    if params == "":
        raise MeasureError(f"the measure '{name}.' has a point but no parameters")
    if name in NICKNAMES:
        return NICKNAMES[name]
    if name in BY_NAME:
        return (name,)
    if name in OTHER_FORMATS or name.startswith("prefs_") or name.endswith("_avgjg"):
        raise MeasureError(
            f"the measure '{name}' is not computed: it is over preferences or judgement groups",
            hint="goodgain trec-eval computes trec_eval's measures over plain qrels",
        )
    from difflib import get_close_matches

    near = get_close_matches(name, [*BY_NAME, *NICKNAMES], n=3, cutoff=0.5)
    raise MeasureError(
        f"there is no measure '{name}' in trec_eval",
        hint=f"near it: {', '.join(near)}"
        if near
        else "all of them: goodgain trec-eval -h -m all_trec",
    )


def _named(
    measure: TrecMeasure, given: str | None, level: float, documents: float, version: int
) -> list[tuple[str, list[dict[str, Any]]]]:
    """The printed names of a measure and what the core is asked for each."""
    spec: dict[str, Any] = {"kernel": measure.kernel, "rel": float(level), **measure.options}
    if measure.kernel is None:
        return [(measure.name, [])]
    match measure.params:
        case "cutoffs":
            cutoffs = _sorted(measure, given, whole=True) if given else measure.defaults
            return [(f"{measure.name}_{k:.0f}", [{**spec, "cutoff": int(k)}]) for k in cutoffs]
        case "points":
            points = _sorted(measure, given, whole=False) if given else measure.defaults
            spec["recall_ceil"] = version < 10
            return [(f"{measure.name}_{r:.2f}", [{**spec, "recall": r}]) for r in points]
        case "numbers":
            numbers = _numbers(measure, given) if given else measure.defaults
            name = f"{measure.name}_{given}" if given else measure.name
            return [(name, _with_numbers(measure, spec, numbers, documents, version))]
        case "gains":
            pairs = _pairs(measure, given) if given else {}
            for level_name, gain in pairs.items():
                if level_name == "p" and "p" in spec:
                    spec["p"] = gain
                elif level_name.lstrip("+-").isdigit():
                    spec.setdefault("numbers", []).extend((float(level_name), gain))
            if "numbers" not in spec:  # grades as they are: the table's own kernels are faster
                spec["kernel"] = _PLAIN.get(spec["kernel"], spec["kernel"])
            return [(f"{measure.name}_{given}" if given else measure.name, [spec])]
    return [(measure.name, [spec])]


def _with_numbers(
    measure: TrecMeasure,
    spec: dict[str, Any],
    numbers: Sequence[float],
    documents: float,
    version: int,
) -> list[dict[str, Any]]:
    match measure.name:
        case "utility":
            if len(numbers) != 4:
                raise MeasureError(
                    f"utility needs 4 numbers, not {len(numbers)}",
                    hint="for example utility.1,-1,0,0",
                )
            return [{**spec, "numbers": [*numbers, float(documents)]}]
        case "relstring":
            length = max(int(numbers[0]), 0)
            starts = range(1, length + 1, _GRADES_PER_NUMBER)
            ends = [min(s + _GRADES_PER_NUMBER - 1, length) for s in starts]
            return [
                {**spec, "numbers": [float(s), float(e)]} for s, e in zip(starts, ends, strict=True)
            ]
        case "set_F":
            return [{**spec, "beta": numbers[0]}]
    return [{**spec, "numbers": list(numbers), "recall_ceil": version < 10}]


def grades_text(numbers: Iterable[float]) -> str:
    """The characters of relstring from what the core made of them."""
    text = ""
    for number in numbers:
        rest = int(number)
        while rest:
            rest, digit = divmod(rest, 14)
            text += _DIGITS[digit - 1]
    return text


# --- parameters ---


def _bad(measure: TrecMeasure, text: str, what: str, hint: str) -> MeasureError:
    return MeasureError(f"'{text}' in {measure.name}.{text} {what}", hint=hint)


def _numbers(measure: TrecMeasure, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise _bad(
            measure, text, "is not a list of numbers", "numbers are separated by commas"
        ) from None


def _sorted(measure: TrecMeasure, text: str, *, whole: bool) -> list[float]:
    """Cut-offs in order; each must be there once."""
    numbers = sorted(float(int(n)) if whole else n for n in _numbers(measure, text))
    if whole and numbers[0] <= 0:
        raise _bad(measure, text, "has a cut-off below 1", f"for example {measure.name}.5,10")
    if len(set(numbers)) < len(numbers):
        raise _bad(measure, text, "has a cut-off twice", "give each one once")
    return numbers


def _pairs(measure: TrecMeasure, text: str) -> dict[str, float]:
    pairs = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        try:
            if not equals or name in pairs:
                raise ValueError
            pairs[name] = float(value)
        except ValueError:
            raise _bad(
                measure, text, "is not a list of level=gain", f"for example {measure.name}.1=3,2=9"
            ) from None
    return pairs
