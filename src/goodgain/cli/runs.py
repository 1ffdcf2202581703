"""From the arguments of a command to evaluated runs."""

from __future__ import annotations

from goodgain.cli.options import choose_engine, parse_pairs
from goodgain.errors import UsageError
from goodgain.io.naming import is_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from goodgain.ranking import Evaluation


def _named(run: Any, columns: dict[str, str]) -> Any:
    """NAME=PATH as a run of that name, whatever lies there; anything else as it is."""
    name, equals, path = run.partition("=") if isinstance(run, str) else ("", "", "")
    if not equals or not name or "/" in name:
        return run
    from pathlib import Path

    if Path(run).exists() or not (Path(path).exists() or is_place(path)):
        return run
    from goodgain.data.run import Run
    from goodgain.io.columns import columns_of

    return Run(path, name=name, columns=columns_of("run", columns))


def evaluate_runs(args: argparse.Namespace, runs: Sequence[Any], measures: Any) -> Evaluation:
    """Evaluate runs with the options of `add_evaluation` and, where a command has it, --engine."""
    from goodgain.engines.local import LocalEngine
    from goodgain.io.span_tables import is_span_table
    from goodgain.ranking.evaluator import has_budget

    columns = parse_pairs([args.columns], "--columns")
    if getattr(args, "engine", "local") == "local":
        runs = [_named(run, columns) for run in runs]
    if is_span_table(args.qrels) or has_budget(measures):
        from goodgain.ranking import evaluate

        if getattr(args, "engine", "local") != "local":
            raise UsageError(
                "judged spans and budgets of tokens are not available with --engine spark",
                hint="leave --engine out",
            )
        return evaluate(
            args.qrels, list(runs), measures, documents=getattr(args, "documents", None),
            policy=parse_pairs(args.policy, "--policy"), preset=args.preset, cover=args.cover,
            tokenizer=args.tokenizer, columns=columns,
            skip_bad=getattr(args, "skip_bad", False), threads=args.threads,
            memory=getattr(args, "memory", None),
        )  # fmt: skip
    if getattr(args, "documents", None) and not hasattr(args, "report"):
        raise UsageError(
            "--documents applies to judged spans and budgets of tokens", hint="leave it out"
        )
    memory = getattr(args, "memory", None)
    engine = choose_engine(args) if hasattr(args, "engine") else LocalEngine(args.threads, memory)
    evaluation: Evaluation = engine.evaluate(
        args.qrels,
        list(runs),
        measures,
        policy=parse_pairs(args.policy, "--policy"),
        preset=args.preset,
        columns=columns,
        skip_bad=getattr(args, "skip_bad", False),
    )
    return evaluation


def group_by_system(texts: Sequence[str]) -> dict[str, list[str]]:
    """Group FILE and NAME=FILE arguments by system: the same NAME again is another seed of it.

    A key is `=NAME`, or a number for a file without a name: that file is a system of its own.
    """
    from pathlib import Path

    systems: dict[str, list[str]] = {}
    for i, text in enumerate(texts):
        name, equals, path = text.partition("=")
        if equals and name and not Path(text).exists():
            systems.setdefault(f"={name}", []).append(path)
        else:
            systems[f"{i}"] = [text]
    return systems
