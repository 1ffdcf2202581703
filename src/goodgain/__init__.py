"""goodgain measures retrieval: ranked search, RAG context, and multi-step (agentic) search."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain.agentic import GoodGain, good_gain
    from goodgain.agentic.rules import StopRule
    from goodgain.agentic.stopping import Stopping, stopping
    from goodgain.auditing import audit
    from goodgain.checks import CheckResult, check
    from goodgain.comparison import (
        GSB,
        Comparison,
        Gate,
        Power,
        compare,
        gate,
        gsb_counts,
        gsb_differences,
        gsb_labels,
        power,
    )
    from goodgain.data import Qrels, Run, Trace
    from goodgain.errors import GoodgainError
    from goodgain.experiment import Experiment, ExperimentResult
    from goodgain.fusion import fuse, tune
    from goodgain.identity import Identity
    from goodgain.io.convert import convert
    from goodgain.io.limits import Limits
    from goodgain.labels import Judge, Labels, Store, label, pool
    from goodgain.labels.calibration import Calibration, calibrate
    from goodgain.live import search_tool
    from goodgain.measures import (
        Measure,
        cg,
        dcg,
        gsb,
        ndcg,
        nrdcgl,
        parse,
        pnrdcgl,
        rdcgl,
        register,
    )
    from goodgain.ranking import Evaluation, Evaluator, Policy, RunScores, evaluate
    from goodgain.ranking.explain import explain
    from goodgain.reports import report
    from goodgain.results.loading import load
    from goodgain.traces import read_traces, record
    from goodgain.verification import selftest

__version__ = "0.1.0"

# The public names by module; each is imported on first use, so that importing goodgain is instant.
_MODULES = {
    "goodgain.agentic": ("GoodGain", "good_gain"),
    "goodgain.agentic.rules": ("StopRule",),
    "goodgain.agentic.stopping": ("Stopping", "stopping"),
    "goodgain.auditing": ("audit",),
    "goodgain.checks": ("CheckResult", "check"),
    "goodgain.comparison": (
        "GSB",
        "Comparison",
        "Gate",
        "Power",
        "compare",
        "gate",
        "gsb_counts",
        "gsb_differences",
        "gsb_labels",
        "power",
    ),
    "goodgain.data": ("Qrels", "Run", "Trace"),
    "goodgain.errors": ("GoodgainError",),
    "goodgain.experiment": ("Experiment", "ExperimentResult"),
    "goodgain.fusion": ("fuse", "tune"),
    "goodgain.identity": ("Identity",),
    "goodgain.io.convert": ("convert",),
    "goodgain.io.limits": ("Limits",),
    "goodgain.labels": ("Judge", "Labels", "Store", "label", "pool"),
    "goodgain.labels.calibration": ("Calibration", "calibrate"),
    "goodgain.live": ("search_tool",),
    "goodgain.measures": (
        "Measure",
        "cg",
        "dcg",
        "gsb",
        "ndcg",
        "nrdcgl",
        "parse",
        "pnrdcgl",
        "rdcgl",
        "register",
    ),
    "goodgain.ranking": ("Evaluation", "Evaluator", "Policy", "RunScores", "evaluate"),
    "goodgain.ranking.explain": ("explain",),
    "goodgain.reports": ("report",),
    "goodgain.results.loading": ("load",),
    "goodgain.traces": ("read_traces", "record"),
    "goodgain.verification": ("selftest",),
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "GSB",
    "Calibration",
    "CheckResult",
    "Comparison",
    "Evaluation",
    "Evaluator",
    "Experiment",
    "ExperimentResult",
    "Gate",
    "GoodGain",
    "GoodgainError",
    "Identity",
    "Judge",
    "Labels",
    "Limits",
    "Measure",
    "Policy",
    "Power",
    "Qrels",
    "Run",
    "RunScores",
    "StopRule",
    "Stopping",
    "Store",
    "Trace",
    "__version__",
    "audit",
    "calibrate",
    "cg",
    "check",
    "compare",
    "convert",
    "dcg",
    "evaluate",
    "explain",
    "fuse",
    "gate",
    "good_gain",
    "gsb",
    "gsb_counts",
    "gsb_differences",
    "gsb_labels",
    "label",
    "load",
    "ndcg",
    "nrdcgl",
    "parse",
    "pnrdcgl",
    "pool",
    "power",
    "rdcgl",
    "read_traces",
    "record",
    "register",
    "report",
    "search_tool",
    "selftest",
    "stopping",
    "tune",
]


if not TYPE_CHECKING:  # or a misspelt name would be Any

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name in _PUBLIC:
            value = getattr(import_module(_PUBLIC[name]), name)
        elif name.startswith("_"):
            raise AttributeError(f"module 'goodgain' has no attribute '{name}'")
        else:
            try:
                return import_module(f"goodgain.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"goodgain.{name}":
                    raise
            try:
                value = getattr(
                    import_module("goodgain.measures"), name
                )  # a measure: goodgain.nDCG
            except AttributeError:
                raise AttributeError(_unknown_name(name)) from None
        globals()[name] = value
        return value


# What other tools call a thing, and what it is called here.
_ELSEWHERE = {
    "iter_calc": "evaluate(qrels, run, measures).per_query",
    "calc_aggregate": "evaluate(qrels, run, measures)",
    "calc": "evaluate(qrels, run, measures)",
    "RelevanceEvaluator": "goodgain.compat.pytrec_eval.RelevanceEvaluator, or Evaluator",
    "parse_measure": "parse",
    "read_trec_qrels": "Qrels(path)",
    "read_trec_run": "Run(path)",
    "optimize_fusion": "tune",
    "Report": "Comparison, from compare",
    "plot": "result.plot(kind)",
    "evaluate_run": "evaluate",
    "significance": "compare",
    "gain": "good_gain",
    "read_qrels": "Qrels(path)",
    "read_run": "Run(path)",
}


def _unknown_name(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, n=1)
    meant = _ELSEWHERE.get(name) or (near[0] if near else "")
    hint = f"; use {meant}" if meant else ""
    return f"module 'goodgain' has no attribute '{name}'{hint}"


def __dir__() -> list[str]:
    return sorted(__all__)
