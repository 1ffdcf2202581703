"""Traces of agents: every common format, converted into one."""

from __future__ import annotations

from goodgain.traces.builder import Builder, Context
from goodgain.traces.files import OpenedTraces, open_traces
from goodgain.traces.format import TraceFormat
from goodgain.traces.reader import TraceReader, read_traces
from goodgain.traces.recorder import Recorder, record
from goodgain.traces.registry import FORMATS
from goodgain.traces.results import results_of

__all__ = [
    "FORMATS",
    "Builder",
    "Context",
    "OpenedTraces",
    "Recorder",
    "TraceFormat",
    "TraceReader",
    "open_traces",
    "read_traces",
    "record",
    "results_of",
]
