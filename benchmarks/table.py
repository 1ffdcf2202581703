"""RESULTS.md, made from the saved sections."""

from collections.abc import Sequence
from typing import Any

VERDICT = {True: "pass", False: "**FAIL**", None: "not measured"}


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column to the left, the others to the right."""
    lines = [columns, ["---", *("---:" for _ in columns[1:])], *rows]
    return "\n".join("| " + " | ".join(_cell(value) for value in line) + " |" for line in lines)


def seconds(value: float | None) -> str:
    """A duration with three digits, in the unit that suits it."""
    if value is None:
        return "-"
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1:
            return f"{_three(value * factor)} {unit}"
    return f"{_three(value * 1e9)} ns"


def megabytes(value: float | None) -> str:
    return "-" if not value else f"{value:,.0f} MB"


def times(value: float | None) -> str:
    return "-" if value is None else f"{_three(value)}x"


def page(saved: dict[str, Any]) -> str:
    """The whole page. `saved` is what run.py keeps in results.json."""
    sections = sorted(saved["sections"].values(), key=lambda section: section["order"])
    parts = [
        "# Benchmark results",
        "Written by `make bench` (`python benchmarks/run.py`); do not edit. "
        "Seconds are wall time; ratios are of the best repeats; MB are 2^20 bytes of peak resident "
        "memory, mapped files included. A bar that fails is shown as it is.",
        _provenance(sections),
        "## Bars",
        _bars(sections),
    ]
    for section in sections:
        parts += [f"## {section['title']}", *_section(section)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _provenance(sections: list[dict[str, Any]]) -> str:
    lines = []
    for machine in dict.fromkeys(section["machine"] for section in sections):
        names = [section["name"] for section in sections if section["machine"] == machine]
        lines.append(f"- Machine ({', '.join(names)}): {machine}")
    for versions in dict.fromkeys(section["versions"] for section in sections):
        names = [section["name"] for section in sections if section["versions"] == versions]
        lines.append(f"- Versions ({', '.join(names)}): {versions}")
    runs = list(dict.fromkeys(section["run"] for section in sections))
    if len(runs) > 1:
        kept = [section["name"] for section in sections if section["run"] != max(runs)]
        lines.append(f"- Not all of one run: kept from earlier ones: {', '.join(kept)}")
    return "\n".join(lines)


def _bars(sections: list[dict[str, Any]]) -> str:
    rows = [
        [bar["what"], bar["wanted"], bar["got"], VERDICT[bar["passed"]]]
        for section in sections
        for bar in section["bars"]
    ]
    problems = [problem for section in sections for problem in section["problems"]]
    rows.append(
        ["tools agree on every mean", "yes", "no" if problems else "yes", VERDICT[not problems]]
    )
    return markdown(["bar", "wanted", "got", "verdict"], rows)


def _section(section: dict[str, Any]) -> list[str]:
    rows = section["rows"]
    parts = [section["text"], markdown(section["columns"], rows) if rows else "Not measured."]
    if section["problems"]:
        listed = "\n".join(f"- {problem}" for problem in section["problems"])
        parts.append(f"**Disagreements:**\n\n{listed}")
    if section["notes"]:
        parts.append("\n".join(f"- {note}" for note in section["notes"]))
    return parts


def _three(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _cell(value: str) -> str:
    return value.replace("|", "\\|").replace("\n", " ")
