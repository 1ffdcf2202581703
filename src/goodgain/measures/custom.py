"""Measures that users write themselves, and columns of scores that somebody else computed."""

from __future__ import annotations

import re

from goodgain.errors import MeasureError
from goodgain.measures import registry
from goodgain.measures.definition import ANY_NUMBER, COST_FAMILY, Definition, Measure, Range
from goodgain.measures.grammar import make, parse, parse_agentic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.measures.definition import Direction

    Gains = NDArray[np.float64]


def register(
    name: str,
    function: Callable[[Gains], float] | Callable[[Gains, Gains], float],
    *,
    summary: str = "",
    unit: str = "",
    range: str | tuple[float, float] = "any number",  # noqa: A002 - the definition's word
    lower_is_better: bool = False,
    citation: str = "",
) -> Measure:
    """Make a Python function a measure that every command and function knows by its name.

    The function gets the gains of one query's documents in rank order (NaN for unjudged ones) and, if
    it takes a second argument, the gains of all judged documents, best first.

    >>> import goodgain as gg
    >>> def first_two(gains):
    ...     return float(sum(gain for gain in gains[:2] if gain > 0))
    ...
    >>> measure = gg.register("FirstTwo", first_two, summary="The gain of the first two documents.")
    >>> gg.evaluate({"q1": {"a": 3, "b": 1}}, {"q1": ["a", "x", "b"]}, measure)["FirstTwo"]
    3.0
    """
    if not re.fullmatch(r"[^\W\d]\w*", name):
        raise MeasureError(
            f"invalid measure name '{name}'", hint="use letters, digits and underscores"
        )
    count = _argument_count(function)
    if count not in (1, 2):
        raise MeasureError(
            f"the function for '{name}' takes {count} arguments",
            hint="one (the ranked gains) or two (also the judged gains)",
        )
    call: Any = function if count == 2 else lambda gains, judged: function(gains)  # type: ignore[call-arg]

    def value(gains: Gains, judged: Gains) -> float:
        try:
            return float(call(gains, judged))
        except Exception as error:
            raise MeasureError(
                f"the measure '{name}' failed: {type(error).__name__}: {error}"
            ) from error

    definition = Definition(
        name=name,
        namespace="custom",
        family="custom",
        level="query",
        unit=unit,
        direction="lower" if lower_is_better else "higher",
        range=Range(*range, f"{range[0]:g} to {range[1]:g}")
        if isinstance(range, tuple)
        else Range(ANY_NUMBER.low, ANY_NUMBER.high, range),
        summary=summary
        or ((function.__doc__ or "").strip() or "A user's measure.").splitlines()[0],
        formula="a Python function",
        edge_cases="As the function defines them.",
        citation=citation,
        function=value,
    )
    registry.add(definition)
    return make(definition, {}, None)


def _argument_count(function: Callable[..., float]) -> int:
    import inspect

    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return sum(p.kind in kinds and p.default is p.empty for p in parameters)


def register_plugin(name: str, value: Any) -> Definition:
    """Add the measure behind an entry point: a `Definition`, or a function as `register` takes it."""
    if isinstance(value, Definition):
        registry.add(value)
        return value
    return register(
        name,
        value,
        unit=getattr(value, "unit", ""),
        lower_is_better=getattr(value, "lower_is_better", False),
    ).definition


# --- columns of scores ---

_ARROWS: dict[str, Direction] = {"↓": "lower", "↑": "higher"}
# Columns of time and cost, by their whole name: `latency`, `latency_ms`, `cost_usd`; not `time_saved`.
_COST_COLUMN = re.compile(
    r"(latency|duration|elapsed|response_time|runtime|time|seconds|cost|price|tokens|total_tokens)"
    r"(_(?P<unit>s|sec|secs|seconds|ms|millis|milliseconds|us|min|usd|eur|gbp|cents))?"
    r"(_(mean|avg|p50|p90|p95|p99|total))?"
)
_UNITS = {"sec": "s", "secs": "s", "seconds": "s", "millis": "ms", "milliseconds": "ms"}


def column_measure(name: str, direction: Direction | None = None, agentic: bool = False) -> Measure:
    """The measure of a column of scores that was computed elsewhere.

    A name of the registry is that measure, with `agentic` first one of Good Gain. Any other column is
    taken as it is: its direction is what `direction` or an arrow in its name (`wer ↓`) states, and
    higher is assumed otherwise (`Measure.direction_assumed`).
    """
    text = name.strip()
    if text[-1:] in _ARROWS:
        direction = direction or _ARROWS[text[-1]]
        text = text[:-1].rstrip()
    measure = _registered(text, agentic) or make(_column_definition(text), {}, None)
    measure = measure.with_label(name)
    return measure.with_direction(direction) if direction else measure


def _registered(name: str, agentic: bool) -> Measure | None:
    readers = (parse_agentic, parse) if agentic else (parse, parse_agentic)
    for read in readers:
        try:
            return read(name)
        except MeasureError:
            continue
    return None


def _column_definition(name: str) -> Definition:
    cost = _COST_COLUMN.fullmatch(name.casefold().replace("-", "_").replace(" ", "_"))
    unit = (cost["unit"] or "") if cost else ""
    return Definition(
        name=name,
        namespace="column",
        family=COST_FAMILY if cost else "column",
        level="query",
        unit=_UNITS.get(unit, unit),
        direction="lower" if cost else "higher",
        range=ANY_NUMBER,
        summary=f"The column '{name}' of a table of scores.",
        formula="computed elsewhere",
        edge_cases="An empty field is undefined.",
        citation="",
        needs_labels=False,
        declared=cost is not None,
    )


def saved_measure(data: dict[str, Any] | str, lower_is_better: bool | None = None) -> Measure:
    """The measure that a saved result names.

    Version 0.1 wrote labels only. A measure that is not registered here (a user's, a plug-in's) is
    restored from its description, without its function: it can be shown, not computed.
    """
    if isinstance(data, str):
        measure = column_measure(data)
        if lower_is_better is None or lower_is_better == measure.lower_is_better:
            return measure
        return measure.with_direction("lower" if lower_is_better else "higher")
    namespace = data["namespace"]
    definition = registry.find(data["name"], (namespace,)) if namespace != "column" else None
    if definition is None:
        definition = Definition(
            name=data["name"],
            namespace=namespace,
            family=data["family"],
            level=data["level"],
            unit=data["unit"],
            direction=data["direction"],
            range=ANY_NUMBER,
            summary=data["summary"],
            formula="not known here: the measure was registered where the result was made",
            edge_cases="",
            citation="",
            aggregate=data["aggregate"],
            needs_labels=False,
        )
        return Measure(definition, label=data["label"], stated=data["stated"])
    if definition.aggregate != data["aggregate"]:  # as the preset's tool sums up
        from dataclasses import replace

        definition = replace(definition, aggregate=data["aggregate"])
    measure = make(definition, data["params"], data["cutoff"], data["label"], data.get("budget"))
    return measure.with_direction(data["stated"]) if data["stated"] else measure
