"""docs/reliability.md names tests that exist, and figures that are those of the tests."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:tests|src|scripts)/[\w./]+?)(?:::(\w+))?`", TEXT)))


def test_every_named_test_exists():
    assert len(NAMED) > 15
    for path, function in NAMED:
        assert (ROOT / path).exists(), path
        if function:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^(async )?def {function}\(", text, re.M), f"{path}::{function}"


def test_figures_of_the_bad_inputs_are_those_of_the_table(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "tests" / "bad_inputs"), *sys.path])
    from damages import DAMAGES
    from good_files import lines_of
    from slots import all_slots

    slots = all_slots()
    cases = sum(len(lines_of(slot)) for slot in slots) * len(DAMAGES)
    for row, figure in (
        ("file slots of all commands", len(slots)),
        ("kinds of damage", len(DAMAGES)),
        ("bad inputs tried in the tests", cases),
    ):
        assert f"| {row} | {figure:,} |" in TEXT, f"{row}: {figure:,}"
