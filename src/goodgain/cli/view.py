"""`goodgain view`: look at a folder of saved results in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import command_parser

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "view",
        "Serve the pages of saved results and experiments in a folder, to this machine only. Choose one,\n"
        "or any two to compare; a page follows its file when that changes. Ctrl-C ends it.",
        "examples:\n"
        "  goodgain evaluate qrels.txt bm25.run --save results/bm25.json\n"
        "  goodgain view results\n",
    )
    p.add_argument("path", metavar="PATH", help="a folder of saved results, or one of them")
    p.add_argument("--port", type=int, default=0, metavar="N", help="(default: a free one)")
    p.add_argument("--open", action="store_true", help="open it in the browser")
    return p


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from goodgain.reports.view import Library, Viewer

    with Viewer(Library(args.path), args.port) as viewer:
        print(viewer.url, flush=True)
        if args.open:
            import webbrowser

            webbrowser.open(viewer.url)
        try:
            viewer.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0
