"""`goodgain experiment`: run retrievers, time them, compare them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.cli.options import (
    add_baseline,
    add_cache,
    add_correction,
    add_folder,
    add_measures,
    add_output,
    add_primary,
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
example of FILE.toml:
  corpus = "corpus.jsonl"      # id, text, optional title; or data = "FOLDER" (BEIR, MTEB, MS MARCO)
  queries = "queries.tsv"      # id, text, and columns to group by
  qrels = "qrels.txt"
  baseline = "keyword"
  primary = ["MRR", "DR@20"]   # tested and corrected for; other measures are exploratory
  by = "targets"               # simple (up to 3), medium (4-6), complex; or a column of the queries
  seeds = [0, 1, 2]            # for systems that depend on a seed
  repeats = 3                  # of every call, to measure its latency
  timeout = 10                 # seconds
  [systems.keyword]
  retriever = "bm25"
  [systems.knn]
  retriever = "knn"
  [systems.passages]
  retriever = "knn"
  chunk = {splitter = "recursive", size = 256, overlap = 32}
  [systems.hybrid]
  retriever = "hybrid"
  of = ["keyword", "knn"]
  alpha = 0.5
  method = "wsum"
  [systems.mine]
  retriever = "my_module:search"   # query -> [(document, score)] or [document], sync or async
  [grid]                           # one system for each combination of values
  alpha = [0.3, 0.5, 0.7]          # of every system that has this parameter
  [grid.keyword]                   # of one system
  k1 = [0.9, 1.2]
"""


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.experiment.retrievers import retriever_summaries
    from goodgain.stats.corrections import CORRECTIONS
    from goodgain.stats.paired import TESTS

    p = command_parser(
        "experiment",
        "Run retrievers over the same queries, time them, measure them and compare them with a baseline.\n"
        "All calls are saved in a folder, and an interrupted experiment continues where it stopped.",
        listing("retrievers", retriever_summaries())
        + listing("tests", TESTS)
        + listing("corrections", CORRECTIONS)
        + EXAMPLE,
    )
    p.add_argument(
        "file", metavar="FILE.toml|FOLDER",
        help="an experiment to run, or the folder of a finished one",
    )  # fmt: skip
    add_folder(p, "FILE without .toml")
    add_cache(p)
    p.add_argument("--check", action="store_true", help="check the experiment without running it")
    group = p.add_argument_group("comparison")
    add_measures(group, "the experiment's")
    add_baseline(group, "the experiment's")
    add_test(group, TESTS)
    add_correction(group, CORRECTIONS)
    add_primary(group, "the experiment's")
    group.add_argument(
        "--details", action="store_true",
        help="show every difference with its interval and p-value",
    )  # fmt: skip
    add_report(p, texts=False)
    add_output(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Run or open the experiment, and print it."""
    from goodgain.experiment import ExperimentResult, read_experiment

    folder = Path(args.file)
    plan = {
        "measures": " ".join(args.measures) if args.measures else None,
        "primary": " ".join(args.primary) if args.primary else None,
        "baseline": args.baseline, "test": args.test, "correction": args.correction,
    }  # fmt: skip
    result = None
    if not folder.is_dir():
        experiment, folder = read_experiment(args.file)
        if args.check:
            points = f" ({len(experiment.points):,} points of a grid)" if experiment.points else ""
            print(f"{len(experiment.systems):,} systems{points}, {len(experiment.documents):,} documents, "
                  f"{len(experiment.queries):,} queries: ready to run", file=sys.stderr)  # fmt: skip
            return 0
        folder = Path(args.folder) if args.folder else folder
        experiment.cache = args.cache or experiment.cache
        result = experiment.run(folder, progress=not args.quiet)
        if sum(result.stages.reused.values()) and not args.quiet:
            print(result.stages, file=sys.stderr)
    elif args.check or args.folder or args.cache:
        raise UsageError(
            "--check, --folder and --cache need an experiment to run",
            where=args.file,
            hint="goodgain experiment FILE.toml",
        )
    if result is None or any(plan.values()):
        # after a run, measures of texts can be computed: the folder does not keep these
        matching = None if result is None else result.matching
        result = ExperimentResult.open(folder, matching=matching, **plan)
    if args.per_query:
        text = result.scores.render(args.format, per_query=True)
    elif args.details and result.comparison:
        text = result.comparison.render(args.format)
    else:
        text = result.render(args.format)
    write(args, text, side_files(args, result))
    warn(args, result.warnings())
    return 0
