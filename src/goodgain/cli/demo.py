"""`goodgain demo`: five retrievers and an agent search the documentation of the standard library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import add_folder, add_output, add_report
from goodgain.cli.output import side_files, write
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse

    from goodgain.agentic import GoodGain
    from goodgain.experiment import ExperimentResult

REPORT = "goodgain-demo.html"


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "demo",
        "Search the documentation of Python's standard library with five retrievers (graph walks, keyword,\n"
        "KNN, hybrid and a swarm), then evaluate, time and compare them using the judgments that ship with\n"
        "goodgain. An agent answers the same questions, and Good Gain measures each of its searches.",
        "examples:\n  goodgain demo\n  goodgain demo --folder demo --report demo.html\n",
    )
    add_folder(p)
    add_report(p, texts=False, default=REPORT)
    add_output(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Run the experiment and the agent, print the results and write the page."""
    import json

    from goodgain.demo import agent_gains, agent_traces, experiment
    from goodgain.io.atomic import write_texts

    demo, left_out = experiment()
    if not args.quiet:
        print(
            f"{len(demo.documents):,} docstrings of Python {sys.version_info.major}."
            f"{sys.version_info.minor}, {len(demo.queries)} questions, "
            f"{demo.qrels.judgments:,} judgments "
            f"({left_out} left out: this Python lacks their documents)\n",
            file=sys.stderr,
        )
    result = demo.run(args.folder, progress=not args.quiet)
    traces = agent_traces(demo)
    if args.folder:
        lines = (json.dumps(trace) + "\n" for trace in traces)
        write_texts({f"{args.folder}/traces.jsonl": lines})
    gains = agent_gains(demo, traces)
    title = "Five retrievers and an agent search Python's documentation"
    write(args, _text(args, result, gains), side_files(args, result, gains, title=title))
    if not args.quiet:
        print(f"\nFull report: {args.report}", file=sys.stderr)
    return 0


def _text(args: argparse.Namespace, result: ExperimentResult, gains: GoodGain) -> str:
    """The verdict and the primary measures, and in formats for people the agent's funnel below them."""
    from goodgain.experiment.tables import experiment_text
    from goodgain.results.text import LONG_FORMATS

    if args.per_query:
        return result.scores.render(args.format, True)
    if args.format in LONG_FORMATS:
        return result.render(args.format)
    tables = (
        f"{experiment_text(result, args.format, brief=True)}\n{_agent_text(gains, args.format)}"
    )
    return f"{tables}\n{_measures_text(result)}" if args.format == "table" else tables


def _measures_text(result: ExperimentResult) -> str:
    """What the measures are, for those who read their names for the first time."""
    level = f"(rel={result.plan.rel:g})"
    return "".join(
        f"{measure.label.replace(level, ''):<9}{measure.definition.summary}\n"
        for measure in result.plan.primary
    )


def _agent_text(gains: GoodGain, format: str) -> str:  # noqa: A002
    """Where the agent loses what it should find."""
    from goodgain.results.text import render

    rows = []
    for step in gains.funnel.systems[0].steps:
        bar = "█" * round(_BAR * step.share) + "░" * (_BAR - round(_BAR * step.share))
        lost = f"{step.lost:,} {_LOST[step.name]}" if step.name in _LOST else ""
        rows.append([step.name, f"{step.evidence:,} {bar} {100 * step.share:3.0f} %", lost])
    searches = gains.figure("Searches").value
    return (
        f"an agent that searches with hybrid {searches:.1f} times per question, and where it loses the good "
        f"documents\n{render(format, ['step', 'documents', 'lost'], rows)}"
    )


_BAR = 20  # characters
_LOST = {
    "returned": "never returned by a search",
    "opened": "returned, but not opened",
    "cited": "opened, but not cited",
}
