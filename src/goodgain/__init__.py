"""goodgain measures retrieval: ranked search, RAG context, and agents that search again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain, good_gain
    from goodgain.comparison import (
        GSB,
        Comparison,
        Gate,
        compare,
        gate,
        gsb_counts,
        gsb_differences,
        gsb_labels,
    )
    from goodgain.data import Qrels, Run, Trace
    from goodgain.errors import GoodgainError
    from goodgain.experiment import Experiment, ExperimentResult
    from goodgain.fusion import fuse, tune
    from goodgain.identity import Identity
    from goodgain.labels import Judge, Labels, Store, label
    from goodgain.labels.calibration import Calibration, calibrate
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
    from goodgain.traces import read_traces, record

__version__ = "0.1.0"

# What is public, and where it lives: imported when it is first used, so that importing goodgain is instant.
_PUBLIC = {
    **dict.fromkeys(
        ("Evaluation", "Evaluator", "Policy", "RunScores", "evaluate"), "goodgain.ranking"
    ),
    **dict.fromkeys(("GoodGain", "good_gain"), "goodgain.agentic"),
    **dict.fromkeys(
        ("Measure", "cg", "dcg", "gsb", "ndcg", "nrdcgl", "parse", "pnrdcgl", "rdcgl", "register"),
        "goodgain.measures",
    ),
    **dict.fromkeys(
        (
            "GSB",
            "Comparison",
            "Gate",
            "compare",
            "gate",
            "gsb_counts",
            "gsb_differences",
            "gsb_labels",
        ),
        "goodgain.comparison",
    ),
    **dict.fromkeys(("Experiment", "ExperimentResult"), "goodgain.experiment"),
    **dict.fromkeys(("fuse", "tune"), "goodgain.fusion"),
    **dict.fromkeys(("Qrels", "Run", "Trace"), "goodgain.data"),
    "Identity": "goodgain.identity",
    **dict.fromkeys(("read_traces", "record"), "goodgain.traces"),
    **dict.fromkeys(("Judge", "Labels", "Store", "label"), "goodgain.labels"),
    **dict.fromkeys(("Calibration", "calibrate"), "goodgain.labels.calibration"),
    "GoodgainError": "goodgain.errors",
}

__all__ = [
    "GSB",
    "Calibration",
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
    "Measure",
    "Policy",
    "Qrels",
    "Run",
    "RunScores",
    "Store",
    "Trace",
    "__version__",
    "calibrate",
    "cg",
    "compare",
    "dcg",
    "evaluate",
    "fuse",
    "gate",
    "good_gain",
    "gsb",
    "gsb_counts",
    "gsb_differences",
    "gsb_labels",
    "label",
    "ndcg",
    "nrdcgl",
    "parse",
    "pnrdcgl",
    "rdcgl",
    "read_traces",
    "record",
    "register",
    "tune",
]


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
            value = getattr(import_module("goodgain.measures"), name)  # a measure: goodgain.nDCG
        except AttributeError:
            raise AttributeError(f"module 'goodgain' has no attribute '{name}'") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
