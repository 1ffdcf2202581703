"""`goodgain labels`: show, export or import the labels in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.cli.options import add_output
from goodgain.cli.output import write
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "labels",
        "Show, export or import the labels in a store.\n\n"
        "  show    every question and document with its gain, or why it has none\n"
        "  export  gains as qrels, labels as csv, or all replies as jsonl (--to)\n"
        "  import  add FILE to the store: a jsonl export, or judgments in any format (with --model)\n"
        "  stats   labels, failures, tokens and cost of the store",
        "examples:\n"
        "  goodgain labels stats labels.db\n"
        "  goodgain labels export labels.db --to qrels -o qrels.txt\n"
        "  goodgain labels import labels.db human.txt --model human\n",
    )
    p.add_argument("action", choices=("show", "export", "import", "stats"), help="what to do")
    p.add_argument("store", metavar="STORE", help="label store (SQLite)")
    p.add_argument("file", metavar="FILE", nargs="?", help="file to import")
    add_label_filter(p)
    p.add_argument(
        "--to", choices=("qrels", "csv", "jsonl"), default="qrels", metavar="FORMAT",
        help="format to write (default: qrels)",
    )  # fmt: skip
    p.add_argument("--failed", action="store_true", help="show only labels that failed")
    add_output(p, per_query=False)
    return p


def add_label_filter(parser: Any) -> None:
    """--model, --prompt: which labels of a store."""
    parser.add_argument("--model", metavar="NAME", help="only labels by this model")
    parser.add_argument("--prompt", metavar="NAME", help="only labels with this prompt")


def run(args: argparse.Namespace) -> int:
    """Show, export, import or count."""
    from goodgain.errors import UsageError
    from goodgain.labels import Labels, Store
    from goodgain.labels.exchange import export, import_labels, statistics
    from goodgain.results.text import render

    if args.file is None and args.action == "import":
        raise UsageError("import needs a FILE", hint="goodgain labels import STORE FILE")
    if args.file is not None and args.action != "import":
        raise UsageError(f"{args.action} does not take a FILE, got '{args.file}'")
    if args.action == "import":
        with Store(args.store) as store:
            count = import_labels(store, args.file, args.model)
        write(args, f"imported {count:,} new replies\n")
        return 0
    with Store(args.store, read_only=True) as store:
        if args.action == "stats":
            write(args, render(args.format, *statistics(store)))
            return 0
        labels = Labels.of(store, model=args.model, prompt=args.prompt)
        if args.action == "export":
            write(args, export(labels, args.to))
            return 0
        columns, rows = labels.rows()
        status = columns.index("status")
        if args.failed:
            rows = [row for row in rows if row[status] != "ok"]
        write(args, render(args.format, columns, rows))
    return 0
