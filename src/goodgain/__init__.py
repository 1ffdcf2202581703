"""goodgain measures retrieval: ranked search, RAG context, and agents that search again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goodgain.errors import GoodgainError
    from goodgain.evaluation import (
        Evaluation,
        Evaluator,
        GoodGain,
        Policy,
        RunScores,
        evaluate,
        good_gain,
    )
    from goodgain.experiment import Experiment, ExperimentResult
    from goodgain.identity import Identity
    from goodgain.labels import Judge, Labels, Store, label
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
    from goodgain.read.traces import record
    from goodgain.stats import (
        GSB,
        Comparison,
        Gate,
        compare,
        gate,
        gsb_counts,
        gsb_differences,
        gsb_labels,
    )
    from goodgain.stats.calibration import Calibration, calibrate
    from goodgain.stats.fusion import fuse, tune
    from goodgain.tables import Qrels, Run, Trace, read_traces

__version__ = "0.1.0"

# What is public, and where it lives: imported when it is first used, so that importing goodgain is instant.
_PUBLIC = {
    **dict.fromkeys(
        ("Evaluation", "Evaluator", "GoodGain", "Policy", "RunScores", "evaluate", "good_gain"),
        "goodgain.evaluation",
    ),
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
        "goodgain.stats",
    ),
    **dict.fromkeys(("Experiment", "ExperimentResult"), "goodgain.experiment"),
    **dict.fromkeys(("fuse", "tune"), "goodgain.stats.fusion"),
    **dict.fromkeys(("Qrels", "Run", "Trace", "read_traces"), "goodgain.tables"),
    "Identity": "goodgain.identity",
    "record": "goodgain.read.traces",
    **dict.fromkeys(("Judge", "Labels", "Store", "label"), "goodgain.labels"),
    **dict.fromkeys(("Calibration", "calibrate"), "goodgain.stats.calibration"),
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
