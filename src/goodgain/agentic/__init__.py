"""Good Gain: what each search of an agent was worth."""

from __future__ import annotations

from goodgain.agentic.result import GoodGain
from goodgain.agentic.scorer import good_gain
from goodgain.agentic.settings import GainSettings

__all__ = ["GainSettings", "GoodGain", "good_gain"]
