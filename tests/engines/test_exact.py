"""Subtotals add up to what `math.fsum` returns for all numbers."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from goodgain.engines.exact import ExactSum

NUMBERS = st.floats(min_value=-1e300, max_value=1e300) | st.just(math.nan)


@given(st.lists(st.lists(NUMBERS, max_size=8), max_size=6))
def test_subtotals_add_up_exactly(groups):
    total = ExactSum()
    for part in groups:
        own = ExactSum()
        own.add(np.array(part, dtype=np.float64))
        total.join(ExactSum.from_list(own.to_list()))
    defined = [v for part in groups for v in part if v == v]
    assert total.value == math.fsum(defined)
    assert total.count == len(defined)


def test_smallest_and_largest():
    values = [5e-324, -5e-324, 2.2250738585072014e-308, 1.7e308, -1.7e308, 5e-324, 0.0, -0.0]
    total = ExactSum()
    total.add(np.array(values))
    assert total.value == math.fsum(values)


def test_many_do_not_overflow():
    total = ExactSum()
    total.add(np.full(3_000_000, 0.1))
    assert total.value == math.fsum([0.1] * 3_000_000)


def test_infinite_values_show():
    total = ExactSum()
    total.add(np.array([1.0, math.inf, math.nan]))
    assert total.value == math.inf
    assert total.count == 2
