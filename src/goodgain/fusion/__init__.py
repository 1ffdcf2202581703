"""Run fusion: 25 methods, 7 normalisations, and tuning by cross-validation."""

from __future__ import annotations

from goodgain.fusion.fuser import fuse
from goodgain.fusion.methods import METHODS, NORMS
from goodgain.fusion.tuner import Tuned, tune

__all__ = ["METHODS", "NORMS", "Tuned", "fuse", "tune"]
