"""`goodgain check`: regression tests for a search, from a golden set and a baseline in the repository.

>>> from pathlib import Path
>>> from goodgain.checks import read_golden
>>> _ = Path("golden.yaml").write_text('''
... version: 1
... cases:
...   - {id: keys, query: rotate the keys, relevant: [keys.md], must: {hit: 3}}
... ''')
>>> golden = read_golden("golden.yaml")
>>> [(case.id, case.query) for case in golden.cases]
[('keys', 'rotate the keys')]
"""

from __future__ import annotations

from goodgain.checks.checking import check
from goodgain.checks.golden import Case, GoldenSet, read_golden
from goodgain.checks.result import CheckResult

__all__ = ["Case", "CheckResult", "GoldenSet", "check", "read_golden"]
