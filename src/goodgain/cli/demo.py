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
AGENT_MEASURES = ("CG", "DCG", "RG", "DRG", "RAG", "DRAG", "SRE", "SRR", "MarginalGain")


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "demo",
        "Search the documentation of Python's standard library with five retrievers (graph walks, keyword,\n"
        "KNN, hybrid and a swarm), then evaluate, time and compare them using the judgments that ship with\n"
        "goodgain. An agent answers the same questions, and Good Gain measures each of its searches.",
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
    """The retrievers' scores, and in formats for people the agent's table below them."""
    from goodgain.results.text import LONG_FORMATS

    if args.per_query:
        return result.scores.render(args.format, True)
    if args.format in LONG_FORMATS:
        return result.render(args.format)
    return f"{result.render(args.format)}\n{_agent_text(gains, args.format)}"


def _agent_text(gains: GoodGain, format: str) -> str:  # noqa: A002
    """Good Gain by iteration; for bounds over unjudged results use `goodgain trace`."""
    from goodgain.results.text import number, render

    rows = []
    for i in range(1, gains["agent"].iterations + 1):
        figures = [gains.figure(measure, i) for measure in AGENT_MEASURES]
        rows.append([str(i), *(number(figure.value) for figure in figures)])
    recall, wasted, repeated = (
        number(gains.figure(m).value, 2) for m in ("EvidenceRecall", "WastedSearches", "SRR")
    )
    return (
        "agent that refines its query with words it read: Good Gain after i searches\n"
        + render(format, ["i", *AGENT_MEASURES], rows)
        + f"\nEvidence recall is {recall}; {wasted} searches per question returned no new good result;\n"
        f"{repeated} of the results were duplicates. Unjudged results earn no gain here.\n"
    )
