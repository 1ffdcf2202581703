"""Calls that run several queries at once, each answered under a heading of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.results import find_results

if TYPE_CHECKING:
    from goodgain.traces.calls import CallRecord

_HEADING = re.compile(r"^A (?:Google )?search for '(?P<query>.*?)' found \d+ results?:", re.M)


def split_batch(record: CallRecord) -> list[tuple[str, list[dict[str, Any]]]]:
    """(query, results) of each query; nothing for a call of one query."""
    if not record.has_results:
        return []
    text = next((o.value for o in record.outputs if o.account == "result"), None)
    if not isinstance(text, str) or "search for '" not in text:
        return []
    headings = list(_HEADING.finditer(text))
    if len(headings) < 2:
        return []
    ends = [h.start() for h in headings[1:]] + [len(text)]
    return [
        (heading["query"], find_results(text[heading.end() : end]).results)
        for heading, end in zip(headings, ends, strict=True)
    ]
