"""The sections of a page, in reading order.

A section is a module with `section(contents) -> Section | None`: None if the page has nothing for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Section

ORDER = (
    "summary",
    "warnings",
    "optimise",
    "differences",
    "queries",
    "agentic",
    "funnel",
    "stopping",
    "tradeoffs",
    "latency",
    "groups",
    "labels",
    "provenance",
)


def sections(contents: PageContents) -> list[Section]:
    """All sections that have something to show; all but the first table are folded, and so are warnings."""
    from importlib import import_module

    modules = (import_module(f"goodgain.reports.sections.{name}") for name in ORDER)
    candidates = (module.section(contents) for module in modules)
    listed: list[Section] = [section for section in candidates if section is not None]
    results = [s for s in listed if s.key != "warnings"]
    has_leaderboard = contents.scores is not None or contents.comparison is not None
    only_warns = bool(results) and results[0].key == "summary" and not has_leaderboard
    opened = [s.key for s in results[: 2 if only_warns else 1]]
    return [s if s.key in opened else replace(s, folded=True) for s in listed]
