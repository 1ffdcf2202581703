"""The history of a check: a line for every run, and a chart of how the measures went."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.descriptors import open_to_append
from goodgain.io.whole import read_document

if TYPE_CHECKING:
    from goodgain.checks.result import CheckResult

COLUMNS = ("date", "version", "verdict", "cases", "failed", "p50", "p95")

_HINT = "goodgain check GOLDEN --history FILE adds to it"


def history_line(result: CheckResult) -> str:
    """What one run adds to the history."""
    from datetime import UTC, datetime

    row: dict[str, Any] = {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "version": result.version,
        "verdict": result.verdict,
        "cases": len(result.cases),
        "failed": len(result.failed_cases),
        "p50": result.latency.now.get("p50"),
        "p95": result.latency.now.get("p95"),
        "means": dict(result.means),
    }
    return json.dumps(row, ensure_ascii=False)


def append_history(path: str, result: CheckResult) -> None:
    """Append a line to the history; after one that a killed process left incomplete, on a new line."""
    from goodgain._core import append_line

    line = history_line(result).encode("utf-8", "surrogateescape")
    descriptor = open_to_append(path)
    try:
        end = append_line(descriptor, line, -1)
    finally:
        os.close(descriptor)
    if end < 0:
        raise InputError(
            f"cannot write '{path}': {os.strerror(-1 - end)}",
            hint="check the path, its permissions and the space",
        )


def read_history(path: str) -> list[dict[str, Any]]:
    """The runs of a history, oldest first."""
    lines = read_document(path).split("\n")
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            rows.append({**row, "means": dict(row["means"])})
        except (ValueError, KeyError, TypeError, RecursionError):
            raise InputError(
                "not a line of a check's history", where=f"{path}:{number}", hint=_HINT
            ) from None
    if not rows:
        raise InputError("the history is empty", where=path, hint=_HINT)
    return rows


def history_table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Columns and a row for each run."""
    names = list(dict.fromkeys(name for row in rows for name in row["means"]))
    table = [
        [*(row.get(c) for c in COLUMNS), *(row["means"].get(name) for name in names)]
        for row in rows
    ]
    return [*COLUMNS, *names], table


def history_chart(rows: list[dict[str, Any]]) -> str:
    """A line of bars for each measure, from 0 to 1 or to its largest value."""
    blocks = "▁▂▃▄▅▆▇█"
    names = list(dict.fromkeys(name for row in rows for name in row["means"]))
    size = max(map(len, names), default=0)
    lines = []
    for name in names:
        values = [row["means"].get(name) for row in rows][-60:]
        numbers = [v for v in values if isinstance(v, int | float)]
        top = max([1.0, *numbers])
        bars = "".join(
            " " if not isinstance(v, int | float) else blocks[min(7, max(0, int(8 * v / top)))]
            for v in values
        )
        lines.append(f"{name:<{size}}  {bars}  {numbers[-1]:.4f}" if numbers else name)
    return "\n".join(lines) + "\n"
