"""The Python reference: a page for each group of public names, filled by autodoc from the docstrings."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import package_pages
import record_pages

import goodgain


@dataclass(frozen=True)
class Group:
    """Names that belong on one page, and the guides that explain them."""

    page: str
    title: str
    text: str
    names: tuple[str, ...]


GROUPS = (
    Group(
        "evaluate",
        "Evaluate",
        "Measure runs against judgments, and see where a number comes from. Guide: [inputs, "
        "policies and results](../../guide.md).",
        ("evaluate", "Evaluator", "Evaluation", "RunScores", "Policy", "explain"),
    ),
    Group(
        "data",
        "Data and results",
        "Judgments and runs as tables, and what is saved of a result. Guide: "
        "[inputs](../../guide.md#inputs), [reports](../../report.md).",
        ("Qrels", "Run", "convert", "load", "report", "Limits", "GoodgainError", "__version__"),
    ),
    Group(
        "measures",
        "Measures",
        "Measures as values, measures of your own, and functions of a single list. All "
        "measures: [reference](../../measures.md).",
        ("Measure", "parse", "register", "cg", "dcg", "ndcg", "rdcgl", "nrdcgl", "pnrdcgl", "gsb"),
    ),
    Group(
        "compare",
        "Compare",
        "Is a difference real, and how many queries would show it? Guide: [comparison](../../comparison.md).",
        (
            "compare",
            "Comparison",
            "gate",
            "Gate",
            "power",
            "Power",
            "gsb_counts",
            "gsb_differences",
            "gsb_labels",
            "GSB",
        ),
    ),
    Group(
        "experiment",
        "Experiments and fusion",
        "Run, time and compare retrievers; fuse their runs. Guides: "
        "[experiments](../../experiment.md), [fusion](../../fusion.md).",
        ("Experiment", "ExperimentResult", "fuse", "tune"),
    ),
    Group(
        "agents",
        "Agents",
        "Multi-step search: record it, read it, measure it. Guides: [agentic "
        "search](../../agentic.md), [traces](../../traces.md), "
        "[live capture](../../live.md), [stopping](../../stopping.md), [identity](../../identity.md).",
        (
            "good_gain",
            "GoodGain",
            "stopping",
            "Stopping",
            "StopRule",
            "Trace",
            "read_traces",
            "record",
            "search_tool",
            "Identity",
        ),
    ),
    Group(
        "labels",
        "Labels",
        "Gain labels from models and people. Guides: [labels](../../labels.md), [judges](../../judges.md).",
        ("label", "Labels", "Judge", "Store", "pool", "calibrate", "Calibration"),
    ),
    Group(
        "checks",
        "Checks and proofs",
        "Regression tests for a search, and proof of the numbers. Guides: "
        "[check](../../check.md), [proofs](../../proofs.md).",
        ("check", "CheckResult", "selftest", "audit"),
    ),
)
# Results are made by functions: their fields are listed instead of the signature of their class.
RESULTS = frozenset(
    {
        "Calibration",
        "CheckResult",
        "Comparison",
        "Evaluation",
        "ExperimentResult",
        "Gate",
        "GoodGain",
        "GSB",
        "Labels",
        "Power",
        "RunScores",
        "Stopping",
    }
)


def pages() -> dict[str, str]:
    """Path to text of every page."""
    texts = {f"reference/python/{group.page}.md": group_page(group) for group in GROUPS}
    generated = package_pages.pages() | record_pages.pages()
    return {"reference/python/index.md": index_page(), **texts, **generated}


def index_page() -> str:
    """All names with their first sentences."""
    lines = ["# Python", "", "`import goodgain as gg`. Every public name:", ""]
    for group in GROUPS:
        lines += [
            f"## [{group.title}]({group.page}.md)",
            "",
            "| name | what it does |",
            "| --- | --- |",
        ]
        for name in group.names:
            sentence = summary(name).replace("|", r"\|")
            lines.append(f"| [`{name}`](#goodgain.{name}) | {sentence} |")
        lines.append("")
    lines += [
        "Names of subpackages, which are imported by themselves:",
        "",
        *package_pages.index_lines(),
    ]
    return "\n".join(lines)


def summary(name: str) -> str:
    """The first line of a docstring."""
    if name == "__version__":
        return "The version of the package."
    return (inspect.getdoc(getattr(goodgain, name)) or "").split("\n")[0]


def group_page(group: Group) -> str:
    """A page with the full entries of a group."""
    lines = [f"# {group.title}", "", group.text, ""]
    for name in group.names:
        lines += ["```{eval-rst}", *directive(name), "```", ""]
    return "\n".join(lines)


def directive(name: str) -> list[str]:
    """The autodoc directive of a name."""
    value = getattr(goodgain, name)
    if name == "__version__":
        return [
            ".. py:data:: goodgain.__version__",
            "   :type: str",
            "",
            "   The version of the package.",
        ]
    if not inspect.isclass(value):
        return [f".. autofunction:: goodgain.{name}"]
    signature = "()" if name in RESULTS else ""
    inherited = (
        ["   :inherited-members: object"] if name in RESULTS else []
    )  # save, report, plot, ...
    return [f".. autoclass:: goodgain.{name}{signature}", "   :members:", *inherited]
