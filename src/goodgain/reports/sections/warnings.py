"""Warnings, if there are more than the summary has room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.reports.charts.frame import cut
from goodgain.reports.elements import Section
from goodgain.reports.sections.summary import FEW_WARNINGS, warning_text

if TYPE_CHECKING:
    from goodgain.reports.contents import PageContents


def section(contents: PageContents) -> Section | None:
    """The section; None if the summary has them."""
    warnings = contents.joined_warnings()
    if len(warnings) <= FEW_WARNINGS:
        return None
    texts = [warning_text(warning) for warning in warnings]
    hint = cut(texts[0].text, 90)
    return Section("warnings", f"{len(warnings):,} warnings", texts, hint=hint)
