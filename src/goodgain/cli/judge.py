"""`goodgain judge`: people label documents, or compare two systems, on a local web page."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from goodgain.cli.options import (
    add_depth,
    add_documents,
    add_measures,
    add_queries,
    add_quiet,
    add_runs,
    add_sample,
    add_seed,
    add_server,
    add_settle,
)
from goodgain.cli.output import warn
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse

    from goodgain.judging import Desk
    from goodgain.labels import Store

PASSWORD = "GOODGAIN_PASSWORD"
DEPTH = 10


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "judge",
        "Serve a page where people label documents, or compare two systems side by side, and store every\n"
        "vote in the label store before the page shows it as saved. Stop with Ctrl-C; open pages continue\n"
        "when the command is started again.\n\n"
        "Without a source, people judge the pairs that have labels in the store. They do not see a model's\n"
        "label, or anyone else's, before they have voted.",
        "examples:\n"
        "  goodgain judge labels.db --documents corpus.jsonl --open\n"
        "  goodgain judge labels.db --sample first --overlap 0.2 --guidelines guidelines.md\n"
        "  goodgain judge labels.db --runs bm25.run knn.run --queries queries.tsv --documents corpus.jsonl\n"
        "  goodgain judge labels.db --side-by-side old.run new.run --queries queries.tsv \\\n"
        "      --documents corpus.jsonl\n"
        "  goodgain compare --gsb labels.db\n",
    )
    p.add_argument("store", metavar="STORE", help="label store (SQLite, or postgresql://...)")
    source = p.add_argument_group("what to judge")
    add_sample(source)
    source.add_argument(
        "--pairs", metavar="FILE",
        help="pairs: query_id, doc_id, question, text, optional title, url and narrative",
    )  # fmt: skip
    add_runs(source)
    source.add_argument(
        "--side-by-side", nargs=2, metavar=("OLD", "NEW"),
        help="two runs, or two files of answers, to compare query by query",
    )  # fmt: skip
    source.add_argument(
        "--next", action="store_true", dest="by_effect",
        help="with --runs: first the labels that narrow the interval of their means fastest",
    )  # fmt: skip
    add_settle(source)
    add_measures(source, "nDCG@10")
    add_queries(source)
    add_documents(source)
    add_depth(source, str(DEPTH))
    source.add_argument("--qrels", metavar="FILE", help="judgments; pairs in it need no label")
    how = p.add_argument_group("settings")
    how.add_argument(
        "--prompt", metavar="NAME|FILE",
        help="prompt with the scale and its grades (default: that of the store's labels, or gain-0-4)",
    )  # fmt: skip
    how.add_argument("--guidelines", metavar="FILE", help="guidelines to show, in Markdown")
    how.add_argument(
        "--overlap", type=float, default=0.0, metavar="SHARE",
        help="share of the items that everyone judges, to measure agreement (default: 0)",
    )  # fmt: skip
    how.add_argument(
        "--blind", action="store_true", help="never show a model's label, not even after the vote"
    )
    add_seed(how)
    server = p.add_argument_group("server")
    add_server(server)
    server.add_argument(
        "--share", metavar="HOST",
        help=f"also let others connect: listen on this address, with a password from ${PASSWORD} or a prompt",
    )  # fmt: skip
    add_quiet(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from goodgain.judging import JudgingServer
    from goodgain.judging.address import Address
    from goodgain.labels.opening import new_store
    from goodgain.serving import LOOPBACK

    _check(args)
    password = _password() if args.share else None
    with new_store(args.store) as store:
        desk = _desk(args, store)
        host = args.share or LOOPBACK
        address = Address.of(args.store, host)

        def server_at(port: int) -> JudgingServer:
            return JudgingServer(desk, port, host=host, secret=address.secret, password=password)

        with (
            _bound(server_at, args.port, address.port) as server,
            suppress(KeyboardInterrupt),
        ):
            address.remember(server)
            if args.share:
                warn(args, [_SHARED.format(host=args.share)])
            print(server.url, flush=True)
            if args.open:
                import webbrowser

                webbrowser.open(server.url)
            server.serve_forever()
        _summarise(args, desk)
    return 0


_SHARED = (
    "shared on {host}: anyone with this address and the password can label under any name. The connection is "
    "plain HTTP: others on the network can read pages, labels and the password, unless a proxy with TLS is "
    "in front of it"
)


def _bound(server_at: Any, port: int, last: int) -> Any:
    """The server on the chosen port, or on the last one, or on a free one."""
    from goodgain.errors import UsageError

    if port or not last:
        return server_at(port)
    try:
        return server_at(last)
    except UsageError:
        return server_at(0)


def _check(args: argparse.Namespace) -> None:
    from goodgain.errors import UsageError

    sources = {
        "--sample": args.sample, "--pairs": args.pairs, "--runs": args.runs,
        "--side-by-side": args.side_by_side,
    }  # fmt: skip
    chosen = [name for name, value in sources.items() if value]
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} cannot be combined with {chosen[1]}")
    if (args.by_effect or args.settle) and not args.runs:
        raise UsageError(f"{'--next' if args.by_effect else '--settle'} needs --runs")
    if args.by_effect and args.settle:
        raise UsageError("--next cannot be combined with --settle")
    if args.settle and len(args.runs) != 2:
        raise UsageError(f"--settle compares two runs, got {len(args.runs)}")
    if args.qrels and not args.runs:
        raise UsageError("--qrels needs --runs")
    if args.depth is not None and args.depth < 1:
        raise UsageError(f"--depth must be a positive integer, got {args.depth}")


def _password() -> str:
    """From the environment or a prompt: a command line is visible to everyone on the machine."""
    import os
    from getpass import getpass

    from goodgain.errors import UsageError

    password = os.environ.get(PASSWORD)
    if password is None:
        if not sys.stdin.isatty():
            raise UsageError("--share needs a password", hint=f"set {PASSWORD} in the environment")
        password = getpass("Password for annotators: ")
    return password


def _desk(args: argparse.Namespace, store: Store) -> Desk:
    from pathlib import Path

    from goodgain.io.whole import read_document
    from goodgain.judging.opening import labels_desk, sides_desk

    guidelines = ""
    if args.guidelines:
        guidelines = read_document(args.guidelines)
    title = args.store.rpartition("@")[2] if "://" in args.store else Path(args.store).name
    options: dict[str, Any] = {
        "title": title, "guidelines": guidelines, "overlap": args.overlap, "seed": args.seed,
        "queries": args.queries, "documents": args.documents, "depth": args.depth or DEPTH,
    }  # fmt: skip
    desk: Desk
    if args.side_by_side:
        desk, warnings = sides_desk(store, *args.side_by_side, **options)
    else:
        desk, warnings = labels_desk(
            store,
            sample=args.sample,
            pairs=args.pairs,
            runs=args.runs,
            qrels=args.qrels,
            order="next" if args.by_effect else "settle" if args.settle else "",
            measure=" ".join(args.measures) if args.measures else "nDCG@10",
            prompt=args.prompt,
            blind=args.blind,
            **options,
        )
    warn(args, warnings)
    return desk


def _summarise(args: argparse.Namespace, desk: Desk) -> None:
    """What was judged, once the page is closed."""
    if not args.quiet:
        print(desk.summary(), file=sys.stderr)
