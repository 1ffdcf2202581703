"""From the arguments of a command to evaluated runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.cli.options import pairs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from goodgain.evaluation import Evaluation


def evaluated(args: argparse.Namespace, runs: Sequence[Any], measures: Any) -> Evaluation:
    """Evaluate runs as --policy, --preset, --threads and --columns say."""
    from goodgain.evaluation import Evaluator
    from goodgain.evaluation.evaluator import named_runs
    from goodgain.tables import Qrels

    columns = pairs([args.columns], "--columns")
    roles = {
        "run": ("query", "doc", "score"),
        "qrels": ("query", "doc", "gain", "target", "aspect"),
    }
    of = {t: {r: c for r, c in columns.items() if r in names} for t, names in roles.items()}
    unknown = set(columns) - {r for names in roles.values() for r in names}
    evaluator = Evaluator(
        Qrels(args.qrels, columns=of["qrels"] | {r: columns[r] for r in unknown}),
        measures,
        policy=pairs(args.policy, "--policy"),
        preset=args.preset,
        threads=args.threads,
    )
    return evaluator.evaluate(named_runs(runs, of["run"]))


def named_files(texts: Sequence[str]) -> dict[str, list[str]]:
    """FILE or NAME=FILE; the same NAME again is another seed of that system."""
    found: dict[str, list[str]] = {}
    for i, text in enumerate(texts):
        name, equals, path = text.partition("=")
        if equals and name and not Path(text).exists():
            found.setdefault(f"={name}", []).append(path)
        else:
            found[f"{i}"] = [text]  # a file alone is a system of its own
    return found
