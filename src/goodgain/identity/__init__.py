"""Identity: when two results are the same. Two phases, rules as data, every decision explained."""

from __future__ import annotations

from goodgain.identity.identity import Clusters, Comparison, Decision, Identity
from goodgain.identity.profiles import Field, Profile

__all__ = ["Clusters", "Comparison", "Decision", "Field", "Identity", "Profile"]
