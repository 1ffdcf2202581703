"""Engines that run the kernels: on the local cores or on a Spark cluster."""

from __future__ import annotations

from goodgain.engines.local import LocalEngine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain.engines.protocol import Engine
    from goodgain.engines.spark import SparkEngine

__all__ = ["Engine", "LocalEngine", "SparkEngine"]


def __getattr__(name: str) -> Any:
    if name == "Engine":
        from goodgain.engines.protocol import Engine

        return Engine
    if name == "SparkEngine":
        from goodgain.engines.spark import SparkEngine

        return SparkEngine
    raise AttributeError(f"module 'goodgain.engines' has no attribute '{name}'")
