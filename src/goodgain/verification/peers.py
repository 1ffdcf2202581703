"""Other tools that compute the same measures, where they are installed."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from goodgain.verification.definitions.common import by_docid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from goodgain.measures.definition import Measure
    from goodgain.verification.sample import Sample

Values = dict[tuple[str, str], float]  # (query, our label) -> value

_TREC_EVAL = {
    "AP": "map", "RR": "recip_rank", "nDCG": "ndcg", "Rprec": "Rprec", "Bpref": "bpref",
    "infAP": "infAP", "SetP": "set_P", "SetR": "set_recall", "SetF": "set_F", "SetAP": "set_map",
    "NumRet": "num_ret", "NumRel": "num_rel", "NumRelRet": "num_rel_ret", "AP11": "11pt_avg",
    "Rndcg": "Rndcg", "NumQ": "num_q",
}  # fmt: skip
_TREC_EVAL_CUT = {
    "AP": "map_cut", "P": "P", "R": "recall", "R_cap": "relative_P", "nDCG": "ndcg_cut",
    "Hit": "success",
}  # fmt: skip
_IR_MEASURES = {  # not Accuracy, which crashes where all results are relevant
    "AP", "RR", "P", "R", "nDCG", "Rprec", "Bpref", "infAP", "SetP", "SetR", "SetF", "SetAP",
    "Hit", "Judged", "NumRel", "NumRet", "Compat", "IPrec",
}  # fmt: skip
_BY_ASPECT = {
    "StRecall", "alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "AP_IA", "P_IA", "NRBP", "nNRBP",
}  # fmt: skip
_RANX = {
    "NumRelRet": "hits", "Hit": "hit_rate", "P": "precision", "R": "recall", "F": "f1",
    "Rprec": "r-precision", "RR": "mrr", "AP": "map", "DCG": "dcg", "nDCG": "ndcg",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A tool: its package, the preset that computes as it does, and how to ask it."""

    title: str
    package: str
    distribution: str
    preset: str
    name: Callable[[Measure], str | None]
    values: Callable[[Sample, dict[str, str]], Values]

    @property
    def installed(self) -> bool:
        """Whether the package can be imported."""
        return find_spec(self.package) is not None

    def describe(self) -> str:
        """The tool with its version."""
        return f"{self.title} ({self.distribution} {metadata.version(self.distribution)})"


def _integer_gains(sample: Sample, queries: Iterable[str]) -> dict[str, dict[str, int]]:
    return {q: {d: int(g) for d, g in sample.judged[q].gains.items()} for q in queries}


def unusable(sample: Sample) -> str:
    """Why other tools cannot read the judgments; empty if they can.

    Some are C behind Python, and end the process at a text that is not UTF-8.
    """
    ids = {*sample.judged, *sample.retrieved}
    for documents in (
        *(j.gains for j in sample.judged.values()),
        *map(dict, sample.retrieved.values()),
    ):
        ids.update(documents)
    for name in ids:
        if "\0" in name or any("\ud800" <= c <= "\udfff" for c in name):
            return f"ids must be UTF-8 text, got {name!r:.60}"
    for judged in sample.judged.values():
        for gain in judged.gains.values():
            if gain != int(gain):
                return f"gains must be integers, got {gain:g}"
    return ""


# --- trec_eval's own code ---


def _trec_eval_name(measure: Measure) -> str | None:
    if measure.params:
        return None
    if measure.name == "IPrec":
        return f"iprec_at_recall_{measure.cutoff:.2f}"
    if measure.cutoff is None:
        return _TREC_EVAL.get(measure.name)
    name = _TREC_EVAL_CUT.get(measure.name)
    return name and f"{name}_{measure.cutoff:g}"


def _trec_eval_values(sample: Sample, names: dict[str, str]) -> Values:
    import pytrec_eval

    # It reads past its arrays for queries without a relevant document.
    queries = [q for q in sample.retrieved if max(sample.judged[q].gains.values()) >= 1]
    if not queries:
        return {}
    wanted = {
        "iprec_at_recall" if name.startswith("iprec") else _dotted(name) for name in names.values()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(_integer_gains(sample, queries), wanted)
    scores = evaluator.evaluate({q: dict(sample.retrieved[q]) for q in queries})
    return {
        (q, label): float(values[name])
        for q, values in scores.items()
        for label, name in names.items()
        if name in values
    }


def _dotted(name: str) -> str:
    stem, _, cutoff = name.rpartition("_")
    return f"{stem}.{cutoff}" if cutoff.isdigit() else name


# --- ir_measures ---


def _ir_measures_name(measure: Measure) -> str | None:
    if measure.params or (measure.name not in _IR_MEASURES | _BY_ASPECT):
        return None
    if measure.name in _BY_ASPECT and find_spec("pyndeval") is None:  # an extra of ir_measures
        return None
    if (
        measure.cutoff is None
        and measure.name in ("P", "R", "Hit", "Judged", *_BY_ASPECT)
        and (measure.name not in ("AP_IA", "NRBP", "nNRBP"))
    ):
        return None  # it has them with a cut-off only
    if measure.cutoff is not None and measure.name in ("NumRet", "AP_IA"):
        return None
    name = {"Hit": "Success"}.get(measure.name, measure.name)
    return name if measure.cutoff is None else f"{name}@{measure.cutoff:g}"


def _ir_measures_measure(name: str) -> Any:
    """Its measure, without its parser: that needs classes of `ast` that Python 3.14 no longer has."""
    import ir_measures

    stem, _, cutoff = name.partition("@")
    measure = getattr(ir_measures, stem)
    return measure @ (float(cutoff) if stem == "IPrec" else int(cutoff)) if cutoff else measure


def _ir_measures_values(sample: Sample, names: dict[str, str]) -> Values:
    import ir_measures

    logging.getLogger("ir_measures").setLevel(logging.ERROR)
    run = [ir_measures.ScoredDoc(*row) for row in sample.run_rows()]
    values: Values = {}
    for by_aspect in (False, True):
        chosen = {
            str(_ir_measures_measure(name)): (label, name)
            for label, name in names.items()
            if (label.partition("@")[0] in _BY_ASPECT) == by_aspect
        }
        if not chosen or (by_aspect and not sample.has_aspects):
            continue
        rows = (
            [(q, d, int(g), a) for q, d, g, _, a in sample.rows if a is not None]
            if by_aspect
            else [
                (q, d, int(g), "0")
                for q, judged in sample.judged.items()
                for d, g in judged.gains.items()
            ]
        )
        qrels = [ir_measures.Qrel(*row) for row in rows]
        parsed = [_ir_measures_measure(name) for _, name in chosen.values()]
        for metric in ir_measures.iter_calc(parsed, qrels, run):
            if metric.value == metric.value:  # ndeval divides 0 by 0 where no aspect counts
                values[metric.query_id, chosen[str(metric.measure)][0]] = float(metric.value)
    return values


# --- ranx ---


def _ranx_name(measure: Measure) -> str | None:
    exponential = dict(measure.params) == {"gain": "exp"} and measure.name in ("DCG", "nDCG")
    if (measure.params and not exponential) or measure.name not in _RANX:
        return None
    name = _RANX[measure.name] + ("_burges" if exponential else "")
    if measure.cutoff is None:
        return None if measure.name in ("NumRelRet", "F") else name
    return f"{name}@{measure.cutoff:g}"


def _ranx_values(sample: Sample, names: dict[str, str]) -> Values:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # its dependencies warn while they are imported and compiled
        import ranx

        # Grades are unsigned there, queries without a relevant document are dropped, and scores of 0
        # end a list: ranks take their place.
        queries = [
            q
            for q in sample.retrieved
            if max(sample.judged[q].gains.values()) >= 1
            and min(sample.judged[q].gains.values()) >= 0
        ]
        if not queries:
            return {}
        ranked = {
            q: {doc: 1.0 / rank for rank, doc in enumerate(by_docid(sample.retrieved[q]), 1)}
            for q in queries
        }
        run = ranx.Run(ranked)
        ranx.evaluate(
            ranx.Qrels(_integer_gains(sample, queries)), run, list(names.values()),
            return_mean=False, threads=1,
        )  # fmt: skip
    return {
        (q, label): float(run.scores[name][q]) for label, name in names.items() for q in queries
    }


PEERS = (
    Peer(
        title="trec_eval's code",
        package="pytrec_eval",
        distribution="pytrec_eval-terrier",
        preset="trec_eval9",
        name=_trec_eval_name,
        values=_trec_eval_values,
    ),
    Peer(
        title="ir_measures",
        package="ir_measures",
        distribution="ir_measures",
        preset="ir_measures",
        name=_ir_measures_name,
        values=_ir_measures_values,
    ),
    Peer(
        title="ranx",
        package="ranx",
        distribution="ranx",
        preset="ranx",
        name=_ranx_name,
        values=_ranx_values,
    ),
)
