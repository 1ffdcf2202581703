"""`goodgain label`: gains from an LLM."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from goodgain.cli.options import add_output, command_parser, warn, write

if TYPE_CHECKING:
    import argparse

    from goodgain.labels import Estimate, Judge, Labels
    from goodgain.labels.runner import Progress


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "label",
        "Ask a model how far each document answers its question, once, and keep what it says.\n\n"
        "SOURCE are traces of agents in any format, whose unique results are labelled once per question;\n"
        "or JSONL files with query_id, doc_id, question and text; or, with --pool, runs. What the store has\n"
        "already is not asked again: after Ctrl-C, a crash or kill -9 the same command goes on.\n"
        "Keys come from the environment only: OPENAI_API_KEY, ANTHROPIC_API_KEY.",
        "examples:\n"
        "  goodgain label traces.jsonl --model NAME --store labels.db --dry-run\n"
        "  goodgain label traces.jsonl --model NAME --store labels.db --price 0.25/2 --budget 5 \\\n"
        "      --traces labelled.jsonl\n"
        "  goodgain label --pool 20 bm25.run knn.run --queries queries.tsv --documents corpus.jsonl \\\n"
        "      --qrels judged.txt --model local --base-url http://localhost:8000/v1 --store labels.db\n",
    )
    p.add_argument("sources", metavar="SOURCE", nargs="+", help="traces, pairs, or runs")
    p.add_argument("--store", required=True, metavar="FILE", help="the SQLite file for the labels")
    p.add_argument("--traces", metavar="FILE", help="write the traces there, with their gains")
    p.add_argument("--from", dest="trace_format", metavar="FORMAT", help="the format of the traces")
    p.add_argument(
        "--unit", choices=("document", "passage"), default="document",
        help="whether two chunks of a document are one result (default: document, so they are)",
    )  # fmt: skip
    judge = p.add_argument_group("judge")
    judge.add_argument("--model", metavar="NAME", help="name of the model")
    judge.add_argument("--base-url", metavar="URL", help="of a server other than the model's own")
    judge.add_argument(
        "--judge", "--api", metavar="NAME",
        help="openai, anthropic or a plug-in's judge (default: anthropic for claude models, else openai)",
    )  # fmt: skip
    judge.add_argument(
        "--prompt", metavar="NAME|FILE", help="gain-0-4 (default), relevance-0-3, or your template"
    )
    judge.add_argument(
        "--temperature", metavar="T", default="",
        help="a number, or none to leave it to the server (default: 0, or 0.7 with --replicates)",
    )  # fmt: skip
    judge.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help="maximum reply tokens per document (default: 300)",
    )
    judge.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="time limit of a call (default: 60)"
    )
    judge.add_argument(
        "--replicates", type=int, default=1, metavar="N", help="ask N times, take the median"
    )
    judge.add_argument(
        "--batch", type=int, default=1, metavar="N", help="documents of a question in a call"
    )
    judge.add_argument(
        "--canaries", type=int, default=0, metavar="N",
        help="for N questions, also documents that only pretend; calibrate tells who falls for them",
    )  # fmt: skip
    judge.add_argument(
        "--text-limit", type=int, default=24_000, metavar="N",
        help="characters of a document that are sent; longer ones are recorded as cut (default: 24000)",
    )  # fmt: skip
    limits = p.add_argument_group("limits")
    limits.add_argument(
        "--price", metavar="IN/OUT", help="money for a million tokens, e.g. 0.15/0.60"
    )
    limits.add_argument(
        "--budget",
        type=float,
        metavar="MONEY",
        help="stop before the store has cost more than this",
    )
    limits.add_argument(
        "--concurrency", type=int, default=32, metavar="N", help="calls at once (default: 32)"
    )
    limits.add_argument(
        "--processes", type=int, metavar="N",
        help="processes that make the calls (default in a long run: 1 for 64 calls at once, up to 1 a core)",
    )  # fmt: skip
    limits.add_argument("--rpm", type=float, metavar="N", help="calls a minute, at most")
    limits.add_argument("--tpm", type=float, metavar="N", help="tokens in a minute, at most")
    limits.add_argument(
        "--retry", metavar="STATUS,...", default="",
        help="ask again for earlier failures, e.g. invalid,refused (errors always are)",
    )  # fmt: skip
    limits.add_argument(
        "--dry-run", action="store_true", help="print calls, tokens, money; ask nothing"
    )
    pool = p.add_argument_group("pool")
    pool.add_argument(
        "--pool", type=int, metavar="K", help="SOURCE are runs: label the top K of each"
    )
    pool.add_argument(
        "--queries", metavar="FILE", help="questions: JSONL with _id and text, or id<TAB>text"
    )
    pool.add_argument("--documents", metavar="FILE", help="documents, in the same forms")
    pool.add_argument("--qrels", metavar="FILE", help="judgements: what they have is not asked")
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Label and print what came of it."""
    from goodgain.labels import Limits, estimate, label
    from goodgain.results.text import render

    judge = _judge(args)
    options: dict[str, Any] = {
        "prompt": args.prompt,
        "replicates": args.replicates,
        "batch": args.batch,
        "text_limit": args.text_limit,
        "canaries": args.canaries,
        "identity": args.unit,
        "retry": [*filter(None, args.retry.split(","))],
    }
    if args.dry_run:
        found = estimate(_pairs(args), judge, args.store, **options)
        write(args, render(args.format, ["what", "count"], _estimate_rows(found)))
        return 0
    limits = Limits(
        concurrency=args.concurrency, requests=args.rpm, tokens=args.tpm, budget=args.budget
    )
    bar = Bar(sys.stderr) if not args.quiet else None
    labels = label(
        _pairs(args),
        judge,
        args.store,
        limits=limits,
        processes=args.processes,
        progress=bar,
        **options,
    )
    summary = labels.summary
    assert summary is not None
    if bar:
        bar.end()
    if args.traces:
        _write_traces(args, labels)
    write(args, render(args.format, ["what", "count"], summary_rows(summary)))
    if summary.stopped == "budget":
        warn(
            args, [f"stopped at the budget of {args.budget:g}; a larger --budget goes on from here"]
        )
        return 1
    if summary.stopped == "interrupted":
        warn(args, ["stopped; the same command goes on from here"])
        return 130
    failed = summary.done - summary.statuses["ok"]
    if failed:
        warn(
            args,
            [f"{failed:,} labels failed and have no gain; see: goodgain labels show {args.store}"],
        )
    return 0


def _judge(args: argparse.Namespace) -> Judge:
    """The judge, created with the settings that the user chose; it has defaults for the others."""
    from goodgain.errors import UsageError
    from goodgain.labels import Price, create_judge, judge_for
    from goodgain.labels.judges.registry import BUILT_IN

    if not (args.model or args.judge):
        raise UsageError("--model or --judge is required")
    settings = {
        "model": args.model,
        "base_url": args.base_url,
        "price": Price.parse(args.price) if args.price else None,
        "max_tokens": args.max_tokens,
        "timeout": args.timeout,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    if args.temperature or args.judge is None or args.judge in BUILT_IN:
        settings["temperature"] = _temperature(args)
    return create_judge(args.judge, **settings) if args.judge else judge_for(**settings)


def _write_traces(args: argparse.Namespace, labels: Labels) -> None:
    from goodgain.io.atomic import write_texts
    from goodgain.labels import with_gains

    traces = (
        t
        for source in args.sources
        for t in with_gains(source, labels, args.unit, args.trace_format)
    )
    write_texts({args.traces: (trace.to_json() + "\n" for trace in traces)})


def _pairs(args: argparse.Namespace) -> Any:
    from itertools import chain

    from goodgain.errors import UsageError
    from goodgain.labels import pool
    from goodgain.labels.labeller import pairs_to_label

    if args.pool is None:
        if args.queries or args.documents or args.qrels:
            raise UsageError("--queries, --documents and --qrels go with --pool")
        if args.trace_format:
            from goodgain.labels.traces import trace_pairs

            made = (trace_pairs(s, args.unit, args.trace_format) for s in args.sources)
        else:
            made = (pairs_to_label(source, args.unit) for source in args.sources)
        return chain.from_iterable(made)
    if not (args.queries and args.documents):
        raise UsageError("--pool needs --queries and --documents, the texts behind the ids")
    return pool(
        args.sources,
        args.pool,
        queries=args.queries,
        documents=args.documents,
        qrels=args.qrels,
    )


def _temperature(args: argparse.Namespace) -> float | None:
    from goodgain.errors import UsageError

    if not args.temperature:
        return 0.7 if args.replicates > 1 else 0.0
    if args.temperature == "none":
        return None
    try:
        return float(args.temperature)
    except ValueError:
        raise UsageError(
            f"--temperature '{args.temperature}' is neither a number nor none"
        ) from None


def _estimate_rows(e: Estimate) -> list[list[Any]]:
    rows: list[list[Any]] = [
        ["pairs", e.pairs],
        ["labels", e.labels],
        ["in the store already", e.stored],
        ["calls", e.calls],
        ["tokens in, about", e.tokens_in],
        ["tokens out, at most", e.tokens_out],
        ["money, at most", "unknown: give --price" if e.cost is None else round(e.cost, 4)],
    ]
    return [*rows, ["money spent so far", round(e.spent, 4)]] if e.spent else rows


def summary_rows(p: Progress) -> list[list[Any]]:
    """What a run did, for its last lines."""
    return [
        ["pairs", p.pairs],
        ["in the store already", p.stored],
        *([f"labels {status}", count] for status, count in p.statuses.most_common() if count),
        ["documents cut", p.cut],
        ["calls", p.calls],
        ["of those, tried again", p.retries],
        ["tokens in", p.tokens_in],
        ["tokens out", p.tokens_out],
        ["money", "unknown: give --price" if p.cost is None else round(p.cost, 4)],
        ["seconds", round(p.seconds, 1)],
    ]


class Bar:
    """Progress on standard error: a line that is drawn again, or one every ten seconds in a log."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._last = 0.0
        self._drawn = False
        self._stopping = False

    def __call__(self, progress: Progress) -> None:
        """Show how far it is, and once what the first Ctrl-C does."""
        from time import monotonic

        if progress.stopped == "interrupted" and progress.ended is None and not self._stopping:
            self._stopping = True
            self.end()
            self._stream.write("stopping when the calls in flight are done; Ctrl-C ends them now\n")
            self._stream.flush()
        now = monotonic()
        if not self._live and now - self._last < 10 and self._last:
            return
        self._last = now
        if not self._live and not progress.done:
            return
        text = line(progress)
        self._stream.write(f"\r\x1b[K{text}" if self._live else f"{text}\n")
        self._stream.flush()
        self._drawn = True

    def end(self) -> None:
        """Leave the line."""
        if self._drawn and self._live:
            self._stream.write("\n")


def line(p: Progress) -> str:
    """Progress in one line: how far, how fast, how long, tokens, money, failures."""
    share = p.done / p.total if p.total else 1.0
    filled = int(20 * share)
    left = "-" if p.left is None else _time(p.left)
    money = "" if p.cost is None else f"  {p.cost:.4f} money"
    failed = p.done - p.statuses["ok"]
    return (
        f"[{'#' * filled}{'.' * (20 - filled)}] {p.done:,}/{p.total:,} {int(100 * share)}%  "
        f"{p.rate:.1f}/s  {left} left  {p.tokens_in + p.tokens_out:,} tokens{money}"
        + (f"  {failed:,} failed" if failed else "")
    )


def _time(seconds: float) -> str:
    whole = int(seconds)
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02}"
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
