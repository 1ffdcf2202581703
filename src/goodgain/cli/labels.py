"""`goodgain labels`: show, export, import, merge or verify the labels in a store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from goodgain.cli.label_samples import add_sampling, draw, next_labels
from goodgain.cli.label_tasks import show_grades, show_nuggets
from goodgain.cli.options import add_output
from goodgain.cli.output import warn, write
from goodgain.cli.parser import command_parser, format_of_suffix

if TYPE_CHECKING:
    import argparse

ACTIONS = (
    "show", "export", "import", "merge", "stats", "verify", "sample", "next", "nuggets", "grades",
)  # fmt: skip
FORMS = ("quepid", "label-studio", "argilla", "doccano", "phoenix", "langfuse")
RULES = ("majority", "mean", "median", "dawid-skene")


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "labels",
        "Show, export, import, merge or verify the labels in a store.\n\n"
        "  show    list every pair with its gain, or why it has none\n"
        "  export  write gains as qrels, labels as csv, all replies or votes as jsonl or parquet, or in a\n"
        "          tool's format (--to)\n"
        "  import  add each FILE: a jsonl or parquet export, judgments in any format, or a tool's export\n"
        "          (--tool); people's labels are stored as votes, by --annotator or the names in the file\n"
        "  merge   add everything from other stores (FILE...) that STORE lacks\n"
        "  stats   count labels, failures, tokens and cost\n"
        "  verify  compare every row with its checksum, and check the file; status 1 if it is damaged\n"
        "  nuggets list the nuggets of --annotator, or import each FILE under that name\n"
        "  grades  compute grades from people's preferences, or a judge's (--model), optionally anchored by\n"
        "          --human; --to qrels writes them as judgments\n\n"
        f"tools: {', '.join(FORMS)}",
        "examples:\n"
        "  goodgain labels stats labels.db\n"
        "  goodgain labels export labels.db --to qrels -o qrels.txt\n"
        "  goodgain labels export labels.db --people dawid-skene -o qrels.txt\n"
        "  goodgain labels import labels.db human.txt --annotator ann\n"
        "  goodgain labels import labels.db label-studio.json --gains relevant=1,irrelevant=0\n"
        "  goodgain labels grades labels.db --model NAME --human anchors.txt --to qrels -o grades.txt\n"
        "  goodgain labels merge labels.db colleague.db\n"
        "  goodgain labels verify labels.db\n"
        "  goodgain labels sample labels.db --count 50 --whole-queries --runs bm25.run knn.run -o list.csv\n"
        "  goodgain labels sample labels.db --count 300 --by label --sample second --allocation neyman \\\n"
        "      --learn-from first\n"
        "  goodgain labels next labels.db --runs bm25.run knn.run -m P@10 --count 5\n"
        "  goodgain labels next labels.db --runs bm25.run knn.run --settle\n",
    )
    p.add_argument("action", choices=ACTIONS, help="what to do")
    p.add_argument("store", metavar="STORE", help="label store: a SQLite file, or postgresql://...")
    p.add_argument("files", metavar="FILE", nargs="*", help="files to import, or stores to merge")
    add_label_filter(p)
    p.add_argument(
        "--annotator", metavar="NAME",
        help="only votes by this person; for import, whose labels they are",
    )  # fmt: skip
    p.add_argument(
        "--people", choices=RULES, metavar="RULE",
        help="votes of all people, as one gain per document by majority, mean, median or dawid-skene",
    )  # fmt: skip
    p.add_argument(
        "--to", choices=("qrels", "csv", "jsonl", "parquet", *FORMS), metavar="FORMAT",
        help="format to write (default: csv, jsonl or parquet by the suffix of -o FILE, otherwise qrels)",
    )  # fmt: skip
    p.add_argument(
        "--tool", choices=("table", *FORMS), metavar="NAME",
        help="tool that wrote the file, or 'table' for one row per label (default: detected)",
    )  # fmt: skip
    p.add_argument(
        "--question", metavar="NAME",
        help="which question or score to import, if there are several",
    )  # fmt: skip
    p.add_argument("--gains", metavar="LABEL=GAIN,...", help="gains for labels that are words")
    p.add_argument("--failed", action="store_true", help="show only labels that failed")
    add_sampling(p)
    add_output(p, per_query=False)
    return p


def add_label_filter(parser: Any) -> None:
    """--model, --prompt, --setting: which labels of a store."""
    parser.add_argument("--model", metavar="NAME", help="only labels by this model")
    parser.add_argument("--prompt", metavar="NAME", help="only labels with this prompt")
    parser.add_argument(
        "--setting", metavar="ID", help="only labels of the setting whose id starts with ID"
    )


def run(args: argparse.Namespace) -> int:
    """Show, export, import, merge, count or verify."""
    from goodgain.errors import UsageError

    takes_files = args.action in ("import", "merge", "nuggets")
    if takes_files and not args.files and args.action != "nuggets":
        raise UsageError(
            f"{args.action} needs a FILE", hint=f"goodgain labels {args.action} STORE FILE"
        )
    if args.files and not takes_files:
        raise UsageError(f"{args.action} does not take a FILE, got '{args.files[0]}'")
    actions = {
        "import": _import, "merge": _merge, "verify": _verify, "sample": draw, "next": next_labels,
        "nuggets": show_nuggets, "grades": show_grades,
    }  # fmt: skip
    return actions.get(args.action, _read)(args)


def _read(args: argparse.Namespace) -> int:
    from goodgain.labels import Store
    from goodgain.labels.exchange import described, export, statistics
    from goodgain.labels.result import labels_of
    from goodgain.results.text import render, render_data

    with Store(args.store, read_only=True) as store:
        if args.action == "stats":
            write(args, render(args.format, *statistics(store)))
            return 0
        labels = labels_of(
            store, model=args.model, prompt=args.prompt, setting=args.setting,
            annotator=args.annotator, people=args.people,
        )  # fmt: skip
        if args.action == "export":
            to = (
                args.to
                or format_of_suffix(args.output, ["qrels", "csv", "jsonl", "parquet"])
                or "qrels"
            )
            if to == "parquet":
                _write_parquet(args, labels)
            else:
                write(args, export(labels, to))
            if not args.quiet:
                print(described(labels), file=sys.stderr)
            return 0
        columns, rows = labels.rows()
        status = columns.index("status")
        if args.failed:
            rows = [row for row in rows if row[status] != "ok"]
        write(args, render_data(args.format, columns, rows))
    return 0


def _write_parquet(args: argparse.Namespace, labels: Any) -> None:
    from goodgain.errors import UsageError
    from goodgain.io.atomic import write_files
    from goodgain.labels.exchange import export_parquet

    if not args.output or args.output == "-":
        raise UsageError("parquet is written to a file", hint="name it: -o labels.parquet")
    write_files({args.output: export_parquet(labels)})


def _import(args: argparse.Namespace) -> int:
    from goodgain.labels.imports import import_labels
    from goodgain.labels.opening import new_store

    summary = ""
    with new_store(args.store) as store:
        for file in args.files:
            done = import_labels(
                store, file, args.model, annotator=args.annotator, form=args.tool, name=args.question,
                gains=_gains(args.gains),
            )  # fmt: skip
            summary += (
                f"{file}: imported {done.replies:,} new replies and {done.votes:,} new votes\n"
            )
            warn(args, [f"{file}: left out {count:,} {what}" for what, count in done.left_out])
    write(args, summary)
    return 0


def _gains(text: str | None) -> dict[str, float]:
    from goodgain.errors import UsageError

    gains = {}
    for item in filter(None, (text or "").split(",")):
        word, _, value = item.rpartition("=")
        try:
            gains[word.strip()] = float(value)
        except ValueError:
            raise UsageError(
                f"invalid gain '{item}'", hint="for example --gains relevant=1,irrelevant=0"
            ) from None
    return gains


def _merge(args: argparse.Namespace) -> int:
    from goodgain.labels import Store
    from goodgain.labels.merge import merge
    from goodgain.labels.opening import new_store

    summary = ""
    with new_store(args.store) as target:
        for file in args.files:
            with Store(file, read_only=True) as source:
                new = merge(target, source)
                rows = ", ".join(f"{count:,} {table}" for table, count in new.items() if count)
                summary += f"{source.path}: added {rows or 'nothing'}\n"
    write(args, summary)
    return 0


def _verify(args: argparse.Namespace) -> int:
    from goodgain.labels.verify import verify
    from goodgain.results.text import render

    verification = verify(args.store)
    if not verification.checksums:
        warn(args, ["the store has format 1, without checksums; the next labelling upgrades it"])
    if not verification.damages:
        write(args, f"{verification.rows:,} rows verified, no damage\n")
        return 0
    rows = [[damage.where, damage.what] for damage in verification.damages]
    write(args, render(args.format, ["where", "damage"], rows))
    return 1
