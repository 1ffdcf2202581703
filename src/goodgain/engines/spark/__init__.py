"""The Spark engine: the same kernels on Arrow batches, run where the data is."""

from __future__ import annotations

from goodgain.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
