"""The engine of a Spark cluster: the same kernels, on Arrow batches, where the data is."""

from __future__ import annotations

from goodgain.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
