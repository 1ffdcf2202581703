"""`goodgain convert`: traces of any format as canonical JSON lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import command_parser, warn
from goodgain.cli.trace import add_reading

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "convert",
        "Turn traces of any known format into the canonical JSON lines.",
        "examples:\n  goodgain convert langfuse.json traces.jsonl\n"
        "  goodgain convert run.json traces.jsonl --from browsecomp-plus --merge-adjacent\n",
    )
    p.add_argument("source", metavar="IN", help="a file; - is stdin")
    p.add_argument("target", metavar="OUT", help="written whole or not at all")
    add_reading(p)
    p.add_argument(
        "--merge-adjacent",
        action="store_true",
        help="BrowseComp-Plus: calls with nothing between them are one iteration",
    )
    p.add_argument("-q", "--quiet", action="store_true", help="no warnings and no progress")
    return p


def run(args: argparse.Namespace) -> int:
    """Convert, and say how many."""
    from goodgain.read.traces.convert import convert_traces

    written, skipped, notes = convert_traces(
        args.source,
        args.target,
        format=args.source_format,
        search_tools=tuple(args.search_tool),
        merge_adjacent=args.merge_adjacent,
        skip_bad=args.skip_bad,
    )
    warn(args, [*notes, *([f"{skipped:,} bad conversations were skipped"] if skipped else [])])
    if not args.quiet:
        print(f"{written:,} conversations written to {args.target}", file=sys.stderr)
    return 0
