"""`goodgain demo`: five retrievers over the documentation of the standard library, timed and compared."""

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
        "Search the documentation of Python's standard library by graph walks, keyword, KNN, both fused\n"
        "and a swarm; measure, time and compare them with the judgements that ship with goodgain. Then\n"
        "let an agent answer the same questions, and measure what each of its searches was worth.",
    )
    add_folder(p)
    add_report(p, texts=False, default=REPORT)
    add_output(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Retrieve, measure, compare, print, and write the page."""
    import json

    from goodgain.demo import agent_gains, agent_traces, experiment
    from goodgain.io.atomic import write_texts

    chosen, left_out = experiment()
    if not args.quiet:
        print(
            f"{len(chosen.documents):,} docstrings of Python {sys.version_info.major}."
            f"{sys.version_info.minor}, {len(chosen.queries)} questions, "
            f"{chosen.qrels.judgments:,} judgements "
            f"({left_out} of documents that this Python lacks are left out)\n",
            file=sys.stderr,
        )
    result = chosen.run(args.folder, progress=not args.quiet)
    traces = agent_traces(chosen)
    if args.folder:
        lines = (json.dumps(trace) + "\n" for trace in traces)
        write_texts({f"{args.folder}/traces.jsonl": lines})
    gains = agent_gains(chosen, traces)
    title = "Five retrievers and an agent search Python's documentation"
    write(args, _text(args, result, gains), side_files(args, result, gains, title=title))
    if not args.quiet:
        print(f"\nThe page with all of it: {args.report}", file=sys.stderr)
    return 0


def _text(args: argparse.Namespace, result: ExperimentResult, gains: GoodGain) -> str:
    """For machines the retrievers' scores; for people the agent's table below them."""
    from goodgain.results.text import LONG_FORMATS

    if args.per_query:
        return result.scores.render(args.format, True)
    if args.format in LONG_FORMATS:
        return result.render(args.format)
    return f"{result.render(args.format)}\n{_agent_text(gains, args.format)}"


def _agent_text(gains: GoodGain, format: str) -> str:  # noqa: A002
    """Good Gain by iteration; bounds for what nobody judged are left to `goodgain trace`."""
    from goodgain.results.text import number, render

    rows = []
    for i in range(1, gains["agent"].iterations + 1):
        figures = [gains.figure(measure, i) for measure in AGENT_MEASURES]
        rows.append([str(i), *(number(figure.value) for figure in figures)])
    all_of_it = {
        m: number(gains.figure(m).value, 2) for m in ("EvidenceRecall", "WastedSearches", "SRR")
    }
    return (
        "an agent that asks again with words of what it read: Good Gain after i searches\n"
        + render(format, ["i", *AGENT_MEASURES], rows)
        + f"\nIt found {all_of_it['EvidenceRecall']} of what is known to be good; "
        f"{all_of_it['WastedSearches']} searches a question found nothing new that is good;\n"
        f"{all_of_it['SRR']} of its results were repeats. Results that nobody judged earn nothing here.\n"
    )
