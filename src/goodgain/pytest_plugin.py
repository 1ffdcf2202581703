"""A pytest fixture that runs the gate as a test.

def test_search_is_no_worse(goodgain_gate):
    goodgain_gate("qrels.txt", "baseline.run", "candidate.run", measures="nDCG@10", margin=0.01)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.comparison.gates import Gate


@pytest.fixture
def goodgain_gate() -> Callable[..., Gate]:
    """A function of (qrels, baseline, candidate) that fails the test if the gate fails.

    With three arguments the runs are evaluated first; one or two are passed to `goodgain.gate` as they are.
    """

    def check(*sources: Any, measures: Any = None, **options: Any) -> Gate:
        __tracebackhide__ = True
        from goodgain.comparison.gates import gate
        from goodgain.ranking import evaluate

        if len(sources) == 3:
            qrels, baseline, candidate = sources
            measures = measures or "nDCG@10"
            sources = tuple(
                evaluate(qrels, {name: run}, measures)
                for name, run in (("baseline", baseline), ("candidate", candidate))
            )
        result = gate(*sources, measures=measures, **options)
        if not result.passed:
            pytest.fail(f"{result}", pytrace=False)
        return result

    return check
