"""`goodgain compare`: test runs against a baseline for significant differences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodgain.cli.conversations import add_trace_sources
from goodgain.cli.options import (
    add_alpha,
    add_baseline,
    add_confidence,
    add_correction,
    add_evaluation,
    add_margin,
    add_measures,
    add_output,
    add_primary,
    add_qrels,
    add_report,
    add_save,
    add_seed,
    add_seeds,
    add_spans,
    add_test,
    add_unpaired,
    as_id,
    listing,
    parse_pairs,
)
from goodgain.cli.output import side_files, warn, write
from goodgain.cli.parser import command_parser
from goodgain.cli.runs import evaluate_runs, group_by_system
from goodgain.errors import GoodgainError, UsageError

if TYPE_CHECKING:
    import argparse

    from goodgain.ranking import Evaluation

DEFAULT_MEASURES = "nDCG@10 AP RR"


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.comparison.pairing import UNPAIRED
    from goodgain.comparison.replicates import SEEDS
    from goodgain.stats.corrections import CORRECTIONS
    from goodgain.stats.paired import BOOTSTRAPS, PERMUTATIONS, TESTS

    p = command_parser(
        "compare",
        "Compare systems with a baseline, query by query: runs, saved results, traces of agents (--traces),\n"
        "scores computed elsewhere (--scores), or side-by-side labels (--gsb). The first system is the\n"
        "baseline unless --baseline names another; repeat --baseline for several, or use --baseline all\n"
        "for every pair. With --margin, also test for non-inferiority and equivalence.",
        listing("tests", TESTS)
        + listing("corrections", CORRECTIONS)
        + listing("unpaired queries", UNPAIRED)
        + listing("seeds", SEEDS)
        + "examples:\n"
        '  goodgain compare qrels.txt bm25.run dense.run hybrid.run -m "nDCG@10 AP"\n'
        "  goodgain compare qrels.txt bm25.run dense=seed1.run dense=seed2.run dense=seed3.run\n"
        "  goodgain compare --scores scores.csv --system method --query query_id --baseline X\n"
        "  goodgain compare --scores scores.csv --baseline X --by complexity --format latex\n"
        '  goodgain compare --traces before.jsonl --traces after.jsonl --labels labels.tsv -m "CG SRR"\n'
        "  goodgain compare --traces before.jsonl --traces after.jsonl --conversation c7\n"
        "  goodgain compare old.json new.json\n"
        "  goodgain compare --gsb labels.csv\n",
    )
    add_qrels(p, nargs="?")
    p.add_argument(
        "runs", metavar="RUN", nargs="*",
        help="runs, the baseline first; NAME=FILE names a run, and a repeated NAME adds another seed",
    )  # fmt: skip
    add_measures(p, f"{DEFAULT_MEASURES}; with --scores, every column")
    add_save(p)
    add_scores(p)
    add_trace_sources(p)
    p.add_argument(
        "--conversation",
        metavar="ID",
        type=as_id,
        help="show where two systems diverge in one conversation, and what each found",
    )
    p.add_argument(
        "--gsb",
        metavar="FILE",
        help="side-by-side labels: query[, doc], Good|Same|Bad[, annotator]; or a store from: goodgain judge",
    )
    group = p.add_argument_group("comparison")
    add_baseline(group, "the first", action="append")
    add_test(group, TESTS, "t")
    add_correction(group, CORRECTIONS, "holm")
    add_primary(group, "all")
    add_alpha(group)
    add_confidence(group)
    add_margin(group)
    group.add_argument(
        "--tie", type=float, default=0.0, metavar="D",
        help="largest difference that counts as a tie (default: 0)",
    )  # fmt: skip
    add_unpaired(group, UNPAIRED, "drop")
    add_seeds(group, SEEDS, "random")
    group.add_argument(
        "--by",
        metavar="COLUMN",
        help="compare within each group of queries, and test the interaction",
    )
    group.add_argument(
        "--permutations", type=int, default=PERMUTATIONS, metavar="N",
        help=f"samples of the randomisation test (default: {PERMUTATIONS:,})",
    )  # fmt: skip
    group.add_argument(
        "--bootstraps", type=int, default=BOOTSTRAPS, metavar="N",
        help=f"bootstrap samples (default: {BOOTSTRAPS:,})",
    )  # fmt: skip
    add_seed(group)
    add_spans(add_evaluation(p))
    add_report(p)
    add_output(p, per_query=False)
    return p


def add_scores(parser: argparse.ArgumentParser) -> None:
    """--scores and the columns of score tables."""
    group = parser.add_argument_group("scores computed elsewhere")
    group.add_argument(
        "--scores", metavar="FILE", action="append",
        help="table with columns for system, query and each measure (or columns measure and value)",
    )  # fmt: skip
    group.add_argument(
        "--system", metavar="COLUMN", help="column with the system (default: detected)"
    )
    group.add_argument(
        "--query",
        metavar="COLUMN",
        help="column with the query, or several: COLUMN,COLUMN (default: detected)",
    )
    group.add_argument(
        "--seed-column", metavar="COLUMN", help="column with the seed (default: seed)"
    )
    group.add_argument(
        "--lower-is-better", metavar="MEASURE", action="append", default=[],
        help="measure where lower is better; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--higher-is-better", metavar="MEASURE", action="append", default=[],
        help="measure where higher is better; may be repeated",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Compare and print."""
    from goodgain.comparison import compare

    if args.gsb:
        return _compare_labels(args)
    if args.conversation is not None:
        return _compare_trajectories(args)
    inputs: list[dict[str, Any]] = []
    evaluations: list[Evaluation] = []
    measured = measured_sources(args)
    sources = measured or _run_sources(args, inputs, evaluations)
    warnings = [warning for evaluation in evaluations for warning in evaluation.warnings()]
    try:
        result = compare(
            *sources,
            measures=args.measures if measured else None,
            baseline="all" if args.baseline == ["all"] else args.baseline,
            test=args.test,
            correction=args.correction,
            primary=args.primary,
            alpha=args.alpha,
            confidence=args.confidence,
            margin=parse_margins(args.margin),
            tie=args.tie,
            unpaired=args.unpaired,
            seeds=args.seeds,
            by=args.by,
            queries=args.queries,
            columns=score_columns(args),
            lower_is_better=args.lower_is_better,
            higher_is_better=args.higher_is_better,
            permutations=args.permutations,
            bootstraps=args.bootstraps,
            seed=args.seed,
            threads=args.threads,
        )
    except GoodgainError:
        warn(args, warnings)  # they may say why, as where no id of a run is judged
        raise
    if inputs:
        result = replace(result, inputs=tuple(inputs))
    texts = {"queries": _queries_with_texts(args)} if args.report else {}
    write(args, result.render(args.format), side_files(args, result, *evaluations, **texts))
    warn(args, [*warnings, *result.warnings()])
    return 0


def _compare_labels(args: argparse.Namespace) -> int:
    from goodgain.comparison import gsb_labels

    if args.qrels or args.scores or args.traces:
        raise UsageError("--gsb cannot be combined with judgments, runs, --scores or --traces")
    result = gsb_labels(
        _preferences(args),
        columns={"query": args.query} if args.query else {},
        alpha=args.alpha,
        confidence=args.confidence,
    )
    write(args, result.render(args.format))
    return 0


def _preferences(args: argparse.Namespace) -> Any:
    """A table of labels, or the preferences in a label store, which `goodgain judge` writes."""
    from goodgain.io.files import is_sqlite
    from goodgain.labels.opening import is_url

    if not (is_url(args.gsb) or is_sqlite(args.gsb)):
        return args.gsb
    from goodgain.labels import Store
    from goodgain.labels.preferences import gsb_rows

    if args.baseline and len(args.baseline) > 1:
        raise UsageError("--gsb compares with one system")
    with Store(args.gsb, read_only=True) as store:
        return gsb_rows(store, args.baseline[0] if args.baseline else None)


def _compare_trajectories(args: argparse.Namespace) -> int:
    from goodgain.agentic import GoodGain

    result = next(iter(measured_sources(args)), None)
    if not isinstance(result, GoodGain):
        raise UsageError(
            "--conversation needs the traces of two systems",
            hint="goodgain compare --traces before.jsonl --traces after.jsonl --conversation ID",
        )
    diff = result.diff(args.conversation, args.baseline or ())
    write(args, diff.render(args.format))
    return 0


def parse_margins(texts: list[str] | None) -> dict[str, str] | None:
    """--margin 0.01 and --margin MEASURE=0.01 as one mapping."""
    if not texts:
        return None
    margins = {}
    for text in texts:
        measure, _, value = text.rpartition("=")
        margins[measure] = value
    return margins


def score_columns(args: argparse.Namespace) -> dict[str, str]:
    """The columns of score tables that options name."""
    columns = {"system": args.system, "query": args.query, "seed": args.seed_column}
    return {role: column for role, column in columns.items() if column}


def measured_sources(args: argparse.Namespace) -> list[Any]:
    """Whatever has scores already: tables (--scores), traces (--traces), or saved results; else empty."""
    from goodgain.results.loading import load, load_saved

    for option in ("scores", "traces"):
        if getattr(args, option) and args.qrels:
            raise UsageError(
                f"--{option} cannot be combined with judgments and runs",
                hint=f"leave out QRELS and RUN, or --{option}",
            )
    if args.scores and args.traces:
        raise UsageError("--scores cannot be combined with --traces")
    if args.scores:
        return list(args.scores)
    if args.traces:
        from goodgain.cli.conversations import measure_traces

        result = measure_traces(args, args.traces, "file" if len(args.traces) > 1 else "system")
        warn(args, result.warnings())
        return [result]
    if args.qrels and (first := load_saved(args.qrels)) is not None:
        return [first, *(load(path) for path in args.runs)]
    return []


def _queries_with_texts(args: argparse.Namespace) -> str | None:
    """The table of queries for the page; one that only has groups is enough for --by."""
    from goodgain.io.texts import has_texts

    path: str | None = args.queries
    return None if path is None or (args.by and not has_texts(path)) else path


def _run_sources(
    args: argparse.Namespace, inputs: list[dict[str, Any]], evaluations: list[Evaluation]
) -> list[Any]:
    from goodgain.data import Run
    from goodgain.io.columns import columns_of
    from goodgain.ranking.evaluator import several_runs

    if not args.qrels or not args.runs:
        raise UsageError(
            "nothing to compare",
            hint="goodgain compare QRELS BASELINE RUN..., or saved results, --traces, --scores or --gsb",
        )
    columns = columns_of("run", parse_pairs([args.columns], "--columns"))
    systems: dict[str, list[Any]] = {}
    for name, files in group_by_system(args.runs).items():
        if name.startswith("="):
            systems[name] = [Run(f, name=name[1:], columns=columns) for f in files]
            for run in systems[name]:
                run.require_one_run()
            continue
        for number, run in enumerate(
            several_runs(files, columns, skip_bad=args.skip_bad)
        ):  # a folder may hold many
            systems[f"{name}/{number}"] = [run]
    runs = [run for seeds in systems.values() for run in seeds]
    measures = [*(args.primary or ()), *(args.measures or [DEFAULT_MEASURES])]
    evaluation = evaluate_runs(args, runs, measures)
    evaluations.append(evaluation)
    if args.save:  # large files are hashed only when the hashes are saved
        data = evaluation.to_dict()
        inputs += [*data["inputs"], {"kind": "evaluation", "policy": data["policy"]}]
    scores = iter(evaluation.runs)
    sources = []
    for key, runs in systems.items():
        seeds = [next(scores) for _ in runs]
        if len(seeds) > 1:
            seeds = [run_scores.renamed(key[1:]) for run_scores in seeds]
        sources.append(seeds if len(seeds) > 1 else seeds[0])
    return sources
