"""One HTML text from sections: everything inside, nothing fetched, no text that could become code.

Data stands in JSON blocks and becomes text nodes; the only scripts that run are those whose hashes the
page's own policy names.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from goodgain.reports import theme
from goodgain.reports.chart import Chart
from goodgain.reports.elements import Section, Text, Widget, cut, value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goodgain.reports.elements import Part
    from goodgain.reports.theme import Palette

# In the order they run; those of widgets stand before the page's own.
SCRIPTS = (
    "dom.js",
    "export.js",
    "table.js",
    "chart.js",
    "detail.js",
    "queries.js",
    "query.js",
    "agentic.js",
    "page.js",
)
CHART_SCRIPTS = ("vega.min.js", "vega-lite.min.js", "vega-interpreter.js")
# What would end a script element, and what JSON may hold but a page may not: half a surrogate pair.
_UNSAFE = re.compile("[<\u2028\u2029\ud800-\udfff]")


def page_html(title: str, sections: Sequence[Section]) -> str:
    """The whole page."""
    import datetime
    from html import escape
    from string import Template

    from goodgain import __version__

    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    parts = [part for section in sections for part in section.parts]
    page = {
        "title": cut(title),
        "made": f"Made by goodgain {__version__} on {now}",
        "themes": {
            "light": theme.config(theme.LIGHT),
            "dark": theme.config(theme.DARK),
        },
        "sections": [
            {"key": s.key, "title": s.title, "parts": [_plain(part) for part in s.parts]}
            for s in sections
        ],
    }
    blocks: dict[str, Any] = {"page": page}
    for part in parts:
        if isinstance(part, Widget):
            blocks |= part.blocks
    style = style_text()
    scripts = [script_text()]
    # What draws charts is 0.8 MB: it comes last, when texts and tables stand, or not at all.
    if any(isinstance(part, Chart) for part in parts):
        scripts += [asset(f"vendor/{name}") for name in CHART_SCRIPTS]
    lead = next((p for p in parts if isinstance(p, Text) and p.style == "lead"), None)
    return Template(asset("page.html")).substitute(
        policy=escape(policy([style], scripts)),
        title=escape(_shown(cut(title))),
        version=__version__,
        style=style,
        summary=escape(_shown(lead.text)) if lead else "",
        data="\n".join(
            f'<script type="application/json" id="data-{key}">{json_text(value)}</script>'
            for key, value in blocks.items()
        ),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """The page's Content-Security-Policy: these styles and scripts, and nothing from anywhere."""
    return "; ".join([
        "default-src 'none'",
        f"script-src {' '.join(map(_hash, scripts))}",
        f"style-src {' '.join(map(_hash, styles))}",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ])  # fmt: skip


def json_text(value: Any) -> str:
    """JSON that can stand inside a script element."""
    import json

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@lru_cache
def asset(name: str) -> str:
    """One of the files that pages are made of."""
    from importlib.resources import files

    return (files("goodgain.reports") / "assets" / name).read_text(encoding="utf-8")


@lru_cache
def script_text() -> str:
    """The page's own script: its files share one scope."""
    body = "\n".join(asset(name) for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n{body}\n}})();\n'


@lru_cache
def style_text() -> str:
    """The palettes as variables, then the rules that use them."""
    light, dark = _variables(theme.LIGHT), _variables(theme.DARK)
    return (
        f"{palette_text()}"
        f"@media screen {{ :root[data-theme=light] {{ color-scheme: light; {light} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }} }}\n" + asset("page.css")
    )


def palette_text() -> str:
    """Colours and font as variables, as the reader's system asks for them."""
    light, dark = _variables(theme.LIGHT), _variables(theme.DARK)
    return (
        f":root {{ color-scheme: light; {light} --font: {theme.FONT}; }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {dark} }} }}\n"
    )


def _variables(palette: Palette) -> str:
    names = (
        "background", "surface", "text", "muted", "rule", "grid", "accent", "better", "worse",
    )  # fmt: skip
    found = {name: getattr(palette, name) for name in names}
    for i, (back, front) in enumerate(palette.gains):
        found |= {f"gain-{i}": back, f"gain-{i}-text": front}
    found |= {"unknown": palette.unknown[0], "unknown-text": palette.unknown[1]}
    return " ".join(f"--{name}: {value};" for name, value in found.items())


def _plain(part: Part) -> dict[str, Any]:
    if isinstance(part, Chart):
        return {
            "kind": "chart",
            "key": part.key,
            "title": part.title,
            "description": part.description,
            "spec": part.spec,
            "columns": [cut(name) for name in part.columns],
            "rows": [[value_of(v) for v in row] for row in part.rows],
        }
    return part.to_dict()


def _hash(text: str) -> str:
    import base64
    import hashlib

    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _shown(text: str) -> str:
    """For the few places where the page's HTML itself holds a user's text."""
    from goodgain.errors import plain

    return plain(text)
