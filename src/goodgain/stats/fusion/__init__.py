"""Run fusion: 25 methods, 7 normalisations, and tuning with held-out queries."""

from __future__ import annotations

from goodgain.stats.fusion.fuser import fuse
from goodgain.stats.fusion.methods import METHODS, NORMS
from goodgain.stats.fusion.tuner import Tuned, tune

__all__ = ["METHODS", "NORMS", "Tuned", "fuse", "tune"]
