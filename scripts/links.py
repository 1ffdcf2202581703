"""Check the links of Markdown pages: files exist, and anchors are headings of their pages.

`python scripts/links.py [PAGE ...]` checks the pages of the root, docs/ and examples/, and lists what leads
nowhere.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
OTHER = re.compile(  # a link by reference, and one in HTML
    r"^ {0,3}\[[^\]^][^\]]*\]:\s*<?([^\s>]+)>?|<(?:a|img)\b[^>]*?\b(?:href|src)=\"([^\"]+)\"",
    re.MULTILINE,
)
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$", re.MULTILINE)
TARGET = re.compile(r"^\(([\w.-]+)\)=$", re.MULTILINE)


def pages() -> list[Path]:
    """Every page of the repository that people read."""
    folders = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    return sorted([*ROOT.glob("*.md"), *folders])


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST form it."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page: its headings, repeated ones numbered, and its named targets."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    names: dict[str, int] = {}
    for _, heading in HEADING.findall(text):
        name = slug(heading)
        count = names[name] = names.get(name, -1) + 1
        if count:
            names[f"{name}-{count}"] = 0
    return frozenset([*names, *TARGET.findall(text)])


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere, each with the reason."""
    text = SPAN.sub("", FENCE.sub("", page.read_text(encoding="utf-8")))
    problems = []
    for link in [*LINK.findall(text), *("".join(found) for found in OTHER.findall(text))]:
        target, _, anchor = link.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        path = (page.parent / target).resolve() if target else page
        if not path.exists():
            problems.append(f"{link}: no such file")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            problems.append(f"{link}: no such heading")
    return problems


def main() -> int:
    """List the broken links."""
    wrong = 0
    for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        for problem in broken(page):
            print(f"{page.relative_to(ROOT)}: {problem}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
