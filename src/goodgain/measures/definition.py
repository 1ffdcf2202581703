"""What a measure is: one record per measure, and the value that scores carry."""

from __future__ import annotations

import math

from goodgain.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal

    import numpy as np
    from numpy.typing import NDArray

    Function = Callable[[NDArray[np.float64], NDArray[np.float64]], float]
    Namespace = Literal["ranked", "agentic", "cost", "spans", "answers", "custom", "column"]
    Level = Literal["query", "conversation", "iteration", "system"]
    Direction = Literal["higher", "lower"]
    Aggregate = Literal["mean", "sum", "geometric", "stat"]
    Cutoff = Literal["required", "optional", "none", "recall"]

Value = str | float | bool


@dataclass(frozen=True, slots=True)
class Range:
    """The values a measure can take, as numbers and in words."""

    low: float
    high: float
    text: str

    def __str__(self) -> str:
        return self.text

    def within(self, low: float, high: float) -> tuple[float, float]:
        """The part of an interval of a mean that values can have: no RR of 1.01."""
        return float(max(low, self.low)), float(min(high, self.high))


SHARE = Range(0, 1, "0 to 1")
COUNT = Range(0, math.inf, "0 and up")
ANY_NUMBER = Range(-math.inf, math.inf, "any number")


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """A parameter: one of `choices`, or a number between `low` and `high`.

    `options` names the options of the native kernel that take the value (by default the one of the
    parameter's own name); `choice_options` gives the options that stand for each choice instead.
    """

    name: str
    default: Value | None
    meaning: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False
    options: tuple[str, ...] = ()
    choice_options: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    flags: tuple[str, ...] = ()  # options that are true whenever the parameter has a value

    def kernel_options(self, value: Value) -> dict[str, Value]:
        """The options of the native kernel for a value."""
        if self.choice_options:
            return dict(self.choice_options[str(value)])
        return dict.fromkeys(self.options or (self.name,), value) | dict.fromkeys(self.flags, True)

    def option_names(self) -> set[str]:
        """All options of the native kernel that this parameter can set."""
        if self.choice_options:
            return {name for options in self.choice_options.values() for name in options}
        return {*(self.options or (self.name,)), *self.flags}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Definition:
    """Everything about one measure; the registry holds one object of each."""

    name: str
    namespace: Namespace
    family: str
    level: Level
    unit: str  # "" for shares and other pure numbers
    direction: Direction
    range: Range
    summary: str
    formula: str
    edge_cases: str
    citation: str
    aggregate: Aggregate = "mean"
    kernel: str | None = None
    params: tuple[Param, ...] = ()
    cutoff: Cutoff = "none"
    aliases: tuple[str, ...] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    function: Function | None = None
    column: str | None = None  # values come from this column of the run, not from the core
    cumulative: bool = False  # up to an iteration rather than of it
    by_aspect: bool = False  # it counts aspects, which may stand in the second column of TREC qrels
    needs_labels: bool = True  # without judgments or labels its values mean nothing
    declared: bool = True  # False: a column of somebody's table whose direction nobody stated

    @property
    def is_cost(self) -> bool:
        """Whether it is time or cost rather than quality: tested as a family of its own."""
        return self.family == COST_FAMILY

    def param(self, name: str) -> Param | None:
        """The parameter of this name."""
        return next((p for p in self.params if p.name == name), None)


COST_FAMILY = "time and cost"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Measure:
    """One measure with its parameters and cut-off, as a value that can be printed and parsed.

    `label` is how it is printed: as the user typed it, or in the grammar's own form. A measure equals
    another of the same definition, parameters and label, and a text that is its label. `stated` is
    the direction that a user declared; it overrides the definition's. `budget` is a cut-off in tokens
    instead of ranks: the list ends with the last result that fits.

    >>> import goodgain as gg
    >>> measure = gg.nDCG(gain="exp") @ 10
    >>> measure
    nDCG(gain=exp)@10
    >>> measure == gg.parse("nDCG(gain=exp)@10")
    True
    >>> measure.name, measure.cutoff, measure.direction
    ('nDCG', 10, 'higher')
    """

    definition: Definition
    params: tuple[tuple[str, Value], ...] = ()
    cutoff: float | None = None
    label: str = ""
    stated: Direction | None = None
    budget: int | None = None

    def __call__(self, **params: Value) -> Measure:
        """The same measure with other parameters."""
        from goodgain.measures.grammar import make

        return make(
            self.definition, {**dict(self.params), **params}, self.cutoff, budget=self.budget
        )

    def __matmul__(self, cutoff: float | str) -> Measure:
        """The same measure with a cut-off: `nDCG@10`, `nDCG@"2000tokens"`."""
        from goodgain.measures.grammar import make, read_cutoff

        rank, budget = read_cutoff(cutoff)
        return make(self.definition, dict(self.params), rank, budget=budget)

    def __str__(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return self.label

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.label == other
        if self is other:
            return True
        return isinstance(other, Measure) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self.label)

    def _key(self) -> tuple[Any, ...]:
        d = self.definition
        return (
            d.namespace,
            d.name,
            id(d.function),
            self.params,
            self.cutoff,
            self.label,
            self.stated,
            self.budget,
        )

    @property
    def name(self) -> str:
        """The name in the registry."""
        return self.definition.name

    @property
    def namespace(self) -> Namespace:
        """Which kind of measure it is: an agent's CG is not the CG of a ranking."""
        return self.definition.namespace

    @property
    def direction(self) -> Direction:
        """Whether higher or lower values are better; a user's statement wins."""
        return self.stated or self.definition.direction

    @property
    def lower_is_better(self) -> bool:
        """Whether lower values are better."""
        return self.direction == "lower"

    @property
    def sign(self) -> int:
        """What a difference is multiplied by so that positive means better."""
        return -1 if self.lower_is_better else 1

    @property
    def unit(self) -> str:
        """The unit of its values; "" for a pure number."""
        return self.definition.unit

    @property
    def is_cost(self) -> bool:
        """Whether it is time or cost rather than quality."""
        return self.definition.is_cost

    @property
    def direction_assumed(self) -> bool:
        """Whether nobody stated which direction is better, so that higher is assumed."""
        return self.stated is None and not self.definition.declared

    def with_direction(self, direction: Direction) -> Measure:
        """The same measure with the direction that a user stated."""
        return Measure(
            self.definition, self.params, self.cutoff, self.label, direction, self.budget
        )

    def with_label(self, label: str) -> Measure:
        """The same measure, printed differently."""
        return Measure(self.definition, self.params, self.cutoff, label, self.stated, self.budget)

    def of_list(self, cutoff: float | None) -> Measure:
        """The same measure and label for a list that was cut already: no budget, this cut-off."""
        return Measure(self.definition, self.params, cutoff, self.label, self.stated)

    def same_values(self, other: Measure) -> bool:
        """Whether the two have the same values, however they are printed."""
        if (self.namespace, self.name) != (other.namespace, other.name):
            return False
        if (self.cutoff, self.budget) != (other.cutoff, other.budget):
            return False
        return all(self.get(p.name) == other.get(p.name) for p in self.definition.params)

    def get(self, param: str) -> Value | None:
        """The value of a parameter, or its default."""
        values = dict(self.params)
        if param in values:
            return values[param]
        definition = self.definition.param(param)
        return definition.default if definition else None

    def with_defaults(self, params: Mapping[str, Value]) -> Measure:
        """The same measure, printed as before, under the defaults of another tool."""
        from goodgain.measures.grammar import make

        if not params:
            return self
        merged = make(
            self.definition, {**params, **dict(self.params)}, self.cutoff, self.label, self.budget
        )
        return merged.with_direction(self.stated) if self.stated else merged

    def complete(self) -> Measure:
        """Itself, or an error if it lacks a cut-off that it needs."""
        if self.cutoff is None and self.definition.cutoff in ("required", "recall"):
            from goodgain.errors import MeasureError

            example = "0.5" if self.definition.cutoff == "recall" else "10"
            raise MeasureError(
                f"the measure '{self.label}' needs a cut-off",
                hint=f"for example {self.definition.name}@{example}",
            )
        return self

    def options(self) -> dict[str, Any]:
        """Options for the native kernel, which knows no tokens: lists are cut before it sees them."""
        d = self.definition
        if self.budget is not None:
            from goodgain.errors import MeasureError

            raise MeasureError(
                f"{self.label} needs the length of every result, which is not known here",
                hint="evaluate, compare and experiment know it, from documents or a column tokens",
            )
        options: dict[str, Any] = {"kernel": d.kernel}
        if d.function is not None:
            options["function"] = d.function
        if self.cutoff is not None:
            if d.cutoff == "recall":
                options["recall"] = float(self.cutoff)
            else:
                options["cutoff"] = int(self.cutoff)
        for param in d.params:
            value = self.get(param.name)
            if value is not None:
                options |= param.kernel_options(value)
        return options

    def to_dict(self) -> dict[str, Any]:
        """What a saved result says about it: enough to show it where its definition is missing."""
        d = self.definition
        return {
            "label": self.label,
            "name": d.name,
            "namespace": d.namespace,
            "params": dict(self.params),
            "cutoff": self.cutoff,
            **({} if self.budget is None else {"budget": self.budget}),
            "direction": self.direction,
            "stated": self.stated,
            "level": d.level,
            "unit": d.unit,
            "family": d.family,
            "aggregate": d.aggregate,
            "summary": d.summary,
        }
