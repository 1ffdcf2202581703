"""`goodgain check`: regression tests for a search, from a golden set and a baseline in the repository."""

from __future__ import annotations

from goodgain.checks.checking import check
from goodgain.checks.golden import Case, GoldenSet, read_golden
from goodgain.checks.result import CheckResult

__all__ = ["Case", "CheckResult", "GoldenSet", "check", "read_golden"]
