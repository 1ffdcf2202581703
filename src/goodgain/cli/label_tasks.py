"""Tasks of `goodgain label` other than gains: nuggets, their assignment to answers, and preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.cli.output import warn, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_GAINS_ONLY = (
    "prompt", "template", "examples", "canaries", "replicates", "batch_api", "labelled_traces", "answers",
)  # fmt: skip
TASKS = {
    "gains": "how well each document answers its question",
    "nuggets": "make nuggets, the facts that an answer should contain, from the good documents (--qrels)",
    "assignment": "SOURCE is answers or traces: which nuggets each answer contains, and its scores",
    "preferences": "which of two documents answers the question better; see: goodgain labels grades",
}


def add_task(p: argparse.ArgumentParser) -> None:
    """--task and what only tasks use."""
    from goodgain.cli.options import add_save, add_threshold

    task = p.add_argument_group("task")
    task.add_argument(
        "--task", choices=list(TASKS), default="gains", metavar="NAME",
        help="what to ask; listed below (default: gains)",
    )  # fmt: skip
    task.add_argument("--source", metavar="NAME", help="name of the nuggets, if there are several")
    task.add_argument(
        "--per-document", type=int, default=6, metavar="N",
        help="other documents that each is compared with (default: 6)",
    )  # fmt: skip
    add_threshold(task)
    add_save(task)


def run_task(
    args: argparse.Namespace, judge: Any, options: dict[str, Any], pairs: Callable[[], Any]
) -> int:
    """Run the task and print what came of it; options that it does not have are refused."""
    from goodgain.errors import UsageError

    for name in _GAINS_ONLY:
        value = getattr(args, name)
        if value and not (name == "replicates" and value == 1):
            raise UsageError(f"--task {args.task} does not have --{name.replace('_', '-')}")
    if args.dry_run:
        raise UsageError(
            f"--task {args.task} has no --dry-run", hint="--budget limits what it may cost"
        )
    run = {"nuggets": _nuggets, "assignment": _assignment, "preferences": _preferences}[args.task]
    return run(args, judge, options, pairs)


def _nuggets(
    args: argparse.Namespace, judge: Any, options: dict[str, Any], pairs: Callable[[], Any]
) -> int:
    from goodgain.labels.nuggets import make_nuggets
    from goodgain.results.text import render

    result = make_nuggets(
        pairs(), judge, args.store, qrels=args.qrels, threshold=args.threshold, source=args.source,
        **options,
    )  # fmt: skip
    rows = [
        [query, "vital" if n.vital else "okay", n.text]
        for query, own in result.nuggets.items()
        for n in own
    ]
    write(args, render(args.format, ["query", "importance", "nugget"], rows))
    notes = [f"no nuggets for query '{query}': {why}" for query, why in result.failed.items()]
    if result.without_documents:
        count = len(result.without_documents)
        notes.append(f"{count:,} queries have no good document, and so no nuggets")
    if args.qrels is None:
        notes.append("all documents count as good; --qrels says which are")
    warn(args, notes)
    return 3 if result.failed else 0


def _assignment(
    args: argparse.Namespace, judge: Any, options: dict[str, Any], pairs: Callable[[], Any]
) -> int:
    from goodgain.cli.output import side_files
    from goodgain.labels.nuggets import assign_nuggets, read_answers

    answers = [answer for source in args.sources for answer in read_answers(source)]
    queries = None
    if args.queries:
        from goodgain.io.texts import read_texts

        queries = read_texts(args.queries, "query").texts
    batch = args.batch if args.batch > 1 else None
    scores = assign_nuggets(
        answers, judge, args.store, source=args.source, queries=queries, batch=batch, **options
    )
    args.report = None
    write(args, scores.render(args.format), side_files(args, scores))
    warn(args, scores.warnings())
    return 3 if any(a.unknown and a.recorded for a in scores.answers) else 0


def _preferences(
    args: argparse.Namespace, judge: Any, options: dict[str, Any], pairs: Callable[[], Any]
) -> int:
    from goodgain.labels.pairwise import compare_documents, grade_preferences

    choices = compare_documents(
        pairs(), judge, args.store, per_document=args.per_document, **options
    )
    grades = grade_preferences(choices)
    write(args, grades.render(args.format))
    warn(args, grades.warnings())
    return 0


def show_nuggets(args: argparse.Namespace) -> int:
    """Import nuggets from files, or print those of a store."""
    from goodgain.labels import Store
    from goodgain.labels.nuggets import import_nuggets, read_nuggets
    from goodgain.labels.opening import new_store
    from goodgain.results.text import render

    if args.files:
        with new_store(args.store) as store:
            summary = ""
            for file in args.files:
                new, assigned = import_nuggets(store, file, args.annotator or "")
                summary += f"{file}: {new:,} new nuggets and {assigned:,} new assignments\n"
        write(args, summary)
        return 0
    with Store(args.store, read_only=True) as store:
        bank = read_nuggets(store, args.annotator)
    rows = [
        [query, "vital" if n.vital else "okay", n.text] for query, own in bank.items() for n in own
    ]
    write(args, render(args.format, ["query", "importance", "nugget"], rows))
    return 0


def show_grades(args: argparse.Namespace) -> int:
    """Grades from the preferences of people or of a judge."""
    from goodgain.labels import Labels, Store
    from goodgain.labels.pairwise import grade_preferences, people_choices
    from goodgain.labels.pairwise.comparing import judged_preferences, preference_prompt

    with Store(args.store, read_only=True) as store:
        by_judge = args.model is not None
        choices = (
            list(
                judged_preferences(
                    Labels.of(store, model=args.model, prompt=preference_prompt().version)
                )
            )
            if by_judge
            else people_choices(store, args.annotator)
        )
    grades = grade_preferences(choices)
    write(args, grades.render(args.format))
    warn(args, grades.warnings())
    return 0
