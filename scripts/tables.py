"""Fill the tables in docs/ that come from the code: python scripts/tables.py [--check].

A table stands between `<!-- table: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

from goodgain.fusion.methods import METHODS, NORMS
from goodgain.reports.charts import KINDS

DOCS = Path(__file__).resolve().parent.parent / "docs"
PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fusion_methods() -> str:
    """Every fusion method with its parameter."""
    lines = ["| method | | parameter |", "| --- | --- | --- |"]
    for method in METHODS.values():
        notes = [f"{method.param.name}={method.param.default:g}"] if method.param else []
        notes += ["weights"] if method.weighted else []
        notes += ["trained"] if method.trained else []
        text = f"{method.summary} {method.citation}."
        lines.append(f"| `{method.name}` | {text} | {', '.join(notes) or '-'} |")
    return "\n".join(lines)


def fusion_norms() -> str:
    """Every normalisation."""
    lines = ["| `norm` | |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| `{name}` | {text} |" for name, text in NORMS.items())])


def charts() -> str:
    """Every kind of chart with the results it is drawn from and its options."""
    lines = ["| kind | of | shows | options |", "| --- | --- | --- | --- |"]
    for kind in KINDS.values():
        options = list(inspect.signature(kind.function()).parameters)[1:]
        cells = (
            f"`{kind.name}`",
            ", ".join(kind.results),
            kind.text,
            ", ".join(f"`{o}`" for o in options),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


TABLES = {"fusion-methods": fusion_methods, "fusion-norms": fusion_norms, "charts": charts}


def filled(text: str) -> str:
    """A page with its tables as they should be."""
    return PLACE.sub(lambda m: f"{m[1]}\n{TABLES[m[2]]()}\n\n{m[3]}", text)


def main() -> int:
    """Write the tables, or check them."""
    stale = []
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if filled(text) != text:
            stale.append(page.name)
            if "--check" not in sys.argv:
                page.write_text(filled(text), encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"out of date: {', '.join(stale)}; run: make docs")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
