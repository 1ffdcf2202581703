"""`goodgain experiment`: run the retrievers, time them, compare them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.cli.options import (
    add_baseline,
    add_correction,
    add_folder,
    add_output,
    add_report,
    add_test,
    listing,
)
from goodgain.cli.output import side_files, warn, write
from goodgain.cli.parser import command_parser
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse

EXAMPLE = """\
example of a file:
  corpus = "corpus.jsonl"      # id, text, and perhaps title
  queries = "queries.tsv"      # id, text, and columns to group by
  qrels = "qrels.txt"
  baseline = "keyword"
  by = "targets"               # simple (up to 3), medium (4-6), complex; or a column of the queries
  seeds = [0, 1, 2]            # for systems with chance in them
  repeats = 3                  # of every call, for its latency
  timeout = 10                 # seconds
  [systems.keyword]
  retriever = "bm25"
  [systems.knn]
  retriever = "knn"
  [systems.hybrid]
  retriever = "hybrid"
  of = ["keyword", "knn"]
  [systems.mine]
  retriever = "my_module:search"   # query -> [(document, score)], sync or async
"""


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.experiment.retrievers import BUILT_IN
    from goodgain.stats.corrections import CORRECTIONS
    from goodgain.stats.paired import TESTS

    size = max(map(len, BUILT_IN))
    known = "".join(f"  {name:<{size}}  {what}\n" for name, (_, _, what) in BUILT_IN.items())
    p = command_parser(
        "experiment",
        "Run retrievers over the same queries, time them, measure them and compare them with a baseline.\n"
        "Everything is kept in a folder; run again, an experiment goes on where it stopped.",
        f"retrievers:\n{known}\n"
        + listing("tests", TESTS)
        + listing("corrections", CORRECTIONS)
        + EXAMPLE,
    )
    p.add_argument("file", metavar="FILE.toml|FOLDER", help="an experiment, or one that was run")
    add_folder(p, "FILE without .toml")
    p.add_argument("--check", action="store_true", help="only see whether it could be run")
    group = p.add_argument_group("comparison")
    add_baseline(group, "that of FILE")
    add_test(group, TESTS)
    add_correction(group, CORRECTIONS)
    group.add_argument(
        "--details", action="store_true", help="every difference with interval and p"
    )
    add_report(p, texts=False)
    add_output(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Run or open the experiment, and print it."""
    from goodgain.experiment import ExperimentResult, read_experiment

    if Path(args.file).is_dir():
        folder: Path | None = Path(args.file)
        if args.check or args.folder:
            raise UsageError(
                "--check and --folder are for an experiment to be run, not for one that was"
            )
    else:
        experiment, chosen = read_experiment(args.file)
        folder = Path(args.folder) if args.folder else chosen
        if args.check:
            print(f"{len(experiment.systems)} systems, {len(experiment.documents):,} documents, "
                  f"{len(experiment.queries):,} queries: it can be run", file=sys.stderr)  # fmt: skip
            return 0
        result = experiment.run(folder, progress=not args.quiet)
    if Path(args.file).is_dir() or args.baseline or args.test or args.correction:
        assert folder is not None
        result = ExperimentResult.open(
            folder, baseline=args.baseline, test=args.test, correction=args.correction
        )
    if args.per_query:
        text = result.scores.render(args.format, per_query=True)
    elif args.details and result.comparison:
        text = result.comparison.render(args.format)
    else:
        text = result.render(args.format)
    write(args, text, side_files(args, result))
    warn(args, result.warnings())
    return 0
