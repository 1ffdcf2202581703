"""Run fusion: 25 methods, 7 normalisations, and tuning by cross-validation.

>>> import goodgain as gg
>>> from goodgain.fusion import METHODS, NORMS
>>> "rrf" in METHODS, "min-max" in NORMS
(True, True)
>>> qrels = {f"q{n}": {"a": 1} for n in range(10)}
>>> runs = {"x": {q: {"a": 2.0, "b": 1.0} for q in qrels}, "y": {q: {"b": 2.0, "a": 1.0} for q in qrels}}
>>> gg.tune(runs, "wsum", qrels=qrels, measures="RR").held_out_mean
1.0
"""

from __future__ import annotations

from goodgain.fusion.fuser import fuse
from goodgain.fusion.methods import METHODS, NORMS
from goodgain.fusion.tuner import Tuned, tune

__all__ = ["METHODS", "NORMS", "Tuned", "fuse", "tune"]
