"""Traces of agents: every format that users already have, turned into one."""

from __future__ import annotations

from goodgain.traces.files import OpenedTraces, open_traces
from goodgain.traces.reader import TraceReader, read_traces
from goodgain.traces.recorder import Recorder, record
from goodgain.traces.registry import FORMATS, TraceFormat

__all__ = [
    "FORMATS",
    "OpenedTraces",
    "Recorder",
    "TraceFormat",
    "TraceReader",
    "open_traces",
    "read_traces",
    "record",
]
