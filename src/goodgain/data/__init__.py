"""The data that everything works on: judgments, runs, and traces."""

from __future__ import annotations

from goodgain.data.qrels import Qrels
from goodgain.data.run import Run
from goodgain.data.trace import Iteration, Result, Search, Trace, Turn

__all__ = ["Iteration", "Qrels", "Result", "Run", "Search", "Trace", "Turn"]
