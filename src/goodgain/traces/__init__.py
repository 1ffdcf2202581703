"""Traces of agents: every common format, converted into one.

>>> from goodgain.traces import FORMATS, find_results, open_traces, results_of
>>> output = {"organic": [{"link": "https://example.com/seine", "title": "Seine"}]}
>>> [result["url"] for result in results_of(output)]
['https://example.com/seine']
>>> find_results("The Seine rises at Source-Seine.").account
'unread'
>>> import goodgain as gg
>>> with gg.record("traces.jsonl") as rec:
...     rec.search("seine", [{"url": "https://example.com/seine"}])
>>> open_traces("traces.jsonl").format
'recorded'
>>> "langfuse" in FORMATS
True
"""

from __future__ import annotations

from goodgain.traces.builder import Builder
from goodgain.traces.context import Context
from goodgain.traces.files import OpenedTraces, open_traces
from goodgain.traces.format import TraceFormat
from goodgain.traces.ledger import Ledger
from goodgain.traces.reader import TraceReader, read_traces
from goodgain.traces.recorder import Recorder, record
from goodgain.traces.registry import FORMATS
from goodgain.traces.results import find_results, results_of

__all__ = [
    "FORMATS",
    "Builder",
    "Context",
    "Ledger",
    "OpenedTraces",
    "Recorder",
    "TraceFormat",
    "TraceReader",
    "find_results",
    "open_traces",
    "read_traces",
    "record",
    "results_of",
]
