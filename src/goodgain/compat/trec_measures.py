"""trec_eval's measures, for the drop-in replacements of trec_eval and pytrec_eval."""

from __future__ import annotations

from goodgain.errors import MeasureError
from goodgain.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal

    Params = Literal["none", "cutoffs", "points", "numbers", "gains"]
    Format = Literal["qrels", "prefs", "qrels_jg", "any"]

_CUTOFFS = (5.0, 10.0, 15.0, 20.0, 30.0, 100.0, 200.0, 500.0, 1000.0)
_RECALL = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
_GRADES_PER_NUMBER = 13  # digits base 14 that fit a double exactly
_DIGITS = "0123456789>-."


@dataclass(frozen=True, slots=True)
class TrecMeasure:
    """A measure as trec_eval names, parameterises, averages and prints it.

    `kernel` is that of the core; preferences are counted elsewhere. `params`: none; integer cutoffs or
    recall points, one value each; a list of numbers; or `level=gain` pairs.
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
    format: Format = "qrels"  # of the judgments that it needs
    options: Mapping[str, Any] = field(default_factory=dict)


MEASURES: tuple[TrecMeasure, ...] = (
    TrecMeasure("runid", None, "The name of the run, from the last column of the last line.", over="none",
                per_query=False, format="any"),
    TrecMeasure("num_q", "num_q", "Queries evaluated.", over="count", whole=True, per_query=False,
                format="any"),
    TrecMeasure("num_ret", "num_ret", "Documents retrieved, summed over queries.", over="sum",
                whole=True),
    TrecMeasure("num_rel", "num_rel", "Relevant documents, summed over queries.", over="sum",
                whole=True),
    TrecMeasure("num_rel_ret", "num_rel_ret", "Relevant documents retrieved, summed over queries.",
                over="sum", whole=True),
    TrecMeasure("map", "ap", "Average precision: the mean of the precision at each relevant "
                "document."),
    TrecMeasure("gm_map", "te_gm_map", "The geometric mean of average precision over queries, "
                "each at least .00001.", over="geometric", per_query=False),
    TrecMeasure("Rprec", "r_precision", "Precision after R documents, R being the "
                "number of relevant documents."),
    TrecMeasure("bpref", "bpref", "A measure of how often judged nonrelevant "
                "documents rank above relevant ones."),
    TrecMeasure("recip_rank", "rr", "One over the rank of the first relevant document."),
    TrecMeasure("iprec_at_recall", "te_iprec", "Interpolated precision at recall points: the highest "
                "precision at that recall or above.", params="points", defaults=_RECALL),
    TrecMeasure("P", "precision", "Precision after k documents.", params="cutoffs", defaults=_CUTOFFS),
    TrecMeasure("relstring", "te_grades", "The grades of the first documents, one character each; "
                "'-' for unjudged, '.' for a negative grade, '>' for above 9. Per query only.",
                params="numbers", defaults=(10.0,), over="none"),
    TrecMeasure("recall", "recall", "Recall after k documents.", params="cutoffs", defaults=_CUTOFFS),
    TrecMeasure("infAP", "infap", "Average precision estimated from a sample of judgments."),
    TrecMeasure("gm_bpref", "te_gm_bpref", "The geometric mean of bpref over queries.",
                over="geometric", per_query=False),
    TrecMeasure("Rprec_mult", "te_rprec_mult", "Precision after multiples of R documents.", params="points",
                defaults=_MULTIPLES),
    TrecMeasure("utility", "te_utility", "a x relevant retrieved + b x others retrieved + c x relevant "
                "missed + d x others missed.", params="numbers", defaults=(1.0, -1.0, 0.0, 0.0)),
    TrecMeasure("11pt_avg", "te_mean_iprec", "Interpolated precision averaged over recall points.",
                params="numbers", defaults=_RECALL),
    TrecMeasure("binG", "te_bin_g", "The mean over relevant documents of 1 / log2(2 + n), n being the "
                "nonrelevant documents above."),
    TrecMeasure("G", "te_g", "Like binG with gains: lower the further the list falls behind the ideal "
                "one.", params="gains"),
    TrecMeasure("dcg", "te_dcg", "Discounted cumulative gain.", params="gains", since=10),
    TrecMeasure("ideal_dcg", "te_ideal_dcg", "The DCG of the best order of the judged documents.",
                params="gains", since=10),
    TrecMeasure("ndcg", "te_ndcg", "DCG divided by the ideal DCG.", params="gains"),
    TrecMeasure("ndcg_rel", "te_ndcg_rel", "nDCG averaged over the ranks of relevant documents.",
                params="gains"),
    TrecMeasure("Rndcg", "te_rndcg", "nDCG averaged over the ranks where the gain of the ideal list "
                "changes.", params="gains"),
    TrecMeasure("ndcg_cut", "ndcg", "nDCG after k documents.", params="cutoffs", defaults=_CUTOFFS),
    TrecMeasure("map_cut", "ap", "Average precision of the first k documents.", params="cutoffs",
                defaults=_CUTOFFS),
    TrecMeasure("relative_P", "capped_recall", "Precision after k documents, relative to the best "
                "possible.", params="cutoffs", defaults=_CUTOFFS),
    TrecMeasure("success", "hit", "Whether a relevant document is in the first k.", params="cutoffs",
                defaults=(1.0, 5.0, 10.0)),
    TrecMeasure("set_P", "precision", "Precision of the whole list."),
    TrecMeasure("set_relative_P", "te_set_relative_p", "Precision of the whole "
                "list, relative to the best possible."),
    TrecMeasure("set_recall", "recall", "Recall of the whole list."),
    TrecMeasure("set_map", "set_ap", "Precision times recall of the whole list."),
    TrecMeasure("set_F", "te_set_f", "(x + 1) P R / (x P + R) of the whole list.", params="numbers",
                defaults=(1.0,)),
    TrecMeasure("num_nonrel_judged_ret", "te_judged_nonrelevant", "Judged nonrelevant documents "
                "retrieved, summed over queries.", over="sum", whole=True),
    TrecMeasure("prefs_num_prefs_poss", None, "Preferences, summed over queries.", over="sum", whole=True,
                format="prefs"),
    TrecMeasure("prefs_num_prefs_ful", None, "Preferences fulfilled, summed over queries.", over="sum",
                whole=True, format="prefs"),
    TrecMeasure("prefs_num_prefs_ful_ret", None, "Preferences fulfilled between retrieved documents, "
                "summed over queries.", over="sum", whole=True, format="prefs"),
    TrecMeasure("prefs_simp", None, "The share of preferences fulfilled.", format="prefs"),
    TrecMeasure("prefs_pair", None, "The share of preferences fulfilled for a pair of documents, averaged "
                "over pairs.", format="prefs"),
    TrecMeasure("prefs_avgjg", None, "The share of preferences fulfilled in a judgment group, averaged over "
                "groups.", format="prefs"),
    TrecMeasure("prefs_avgjg_Rnonrel", None, "prefs_avgjg with as many nonrelevant documents (level 0) as "
                "relevant ones.", format="prefs"),
    TrecMeasure("prefs_simp_ret", None, "prefs_simp, only between retrieved documents.", format="prefs"),
    TrecMeasure("prefs_pair_ret", None, "prefs_pair, only between retrieved documents.", format="prefs"),
    TrecMeasure("prefs_avgjg_ret", None, "prefs_avgjg, only between retrieved documents.", format="prefs"),
    TrecMeasure("prefs_avgjg_Rnonrel_ret", None, "prefs_avgjg_Rnonrel, only between retrieved documents.",
                format="prefs"),
    TrecMeasure("prefs_simp_imp", None, "prefs_simp without preferences between documents that were not "
                "retrieved.", format="prefs"),
    TrecMeasure("prefs_pair_imp", None, "prefs_pair without preferences between documents that were not "
                "retrieved.", format="prefs"),
    TrecMeasure("prefs_avgjg_imp", None, "prefs_avgjg without preferences between documents that were not "
                "retrieved.", format="prefs"),
    TrecMeasure("map_avgjg", "ap", "map, averaged over judgment groups.", format="qrels_jg"),
    TrecMeasure("P_avgjg", "precision", "P, averaged over judgment groups.", params="cutoffs",
                defaults=_CUTOFFS, format="qrels_jg"),
    TrecMeasure("Rprec_mult_avgjg", "te_rprec_mult", "Rprec_mult, averaged over judgment groups.",
                params="points", defaults=_MULTIPLES, format="qrels_jg"),
    TrecMeasure("yaap", "te_yaap", "ln((1 + s) / (1 + R - s)), s being the sum of the precisions at "
                "relevant documents."),
    TrecMeasure("rbp", "te_rbp", "Rank-biased precision; p=.9 by default, grades scaled to 0..1 "
                "within a query.", params="gains", since=10, options={"p": 0.9}),
    TrecMeasure("rbp_resid", "te_rbp_resid", "The most that unjudged documents could add "
                "to rbp.", params="gains", since=10, options={"p": 0.9}),
    TrecMeasure("unj", "te_unjudged", "The share of unjudged documents in the first k.", params="cutoffs",
                defaults=(5.0, 10.0, 20.0), since=10),
)  # fmt: skip

_OFFICIAL = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref",
             "recip_rank", "iprec_at_recall", "P")  # fmt: skip
_NOT_IN_ALL = ("dcg", "ideal_dcg", "yaap")
NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": _OFFICIAL,
    "set": ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_recall",
            "set_relative_P", "set_map", "set_F"),
    "all_trec": tuple(m.name for m in MEASURES
                      if m.format in ("qrels", "any") and m.name not in _NOT_IN_ALL),
    "all_prefs": tuple(m.name for m in MEASURES if m.format in ("prefs", "any")),
    "prefs": ("runid", "num_q", "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret",
              "prefs_simp", "prefs_pair", "prefs_avgjg"),
    "qrels_jg": tuple(m.name for m in MEASURES if m.format in ("qrels_jg", "any")),
}  # fmt: skip
BY_NAME = {m.name: m for m in MEASURES}
PLAIN = {"te_ndcg": "ndcg", "te_dcg": "dcg", "te_ideal_dcg": "ideal_dcg"}


@dataclass(frozen=True, slots=True)
class Value:
    """One printed value: its name, and the columns of the core's result that it needs."""

    measure: TrecMeasure
    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """Measures with their parameters, and the core's options for them."""

    values: tuple[Value, ...]
    specs: tuple[dict[str, Any], ...]


def parse_measures(
    measures: Iterable[tuple[str, str | None]],
    *,
    level: float = 1,
    documents: float = 0,
    version: int = 10,
) -> Request:
    """Turn (name, parameters) pairs into a request, in trec_eval's order.

    If a measure has parameters several times, the first ones count.
    """
    params_of: dict[str, str | None] = {}
    for name, params in measures:
        for single in expanded(name, params):
            if params_of.get(single) is None:
                params_of[single] = params if single == name else None
    values: list[Value] = []
    specs: list[dict[str, Any]] = []
    for measure in MEASURES:
        if measure.name in params_of and measure.since <= version:
            params = params_of[measure.name]
            for name, options in _printed_values(measure, params, level, documents, version):
                columns = tuple(range(len(specs), len(specs) + len(options)))
                specs.extend(options)
                values.append(Value(measure, name, columns))
    return Request(tuple(values), tuple(specs))


def expanded(name: str, params: str | None = None) -> tuple[str, ...]:
    """The measures behind a name or nickname."""
    if params == "":
        raise MeasureError(f"missing parameters after the period in '{name}.'")
    if name in NICKNAMES:
        return NICKNAMES[name]
    if name in BY_NAME:
        return (name,)
    from difflib import get_close_matches

    near = get_close_matches(name, [*BY_NAME, *NICKNAMES], n=3, cutoff=0.5)
    raise MeasureError(
        f"unknown trec_eval measure '{name}'",
        hint=f"did you mean {' or '.join(near)}?"
        if near
        else "list all measures with: goodgain trec-eval -h -m all_trec",
    )


def _printed_values(
    measure: TrecMeasure, params: str | None, level: float, documents: float, version: int
) -> list[tuple[str, list[dict[str, Any]]]]:
    """The printed names of a measure, each with its options for the core."""
    spec: dict[str, Any] = {"kernel": measure.kernel, "rel": float(level), **measure.options}
    if measure.name == "runid":
        return [(measure.name, [])]
    match measure.params:
        case "cutoffs":
            cutoffs = _sorted(measure, params, whole=True) if params else measure.defaults
            return [(f"{measure.name}_{k:.0f}", [{**spec, "cutoff": int(k)}]) for k in cutoffs]
        case "points":
            points = _sorted(measure, params, whole=False) if params else measure.defaults
            spec["recall_ceil"] = version < 10
            return [(f"{measure.name}_{r:.2f}", [{**spec, "recall": r}]) for r in points]
        case "numbers":
            numbers = _numbers(measure, params) if params else measure.defaults
            name = f"{measure.name}_{params}" if params else measure.name
            return [(name, _with_numbers(measure, spec, numbers, documents, version))]
        case "gains":
            pairs = _pairs(measure, params) if params else {}
            for level_name, gain in pairs.items():
                if level_name == "p" and "p" in spec:
                    spec["p"] = gain
                elif level_name.lstrip("+-").isdigit():
                    spec.setdefault("numbers", []).extend((float(level_name), gain))
            if "numbers" not in spec:  # plain grades: the general kernels are faster
                spec["kernel"] = PLAIN.get(spec["kernel"], spec["kernel"])
            return [(f"{measure.name}_{params}" if params else measure.name, [spec])]
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
                    f"utility takes 4 numbers, got {len(numbers)}",
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
    """Decode the characters of relstring from the core's numbers."""
    text = ""
    for number in numbers:
        rest = int(number)
        while rest:
            rest, digit = divmod(rest, 14)
            text += _DIGITS[digit - 1]
    return text


# --- parameters ---


def _invalid(measure: TrecMeasure, text: str, problem: str, hint: str) -> MeasureError:
    return MeasureError(f"invalid parameters '{text}' for {measure.name}: {problem}", hint=hint)


def _numbers(measure: TrecMeasure, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise _invalid(
            measure, text, "not a list of numbers", "separate numbers with commas"
        ) from None


def _sorted(measure: TrecMeasure, text: str, *, whole: bool) -> list[float]:
    """Distinct cutoffs or points in ascending order."""
    numbers = sorted(float(int(n)) if whole else n for n in _numbers(measure, text))
    if whole and numbers[0] <= 0:
        raise _invalid(measure, text, "cutoff below 1", f"for example {measure.name}.5,10")
    if len(set(numbers)) < len(numbers):
        raise _invalid(measure, text, "duplicate cutoff", "list each cutoff once")
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
            raise _invalid(
                measure, text, "not a list of level=gain", f"for example {measure.name}.1=3,2=9"
            ) from None
    return pairs
