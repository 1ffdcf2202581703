"""Traces of agents: every format that users already have, turned into one."""

from __future__ import annotations

from goodgain.read.traces.files import OpenedTraces, open_traces
from goodgain.read.traces.record import Recorder, record
from goodgain.read.traces.registry import FORMATS, TraceFormat

__all__ = ["FORMATS", "OpenedTraces", "Recorder", "TraceFormat", "open_traces", "record"]
