"""Proof on the user's own data: the measures recomputed from their definitions and by other tools."""

from goodgain.verification.checks import selftest
from goodgain.verification.result import SelfTest

__all__ = ["SelfTest", "selftest"]
