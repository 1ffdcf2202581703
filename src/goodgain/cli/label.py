"""`goodgain label`: label documents with an LLM and store the labels."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from goodgain.cli.judges import (
    add_judge,
    add_prompt,
    add_provider,
    chosen_judge,
    chosen_prompt,
    with_examples,
)
from goodgain.cli.label_tasks import PROMPTS, TASKS, Runs, add_task, refuse_options, run_task
from goodgain.cli.options import (
    add_answers,
    add_concurrency,
    add_documents,
    add_output,
    add_queries,
    add_trace_format,
    add_unit,
    listing,
)
from goodgain.cli.output import warn, write
from goodgain.cli.parser import command_parser
from goodgain.results.screen import status_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from goodgain.labels import Estimate, Labels, Pair
    from goodgain.labels.progress import Progress


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "label",
        "Ask a model once how well each document answers its question, and store the reply.\n\n"
        "SOURCE is agent traces in any format (each unique result is labelled once per question);\n"
        "JSONL files with query_id, doc_id, question and text; or, with --pool, runs. Labels already in the\n"
        "store are not requested again: after Ctrl-C, a crash or kill -9 the same command continues.\n"
        "Several processes can share a store and its --budget; no label is paid for twice.\n"
        "API keys are read from the environment only: OPENAI_API_KEY, ANTHROPIC_API_KEY.\n\n"
        "Exit status: 0 if every document with a text has a label, 3 if some labels failed, 1 when\n"
        "the budget is used up, 130 after Ctrl-C, 2 if the run could not continue.",
        listing("tasks", TASKS) + "examples:\n"
        "  goodgain label traces.jsonl --model NAME --store labels.db --dry-run\n"
        "  goodgain label traces.jsonl --model NAME --store labels.db --price 0.25/2 --budget 5 \\\n"
        "      --labelled-traces labelled.jsonl\n"
        "  goodgain label --pool 20 bm25.run knn.run --queries queries.tsv --documents corpus.jsonl \\\n"
        "      --qrels judged.txt --model local --base-url http://localhost:8000/v1 --store labels.db\n"
        "  goodgain label pairs.jsonl --model A --model B --ensemble vote --store labels.db\n"
        "  goodgain label pairs.jsonl --model NAME --store labels.db --template umbrela.txt --raw \\\n"
        "      --grades 0..3 --reply 'final score: *([0-3])'\n",
        usage="goodgain label SOURCE [SOURCE ...] --model NAME --store FILE [options]",
    )
    p.add_argument("sources", metavar="SOURCE", nargs="+", help="traces, pairs, or runs")
    p.add_argument(
        "--store", required=True, metavar="FILE",
        help="label store: a SQLite file, or postgresql://USER@HOST/DATABASE for a team",
    )  # fmt: skip
    p.add_argument(
        "--labelled-traces", metavar="FILE", help="also write the traces with their gains"
    )
    add_answers(p)
    add_trace_format(p)
    add_unit(p)
    add_task(p)
    add_judge(p)
    add_prompt(p)
    add_provider(p)
    _add_limits(p)
    pool = p.add_argument_group("pool")
    pool.add_argument(
        "--pool", type=int, metavar="K", help="SOURCE is runs: label the top K documents of each"
    )
    add_queries(pool)
    add_documents(pool)
    pool.add_argument("--qrels", metavar="FILE", help="judgments; pairs in it need no label")
    add_output(p, per_query=False)
    return p


def _add_limits(p: argparse.ArgumentParser) -> None:
    """How fast, how many and how much."""
    limits = p.add_argument_group("limits")
    limits.add_argument(
        "--price", metavar="IN/OUT", help="price of a million tokens, e.g. 0.15/0.60"
    )
    limits.add_argument(
        "--budget", type=float, metavar="COST", help="stop before the store has cost more than this"
    )
    add_concurrency(limits, 32)
    limits.add_argument(
        "--processes", type=int, metavar="N",
        help="processes that make calls (default: 1, in a long run 1 per 64 calls in flight, up to 1 per "
        "core)",
    )  # fmt: skip
    limits.add_argument("--rpm", type=float, metavar="N", help="maximum calls per minute")
    limits.add_argument("--tpm", type=float, metavar="N", help="maximum tokens per minute")
    limits.add_argument(
        "--retry", metavar="STATUS,...", default="",
        help="retry earlier failures, e.g. invalid,refused; errors are always retried",
    )  # fmt: skip
    limits.add_argument(
        "--failure-share", type=float, default=0.5, metavar="P",
        help="stop when more than this share of the last labels failed; 1 to never stop (default: 0.5)",
    )  # fmt: skip
    limits.add_argument(
        "--batch-api", action="store_true",
        help="submit the calls to the provider's batch API at half the price, and collect them",
    )  # fmt: skip
    limits.add_argument(
        "--no-wait", action="store_true",
        help="with --batch-api, submit and collect what is done, but do not wait for the rest",
    )  # fmt: skip
    limits.add_argument(
        "--dry-run",
        action="store_true",
        help="print calls, tokens and cost without calling the model",
    )


def run(args: argparse.Namespace) -> int:
    """Label and print a summary."""
    from dataclasses import replace

    from goodgain.errors import Interrupted
    from goodgain.labels import Limits, estimate, label
    from goodgain.labels.batches import DISCOUNT
    from goodgain.results.text import render

    refuse_options(args, parser())
    judge = chosen_judge(args)
    limits = Limits(
        concurrency=args.concurrency,
        requests=args.rpm,
        tokens=args.tpm,
        budget=args.budget,
        failure_share=args.failure_share,
    )
    bar = Bar(sys.stderr) if not args.quiet else None
    if args.task != "gains":
        runs = Runs(bar)
        task_options = {
            "limits": limits, "processes": args.processes, "progress": runs, "keep": args.keep,
            "name": args.judge_name, "retry": [*filter(None, args.retry.split(","))],
        }  # fmt: skip
        try:
            status = run_task(args, judge, task_options, lambda: _pairs(args))
        finally:
            if bar:
                bar.end()
        warn(args, (message for progress in runs.all for message in _warnings(progress, args)))
        statuses = {status, *(_status(progress) for progress in runs.all)}
        return 1 if 1 in statuses else max(statuses)
    options: dict[str, Any] = {
        "name": args.judge_name,
        "prompt": chosen_prompt(args) or ("answer-0-1" if args.answers else None),
        "replicates": args.replicates,
        "batch": args.batch,
        "text_limit": args.text_limit,
        "canaries": args.canaries,
        "identity": args.unit,
        "retry": [*filter(None, args.retry.split(","))],
    }
    pairs = _pairs(args)
    if args.examples:
        pairs = list(pairs)
        options["prompt"] = with_examples(args, options["prompt"], pairs)
    if args.dry_run:
        estimated = estimate(pairs, judge, args.store, **options)
        if args.batch_api and estimated.cost is not None:
            estimated = replace(estimated, cost=estimated.cost * DISCOUNT)
        write(args, render(args.format, ["what", "count"], _estimate_rows(estimated)))
        return 0
    try:
        labels = label(
            pairs,
            judge,
            args.store,
            limits=limits,
            processes=args.processes,
            keep=args.keep,
            progress=bar,
            batch_api=args.batch_api,
            wait=not args.no_wait,
            **options,
        )
    except Interrupted as interrupted:
        labels = cast("Labels", interrupted.result)
    finally:
        if bar:
            bar.end()
    summary = labels.summary
    assert summary is not None
    if args.labelled_traces:
        _write_traces(args, labels)
    write(args, render(args.format, ["what", "count"], summary_rows(summary)))
    warn(args, _warnings(summary, args))
    return _status(summary, waiting=args.batch_api and summary.done < summary.total)


def _status(p: Progress, waiting: bool = False) -> int:
    """The exit status of a run; labels in a batch that is not collected have not failed."""
    if p.stopped == "budget":
        return 1
    if p.stopped == "interrupted":
        return 130
    return 3 if p.failures or (p.pairs and not p.ok and not waiting) else 0


def _warnings(p: Progress, args: argparse.Namespace) -> Iterator[str]:
    """What a user should know or do: estimates, failures and how to retry them, why the run stopped."""
    if p.estimated:
        yield (
            f"the server did not report the tokens of {p.estimated:,} of {max(p.calls, p.done):,} calls; "
            "their cost is an estimate"
        )
    for name, count in p.unused.items():
        yield f"{count:,} pairs have a field '{name}' that the prompt does not show"
    if p.without_text:
        yield f"{p.without_text:,} documents have no text, and so no label"
    failures, earlier = p.failures, p.stored_to_retry
    if failures:
        listed = ", ".join(f"{count:,} {status}" for status, count in failures.most_common())
        count = failures.total()
        what = f"{count:,} label{'s' * (count != 1)}"
        if not p.ok:
            what = "the only label" if count == 1 else f"all {what}"
        last = f"; the last: {p.last_failure}" if p.last_failure else ""
        have = "has" if count == 1 else "have"
        yield f"{what} failed and {have} no gain ({listed}){last}"
    if earlier:
        which = "they" if earlier == failures else f"{earlier.total():,} of them"
        again = f"{which} failed in an earlier run and were not requested again; to retry them"
        if failures.total() == 1:
            again = "it failed in an earlier run and was not requested again; to retry it"
        yield f"{again}: --retry {','.join(sorted(earlier))}"
    waiting = p.total - p.done
    if args.batch_api and waiting > 0 and not p.stopped:
        yield f"{waiting:,} labels are in batches; run the same command to collect them"
    if failures:
        prompt = f" --prompt {PROMPTS[args.task]}" if args.task in PROMPTS else ""
        yield f"see: goodgain labels show {args.store} --failed{prompt}"
    if p.stopped == "budget":
        yield f"stopped at the budget of {args.budget:g}; continue with a larger --budget"
    if p.stopped == "interrupted":
        yield "interrupted; run the same command to continue"


def _write_traces(args: argparse.Namespace, labels: Labels) -> None:
    from goodgain.io.atomic import write_texts
    from goodgain.labels import with_gains

    traces = (
        t
        for source in args.sources
        for t in with_gains(source, labels, args.unit, args.source_format)
    )
    write_texts({args.labelled_traces: (trace.to_json() + "\n" for trace in traces)})


def _pairs(args: argparse.Namespace) -> Any:
    from itertools import chain

    from goodgain.errors import UsageError
    from goodgain.labels import pool
    from goodgain.labels.labeller import pairs_to_label
    from goodgain.labels.pairs import holds_pairs

    if args.answers:
        from goodgain.labels import answer_pairs

        if args.pool is not None:
            raise UsageError(
                "--answers labels the answers of traces; --pool labels documents of runs"
            )
        return answer_pairs(args.sources, args.answers, args.source_format)
    if args.pool is None:
        if args.task == "gains" and (args.queries or args.documents or args.qrels):
            raise UsageError("--queries, --documents and --qrels require --pool")
        if args.source_format or not any(map(holds_pairs, args.sources)):
            from goodgain.labels.traces import trace_pairs

            return _some(trace_pairs(args.sources, args.unit, args.source_format), args.sources)
        return chain.from_iterable(pairs_to_label(source, args.unit) for source in args.sources)
    if not (args.queries and args.documents):
        raise UsageError("--pool requires --queries and --documents, the texts to be judged")
    return pool(
        args.sources,
        args.pool,
        queries=args.queries,
        documents=args.documents,
        qrels=args.qrels,
    )


def _some(pairs: Iterable[Pair], sources: list[str]) -> Iterator[Pair]:
    """The pairs; none at all is a mistake."""
    from goodgain.errors import InputError

    empty = True
    for pair in pairs:
        empty = False
        yield pair
    if empty:
        raise InputError(
            "there is nothing to label",
            where=", ".join(sources),
            hint="expected traces with results, or pairs with question and text",
        )


_UNKNOWN_COST = "unknown without --price"


def _estimate_rows(e: Estimate) -> list[list[Any]]:
    rows: list[list[Any]] = [
        ["pairs", e.pairs],
        ["labels", e.labels],
        ["already stored", e.stored],
        ["calls", e.calls],
        ["input tokens (estimate)", e.tokens_in],
        ["maximum output tokens", e.tokens_out],
        ["maximum cost", _UNKNOWN_COST if e.cost is None else round(e.cost, 4)],
    ]
    return [*rows, ["cost so far", round(e.spent, 4)]] if e.spent else rows


def summary_rows(p: Progress) -> list[list[Any]]:
    """A summary of a run."""
    return [
        ["pairs", p.pairs],
        ["already stored", p.stored],
        *([f"labels {status}", count] for status, count in p.statuses.most_common() if count),
        ["truncated documents", p.cut],
        ["calls", p.calls],
        ["retries", p.retries],
        ["input tokens", p.tokens_in],
        ["output tokens", p.tokens_out],
        ["cost", _UNKNOWN_COST if p.cost is None else round(p.cost, 4)],
        *([["calls with estimated tokens", p.estimated]] if p.estimated else []),
        ["seconds", round(p.seconds, 1)],
    ]


class Bar:
    """Progress on standard error: a line redrawn in place or, in a log, a line every ten seconds."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._last = 0.0
        self._drawn = False
        self._stopping = False

    def __call__(self, progress: Progress) -> None:
        """Show the progress and, once after the first Ctrl-C, what a second one would do."""
        from time import monotonic

        if progress.stopped == "interrupted" and progress.ended is None and not self._stopping:
            self._stopping = True
            self.end()
            self._stream.write(
                "stopping after the calls in flight; press Ctrl-C again to abort them\n"
            )
            self._stream.flush()
        now = monotonic()
        if not self._live and now - self._last < 10 and self._last:
            return
        self._last = now
        if not self._live and not progress.done and not progress.planning:
            return
        text = line(progress)
        live = f"\r\x1b[K{status_line(text, self._stream)}" if self._live else ""
        self._stream.write(live or f"{text}\n")
        self._stream.flush()
        self._drawn = True

    def end(self) -> None:
        """End the line."""
        if self._drawn and self._live:
            self._stream.write("\n")


def line(p: Progress) -> str:
    """Progress in one line: share, rate, time left, tokens, cost, failures."""
    if p.planning and not p.total:
        return f"planning: {p.pairs:,} pairs read, {p.stored:,} labels in the store"
    share = p.done / p.total if p.total else 1.0
    filled = int(20 * share)
    left = "-" if p.left is None else _time(p.left)
    cost = "" if p.cost is None else f"  cost {p.cost:.4f}"
    failed = p.done - p.statuses["ok"]
    return (
        f"[{'#' * filled}{'.' * (20 - filled)}] {p.done:,}/{p.total:,}"
        f"{'+ (planning)' if p.planning else f' {int(100 * share)}%'}  "
        f"{p.rate:.1f}/s  {left} left  {p.tokens_in + p.tokens_out:,} tokens{cost}"
        + (f"  {failed:,} failed" if failed else "")
    )


def _time(seconds: float) -> str:
    whole = int(seconds)
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02}"
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
