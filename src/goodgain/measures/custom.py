"""Measures that users write themselves."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from goodgain.errors import MeasureError
from goodgain.measures.grammar import Measure, add_definition, make
from goodgain.measures.table.ranked import Definition

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Gains = NDArray[np.float64]


def register(
    name: str,
    function: Callable[[Gains], float] | Callable[[Gains, Gains], float],
    *,
    summary: str = "",
    range: str = "any number",  # noqa: A002 - the table's word
    lower_is_better: bool = False,
) -> Measure:
    """Make a Python function a measure that is used everywhere by its name.

    The function gets the gains of one query's documents in rank order (NaN where a document is not
    judged) and, if it takes a second argument, the gains of all judged documents, best first.
    """
    if not re.fullmatch(r"[^\W\d]\w*", name):
        raise MeasureError(f"'{name}' cannot name a measure", hint="letters, digits and _")
    takes = _argument_count(function)
    if takes not in (1, 2):
        raise MeasureError(
            f"the function for '{name}' takes {takes} arguments",
            hint="one (the ranked gains) or two (also the judged gains)",
        )
    call = function if takes == 2 else lambda gains, judged: function(gains)  # type: ignore[call-arg]
    definition = Definition(
        name,
        "registered",
        summary or (inspect.getdoc(function) or "A measure of your own.").splitlines()[0],
        "a Python function",
        range,
        "As the function says.",
        "",
        None,
        cutoff="none",
        lower_is_better=lower_is_better,
        function=call,  # type: ignore[arg-type]
    )
    add_definition(definition)
    return make(definition, {}, None)


def _argument_count(function: Callable[..., float]) -> int:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return sum(p.kind in kinds and p.default is p.empty for p in parameters)
