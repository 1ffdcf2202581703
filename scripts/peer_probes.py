"""What goodgain's peers do with small inputs: each answer comes from running them."""

from __future__ import annotations

import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # ranx would compile for a minute

import ir_measures
import pytrec_eval
import ranx
import ranx.fusion
import ranx.metrics

import goodgain as gg
from goodgain.fusion import METHODS
from goodgain.measures import definitions
from goodgain.ranking.policy import PRESETS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TOOLS = {
    "goodgain": "goodgain",
    "pytrec_eval": "pytrec_eval-terrier",
    "ir_measures": "ir-measures",
    "ranx": "ranx",
}
NO = "no"
QRELS = {"q": {"a": 1, "b": 0}}
ASPECTS = [
    {"query": "q", "doc": doc, "gain": 1, "aspect": aspect}
    for doc, aspect in (("a", "1"), ("b", "2"))
]
TIED = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1.0, "a": 1.0}}


@dataclass(frozen=True)
class Probe:
    """A question, and for each tool a function that answers it; a tool without one has no such function."""

    question: str
    answers: Mapping[str, Callable[[], Any]]


def evaluate(tool: str, qrels: Any, run: Any, measure: str = "RR") -> float:
    """The mean of a measure by a tool."""
    if tool == "goodgain":
        return gg.evaluate(qrels, run, measure)[measure]
    if tool == "ir_measures":
        parsed = ir_measures.parse_measure(measure)
        return float(ir_measures.calc_aggregate([parsed], qrels, run)[parsed])
    name = {"RR": ("recip_rank", "mrr"), "nDCG": ("ndcg", "ndcg")}[measure]
    if tool == "ranx":
        return float(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), name[1]))
    values = pytrec_eval.RelevanceEvaluator(qrels, {name[0]}).evaluate(run)
    return sum(row[name[0]] for row in values.values()) / len(values)


def of_all(qrels: Any, run: Any, measure: str = "RR") -> dict[str, Callable[[], Any]]:
    """The same evaluation by every tool."""
    return {tool: lambda tool=tool: evaluate(tool, qrels, run, measure) for tool in TOOLS}


def same_in_both_orders(tool: str) -> str:
    """Whether tied documents give one value, whatever the order of the input."""
    first, second = (evaluate(tool, QRELS, run) for run in TIED)
    return f"yes, {first:g}" if first == second else f"no, {first:g} or {second:g}"


def missing(tool: str) -> str:
    """The mean of the values that a tool returns if one of two judged queries is missing."""
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}}
    if tool != "ranx":
        return answered(evaluate(tool, qrels, run))
    value = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "mrr", make_comparable=True)
    try:
        return answered(evaluate(tool, qrels, run))
    except AssertionError:
        return f"error; {value:g} with make_comparable"


def duplicate(tool: str) -> float:
    """RR of a file that lists a document first and third."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "twice.trec")
        path.write_text("q Q0 a 1 3.0 x\nq Q0 b 2 2.0 x\nq Q0 a 3 1.0 x\n", encoding="utf-8")
        if tool == "goodgain":
            return evaluate(tool, QRELS, str(path))
        if tool == "ranx":
            run = ranx.Run.from_file(str(path), kind="trec")
            return float(ranx.evaluate(ranx.Qrels(QRELS), run, "mrr"))
        if tool == "ir_measures":
            return evaluate(tool, QRELS, list(ir_measures.read_trec_run(str(path))))
        with path.open(encoding="utf-8") as file:
            return evaluate(tool, QRELS, pytrec_eval.parse_run(file))


def compared() -> dict[str, Any]:
    """Two systems, one of them better on most queries."""
    qrels = {f"q{n}": {"a": 1} for n in range(10)}
    good = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    bad = {q: {"a": 1.0, "b": 2.0 if n % 3 else 0.5} for n, q in enumerate(qrels)}
    return {"qrels": qrels, "good": good, "bad": bad}


def ranx_report() -> Any:
    """Ranx's comparison of the two."""
    data = compared()
    runs = [ranx.Run(data[name], name=name) for name in ("good", "bad")]
    return ranx.compare(ranx.Qrels(data["qrels"]), runs, ["mrr"])


def own_comparison() -> Any:
    """Goodgain's comparison of the two."""
    data = compared()
    return gg.compare(data["qrels"], {"bad": data["bad"], "good": data["good"]}, "RR")


def own_measure_of_ir_measures() -> str:
    """A measure defined in Python, by ir_measures."""
    count = ir_measures.define_byquery(lambda qrels, run: float(len(run)), name="Count")
    value = ir_measures.calc_aggregate([count], QRELS, {"q": {"a": 1.0}})[count]
    return "yes" if value == 1 else NO


def own_measure_of_goodgain() -> str:
    """A measure defined in Python, by goodgain."""
    measure = gg.register("Length", lambda gains: float(len(gains)))
    return "yes" if gg.evaluate(QRELS, {"q": ["a"]}, measure)["Length"] == 1 else NO


def frame() -> Any:
    """A run as a data frame."""
    import pandas

    columns = {"query_id": ["q"], "doc_id": ["a"], "score": [1.0]}
    return pandas.DataFrame(columns).astype({"query_id": object, "doc_id": object})


def parquet() -> float:
    """RR of a run in a Parquet file, by goodgain."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "run.parquet"))
        frame().to_parquet(path)
        return evaluate("goodgain", QRELS, path)


def parquet_of_ranx() -> str:
    """RR of a run in a Parquet file, by ranx, which expects the strings that pandas had before version 3."""
    import pandas

    def measured() -> float:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "run.parquet"))
            ranx.Run({"q": {"a": 1.0}}).save(path, kind="parquet")
            return float(ranx.evaluate(ranx.Qrels(QRELS), ranx.Run.from_parquet(path), "mrr"))

    try:
        return answered(measured())
    except AssertionError as error:
        with pandas.option_context("future.infer_string", False):  # as pandas 2 did
            value = measured()
        return f"{value:g} with pandas 2; error: {type(error).__name__} with pandas 3"


def frame_of_ranx() -> float:
    """Ranx on a data frame."""
    run = ranx.Run.from_df(frame(), q_id_col="query_id", doc_id_col="doc_id", score_col="score")
    return float(ranx.evaluate(ranx.Qrels(QRELS), run, "mrr"))


def ranx_metrics() -> int:
    """How many metrics ranx's own switch knows."""
    names = "hits hit_rate precision recall f1 r-precision mrr map dcg dcg_burges ndcg ndcg_burges bpref rbp"
    return sum(callable(ranx.metrics.metric_switch(name)) for name in names.split())


def ranx_fusions() -> int:
    """How many methods of fusion ranx has."""
    names = [name for name in ranx.fusion.__all__ if not name.endswith(("_train", "_switch"))]
    return len(names)


def answered(value: Any) -> str:
    """What a tool answered, in a few words."""
    return value if isinstance(value, str) else f"{value:.4g}"


PROBES = (
    Probe(
        "measures of rankings, aliases not counted",
        {
            "goodgain": lambda: len(list(definitions("ranked"))),
            "pytrec_eval": lambda: len(pytrec_eval.supported_measures),
            "ir_measures": lambda: len({id(m) for m in ir_measures.measures.registry.values()}),
            "ranx": ranx_metrics,
        },
    ),
    Probe("measures of agents' searches", {"goodgain": lambda: len(list(definitions("agentic")))}),
    Probe(
        "RR of a list without scores, relevant document second", of_all(QRELS, {"q": ["b", "a"]})
    ),
    Probe(
        "a run as a pandas data frame",
        {
            "goodgain": lambda: evaluate("goodgain", QRELS, frame()),
            "ir_measures": lambda: evaluate("ir_measures", QRELS, frame()),
            "ranx": frame_of_ranx,
            "pytrec_eval": lambda: evaluate("pytrec_eval", QRELS, frame()),
        },
    ),
    Probe(
        "a run as a Parquet file",
        {"goodgain": parquet, "ranx": parquet_of_ranx},
    ),
    Probe(
        "diversity: alpha_nDCG over aspects",
        {
            "goodgain": lambda: gg.evaluate(ASPECTS, {"q": {"a": 2.0, "b": 1.0}}, "alpha_nDCG@5")[
                "alpha_nDCG@5"
            ],
            "ir_measures": lambda: evaluate(
                "ir_measures",
                [ir_measures.GenericQrel(r["query"], r["doc"], 1, r["aspect"]) for r in ASPECTS],
                {"q": {"a": 2.0, "b": 1.0}},
                "alpha_nDCG@5",
            ),
        },
    ),
    Probe(
        "nDCG with gains 0.5 and 1.5, the lower one first (by definition 0.7967)",
        of_all({"q": {"a": 0.5, "b": 1.5}}, {"q": {"a": 2.0, "b": 1.0}}, "nDCG"),
    ),
    Probe(
        "tied documents: one value for both orders of the input?",
        {tool: lambda tool=tool: same_in_both_orders(tool) for tool in TOOLS},
    ),
    Probe("a score that is NaN", of_all(QRELS, {"q": {"a": float("nan"), "b": 1.0}})),
    Probe(
        "mean RR if one of two judged queries is missing from the run",
        {tool: lambda tool=tool: missing(tool) for tool in TOOLS},
    ),
    Probe(
        "RR of a file that lists the relevant document first and third",
        {tool: lambda tool=tool: duplicate(tool) for tool in TOOLS},
    ),
    Probe(
        "a misspelled measure",
        {
            "goodgain": lambda: gg.evaluate(QRELS, TIED[0], "nDGC@10"),
            "pytrec_eval": lambda: pytrec_eval.RelevanceEvaluator(QRELS, {"ndgc"}),
            "ir_measures": lambda: ir_measures.parse_measure("nDGC@10"),
            "ranx": lambda: ranx.evaluate(ranx.Qrels(QRELS), ranx.Run(TIED[0]), "ndgc"),
        },
    ),
    Probe(
        "a measure of your own in Python",
        {"goodgain": own_measure_of_goodgain, "ir_measures": own_measure_of_ir_measures},
    ),
    Probe(
        "unjudged documents removed",
        {
            "goodgain": lambda: gg.evaluate(
                {"q": {"a": 1}}, {"q": ["x", "a"]}, "RR", unjudged="remove"
            )["RR"],
            "pytrec_eval": lambda: pytrec_eval.RelevanceEvaluator(
                {"q": {"a": 1}}, {"recip_rank"}, judged_docs_only_flag=True
            ).evaluate({"q": {"x": 2.0, "a": 1.0}})["q"]["recip_rank"],
            "ir_measures": lambda: evaluate(
                "ir_measures",
                {"q": {"a": 1}},
                {"q": {"x": 2.0, "a": 1.0}},
                "nDCG(judged_only=True)",
            ),
        },
    ),
    Probe(
        "significance tests",
        {
            "goodgain": lambda: f"p = {own_comparison()['good', 'RR'].p:.2g}",
            "ranx": lambda: "p-values" if ranx_report().comparisons else NO,
        },
    ),
    Probe(
        "intervals of differences",
        {
            "goodgain": lambda: "{0.low:+.2f} to {0.high:+.2f}".format(
                own_comparison()["good", "RR"]
            )
        },
    ),
    Probe(
        "a table in LaTeX",
        {
            "goodgain": lambda: "yes" if "tabular" in own_comparison().render("latex") else NO,
            "ranx": lambda: "yes" if "tabular" in ranx_report().to_latex() else NO,
        },
    ),
    Probe("methods of fusion", {"goodgain": lambda: len(METHODS), "ranx": ranx_fusions}),
    Probe(
        "the same measure by several implementations",
        {
            "goodgain": lambda: f"presets of {len(PRESETS) - 1} tools",
            "ir_measures": lambda: f"{len(ir_measures.providers.registry)} providers",
        },
    ),
    Probe(
        "precomputed runs to download",
        {"ranx": lambda: "ranxhub" if hasattr(ranx.Run, "from_ranxhub") else NO},
    ),
)


def answer(probe: Probe, tool: str) -> str:
    """A tool's answer: a value, "no" without such a function, or the error it raised."""
    if tool not in probe.answers:
        return NO
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return answered(probe.answers[tool]())
        except Exception as error:  # whatever a tool raises is its answer
            return f"error: {type(error).__name__}"


def answers() -> dict[str, dict[str, str]]:
    """{question: {tool: answer}}."""
    return {probe.question: {tool: answer(probe, tool) for tool in TOOLS} for probe in PROBES}
