"""The tables: judgements and runs."""

from __future__ import annotations

from goodgain.tables.qrels import Qrels
from goodgain.tables.run import Run

__all__ = ["Qrels", "Run"]
