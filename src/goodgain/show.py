"""Tables as text: for people (aligned, Markdown, LaTeX) and for machines (CSV, TSV, JSON)."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Row = Sequence[Any]

WIDE_FORMATS = ("table", "markdown", "latex")
LONG_FORMATS = ("json", "jsonl", "csv", "tsv")
FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex")


def number(value: float | int | None, digits: int = 4) -> str:
    """A number for people: undefined is a dash, and nothing is rounded to a false 0 or 1."""
    if value is None or value != value:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    text = f"{value:.{digits}f}"
    if text == f"{1:.{digits}f}" and value < 1:
        return f"{1 - 10**-digits:.{digits}f}"
    if value > 0 and float(text) == 0:
        return f"{value:.1e}"
    return text


def plain(text: str) -> str:
    """Text that cannot move the cursor or reorder a line: control characters are shown, not sent."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii", "replace")
        for c in text
    )


def width(text: str) -> int:
    """Columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def render(format: str, columns: Sequence[str], rows: Sequence[Row]) -> str:  # noqa: A002
    """A table in one of `FORMATS`; every row ends with a line break."""
    return _RENDERERS[format](columns, rows)


def _cells(rows: Sequence[Row]) -> list[list[str]]:
    return [
        [number(v) if isinstance(v, int | float) or v is None else plain(str(v)) for v in row]
        for row in rows
    ]


def _numeric(rows: Sequence[Row], column: int) -> bool:
    return all(isinstance(row[column], int | float) or row[column] is None for row in rows)


def _table(columns: Sequence[str], rows: Sequence[Row]) -> str:
    cells = [[plain(c) for c in columns], *_cells(rows)]
    widths = [max(width(line[i]) for line in cells) for i in range(len(columns))]
    right = [_right(rows, i) for i in range(len(columns))]
    lines = []
    for line in cells:
        parts = []
        for text, size, to_right in zip(line, widths, right, strict=True):
            gap = " " * (size - width(text))
            parts.append(gap + text if to_right else text + gap)
        lines.append("  ".join(parts).rstrip() + "\n")
    return "".join(lines)


def _right(rows: Sequence[Row], column: int) -> bool:
    """Numbers, and texts made of them such as intervals, stand to the right."""
    return bool(rows) and all(
        v is None or isinstance(v, int | float) or (str(v)[:1].isdigit() and "[" in str(v))
        for v in (row[column] for row in rows)
    )


def _markdown(columns: Sequence[str], rows: Sequence[Row]) -> str:
    def line(cells: Sequence[str]) -> str:
        return (
            "| " + " | ".join(c.replace("\\", "\\\\").replace("|", "\\|") for c in cells) + " |\n"
        )

    rule = "|" + "|".join(" ---: " if _right(rows, i) else " --- " for i in range(len(columns)))
    return line([plain(c) for c in columns]) + rule + "|\n" + "".join(line(c) for c in _cells(rows))


_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
})  # fmt: skip


def _latex(columns: Sequence[str], rows: Sequence[Row]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "  " + " & ".join(c.translate(_LATEX) for c in cells) + r" \\" + "\n"

    spec = "".join("r" if _right(rows, i) else "l" for i in range(len(columns)))
    return (
        f"\\begin{{tabular}}{{{spec}}}\n  \\toprule\n"
        + line([plain(c) for c in columns])
        + "  \\midrule\n"
        + "".join(line(c) for c in _cells(rows))
        + "  \\bottomrule\n\\end{tabular}\n"
    )


def _bare(value: Any) -> Any:
    """A value for machines: undefined is null."""
    return None if isinstance(value, float) and value != value else value


def _json(columns: Sequence[str], rows: Sequence[Row]) -> str:
    import json

    items = [json.dumps(_object(columns, row), ensure_ascii=False) for row in rows]
    return "[\n" + ",\n".join("  " + item for item in items) + "\n]\n" if items else "[]\n"


def _jsonl(columns: Sequence[str], rows: Sequence[Row]) -> str:
    import json

    return "".join(json.dumps(_object(columns, row), ensure_ascii=False) + "\n" for row in rows)


def _object(columns: Sequence[str], row: Row) -> dict[str, Any]:
    return {column: _bare(value) for column, value in zip(columns, row, strict=True)}


def _delimited(delimiter: str) -> Callable[[Sequence[str], Sequence[Row]], str]:
    def write(columns: Sequence[str], rows: Sequence[Row]) -> str:
        import csv
        import io

        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_bare(value) for value in row] for row in rows)
        return out.getvalue()

    return write


_RENDERERS: dict[str, Callable[[Sequence[str], Sequence[Row]], str]] = {
    "table": _table,
    "markdown": _markdown,
    "latex": _latex,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _delimited(","),
    "tsv": _delimited("\t"),
}
