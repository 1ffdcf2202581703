"""The figures that guidance quotes are those of the tables of simulations, which may be made anew."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def table(page: str, name: str) -> list[dict[str, str]]:
    """The rows of a table of simulated rates, by column."""
    text = (DOCS / page).read_text(encoding="utf-8")
    block = re.search(rf"<!-- rates: {re.escape(name)} -->\n(.*?)<!-- end -->", text, re.DOTALL)
    assert block is not None, f"{page} has no table {name}"
    head, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in block[1].strip().split("\n")
    ]
    return [dict(zip((cell.strip("`") for cell in head), row, strict=True)) for row in rows]


def percentages(texts: list[str]) -> list[float]:
    """The first percentage of each cell that has one."""
    return [float(match[1]) for text in texts if (match := re.match(r"([\d.]+) ?%", text))]


def figures(page: str, source: str) -> list[str]:
    """The numbers in the items of a page of guidance that cite a source, in their order."""
    text = (DOCS / "guidance" / page).read_text(encoding="utf-8")
    items = [item for item in re.split(r"\n(?=- |\n)", text) if source in item]
    assert items, f"{page} does not cite {source}"
    prose = re.sub(r"\]\([^)]*\)|`[^`]*`", "", " ".join(items))
    return re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)", prose)


def in_order(figures: list[str], *expected: str) -> bool:
    """Whether some numbers occur, one directly after the other."""
    size = len(expected)
    return any(tuple(figures[i : i + size]) == expected for i in range(len(figures) - size + 1))


def test_numbers_are_looked_for_in_order() -> None:
    assert in_order(["1", "2.5", "3"], "2.5", "3")
    assert not in_order(["2.5", "1", "3"], "2.5", "3")


def test_seeds() -> None:
    numbers = figures("seeds.md", "comparison.md#how-well-this-works")
    rows = [
        row
        for name in ("shared-0", "shared-0.1", "fixed-0", "own-0")
        for row in table("comparison.md", name)
    ]
    cells = [cell for row in rows for column, cell in row.items() if column.startswith("seed sd")]
    rates = percentages(cells)
    assert in_order(numbers, f"{min(rates):g}", f"{max(rates):g}")
    three, five, ten = [
        re.findall(r"\((\d+) %\)", row["seed sd 0.2"])[0]
        for row in table("comparison.md", "shared-0")
        if row["queries"] == "30"
    ]
    assert in_order(numbers, three, "3", five, "5", ten, "10")


def test_tests() -> None:
    numbers = figures("tests.md", "comparison.md#how-well-this-works")
    rows = table("comparison.md", "queries")
    t = percentages([row["t"] for row in rows])
    assert in_order(numbers, f"{min(t):g}", f"{max(t):g}")
    skewed = [row for row in rows if row["differences"] == "skewed"]
    others = percentages([row[test] for row in skewed for test in ("wilcoxon", "sign")])
    assert in_order(numbers, f"{min(others):.0f}", f"{max(others):.0f}")
    dropped = percentages([row["best dropped"] for row in table("optimise.md", "racing")])
    assert f"{max(dropped):g}" in figures("tests.md", "racing_rates.py")


def test_judges() -> None:
    numbers = figures("judges.md", "labels.md#how-often-the-intervals-hold")
    queries, pairs = table("labels.md", "label-queries"), table("labels.md", "label-pairs")
    lengths = {
        (row["labels"], row["judge"], row["queries" if "queries" in row else "pairs"]): row[
            "length"
        ]
        for row in (*queries, *pairs)
    }
    good, poor = (
        (lengths["graded", judge, "40"], lengths["graded", judge, "200"])
        for judge in ("good", "poor")
    )
    assert {*good, *poor} <= set(numbers)
    assert in_order(numbers, *poor)
    names = ("label-queries", "label-pairs", "label-strata", "label-steps", "label-shapes")
    cover = percentages([row["they cover"] for name in names for row in table("labels.md", name)])
    assert in_order(numbers, f"{int(min(cover))}", f"{max(cover):.0f}")
    graded = [row for row in queries if row["labels"] == "graded" and row["they cover"] != "-"]
    assert graded[0]["queries"] in figures("judges.md", "the same tables")


def test_checks() -> None:
    text = (DOCS / "check.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| 25 \| .+? \| .+? \| ([\d.]+) \| ([\d.]+)% \|$", text, re.MULTILINE)
    losses = [float(loss) for loss, _ in rows]
    numbers = figures("queries.md", "check.md#the-verdict")
    assert in_order(numbers, "25", f"{min(losses):.2f}", f"{max(losses):.2f}")
    assert all(86 < float(caught) < 94 for _, caught in rows)  # "nine times out of ten"
