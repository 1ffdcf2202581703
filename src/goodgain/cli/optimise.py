"""`goodgain optimise`: race the settings of an experiment, or choose from one that was run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.cli.compare import parse_margins
from goodgain.cli.options import (
    add_alpha,
    add_cache,
    add_folder,
    add_held_out,
    add_margin,
    add_max_cost,
    add_max_latency,
    add_measures,
    add_output,
    add_report,
    add_save,
    add_seed,
)
from goodgain.cli.output import side_files, warn, write
from goodgain.cli.parser import command_parser
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from goodgain.experiment.optimisation import Optimisation

EXAMPLES = """\
examples:
  goodgain optimise experiment.toml -m nDCG@10
  goodgain optimise experiment.toml -m nDCG@10 --max-latency 50ms
  goodgain optimise experiment.toml -m Recall@20 --max-latency p99=1s --max-cost 0.002
  goodgain optimise experiment -m nDCG@10      # a finished experiment: makes no calls
"""


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "optimise",
        "Find the best system of an experiment, or the best point of its grid, with few calls.\n"
        "Settings race query by query; those that are clearly worse, or clearly over a budget, are dropped.\n"
        "The winner is measured on queries that did not choose it. All calls are saved in the\n"
        "experiment's folder: an interrupted race continues, and `goodgain experiment` reuses them.",
        EXAMPLES,
    )
    p.add_argument(
        "file", metavar="FILE.toml|FOLDER",
        help="an experiment to race, or the folder of a finished one",
    )  # fmt: skip
    add_measures(p, "the first of the experiment")
    add_folder(p, "FILE without .toml")
    add_cache(p)
    group = p.add_argument_group("budget")
    add_max_latency(group)
    add_max_cost(group)
    group = p.add_argument_group("race")
    add_margin(group, "0.02 of the measure's range")
    add_held_out(group, 0.5)
    add_alpha(group)
    add_seed(group)
    add_report(p, texts=False)
    add_save(p)
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Race, or choose from a folder, and print the answer."""
    if Path(args.file).is_dir():
        return _choose(args)
    result = _race(args)
    write(args, result.render(args.format), side_files(args, result))
    warn(args, result.warnings())
    return 0


def _race(args: argparse.Namespace) -> Optimisation:
    from goodgain.experiment import read_experiment
    from goodgain.experiment.optimise import run_race, task_of
    from goodgain.experiment.racing import budgets_of

    budgets = budgets_of(args.max_latency, args.max_cost)
    experiment, folder = read_experiment(args.file)
    experiment.cache = args.cache or experiment.cache
    task = task_of(
        experiment,
        " ".join(args.measures) if args.measures else None,
        budgets=budgets,
        margin=parse_margins(args.margin),
        held_out=args.held_out,
        alpha=args.alpha,
        seed=args.seed,
    )
    return run_race(experiment, task, args.folder or folder, progress=not args.quiet)


def _choose(args: argparse.Namespace) -> int:
    """The best of an experiment that was run, by cross-validation."""
    from goodgain.experiment import ExperimentResult

    refused = {
        "--max-latency": args.max_latency, "--max-cost": args.max_cost, "--margin": args.margin,
        "--folder": args.folder, "--save": args.save,
    }  # fmt: skip
    for option, value in refused.items():
        if value is not None:
            raise UsageError(
                f"{option} needs an experiment to race",
                where=args.file,
                hint="goodgain optimise FILE.toml",
            )
    result = ExperimentResult.open(args.file)
    choices = result.choose(" ".join(args.measures) if args.measures else None, seed=args.seed)
    write(args, choices.render(args.format), side_files(args, result))
    warn(args, result.warnings())
    return 0
