"""Every named pair gets its verdict at its step, whichever of the two comes first."""

import pytest
from pairs import PAIRS, UNITS

from goodgain import Identity


def test_there_are_many_pairs():
    assert len(PAIRS) + len(UNITS) >= 120


@pytest.mark.parametrize("name", PAIRS)
def test_pair(name):
    one, other, verdict, step = PAIRS[name]
    for a, b in ((one, other), (other, one)):
        comparison = Identity().compare(a, b)
        assert (comparison.verdict, comparison.step) == (verdict, step), comparison


@pytest.mark.parametrize("name", UNITS)
def test_units(name):
    one, other, document, passage = UNITS[name]
    for unit, expected in (("document", document), ("passage", passage)):
        for a, b in ((one, other), (other, one)):
            comparison = Identity(unit=unit).compare(a, b)
            assert (comparison.verdict, comparison.step) == expected, (unit, comparison)


@pytest.mark.parametrize("name", [n for n, p in PAIRS.items() if p[2] == "duplicate"])
def test_duplicates_are_proposed_too(name):
    """A verdict counts only for pairs that share a key: all of these do."""
    one, other, _, _ = PAIRS[name]
    assert Identity().compare(one, other).keys
    assert Identity().cluster([one, other]).first == (0, 0)
