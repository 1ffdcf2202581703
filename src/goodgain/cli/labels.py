"""`goodgain labels`: look into a store, take labels out, put labels in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import add_output, command_parser, write

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "labels",
        "Look into a store of labels, take labels out of it, put labels into it.\n\n"
        "  show    every question and document with its gain, or why it has none\n"
        "  export  gains as qrels, labels as csv, or every reply as jsonl (--to)\n"
        "  import  FILE into the store: a jsonl export, or judgements of any form under --model\n"
        "  stats   what the store holds: labels, failures, tokens, money",
        "examples:\n"
        "  goodgain labels stats labels.db\n"
        "  goodgain labels export labels.db --to qrels -o qrels.txt\n"
        "  goodgain labels import labels.db human.txt --model human\n",
    )
    p.add_argument("action", choices=("show", "export", "import", "stats"), help="what to do")
    p.add_argument("store", metavar="STORE", help="the SQLite file")
    p.add_argument("file", metavar="FILE", nargs="?", help="what to import")
    p.add_argument("--model", metavar="NAME", help="the labels of this model only")
    p.add_argument("--prompt", metavar="NAME", help="the labels of this prompt only")
    p.add_argument(
        "--to", choices=("qrels", "csv", "jsonl"), default="qrels", help="(default: qrels)"
    )
    p.add_argument("--failed", action="store_true", help="show only what has no gain")
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from goodgain.errors import UsageError
    from goodgain.labels import Labels, Store
    from goodgain.labels.exchange import export, import_labels, statistics
    from goodgain.results.text import render

    if (args.file is not None) != (args.action == "import"):
        raise UsageError("FILE goes with import, and import needs it")
    if args.action == "import":
        with Store(args.store) as store:
            count = import_labels(store, args.file, args.model)
        write(args, f"{count:,} replies are new\n")
        return 0
    with Store(args.store, create=False) as store:
        if args.action == "stats":
            write(args, render(args.format, *statistics(store)))
            return 0
        labels = Labels.of(store, model=args.model, prompt=args.prompt)
        if args.action == "export":
            write(args, export(labels, args.to))
            return 0
        columns, rows = labels.rows()
        status = columns.index("status")
        kept = [row for row in rows if row[status] != "ok"] if args.failed else rows
        write(args, render(args.format, columns, kept))
    return 0
