"""`goodgain convert`: runs, judgements and traces between formats."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import command_parser, pairs, warn
from goodgain.cli.trace import add_reading

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.io.convert import FORMATS

    listed = "".join(f"  {name:<8} {text}\n" for name, text in FORMATS.items())
    p = command_parser(
        "convert",
        "Write a run or judgements in another format, or traces of any format as canonical JSON lines.\n"
        "What the new format cannot hold is said.",
        f"formats:\n{listed}\n"
        "examples:\n"
        "  goodgain convert run.txt run.parquet\n"
        "  goodgain convert qrels/test.tsv qrels.txt\n"
        "  goodgain convert run.json run.txt.gz --name bm25\n"
        "  goodgain convert langfuse.json traces.jsonl\n"
        "  goodgain convert run.json traces.jsonl --from browsecomp-plus --merge-adjacent\n",
    )
    p.add_argument("source", metavar="IN", help="a file in any format that goodgain reads")
    p.add_argument("target", metavar="OUT", help="a file, compressed by its ending; - is stdout")
    p.add_argument(
        "--to", metavar="FORMAT", help=f"{', '.join(FORMATS)} (default: by OUT's ending)"
    )
    p.add_argument(
        "--kind", choices=("run", "qrels", "traces"), help="what IN is (default: as it looks)"
    )
    p.add_argument("--name", help="the run's name in TREC lines (default: as in IN)")
    p.add_argument("--columns", metavar="ROLE=NAME,...", default="",
                   help="columns of IN: query=, doc=, score=, gain=, target=, aspect=")  # fmt: skip
    add_reading(p)
    p.add_argument(
        "--merge-adjacent",
        action="store_true",
        help="BrowseComp-Plus: calls with nothing between them are one iteration",
    )
    p.add_argument("-q", "--quiet", action="store_true", help="do not say what is lost")
    return p


def run(args: argparse.Namespace) -> int:
    """Convert one file."""
    if args.kind == "traces" or (args.kind is None and _are_traces(args)):
        return _convert_traces(args)
    return _convert_table(args)


def _are_traces(args: argparse.Namespace) -> bool:
    """A format of traces was named, or IN looks like one and like no table."""
    from goodgain.errors import GoodgainError
    from goodgain.io.convert import table_kinds
    from goodgain.traces.files import trace_format

    if args.source_format:
        return True
    if args.source == "-" or table_kinds(args.source):
        return False
    try:
        return bool(trace_format(args.source))
    except GoodgainError:
        return False


def _convert_traces(args: argparse.Namespace) -> int:
    from goodgain.traces.convert import convert_traces

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


def _convert_table(args: argparse.Namespace) -> int:
    from goodgain.errors import UsageError
    from goodgain.io.convert import convert, converted_bytes, target_format

    columns = pairs([args.columns], "--columns")
    if args.target == "-":
        if args.to is None:
            raise UsageError("standard output has no ending", hint="say the format with --to")
        form = target_format(args.target, args.to)
        data, done = converted_bytes(
            args.source, form, kind=args.kind, columns=columns, name=args.name
        )
        sys.stdout.buffer.write(data)
    else:
        done = convert(
            args.source, args.target, to=args.to, kind=args.kind, columns=columns, name=args.name
        )
    warn(args, done.losses)
    if not args.quiet:
        what = "run" if done.kind == "run" else "judgements"
        to = "standard output" if args.target == "-" else args.target
        print(
            f"{to}: {what} in {done.format}, {done.rows:,} rows, {done.queries:,} queries",
            file=sys.stderr,
        )
    return 0
