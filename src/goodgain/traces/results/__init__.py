"""The results in a tool's output: in data of any envelope, in JSON inside text, or in text in blocks."""

from __future__ import annotations

from typing import Any

from goodgain.traces.results.data import find_in_data
from goodgain.traces.results.finding import Finding, unread
from goodgain.traces.results.objects import result_of
from goodgain.traces.results.texts import find_in_text

__all__ = ["Finding", "find_results", "result_of", "results_of"]


def find_results(output: Any) -> Finding:
    """The results in a tool's output, or why there are none."""
    if isinstance(output, bytes | bytearray):
        output = bytes(output).decode("utf-8", "replace")
    try:
        return find_in_text(output) if isinstance(output, str) else find_in_data(output)
    except RecursionError:
        return unread("data that are nested too deeply")


def results_of(output: Any) -> list[dict[str, Any]]:
    """The results alone."""
    return find_results(output).results
