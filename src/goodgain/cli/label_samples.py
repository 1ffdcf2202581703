"""`goodgain labels sample` and `goodgain labels next`: what people should judge."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from goodgain.cli.options import add_depth, add_measures, add_runs, add_seed, add_settle
from goodgain.cli.output import write

if TYPE_CHECKING:
    import argparse

    from goodgain.labels import Store

DEFAULT_MEASURES = "nDCG@10"


def add_sampling(parser: Any) -> None:
    """The options of sample and next."""
    from goodgain.labels.frames import STRATA
    from goodgain.labels.sampling import ALLOCATIONS

    group = parser.add_argument_group("sample, next")
    group.add_argument(
        "--sample", metavar="NAME", help="name of the sample to draw, or to continue"
    )
    group.add_argument("--count", type=int, metavar="N", help="number to draw")
    group.add_argument(
        "--whole-queries",
        action="store_true",
        help="draw queries with all their documents, not pairs",
    )
    group.add_argument(
        "--by", metavar="KEY,...", help=f"divide into strata by: {', '.join(STRATA)}"
    )
    group.add_argument(
        "--allocation", choices=list(ALLOCATIONS), default="proportional", metavar="NAME",
        help=f"draws per stratum: {', '.join(ALLOCATIONS)} (default: proportional)",
    )  # fmt: skip
    group.add_argument(
        "--learn-from", metavar="NAME", help="earlier sample that allocation neyman learns from"
    )
    group.add_argument(
        "--human", metavar="FILE", help="labels of people (default: the votes in the store)"
    )
    add_runs(group)
    add_depth(group, "10")
    add_measures(group, DEFAULT_MEASURES)
    group.add_argument(
        "--difference",
        action="store_true",
        help="with two --runs: the interval of the difference between them, not of their means",
    )
    add_settle(group)
    add_seed(group)


def draw(args: argparse.Namespace) -> int:
    """Draw a sample, print what was drawn, and write the list."""
    from goodgain.errors import InputError, UsageError
    from goodgain.labels.opening import new_store
    from goodgain.labels.sampling import draw_sample

    if args.count is None:
        raise UsageError("sample needs a number", hint="goodgain labels sample STORE --count 50")
    with new_store(args.store, create=False) as store:
        if not args.runs and not store.db.execute("SELECT 1 FROM asked LIMIT 1").fetchone():
            raise InputError(
                "there is nothing to draw from: the store has no labels",
                where=args.store,
                hint="give runs (--runs), or label documents first",
            )
        sample = draw_sample(
            store,
            args.count,
            name=args.sample or "sample",
            unit="queries" if args.whole_queries else "pairs",
            by=[key.strip() for key in (args.by or "").split(",") if key.strip()],
            allocation=args.allocation,
            runs=args.runs or None,
            depth=args.depth or 10,
            seed=args.seed,
            earlier=args.learn_from,
            human=args.human,
            model=args.model,
            prompt=args.prompt,
            setting=args.setting,
        )
        columns, rows = sample.rows()
        _report(args, store, sample.sentences(), columns, rows, sample.name)
    return 0


def next_labels(args: argparse.Namespace) -> int:
    """Print what to label next, or what would settle two runs."""
    from goodgain.errors import UsageError
    from goodgain.labels import Store
    from goodgain.labels.next_label import judgments_with_votes, next_pairs, settling_labels
    from goodgain.labels.sampling import optional_labels
    from goodgain.ranking.evaluator import several_runs

    if not args.runs:
        raise UsageError("next needs runs", hint="goodgain labels next STORE --runs a.run b.run")
    measure = " ".join(args.measures or [DEFAULT_MEASURES])
    if (args.settle or args.difference) and len(args.runs) != 2:
        option = "--settle" if args.settle else "--difference"
        raise UsageError(f"{option} needs two runs, got {len(args.runs)}")
    with Store(args.store) as store:
        if args.settle:
            if len(args.runs) != 2:
                raise UsageError(f"--settle needs two runs, got {len(args.runs)}")
            labels = optional_labels(store, args.model, args.prompt, args.setting)
            expected = labels.to_dict() if labels is not None else None
            judged = judgments_with_votes(store, args.human)
            first, second = args.runs
            settling = settling_labels(judged, first, second, measure, expected=expected)
            rows = [[i, *pair] for i, pair in enumerate(settling.pairs)]
            _report(args, store, [settling.sentence], ["position", "query", "doc"], rows)
            return 0
        systems = several_runs(args.runs)
        pairs = next_pairs(
            store,
            systems,
            count=args.count or 10,
            measure=measure,
            against=(systems[0].name, systems[1].name) if args.difference else None,
            human=args.human,
            seed=args.seed,
            name=args.sample,
            depth=args.depth or 10,
            model=args.model,
            prompt=args.prompt,
            setting=args.setting,
        )
        columns = ["query", "doc", "effect", "reason"]
        rows = [[p.query, p.doc, p.effect, p.reason] for p in pairs]
        _report(
            args, store, [f"{len(pairs):,} labels that shrink the interval most:"], columns, rows
        )
    return 0


def _report(
    args: argparse.Namespace, store: Store, sentences: list[str], columns: list[str],
    rows: list[list[Any]], sample: str = "",
) -> None:  # fmt: skip
    """Sentences to standard output, and the list to --output, or below them if there is no sample."""
    from goodgain.results.text import render, render_data

    to_file = bool(args.output and args.output != "-")
    if sample and not to_file:
        hint = f"to judge it: goodgain judge {store.path} --sample {sample}"
        write(args, "\n".join([*sentences, hint]) + "\n")
        return
    form = args.format
    if to_file and form == "table":
        form = "csv"
    if to_file:
        questions = dict(
            store.db.execute(
                "SELECT a.query, q.text FROM asked a JOIN questions q ON q.id = a.question ORDER BY a.id"
            )
        )
        columns = [*columns, "question"]
        rows = [[*row, questions.get(row[columns.index("query")], "")] for row in rows]
        write(args, render_data(form, columns, rows))
        if not args.quiet:
            print("\n".join(sentences), file=sys.stderr)
        return
    write(args, "\n".join(sentences) + "\n" + (render(form, columns, rows) if rows else ""))
