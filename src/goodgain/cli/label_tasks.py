"""Tasks of `goodgain label` other than gains: nuggets, their assignment to answers, and preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.cli.output import warn, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from goodgain.labels import Pair
    from goodgain.labels.progress import Progress

# Options that only some tasks have; the others refuse them rather than ignore them.
_ONLY_IN = {
    **dict.fromkeys(
        ("prompt", "template", "examples", "sample", "shots", "canaries", "replicates", "batch_api",
         "no_wait", "labelled_traces", "answers", "text_limit"), ("gains",)
    ),
    "batch": ("gains", "assignment"),
    "source": ("nuggets", "assignment"),
    "threshold": ("nuggets",),
    "per_document": ("preferences",),
    "save": ("assignment",),
}  # fmt: skip
# Prompts under which the labels of tasks are stored.
PROMPTS = {
    "nuggets": "nugget-making", "assignment": "nugget-assignment", "preferences": "preference",
}  # fmt: skip
_REQUIRES = {"sample": "examples", "shots": "examples", "no_wait": "batch_api"}
TASKS = {
    "gains": "how well each document answers its question",
    "nuggets": "extract nuggets (facts that an answer should contain) from the good documents (--qrels)",
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
    task.add_argument(
        "--source", metavar="NAME", help="which nuggets to use, if there are several sources"
    )
    task.add_argument(
        "--per-document", type=int, default=6, metavar="N",
        help="comparisons per document (default: 6)",
    )  # fmt: skip
    add_threshold(task)
    add_save(task)


def refuse_options(args: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Refuse options that the task does not have, and those of another option that is not there."""
    from goodgain.errors import UsageError

    chosen = {
        name for name in (*_ONLY_IN, *_REQUIRES) if getattr(args, name) != parser.get_default(name)
    }
    for name in sorted(chosen):
        option = f"--{name.replace('_', '-')}"
        if args.task not in _ONLY_IN[name]:
            raise UsageError(f"--task {args.task} does not have {option}")
        if name in _REQUIRES and not getattr(args, _REQUIRES[name]):
            raise UsageError(f"{option} requires --{_REQUIRES[name].replace('_', '-')}")


class Runs:
    """The labelling runs of a task, which report their progress here."""

    def __init__(self, show: Callable[[Progress], None] | None) -> None:
        self.all: list[Progress] = []
        self._show = show

    def __call__(self, progress: Progress) -> None:
        """Take note of a run, and show it."""
        if not any(own is progress for own in self.all):
            self.all.append(progress)
        if self._show:
            self._show(progress)

    @property
    def stopped(self) -> bool:
        """Whether one of them ended early, at the budget."""
        return any(progress.stopped for progress in self.all)


def run_task(
    args: argparse.Namespace, judge: Any, options: dict[str, Any], pairs: Callable[[], Any]
) -> int:
    """Run the task and print what came of it."""
    from goodgain.errors import UsageError

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
    from goodgain.results.text import render_data

    listed = list(pairs())
    result = make_nuggets(
        listed, judge, args.store, qrels=args.qrels, threshold=args.threshold, source=args.source,
        **options,
    )  # fmt: skip
    rows = [
        [query, "vital" if n.vital else "okay", n.text]
        for query, own in result.nuggets.items()
        for n in own
    ]
    write(args, render_data(args.format, ["query", "importance", "nugget"], rows))
    notes = [f"no nuggets for query '{query}': {why}" for query, why in result.failed.items()]
    if result.without_documents:
        count = len(result.without_documents)
        notes.append(f"{count:,} queries have no good document, and so no nuggets")
    if args.qrels is None:
        notes.append("all documents count as good; --qrels says which are")
    notes += _cut_notes(listed)
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

    listed = list(pairs())
    choices = compare_documents(
        listed, judge, args.store, per_document=args.per_document, seed=args.seed, **options
    )
    if options["progress"].stopped or not choices:  # part of the comparisons grade nothing
        return 3
    grades = grade_preferences(choices)
    write(args, grades.render(args.format))
    warn(args, [*grades.warnings(), *_cut_notes(listed)])
    return 0


def _cut_notes(pairs: list[Pair]) -> list[str]:
    """How many documents are too long to be shown whole."""
    from goodgain.labels.labeller import TEXT_LIMIT

    count = sum(len(pair.text) > TEXT_LIMIT for pair in pairs)
    what = "document was" if count == 1 else "documents were"
    return [f"{count:,} {what} cut at {TEXT_LIMIT:,} characters"] if count else []


def show_nuggets(args: argparse.Namespace) -> int:
    """Import nuggets from files, or print those of a store."""
    from goodgain.labels import Store
    from goodgain.labels.nuggets import import_nuggets, read_nuggets
    from goodgain.labels.opening import new_store
    from goodgain.results.text import render_data

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
    write(args, render_data(args.format, ["query", "importance", "nugget"], rows))
    return 0


def show_grades(args: argparse.Namespace) -> int:
    """Grades from the preferences of people or of a judge."""
    from goodgain.errors import InputError, UsageError
    from goodgain.labels import Labels, Store
    from goodgain.labels.exchange import qrels_text
    from goodgain.labels.pairwise import grade_preferences, people_choices
    from goodgain.labels.pairwise.comparing import judged_preferences, preference_prompt

    if args.to not in (None, "qrels"):
        raise UsageError(
            f"grades are not written as {args.to}", hint="--to qrels, or a table in any --format"
        )
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
    if not choices:
        whose = f"'{args.model or args.annotator}'" if args.model or args.annotator else "people"
        raise InputError(
            f"the label store has no preferences of {whose}",
            where=args.store,
            hint="goodgain label --task preferences, or goodgain judge --side-by-side; those of a judge "
            "are chosen by --model",
        )
    grades = grade_preferences(choices, anchors=args.human)
    write(args, qrels_text(grades.to_dict()) if args.to else grades.render(args.format))
    warn(args, grades.warnings())
    return 0
