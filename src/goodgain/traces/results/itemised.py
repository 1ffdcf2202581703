"""Lists in text whose items are links, lines of URLs, and numbered passages."""

from __future__ import annotations

import re
from typing import Any

from goodgain.traces.results.segments import segments

_URL = r"(?:https?|ftp|s3|gs|file)://[^\s<>\"'`]{3,4000}"
_ITEM = re.compile(
    r"(?P<indent>[ \t]{0,12})(?P<mark>[-*•+–‣◦]|#{1,6}|\[\d{1,4}\]|\(?\d{1,4}[.):]|[①-⑳])[ \t]{1,8}(?=\S)"
)
_MARKDOWN = re.compile(
    r"[ \t]{0,8}(?:#{1,6}[ \t]+)?(?:\d{1,4}[.)][ \t]+)?[*_]{0,3}\[(?P<title>[^\n]{1,500}?)\]\(<?(?P<url>(?:https?|ftp|s3|gs|file)://[^\s<>]{3,4000}?)>?"
    r"(?:[ \t]+\"[^\"\n]{0,300}\")?\)[*_]{0,3}(?=[\s:.,;|–—-]|$)(?P<rest>.*)"
)
_ALONE = re.compile(
    rf"[ \t>*_]{{0,12}}(?:[^\w\s<]{{1,3}}[ \t]{{1,3}})?(?:[^\W\d_][\w ]{{0,20}}[:：][ \t]*)?<?(?P<url>{_URL}?)>?[*_]{{0,3}}[ \t]*$"
)
_TRAILING = re.compile(
    rf"(?P<title>\S[^\n]{{1,300}}?)[ \t]*(?:[-–—|:,→]|->|[(\[<])[ \t]*[(\[<]?(?P<url>{_URL}?)[)\]>]?(?:[ \t]*[-–—|:][ \t]+(?P<rest>[^\n]*))?[ \t]*$"
)
_LEADING = re.compile(
    rf"<?(?P<url>{_URL}?)>?(?:[ \t]+[-–—|:(][ \t]*|[ \t]*[|\t][ \t]*)(?P<rest>[^\n]*)$"
)
_LINK_INSIDE = re.compile(r"\]\((?:https?|ftp)://")
Result = dict[str, Any]


def _clean(text: str) -> str:
    return text.strip().strip("*_").strip().strip("|–—-:").strip().strip("*_").strip()


def _build(url: str, title: str = "", text: str = "") -> Result:
    if url.count(")") > url.count("("):
        url = url.rstrip(")")
    known = (
        ("url", url.rstrip(".,;*_")),
        ("title", _clean(title)),
        ("snippet", text.strip().lstrip("-–—|: ").strip()),
    )
    return {k: v for k, v in known if v}


def _read_head(line: str) -> Result | None:
    """The link that a line consists of, or begins with."""
    link = _MARKDOWN.match(line)
    if link:
        return _build(link["url"], link["title"], link["rest"])
    if _LINK_INSIDE.search(line):
        return None  # a link in the middle of a sentence
    alone = _ALONE.match(line)
    if alone:
        return _build(alone["url"])
    leading = _LEADING.match(line.strip())
    if leading:
        return _build(leading["url"], "", leading["rest"])
    trailing = _TRAILING.match(line.strip()[:5000])
    if trailing and not _is_sentence(trailing["title"]):
        return _build(trailing["url"], trailing["title"], trailing["rest"] or "")
    return None


def _is_sentence(title: str) -> bool:
    return title.count(". ") > 1 or bool(_SAYS.search(title))


_SAYS = re.compile(
    r"\b(?:see|visit|source|sources|via|at|check|read more|according to|more info\w*)$", re.I
)


def read_items(text: str) -> list[Result]:
    """Numbered or bulleted items of which each begins with a link, or has a line that is one."""
    if "://" not in text:
        return []
    items = _split_items(text.split("\n"))
    if not items:
        return []
    results = [r for r in (_read_item(lines) for lines in items) if r is not None]
    return results if results and 2 * len(results) >= len(items) else []


def _split_items(lines: list[str]) -> list[list[str]]:
    """The lines of each item; deeper items belong to the one above them."""
    items: list[list[str]] = []
    depth, kind, is_open = -1, "", False
    for line in lines:
        mark = _ITEM.match(line)
        if mark and (depth < 0 or (len(mark["indent"]) <= depth and _kind(mark["mark"]) == kind)):
            if depth < 0:
                if mark["mark"].startswith("#") and "://" not in line:
                    continue  # a heading above the list
                depth, kind = len(mark["indent"]), _kind(mark["mark"])
            items.append([line[mark.end() :]])
            is_open = True
        elif mark and mark["mark"].startswith("#") and "://" not in line:
            is_open = False  # a heading ends the list
        elif items and is_open:
            items[-1].append(line)
    return items


def _kind(mark: str) -> str:
    return "#" if mark[0] == "#" else "n" if any(c.isdigit() for c in mark) else "-"


def _read_item(lines: list[str]) -> Result | None:
    head = _read_head(lines[0])
    if head is not None:
        rest = "\n".join(line.strip() for line in lines[1:]).strip()
        if rest:
            head["snippet"] = f"{head['snippet']}\n{rest}" if "snippet" in head else rest
        return head
    for number, line in enumerate(lines[1:8], 1):
        alone = _ALONE.match(line.lstrip("-*• \t"))
        if alone:
            title, *before = lines[:number]
            texts = [x.strip() for x in (*before, *lines[number + 1 :])]
            return _build(alone["url"], title, "\n".join(texts))
    return None


def read_links(text: str) -> list[Result]:
    """Lines that are links, each with the lines around it; at least two, or nothing else in the text."""
    if "://" not in text:
        return []
    paragraphs = [p for p in re.split(r"\n[ \t]*\n", text) if p.strip()]
    results: list[Result] = []
    prose = 0
    for paragraph in paragraphs:
        lines = paragraph.split("\n")
        heads = [(n, h) for n, h in ((n, _line_link(x)) for n, x in enumerate(lines)) if h]
        if not heads:
            if results and len(paragraph) > 80:
                results[-1]["snippet"] = (
                    results[-1].get("snippet", "") + "\n\n" + paragraph.strip()
                ).strip()
            prose += len(paragraph) > 200
            continue
        for (number, head), following in zip(
            heads, [*(n for n, _ in heads[1:]), len(lines)], strict=True
        ):
            single = len(heads) == 1
            before = lines[:number] if single else []
            if single and before and "title" not in head:
                head["title"] = _clean(before[0])
            after = "\n".join(x.strip() for x in lines[number + 1 : following]).strip()
            if after:
                head["snippet"] = f"{head['snippet']}\n{after}" if "snippet" in head else after
            results.append(head)
    if len(results) == 1:
        only = results[0]
        return results if len(paragraphs) == 1 and len(text) <= len(only["url"]) + 3 else []
    return results if prose <= len(results) else []


def _line_link(line: str) -> Result | None:
    if "://" not in line:
        return None
    return _read_head(line)


_PASSAGE = re.compile(
    r"^[ \t]{0,4}[#*]{0,4}[ \t]?(?:(?P<bracket>\[(?P<n1>\d{1,4})\])|\[?(?:document|doc|passage|result|source|chunk|context|snippet|excerpt|evidence|article)[ \t_#]{0,2}"
    r"(?P<n2>\d{1,4})\]?)(?:[ \t]?\((?P<note>[^)\n]{0,200})\))?\*{0,2}[ \t]?[:.)\]–-]{0,2}\*{0,2}(?=\s|$)[ \t]*",
    re.M | re.I,
)


def read_passages(text: str) -> list[Result]:
    """[1] text [2] text, or "Document 1: text": passages that are numbered in order from the start."""
    marks = list(_PASSAGE.finditer(text))
    if len(marks) < 2 or marks[0].start() > 200:
        return []
    numbers = [int(m["n1"] or m["n2"]) for m in marks]
    if numbers[0] > 1 or any(b != a + 1 for a, b in zip(numbers, numbers[1:], strict=False)):
        return []
    results = []
    for _, segment in segments(_PASSAGE, text):
        body = segment.strip().strip("-=").strip()
        if body:
            results.append({"content": body})
    long = sum(len(r["content"]) >= 25 for r in results)
    return results if 2 * long > len(marks) else []
