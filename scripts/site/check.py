"""Check a built site: its links, that no page needs another host, that options and keywords are complete."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

# Attributes by which a browser loads something by itself; a link that people follow may lead elsewhere.
LOADED = {
    **dict.fromkeys(("audio", "embed", "iframe", "input", "script", "track"), ("src",)),
    **dict.fromkeys(("image", "use"), ("href", "xlink:href")),
    **dict.fromkeys(("img", "source"), ("src", "srcset")),
    "link": ("href",),
    "object": ("data",),
    "video": ("src", "poster"),
}
NOT_LOADED = {
    "author",
    "canonical",
    "index",
    "license",
    "next",
    "prev",
    "search",
}  # kinds of <link>
DASHED = re.compile(r"(?:(?<=[\s(>])|^)–[a-z][\w-]*")  # an option whose two hyphens became a dash
STYLE_URL = re.compile(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)")


class Page(HTMLParser):
    """The anchors, links and loaded files of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.dashed: list[str] = []
        self.is_unpacked = True
        self.feed(text)
        self.loaded += STYLE_URL.findall(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag names, links to and loads."""
        values = {name: value for name, value in attrs if value}
        self.ids.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and NOT_LOADED & set(values.get("rel", "").split()):
            return
        self.loaded += [values[name] for name in LOADED.get(tag, ()) if name in values]

    def handle_data(self, data: str) -> None:
        """Note options that cannot be copied, and keywords that a signature does not write out."""
        self.dashed += DASHED.findall(data)
        self.is_unpacked &= data.strip() != "Unpack"


def is_elsewhere(address: str) -> bool:
    """Whether an address names a host."""
    return bool(urlsplit(address).netloc)


def problems(folder: Path) -> list[str]:
    """What is wrong with the pages and style sheets of a folder."""
    paths = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        wrong += [f"{name}: loads {url}" for url in page.loaded if is_elsewhere(url)]
        wrong += [f"{name}: {word}: a dash for two hyphens" for word in page.dashed]
        if not page.is_unpacked and "_modules" not in path.parts:  # there it is source code
            wrong.append(f"{name}: Unpack[...]: keywords that are not named")
        for link in {*page.links, *page.loaded}:
            reason = missing(link, path, pages)
            wrong += [f"{name}: {link}: {reason}"] if reason else []
    for path in sorted(folder.rglob("*.css")):
        urls = STYLE_URL.findall(path.read_text(encoding="utf-8"))
        wrong += [f"{path.relative_to(folder)}: loads {url}" for url in urls]
    return wrong


def missing(link: str, path: Path, pages: Mapping[Path, Page]) -> str:
    """Why a link of a page leads nowhere; empty if it leads somewhere, or to another host."""
    address = urlsplit(link)
    if address.scheme or address.netloc:
        return ""
    target = (path.parent / unquote(address.path)).resolve() if address.path else path
    if not target.exists():
        return "no such file"
    anchor = unquote(address.fragment)
    return (
        "no such anchor" if anchor and target in pages and anchor not in pages[target].ids else ""
    )


def main(folder: Path) -> int:
    """List what is wrong."""
    wrong = problems(folder)
    print(
        "\n".join(wrong)
        or f"{folder}: links and anchors lead somewhere, nothing is loaded from elsewhere"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
