"""Engines: where the kernels run. One protocol, on this machine's cores or on a Spark cluster."""

from __future__ import annotations

from goodgain.engines.local import LocalEngine
from goodgain.engines.protocol import Engine
from goodgain.engines.spark import SparkEngine

__all__ = ["Engine", "LocalEngine", "SparkEngine"]
