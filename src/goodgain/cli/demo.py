"""`goodgain demo`: five retrievers over the documentation of the standard library, timed and compared."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import add_output, command_parser, write

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "demo",
        "Search the documentation of Python's standard library by graph walks, keyword, KNN, both fused\n"
        "and a swarm; measure, time and compare them with the judgements that ship with goodgain. Then\n"
        "let an agent answer the same questions, and measure what each of its searches was worth.",
    )
    p.add_argument("--folder", metavar="FOLDER", help="keep runs, scores and latencies there")
    add_output(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Retrieve, measure, compare, print."""
    from goodgain.demo import agent_gains, experiment
    from goodgain.show import LONG_FORMATS

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
    if args.per_query or args.format in LONG_FORMATS:
        write(
            args,
            result.scores.render(args.format, True)
            if args.per_query
            else result.render(args.format),
        )
        return 0
    gains = agent_gains(chosen)
    heading = "An agent that searches again and again with words of what it found:"
    write(args, f"{result.render(args.format)}\n{heading}\n\n{gains.render(args.format)}")
    return 0
