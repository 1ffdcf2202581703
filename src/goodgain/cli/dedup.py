"""`goodgain dedup`: show which results of a trace are duplicates, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.cli.options import add_identity, add_output, add_traces, add_turn, trace_reading
from goodgain.cli.output import skip_warnings, warn, write
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from goodgain.data import Result, Trace
    from goodgain.identity import Clusters


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "dedup",
        "Show which results are duplicates: the clusters or, with --audit, every decision behind them.",
        "examples:\n  goodgain dedup traces.jsonl\n  goodgain dedup traces.jsonl --audit --format jsonl\n",
    )
    add_traces(p)
    p.add_argument(
        "--audit", action="store_true",
        help="show every merge and every rejected candidate: both results, key, rule, step and fields",
    )  # fmt: skip
    add_turn(p)
    add_identity(p)
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Cluster and print."""
    from goodgain.identity import Identity
    from goodgain.results.text import render
    from goodgain.traces import read_traces
    from goodgain.traces.ledger import LedgerFile, render_ledger

    identity = Identity(args.identity or (), unit=args.unit)
    rows: list[list[Any]] = []
    skipped, notes = 0, []
    items = LedgerFile(args.ledger)
    for path in args.traces:
        traces = read_traces(path, max_gain=1e300, sink=items.sink(path), **trace_reading(args))
        for trace in traces:
            places = list(_results(trace, args.turn))
            clusters = identity.cluster(r for _, r in places)
            make_rows = _audit_rows if args.audit else _cluster_rows
            rows.extend(make_rows(trace, places, clusters))
        skipped += traces.skipped
        notes += traces.notes
        if not traces.ledger.is_well:
            notes.append(render_ledger(path, traces.ledger))
    items.write()
    write(args, render(args.format, _AUDIT if args.audit else _CLUSTERS, rows))
    warn(args, [*notes, *skip_warnings(skipped)])
    return 0


_CLUSTERS = ["system", "conversation", "cluster", "size", "at", "result"]
_AUDIT = [
    "system", "conversation", "result", "other", "key", "rule", "verdict", "step", "fields", "merged",
    "title", "other title", "url", "other url",
]  # fmt: skip


def _results(trace: Trace, turn: str) -> Iterator[tuple[str, Result]]:
    """(iteration.search.rank, result) of the chosen turns."""
    from goodgain.errors import UsageError

    if turn not in ("last", "all") and not (turn.isdigit() and int(turn)):
        raise UsageError(f"invalid --turn '{turn}'", hint="one of: last, all, or a number from 1")
    turns = (
        trace.turns
        if turn == "all"
        else trace.turns[-1:]
        if turn == "last"
        else trace.turns[int(turn) - 1 : int(turn)]
    )
    iterations = [i for t in turns for i in t.iterations if i.searches]
    for i, iteration in enumerate(iterations, 1):
        for s, search in enumerate(iteration.searches, 1):
            for r, result in enumerate(search.results, 1):
                yield f"{i}.{s}.{r}", result


def _cluster_rows(
    trace: Trace, places: list[tuple[str, Result]], clusters: Clusters
) -> list[list[Any]]:
    """One row per cluster, of one result or of several."""
    return [
        [
            trace.system or "",
            trace.conversation,
            n,
            len(members),
            " ".join(places[m][0] for m in members),
            _preview(places[members[0]][1]),
        ]
        for n, members in enumerate(clusters.groups(), 1)
    ]


def _audit_rows(
    trace: Trace, places: list[tuple[str, Result]], clusters: Clusters
) -> list[list[Any]]:
    return [
        [
            trace.system or "",
            trace.conversation,
            places[d.result][0],
            places[d.other][0],
            d.key,
            d.rule,
            d.verdict,
            d.step,
            d.fields,
            "yes"
            if d.merged
            else "no, contradicts the first of its cluster"
            if d.contradicted
            else "no",
            *(_one_line(places[n][1].title) for n in (d.result, d.other)),
            *(_one_line(places[n][1].url) for n in (d.result, d.other)),
        ]
        for d in clusters.decisions
    ]


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _preview(result: Result) -> str:
    text = result.title or result.url or result.id or next(iter(result.ids.values()), None)
    text = text or result.snippet or result.content or "(empty)"
    text = _one_line(str(text))
    return text if len(text) <= 60 else text[:59] + "…"
