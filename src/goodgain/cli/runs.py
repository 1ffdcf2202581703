"""From the arguments of a command to evaluated runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.cli.options import engine, pairs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from goodgain.ranking import Evaluation


def evaluated(args: argparse.Namespace, runs: Sequence[Any], measures: Any) -> Evaluation:
    """Evaluate runs as --policy, --preset, --threads, --columns and, where there is one, --engine say."""
    from goodgain.engines import LocalEngine

    where = engine(args) if hasattr(args, "engine") else LocalEngine(args.threads)
    found: Evaluation = where.evaluate(
        args.qrels,
        list(runs),
        measures,
        policy=pairs(args.policy, "--policy"),
        preset=args.preset,
        columns=pairs([args.columns], "--columns"),
        skip_bad=getattr(args, "skip_bad", False),
    )
    return found


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
