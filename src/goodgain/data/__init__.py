"""The data that everything works on: judgments, runs, and traces.

>>> import goodgain as gg
>>> from goodgain.data import Iteration, Result, Search, Trace, Turn
>>> results = (Result(id="keys.md", gain=3), Result(id="plans.md", gain=0))
>>> step = Iteration(searches=(Search(query="rotate keys", results=results),))
>>> trace = Trace(conversation="c1", turns=(Turn(iterations=(step,), user="How do I rotate keys?"),))
>>> gg.good_gain([trace]).figure("CG").value
3.0
"""

from __future__ import annotations

from goodgain.data.qrels import Qrels
from goodgain.data.run import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain.data.trace import Iteration, Result, Search, Trace, Turn

__all__ = ["Iteration", "Qrels", "Result", "Run", "Search", "Trace", "Turn"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'goodgain.data' has no attribute '{name}'")
    from goodgain.data import trace  # an evaluation of runs does not need it

    return getattr(trace, name)
