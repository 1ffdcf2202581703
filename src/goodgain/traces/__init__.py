"""Traces of agents: every common format, converted into one."""

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
