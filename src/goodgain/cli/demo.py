"""`goodgain demo`: three retrievers over the documentation of the standard library, measured."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import add_output, command_parser, write

if TYPE_CHECKING:
    import argparse

# A document answers a question from gain 2 on; below that it is only on topic.
MEASURES = "nDCG@10 RR(rel=2) Hit(rel=2)@10 R(rel=2)@20 DR(rel=2)@20 Diversity(rel=2)@20 Judged@10"


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "demo",
        "Search the documentation of Python's standard library with three retrievers (keyword, KNN,\n"
        "and both fused) and measure them against the judgements that ship with goodgain.",
    )
    add_output(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Retrieve, measure, print."""
    from goodgain.demo import collection
    from goodgain.errors import MissingExtraError
    from goodgain.evaluation import evaluate
    from goodgain.tables import Qrels

    documents = collection.documents()
    questions = collection.questions()
    judged = collection.judgements(documents)
    if not args.quiet:
        print(
            f"{len(documents):,} docstrings of Python {sys.version_info.major}."
            f"{sys.version_info.minor}, {len(questions)} questions, {len(judged.rows):,} judgements "
            f"({judged.left_out} of documents that this Python lacks are left out)\n",
            file=sys.stderr,
        )
    try:
        from goodgain.demo.retrievers import runs

        found = runs(documents, questions)
    except ModuleNotFoundError as error:
        raise MissingExtraError.for_package(error.name or "bm25s", "retrieve", "the demo") from None
    result = evaluate(Qrels(judged.rows, name="demo judgements"), found, MEASURES)
    write(args, result.render(args.format, args.per_query))
    if not args.quiet:
        print(
            "\nA document counts as relevant from gain 2 on. What a measure means: goodgain measures DR",
            file=sys.stderr,
        )
    return 0
