"""Identity: when two results are the same. Two phases, rules as data, every decision explained.

>>> import goodgain as gg
>>> from goodgain.identity import Field, Profile
>>> ticket = Profile("ticket", definitive=("ticket_id",), fields=(Field("title"), Field("queue")))
>>> rules = gg.Identity([ticket])
>>> first = {"type": "ticket", "ids": {"ticket_id": "T1"}, "title": "Login fails"}
>>> rules.compare(first, {**first, "title": "Login fails again"}).verdict
'duplicate'
"""

from __future__ import annotations

from goodgain.identity.identity import Clusters, Comparison, Decision, Identity
from goodgain.identity.profiles import Field, Profile

__all__ = ["Clusters", "Comparison", "Decision", "Field", "Identity", "Profile"]
