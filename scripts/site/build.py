"""Build the documentation site: python scripts/site/build.py [--stage-only] [--output FOLDER].

docs/ is the source. The pages are staged in build/site/source, with links that leave docs/ rewritten, the
navigation added, and the reference pages generated from the code; Sphinx turns them into build/site/html. A
warning fails the build: an unlisted page, a link to nowhere, a formula that cannot be typeset.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import check
import keywords

if TYPE_CHECKING:
    from collections.abc import Callable

SITE = Path(__file__).resolve().parent
ROOT = SITE.parent.parent
DOCS = ROOT / "docs"
OUTPUT = ROOT / "build" / "site"
FENCE = re.compile(r"^(?: {0,3}|\s*[-*] )(```+|~~~+)")
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
BACK = re.compile(r'(class="viewcode-back" href=")([^"#]+)#([^"]+)"')
CODE = re.compile(r"(`+).+?\1")


def staged_path(path: Path) -> PurePosixPath | None:
    """Where a file of the repository lies on the site; None if it does not."""
    if path.is_dir():
        path = path / ("index.md" if (path / "index.md").exists() else "README.md")
    name = path.relative_to(ROOT)
    if name.parts[0] == "docs":
        return PurePosixPath(*name.parts[1:])
    if name.parts[0] in ("benchmarks", "examples"):
        return PurePosixPath(name.as_posix())
    if name.as_posix() == "README.md":
        return PurePosixPath("index.md")
    return PurePosixPath("project", name.as_posix())


def staged_text(page: Path, files: set[Path]) -> str:
    """The text of a page with its links as on the site; other files it links to are added to `files`."""
    here = staged_path(page)
    assert here is not None

    def rewrite(match: re.Match[str]) -> str:
        target, _, anchor = match[2].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        path = (page.parent / target).resolve()
        if not path.exists():
            raise SystemExit(f"{page.relative_to(ROOT)}: link to a missing file: {target!r}")
        staged = staged_path(path)
        if path.is_file() and path.suffix != ".md":
            files.add(path)
        link = os.path.relpath(str(staged), here.parent.as_posix())
        return f"{match[1]}{link}{f'#{anchor}' if anchor else ''}{match[3]}"

    return outside_code(page.read_text(encoding="utf-8"), lambda text: LINK.sub(rewrite, text))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Markdown with `change` applied to its lines, but neither in code blocks nor in code spans."""
    lines, fence = [], ""
    for line in text.split("\n"):
        opened = FENCE.match(line)
        if fence:
            fence = "" if line.strip().startswith(fence) else fence
        elif opened:
            fence = opened[1]
        else:
            line = change_line(line, change)
        lines.append(line)
    return "\n".join(lines)


def change_line(line: str, change: Callable[[str], str]) -> str:
    """One line with `change` applied outside code spans, which may stand inside the text of a link."""
    spans: list[str] = []

    def hide(match: re.Match[str]) -> str:
        spans.append(match[0])
        return f"\0{len(spans) - 1}\0"

    changed = change(CODE.sub(hide, line))
    return re.sub(r"\0(\d+)\0", lambda match: spans[int(match[1])], changed)


def stage(source: Path) -> None:
    """Write all sources of the site into a folder."""
    shutil.rmtree(source, ignore_errors=True)
    files: set[Path] = set()
    pages = [*DOCS.rglob("*.md"), *(page for page in ROOT.glob("*.md") if page.name != "README.md")]
    pages += [*(ROOT / "examples").glob("*/README.md"), ROOT / "benchmarks" / "RESULTS.md"]
    for page in sorted(pages):
        write(source / str(staged_path(page)), staged_text(page, files))
    for path in files:
        copy = source / str(staged_path(path))
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    generate(source)
    navigate(source)


def generate(source: Path) -> None:
    """Write the pages that come from the code."""
    import command_pages
    import measure_pages
    import python_pages

    for pages in (python_pages.pages, measure_pages.pages, command_pages.pages):
        for name, text in pages().items():
            write(source / name, text)
    page = source / "measures.md"
    write(page, measure_pages.index(page.read_text(encoding="utf-8")))
    write(source / "commands.md", command_pages.index())


def navigate(source: Path) -> None:
    """Add the navigation and the keywords of nav.toml to the staged pages."""
    settings = tomllib.loads((SITE / "nav.toml").read_text(encoding="utf-8"))
    for name, words in settings["keywords"].items():
        page = source / f"{name}.md"
        head, _, text = page.read_text(encoding="utf-8").partition("\n")  # the title stays first
        write(page, "\n".join([head, "", *keywords.entries(words), text]))
    sections = settings["section"]
    for section in sections:
        name = section["name"]
        page = source / name / "index.md"
        head = f"# {section['title']}\n\n{section['text']}\n"
        written = page.exists()  # by hand, with links of its own
        text = page.read_text(encoding="utf-8") if written else head
        for group in section["groups"]:
            entries = group_pages(source, page, group)
            if entries:
                text += toctree(entries, group["caption"], hidden=written)
        write(page, text)
    index = source / "index.md"
    entries = [f"{section['title']} </{section['name']}/index>" for section in sections]
    text = index.read_text(encoding="utf-8").replace("<!-- sections -->", cards(sections))
    write(index, text + toctree(entries, hidden=True))


def cards(sections: list[dict[str, Any]]) -> str:
    """A card for each section, for the front page."""
    lines = ["::::{grid} 1 2 2 4", ":gutter: 3", ""]
    for section in sections:
        lines += [f":::{{grid-item-card}} {section['title']}", f":link: /{section['name']}/index"]
        lines += [":link-type: doc", "", section["text"], ":::", ""]
    return "\n".join([*lines, "::::"])


def group_pages(source: Path, index: Path, group: dict[str, Any]) -> list[str]:
    """The pages of a group of the navigation that exist."""
    pages = [source / f"{name}.md" for name in group.get("pages", ())]
    if "folder" in group:
        first = group.get("first", [])
        members = folder_pages(source / str(group["folder"]))
        pages += sorted(members, key=lambda page: place(page, first))
    entries = [
        f"/{page.relative_to(source).with_suffix('').as_posix()}"
        for page in pages
        if page.exists() and page != index
    ]
    if "overview" in group:
        entries[0] = f"{group['overview']} <{entries[0]}>"
    return entries


def place(page: Path, first: list[str]) -> int:
    """Where a page comes: those named first come first, the others keep their order."""
    name = page.parent.name if page.stem == "index" and page.parent.name in first else page.stem
    return first.index(name) if name in first else len(first)


def folder_pages(folder: Path) -> list[Path]:
    """The pages of a folder by name, its index first; an index of a folder inside lists the rest of it."""
    pages = sorted(folder.glob("*.md"), key=lambda page: (page.stem != "index", page.name))
    for inner in sorted(path for path in folder.glob("*") if path.is_dir()):
        heads = [inner / name for name in ("index.md", "README.md") if (inner / name).exists()]
        pages += heads or folder_pages(inner)
    return pages


def toctree(entries: list[str], caption: str = "", hidden: bool = False) -> str:
    """A toctree directive."""
    options = [f":caption: {caption}"] if caption else []
    options += [":hidden:"] if hidden else [":maxdepth: 1"]
    return "\n" + "\n".join(["```{toctree}", *options, "", *entries, "```", ""])


def mend_back_links(html: Path) -> None:
    """Lead pages of source code back to the entries of their names.

    Sphinx knows one public module for each module of source, but the names of one may be public in several.
    """
    ids: dict[Path, set[str]] = {}
    for page in (html / "_modules").rglob("*.html"):

        def mended(match: re.Match[str], folder: Path = page.parent) -> str:
            target = (folder / match[2]).resolve()
            if target not in ids:
                ids[target] = check.Page(target.read_text(encoding="utf-8")).ids
            anchor = entry_of(match[3], ids[target])
            return f'{match[1]}{match[2]}{f"#{anchor}" if anchor else ""}"'

        text = page.read_text(encoding="utf-8")
        page.write_text(BACK.sub(mended, text), encoding="utf-8")


def entry_of(anchor: str, ids: set[str]) -> str:
    """The anchor, or else the one of the same name in another module; empty if there is none."""
    names = anchor.split(".")
    endings = [".".join(["", *names[start:]]) for start in range(1, len(names))]
    others = (name for ending in endings for name in sorted(ids) if name.endswith(ending))
    return anchor if anchor in ids else next(others, "")


def write(path: Path, text: str) -> None:
    """Write a staged file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main() -> int:
    """Build the site."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--stage-only", action="store_true")
    args = parser.parse_args()
    source, html = args.output / "source", args.output / "html"
    stage(source)
    if args.stage_only:
        return 0
    from sphinx.cmd.build import main as sphinx

    shutil.rmtree(html, ignore_errors=True)
    options = ["-q", "-b", "html", "-W", "--keep-going", "-j", "auto", "-c", str(SITE)]
    status = sphinx([*options, "-d", str(args.output / "doctrees"), str(source), str(html)])
    mend_back_links(html)
    return int(status or check.main(html))


if __name__ == "__main__":
    sys.exit(main())
