"""`goodgain convert`: convert runs, judgments and traces between formats."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import (
    add_columns,
    add_name,
    add_quiet,
    add_trace_reading,
    listing,
    parse_pairs,
    trace_reading,
)
from goodgain.cli.output import skip_warnings, warn
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.io.convert import FORMATS

    p = command_parser(
        "convert",
        "Convert a run or judgments to another format, or traces of any format to canonical JSON lines.\n"
        "Warns about data that the new format cannot hold.",
        listing("formats", FORMATS) + "examples:\n"
        "  goodgain convert run.txt run.parquet\n"
        "  goodgain convert qrels/test.tsv qrels.txt\n"
        "  goodgain convert run.json run.txt.gz --name bm25\n"
        "  goodgain convert langfuse.json traces.jsonl\n"
        "  goodgain convert run.json traces.jsonl --from browsecomp-plus --merge-adjacent\n",
    )
    p.add_argument("source", metavar="IN", help="file in any format that goodgain reads")
    p.add_argument(
        "output", metavar="OUT", help="file to write, compressed by its suffix; - is stdout"
    )
    p.add_argument(
        "--to", metavar="FORMAT", help="format to write (default: from the suffix of OUT)"
    )
    p.add_argument(
        "--kind", choices=("run", "qrels", "traces"), help="what IN contains (default: detected)"
    )
    add_name(p, "the name in IN")
    add_columns(p)
    add_trace_reading(p)
    p.add_argument(
        "--merge-adjacent", action="store_true",
        help="BrowseComp-Plus: merge consecutive calls into one iteration",
    )  # fmt: skip
    add_quiet(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Convert one file."""
    if args.kind == "traces" or (args.kind is None and _has_traces(args)):
        return _convert_traces(args)
    return _convert_table(args)


def _has_traces(args: argparse.Namespace) -> bool:
    """Whether --from names a trace format, or IN looks like traces and not like a table."""
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
    from goodgain.traces.ledger import LedgerFile, render_ledger

    items = LedgerFile(args.ledger)
    done = convert_traces(
        args.source,
        args.output,
        merge_adjacent=args.merge_adjacent,
        sink=items.sink(args.source),
        **trace_reading(args),
    )
    items.write()
    warn(args, [*done.notes, *skip_warnings(done.skipped)])
    if not args.quiet:
        print(render_ledger(args.source, done.ledger), file=sys.stderr)
        print(f"wrote {done.written:,} conversations to {args.output}", file=sys.stderr)
    return 0


def _convert_table(args: argparse.Namespace) -> int:
    from goodgain.errors import UsageError
    from goodgain.io.convert import convert, converted_bytes, target_format

    columns = parse_pairs([args.columns], "--columns")
    if args.output == "-":
        if args.to is None:
            raise UsageError(
                "the format to write to standard output is unknown", hint="name it with --to FORMAT"
            )
        data, done = converted_bytes(
            args.source, target_format(args.output, args.to), kind=args.kind, columns=columns, name=args.name
        )  # fmt: skip
        sys.stdout.buffer.write(data)
    else:
        done = convert(
            args.source, args.output, to=args.to, kind=args.kind, columns=columns, name=args.name
        )
    warn(args, done.losses)
    if not args.quiet:
        content = "run" if done.kind == "run" else "judgments"
        target = "standard output" if args.output == "-" else args.output
        print(
            f"wrote {content} to {target}: {done.format}, {done.rows:,} rows, {done.queries:,} queries",
            file=sys.stderr,
        )
    return 0
