"""Tables as text: for people (aligned, Markdown, LaTeX, HTML) and for machines (CSV, TSV, JSON)."""

from __future__ import annotations

import math

from goodgain.errors import plain
from goodgain.records import dataclass
from goodgain.results.screen import current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    Row = Sequence[Any]

WIDE_FORMATS = ("table", "markdown", "latex")
LONG_FORMATS = ("json", "jsonl", "csv", "tsv")
FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex")
HTML_ROWS = 200  # maximum rows of a table in a notebook


@dataclass(frozen=True, slots=True)
class Cell:
    """A formatted number with its marks: stars, or letters of the baselines it differs from."""

    text: str
    mark: str = ""
    best: bool = False
    interval: str = ""  # below it, in notebooks


def number(value: float | int | None, digits: int = 4) -> str:
    """A formatted number: undefined is a dash, and nothing is rounded to a false 0 or 1."""
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


def width(text: str) -> int:
    """The number of terminal columns that a text occupies."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0
        if unicodedata.combining(c) or c in "\u200c\u200d"
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )


def render(format: str, columns: Sequence[str], rows: Sequence[Row]) -> str:  # noqa: A002
    """A table in one of `FORMATS`; every row ends with a line break."""
    return _RENDERERS[format](columns, rows)


def render_data(format: str, columns: Sequence[str], rows: Sequence[Row]) -> str:  # noqa: A002
    """A table that programs read back: ids in CSV stay as they are, even if a spreadsheet would compute."""
    if format in _DELIMITERS:
        return _delimited(columns, rows, _DELIMITERS[format])
    return render(format, columns, rows)


def _cells(rows: Sequence[Row], best: str = "") -> list[list[str]]:
    return [[_cell(v, best) for v in row] for row in rows]


def _cell(value: Any, best: str) -> str:
    if isinstance(value, Cell):
        return f"{best if value.best else ''}{plain(value.text)}{value.mark}"
    if isinstance(value, int | float) or value is None:
        return number(value)
    return plain(str(value))


def _numeric(rows: Sequence[Row], column: int) -> bool:
    return all(isinstance(row[column], int | float) or row[column] is None for row in rows)


def _table(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """Aligned columns; on a terminal they fit its width, and the best values are marked."""
    screen = current()
    is_terminal = screen.width is not None
    head = [plain(c) for c in columns]
    cells = _cells(rows, BEST if is_terminal else "")
    right = [_right(rows, i) for i in range(len(columns))]
    sizes = [max(map(width, (head[i], *(row[i] for row in cells)))) for i in range(len(columns))]
    if screen.width is None or sum(sizes) + 2 * (len(sizes) - 1) <= screen.width:
        return painted(_aligned(head, cells, sizes, right, range(len(columns))))
    sizes = _shrunk(
        sizes, [_is_prose(row[i] for row in cells) for i in range(len(sizes))], screen.width
    )
    keys = _key_columns(head)
    longest = max(sizes[keys:], default=0)
    sizes[:keys] = _narrowed(sizes[:keys], screen.width - 2 - longest)
    cells = [[_cut(t, size) for t, size in zip(row, sizes, strict=True)] for row in cells]
    pieces = [
        _aligned(head, cells, sizes, right, piece) for piece in _pieces(sizes, screen.width, keys)
    ]
    return painted("\n".join(pieces))


BEST = "▸"  # stands before the best value of a column, on terminals
_NARROWEST = 16  # columns that a text is cut to, if a table is too wide
_KEYS = ("measure", "against", "query", "i", "iteration", "conversation")


def painted(text: str) -> str:
    """Text whose best values are bold, where there are colours."""
    screen = current()
    if not screen.colour or BEST not in text:
        return text
    import re

    return re.sub(f"{BEST}\\S+", lambda match: screen.paint(match[0], "bold"), text)


def _aligned(
    head: Sequence[str],
    cells: Sequence[Sequence[str]],
    sizes: Sequence[int],
    right: Sequence[bool],
    piece: Iterable[int],
) -> str:
    listed = list(piece)
    lines = []
    for row in [[_cut(t, size) for t, size in zip(head, sizes, strict=True)], *cells]:
        padded = []
        for i in listed:
            gap = " " * (sizes[i] - width(row[i]))
            padded.append(gap + row[i] if right[i] else row[i] + gap)
        lines.append("  ".join(padded).rstrip() + "\n")
    return "".join(lines)


def _cut(text: str, size: int) -> str:
    """Text of at most `size` columns: its beginning and its end, which tells names apart."""
    if width(text) <= size:
        return text
    front = back = ""
    for first, last in zip(text, reversed(text), strict=False):
        if width(front + first + back) >= size:
            break
        front += first
        if width(front + last + back) >= size:
            break
        back = last + back
    return f"{front}…{back}"


def _is_prose(texts: Iterable[str]) -> bool:
    """Whether a column holds names and sentences, which can be cut, rather than numbers."""
    return any(sum(c.isalpha() for c in text) > len(text) / 2 for text in texts)


def _shrunk(sizes: Sequence[int], is_prose: Sequence[bool], limit: int) -> list[int]:
    """The sizes of columns, with the longest texts cut as far as the width asks for."""
    shrunk = list(sizes)
    texts = [i for i, can_be_cut in enumerate(is_prose) if can_be_cut]
    while sum(shrunk) + 2 * (len(shrunk) - 1) > limit:
        widest = max(texts, key=lambda i: shrunk[i], default=None)
        if widest is None or shrunk[widest] <= _NARROWEST:
            break
        shrunk[widest] -= 1
    return shrunk


def _narrowed(sizes: Sequence[int], limit: int) -> list[int]:
    """The sizes of the columns that every piece repeats, so that another one fits beside them."""
    narrowed = list(sizes)
    while sum(narrowed) + 2 * (len(narrowed) - 1) > max(limit, 8 * len(narrowed)):
        narrowed[narrowed.index(max(narrowed))] -= 1
    return narrowed


def _key_columns(head: Sequence[str]) -> int:
    """How many columns say what a row is about: they are repeated where a table is cut in pieces."""
    keys = 1
    while keys < min(3, len(head)) and head[keys] in _KEYS:
        keys += 1
    return keys


def _pieces(sizes: Sequence[int], limit: int, keys: int) -> list[list[int]]:
    """The columns of each piece of a table that is too wide."""
    own = list(range(keys))
    pieces, used = [list(own)], sum(sizes[:keys]) + 2 * (keys - 1)
    start = used
    for i in range(keys, len(sizes)):
        if used + 2 + sizes[i] > limit and len(pieces[-1]) > keys:
            pieces.append(list(own))
            used = start
        pieces[-1].append(i)
        used += 2 + sizes[i]
    return pieces


def _right(rows: Sequence[Row], column: int) -> bool:
    """Whether a column is right-aligned: numbers, and texts of numbers such as intervals."""
    return bool(rows) and all(
        v is None or isinstance(v, int | float | Cell) or (str(v)[:1].isdigit() and "[" in str(v))
        for v in (row[column] for row in rows)
    )


def _markdown(columns: Sequence[str], rows: Sequence[Row]) -> str:
    return markdown_table(columns, rows, [_right(rows, i) for i in range(len(columns))])


def markdown_table(columns: Sequence[str], rows: Sequence[Row], right: Sequence[bool]) -> str:
    """A table in Markdown; `right` says which columns are right-aligned."""

    def line(cells: Sequence[str]) -> str:
        return (
            "| " + " | ".join(c.replace("\\", "\\\\").replace("|", "\\|") for c in cells) + " |\n"
        )

    aligned = [*right, *(False for _ in columns[len(right) :])]
    rule = "|" + "|".join(" ---: " if to_right else " --- " for to_right in aligned)
    return line([plain(c) for c in columns]) + rule + "|\n" + "".join(line(c) for c in _cells(rows))


def html_table(
    columns: Sequence[str], rows: Sequence[Row], caption: str = "", left_out: int = 0
) -> str:
    """A table for notebooks, escaped and without colours, so that it suits light and dark themes.

    A line below it counts the rows beyond `HTML_ROWS` and those that the caller has `left_out`.
    """
    from html import escape

    visible, left_out = rows[:HTML_ROWS], left_out + max(0, len(rows) - HTML_ROWS)
    right = [_right(visible, i) for i in range(len(columns))]
    room = [
        max((len(row[i].mark) for row in visible if isinstance(row[i], Cell)), default=0)
        for i in range(len(columns))
    ]
    # marimo's tables have no padding of their own.
    align = [
        f' style="text-align: {"right" if r else "left"}; padding: 0.25em 0.75em"' for r in right
    ]
    title = f'<caption style="text-align: left; padding: 0.25em 0.75em">{escape(plain(caption))}</caption>'
    head = "".join(f"<th{a}>{escape(plain(c))}</th>" for a, c in zip(align, columns, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{a}>{_html(v, n)}</td>" for a, v, n in zip(align, row, room, strict=True))
        + "</tr>"
        for row in visible
    )
    more = f"<p>and {left_out:,} more rows</p>" if left_out else ""
    top = f"{title if caption else ''}<thead><tr>{head}</tr></thead>"
    return f"<table>{top}<tbody>{body}</tbody></table>{more}"


def _html(value: Any, room: int) -> str:
    """A cell; marks have room for the longest one in the column, so that digits stay aligned."""
    from html import escape

    if isinstance(value, Cell):
        text = f"<b>{escape(value.text)}</b>" if value.best else escape(value.text)
        style = f"display: inline-block; width: {room}ch; text-align: left"
        mark = f'<sup style="{style}">{escape(value.mark)}</sup>' if room else ""
        interval = f"<br><small>{escape(value.interval)}</small>" if value.interval else ""
        return f"{text}{mark}{interval}"
    is_number = isinstance(value, int | float) or value is None
    return escape(number(value) if is_number else plain(str(value)))


_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
})  # fmt: skip


def latex_escape(text: str) -> str:
    """Text escaped for LaTeX."""
    return plain(text).translate(_LATEX)


def latex_row(cells: Sequence[str]) -> str:
    """A row of a tabular; one that begins with [ or * would be read as an option of the row before."""
    text = " & ".join(cells)
    guard = "{}" if text[:1] in ("[", "*") else ""
    return f"  {guard}{text} \\\\\n"


def _latex(columns: Sequence[str], rows: Sequence[Row]) -> str:
    def line(cells: Sequence[str]) -> str:
        return latex_row([latex_escape(c) for c in cells])

    spec = "".join("r" if _right(rows, i) else "l" for i in range(len(columns)))
    return (
        f"\\begin{{tabular}}{{{spec}}}\n  \\toprule\n"
        + line(list(columns))
        + "  \\midrule\n"
        + "".join(line(c) for c in _cells(rows))
        + "  \\bottomrule\n\\end{tabular}\n"
    )


def _null_if_nan(value: Any) -> Any:
    """A value for machine-readable formats: NaN becomes null."""
    return None if isinstance(value, float) and value != value else value


def _json(columns: Sequence[str], rows: Sequence[Row]) -> str:
    import json

    items = [json.dumps(_object(columns, row), ensure_ascii=False) for row in rows]
    return "[\n" + ",\n".join("  " + item for item in items) + "\n]\n" if items else "[]\n"


def _jsonl(columns: Sequence[str], rows: Sequence[Row]) -> str:
    import json

    return "".join(json.dumps(_object(columns, row), ensure_ascii=False) + "\n" for row in rows)


def _object(columns: Sequence[str], row: Row) -> dict[str, Any]:
    return {column: _null_if_not_finite(v) for column, v in zip(columns, row, strict=True)}


def _null_if_not_finite(value: Any) -> Any:
    """A value for JSON, which has no infinity: an upper bound of null is no bound."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def no_formula(value: Any) -> Any:
    """A text that a spreadsheet would compute begins with an apostrophe; numbers stay as they are."""
    if not isinstance(value, str) or value[:1] not in ("=", "+", "-", "@", "\t", "\r") or not value:
        return value
    try:
        float(value)
    except ValueError:
        return value if value == "-" else f"'{value}"
    return value


def _delimited(columns: Sequence[str], rows: Sequence[Row], delimiter: str) -> str:
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_null_if_nan(value) for value in row] for row in rows)
    return out.getvalue()


def _guarded(delimiter: str) -> Callable[[Sequence[str], Sequence[Row]], str]:
    def write(columns: Sequence[str], rows: Sequence[Row]) -> str:
        cells = [[no_formula(value) for value in row] for row in rows]
        return _delimited([no_formula(column) for column in columns], cells, delimiter)

    return write


_DELIMITERS = {"csv": ",", "tsv": "\t"}
_RENDERERS: dict[str, Callable[[Sequence[str], Sequence[Row]], str]] = {
    "table": _table,
    "markdown": _markdown,
    "latex": _latex,
    "json": _json,
    "jsonl": _jsonl,
    **{name: _guarded(delimiter) for name, delimiter in _DELIMITERS.items()},
}
