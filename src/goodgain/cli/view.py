"""`goodgain view`: browse a folder of saved results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import add_server
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "view",
        "Serve the saved results, experiments and check histories in a folder as a table of measures, on\n"
        "this machine only. Read one, compare any number, or follow a measure over time; pages reload when\n"
        "files change. Stop with Ctrl-C.",
        "examples:\n"
        "  goodgain evaluate qrels.txt bm25.run --save results/bm25.json\n"
        "  goodgain view results\n",
    )
    p.add_argument("path", metavar="PATH", help="folder of saved results, or a saved result")
    add_server(p)
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
