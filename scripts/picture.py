"""Draw the output of a command as an SVG for the README: python scripts/picture.py OUT.svg COMMAND..."""

from __future__ import annotations

import subprocess
import sys
from html import escape
from pathlib import Path

CHARACTER, LINE, EDGE = 7.85, 19, 16
NO_BREAK = "\u00a0"  # SVG collapses spaces
STYLE = (
    "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
    "fill:#1f2328;white-space:pre}.page{fill:#f6f8fa;stroke:#d1d9e0}.prompt{fill:#0a6640}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#161b22;stroke:#3d444d}"
    ".prompt{fill:#4ac26b}}"
)


def main() -> None:
    """Run the command and draw its output."""
    out, *command = sys.argv[1:]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    title = " ".join([Path(command[0]).name, *command[1:]])
    body = (done.stderr + done.stdout).rstrip().splitlines()
    if done.stdout and done.stderr:  # warnings and notes follow the table in a terminal too
        before, _, after = done.stderr.strip("\n").partition("\n\n")
        body = [before, "", *done.stdout.splitlines(), "", after.strip("\n")]
    lines = [f"$ {title}", *body]
    width = max(map(len, lines)) * CHARACTER + 2 * EDGE
    height = len(lines) * LINE + 2 * EDGE
    texts = "".join(
        f'<text class="{"prompt" if i == 0 else "line"}" x="{EDGE}" y="{EDGE + (i + 0.75) * LINE:g}">'
        f"{escape(line).replace(' ', NO_BREAK)}</text>"
        for i, line in enumerate(lines)
    )
    Path(out).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}">'
        f'<style>{STYLE}</style><rect class="page" x=".5" y=".5" width="{width - 1:g}" '
        f'height="{height - 1:g}" rx="8"/>{texts}</svg>\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
