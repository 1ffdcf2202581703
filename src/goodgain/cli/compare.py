"""`goodgain compare`: significance against a baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodgain.cli.options import (
    add_evaluation,
    add_output,
    add_report,
    beside,
    command_parser,
    warn,
    write,
)
from goodgain.cli.runs import evaluated, named_files
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from goodgain.ranking import Evaluation

DEFAULT_MEASURES = "nDCG@10 AP RR"


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.comparison.pairing import UNPAIRED
    from goodgain.stats.corrections import CORRECTIONS
    from goodgain.stats.paired import BOOTSTRAPS, PERMUTATIONS, TESTS

    p = command_parser(
        "compare",
        "Compare systems with a baseline, query by query: from runs, from a table of per-query scores\n"
        "made elsewhere, or from side-by-side labels.",
        "examples:\n"
        '  goodgain compare qrels.txt bm25.run dense.run hybrid.run -m "nDCG@10 AP"\n'
        "  goodgain compare qrels.txt bm25.run dense=seed1.run dense=seed2.run --test randomisation\n"
        "  goodgain compare --scores scores.csv --system method --query query_id --baseline X\n"
        "  goodgain compare --scores scores.csv --baseline X --by complexity --format latex\n"
        "  goodgain compare --gsb labels.csv\n",
    )
    p.add_argument("qrels", metavar="QRELS", nargs="?", help="judgements")
    p.add_argument(
        "runs", metavar="RUN", nargs="*",
        help="the baseline first; NAME=FILE names a run, and the same NAME again is another seed of it",
    )  # fmt: skip
    p.add_argument(
        "-m", "--measures", action="append", metavar="MEASURES",
        help=f'for example "nDCG@10 AP" (default: {DEFAULT_MEASURES}; of scores, every column)',
    )  # fmt: skip
    add_scores(p)
    p.add_argument("--gsb", metavar="FILE", help="labels: query[, doc], Good|Same|Bad[, annotator]")
    group = p.add_argument_group("comparison")
    group.add_argument(
        "--baseline", metavar="NAME", action="append",
        help="the system to compare with, again for several; all: every pair (default: the first)",
    )  # fmt: skip
    add_choice(group, "--test", TESTS, "t")
    add_choice(group, "--correction", CORRECTIONS, "holm")
    group.add_argument("--alpha", type=float, default=0.05, metavar="P", help="(default: 0.05)")
    group.add_argument(
        "--confidence", type=float, default=0.95, metavar="P", help="(default: 0.95)"
    )
    group.add_argument(
        "--margin", action="append", metavar="[MEASURE=]M",
        help="also test non-inferiority and equivalence within 0.01, 2%%, nDCG@10=0.01",
    )  # fmt: skip
    group.add_argument(
        "--tie",
        type=float,
        default=0.0,
        metavar="D",
        help="differences up to this are ties (default: 0)",
    )
    add_choice(group, "--unpaired", UNPAIRED, "drop")
    group.add_argument("--by", metavar="COLUMN", help="a table for each group, and the interaction")
    group.add_argument(
        "--queries", metavar="FILE",
        help="the table of queries that has the column of --by, and their texts for --report",
    )  # fmt: skip
    group.add_argument(
        "--permutations",
        type=int,
        default=PERMUTATIONS,
        metavar="N",
        help=f"(default: {PERMUTATIONS:,})",
    )
    group.add_argument(
        "--bootstraps", type=int, default=BOOTSTRAPS, metavar="N", help=f"(default: {BOOTSTRAPS:,})"
    )
    group.add_argument("--random-seed", type=int, default=0, metavar="N", help="(default: 0)")
    p.add_argument("--save", metavar="FILE", help="save the whole result as JSON")
    add_evaluation(p)
    page = add_report(p, texts=False)
    page.add_argument(
        "--documents", metavar="FILE", help="the documents' texts: columns for id and text"
    )
    add_output(p, per_query=False)
    return p


def add_choice(group: Any, option: str, choices: Any, default: str) -> None:
    """An option whose choices explain themselves."""
    known = "; ".join(f"{name}: {text}" for name, text in choices.items()).replace("%", "%%")
    group.add_argument(option, choices=list(choices), default=default, metavar="NAME",
                       help=f"{known} (default: {default})")  # fmt: skip


def add_scores(p: argparse.ArgumentParser) -> None:
    """--scores and the columns of such tables."""
    group = p.add_argument_group("scores made elsewhere")
    group.add_argument(
        "--scores", metavar="FILE", action="append",
        help="a table of system, query and a column for each measure (or columns measure and value)",
    )  # fmt: skip
    group.add_argument(
        "--system", metavar="COLUMN", help="the system's column (default: its usual names)"
    )
    group.add_argument(
        "--query", metavar="COLUMN", help="the query's column (default: its usual names)"
    )
    group.add_argument("--seed-column", metavar="COLUMN", help="the seed's column (default: seed)")
    group.add_argument(
        "--lower-is-better", metavar="MEASURE", action="append", default=[],
        help="less is more (time and cost are known)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Compare and print."""
    from goodgain.comparison import compare

    if args.gsb:
        return _gsb(args)
    notes: list[str] = []
    inputs: list[dict[str, Any]] = []
    evaluations: list[Evaluation] = []
    sources = score_sources(args) if args.scores else _run_sources(args, inputs, evaluations)
    notes += [warning for evaluation in evaluations for warning in evaluation.warnings()]
    result = compare(
        *sources,
        measures=args.measures if args.scores else None,
        baseline=_baselines(args.baseline),
        test=args.test,
        correction=args.correction,
        alpha=args.alpha,
        confidence=args.confidence,
        margin=margins(args.margin),
        tie=args.tie,
        unpaired=args.unpaired,
        by=args.by,
        queries=args.queries,
        columns=score_columns(args),
        lower_is_better=args.lower_is_better,
        permutations=args.permutations,
        bootstraps=args.bootstraps,
        seed=args.random_seed,
        threads=args.threads,
    )
    if inputs:
        result = replace(result, inputs=tuple(inputs))
    texts = {"queries": _queries_with_texts(args.queries)} if args.report else {}
    write(args, result.render(args.format), beside(args, result, *evaluations, **texts))
    warn(args, [*notes, *result.warnings()])
    return 0


def _gsb(args: argparse.Namespace) -> int:
    from goodgain.comparison import gsb_labels

    if args.qrels or args.scores:
        raise UsageError("--gsb stands alone: it takes no judgements, runs or scores")
    columns = {"query": args.query} if args.query else {}
    found = gsb_labels(args.gsb, columns=columns, alpha=args.alpha, confidence=args.confidence,
                       seed=args.random_seed)  # fmt: skip
    write(args, found.render(args.format))
    return 0


def _baselines(names: list[str] | None) -> Any:
    return "all" if names == ["all"] else names


def margins(texts: list[str] | None) -> dict[str, str] | None:
    """--margin 0.01 and --margin MEASURE=0.01 as one mapping."""
    if not texts:
        return None
    found = {}
    for text in texts:
        measure, _, value = text.rpartition("=")
        found[measure] = value
    return found


def score_columns(args: argparse.Namespace) -> dict[str, str]:
    """The columns of score tables that were named."""
    given = {"system": args.system, "query": args.query, "seed": args.seed_column}
    return {role: column for role, column in given.items() if column}


def score_sources(args: argparse.Namespace) -> list[Any]:
    """The tables of scores; files that name no system are systems by their name."""
    if args.qrels:
        raise UsageError(
            "--scores stands in for judgements and runs",
            hint="leave out QRELS and RUN, or --scores",
        )
    return list(args.scores)


def _queries_with_texts(path: str | None) -> str | None:
    """The table of queries, where it has texts: one that only has groups is as good for --by."""
    from goodgain.errors import InputError
    from goodgain.io.texts import read_texts

    if path is None:
        return None
    try:
        read_texts(path, "query")
    except InputError:
        return None
    return path


def _run_sources(
    args: argparse.Namespace, inputs: list[dict[str, Any]], evaluations: list[Evaluation]
) -> list[Any]:
    from goodgain.data import Run

    if not args.qrels or not args.runs:
        raise UsageError(
            "there is nothing to compare",
            hint="goodgain compare QRELS BASELINE RUN..., or --scores FILE, or --gsb FILE",
        )
    systems: dict[str, list[Any]] = {}
    flat = []
    for name, files in named_files(args.runs).items():
        systems[name] = [Run(f, name=name[1:]) if name.startswith("=") else f for f in files]
        flat += systems[name]
    result = evaluated(args, flat, args.measures or DEFAULT_MEASURES)
    evaluations.append(result)
    if args.save:  # hashes of large files are made only where they are kept
        data = result.to_dict()
        inputs += [*data["inputs"], {"kind": "evaluation", "policy": data["policy"]}]
    scores = iter(result.runs)
    sources = []
    for key, items in systems.items():
        own = [next(scores) for _ in items]
        if len(own) > 1:
            own = [run_scores.renamed(key[1:]) for run_scores in own]
        sources.append(own if len(own) > 1 else own[0])
    return sources
