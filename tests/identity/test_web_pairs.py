"""The table of real-world pairs: no lookalikes are merged, and nearly all aliases are."""

import pytest
from web_pairs import ALIASES, LOOKALIKES

from goodgain import Identity


def result(one):
    return {"url": one} if isinstance(one, str) else one


def clusters(pair):
    """How many results the two are, in either order."""
    one, other = map(result, pair)
    counts = {len(Identity().cluster(results)) for results in ([one, other], [other, one])}
    assert len(counts) == 1, "the order decides"
    return counts.pop()


def test_the_table_is_large():
    assert len(ALIASES) + len(LOOKALIKES) >= 400
    assert min(len(ALIASES), len(LOOKALIKES)) >= 200
    pairs = [*ALIASES.values(), *LOOKALIKES.values()]
    assert len({repr(sorted(map(repr, pair))) for pair in pairs}) == len(pairs)


@pytest.mark.parametrize("name", LOOKALIKES)
def test_lookalikes_are_different(name):
    assert clusters(LOOKALIKES[name]) == 2


@pytest.mark.parametrize("name", ALIASES)
def test_aliases_are_one(name):
    assert clusters(ALIASES[name]) == 1
