"""The tables: judgements, runs, and traces."""

from __future__ import annotations

from goodgain.tables.qrels import Qrels
from goodgain.tables.run import Run
from goodgain.tables.trace import Iteration, Result, Search, Trace, Turn, read_traces

__all__ = ["Iteration", "Qrels", "Result", "Run", "Search", "Trace", "Turn", "read_traces"]
