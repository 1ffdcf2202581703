"""Typeset formulas as MathML while the site is built: no script, no font and no network at reading time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latex2mathml.converter import convert

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(convert(node.astext()))


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on its own line; where its parts do not fit side by side, they wrap."""
    parts = node.astext().split(r"\qquad")
    formulas = "".join(convert(part.strip(), display="block") for part in parts)
    translator.body.append(f'<div class="math">{formulas}</div>')


def skip_children(visit: object) -> object:
    """A visitor that has written everything itself."""
    from docutils.nodes import SkipNode

    def visitor(translator: HTML5Translator, node: nodes.Element) -> None:
        visit(translator, node)  # type: ignore[operator]
        raise SkipNode

    return visitor


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer(
        "mathml", (skip_children(inline), None), (skip_children(block), None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
