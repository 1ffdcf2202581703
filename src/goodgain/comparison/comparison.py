"""The result of a comparison: frozen, printable, saved with its settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from goodgain.comparison.standings import Standings
from goodgain.measures.custom import saved_measure
from goodgain.results.frames import AsFrames
from goodgain.results.judges import different_judges, judge_notes
from goodgain.results.notebook import warnings_html
from goodgain.results.numbers import NOT_SIGNIFICANT, stars
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, render
from goodgain.results.views import Reportable
from goodgain.stats.pareto import TradeOff
from goodgain.stats.seeds import SeedSpread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.comparison.card import Card
    from goodgain.comparison.gsb import GSB
    from goodgain.comparison.scores import ScoreSet
    from goodgain.measures.definition import Measure


Verdict = Literal["better", "worse", "tied", "not shown", "open", "exploratory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a comparison, recorded in every result."""

    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    confidence: float = 0.95
    tie: float = 0.0
    unpaired: str = "drop"
    seeds: str = "random"
    margin: str | None = None
    permutations: int = 100_000
    bootstraps: int = 10_000
    seed: int = 0
    by: str | None = None
    primary: tuple[str, ...] = ()  # the measures that are tested; empty if all are


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One system against one baseline on one measure.

    `difference` is system minus baseline; `improvement` is positive if the system is better. A field
    without a value is None, such as the corrected p of an `exploratory` pair, whose measure is not
    primary. `bound_low` and `bound_high` say what missing labels could make of the difference.
    """

    system: str
    baseline: str
    measure: Measure
    mean: float
    baseline_mean: float
    difference: float
    relative: float | None
    low: float | None
    high: float | None
    test: str
    statistic: float | None
    p: float
    p_corrected: float | None
    d_z: float | None
    d_z_low: float | None
    d_z_high: float | None
    wins: int
    ties: int
    losses: int
    minimum_detectable: float | None
    queries: int
    margin: float | None = None
    p_noninferior: float | None = None
    p_equivalent: float | None = None
    seeds: int = 0  # behind the scores, where the test covers them
    p_these_seeds: float | None = None  # over queries only, as if there were no other seeds
    group: str | None = None
    note: str = ""
    bound_low: float | None = None
    bound_high: float | None = None
    settled: bool = True  # the verdict is the same whatever the missing labels are
    tests: int = 0  # corrected together; 0 if not recorded
    tied: bool = False  # shown to differ by less than `tied_within`
    tied_within: float | None = None  # the margin, or 1 % of the measure's range
    exploratory: bool = False

    @property
    def lower_is_better(self) -> bool:
        """Whether lower values of the measure are better."""
        return self.measure.lower_is_better

    @property
    def stars(self) -> str:
        """Marks for the corrected p, * if better and † if worse; ns, or nothing if exploratory."""
        return stars(self.p_corrected, self.improvement)

    @property
    def mark(self) -> str:
        """The stars beside a number, where a difference that is not significant has none."""
        return "" if self.stars == NOT_SIGNIFICANT else self.stars

    @property
    def is_tested(self) -> bool:
        """Whether there is a p-value to report; one query, for example, has none."""
        return self.statistic is not None or self.p != 1

    @property
    def improvement(self) -> float:
        """The difference, positive if the system is better."""
        return self.measure.sign * self.difference

    def verdict(self, alpha: float = 0.05) -> Verdict:
        """What the tests show; "open" if missing labels allow another verdict.

        Tied is shown, by two one-sided tests; a difference that is only not significant is "not shown".
        """
        if self.p_corrected is None:
            return "exploratory"
        if not self.settled:
            return "open"
        if not self.p_corrected < alpha or self.improvement == 0:
            return "tied" if self.tied else "not shown"
        return "better" if self.improvement > 0 else "worse"

    @property
    def gsb(self) -> float:
        """(wins - losses) / queries."""
        return (self.wins - self.losses) / self.queries

    def side_by_side(self, alpha: float = 0.05) -> GSB:
        """Wins, ties and losses as Good, Same and Bad, with a sign test and whether to ship."""
        from goodgain.comparison.gsb import gsb_counts
        from goodgain.errors import UsageError

        if self.seeds:
            raise UsageError(
                "wins and losses by query do not cover seeds, which this comparison does",
                hint="compare with seeds='fixed' to count queries for these seeds",
            )
        return gsb_counts(self.wins, self.ties, self.losses, alpha=alpha)

    def to_dict(self) -> dict[str, Any]:
        """Field to value, and what follows from the fields."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return values | {
            "measure": self.measure.label,
            "lower_is_better": self.lower_is_better,
            "stars": self.stars,
            "gsb": self.gsb,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """Whether the difference between two systems depends on the group: an F test."""

    system: str
    baseline: str
    measure: Measure
    groups: int
    f: float | None
    p: float | None
    p_corrected: float | None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return values | {"measure": self.measure.label}


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """One system's time or cost over its queries."""

    system: str
    measure: Measure
    mean: float
    p50: float
    p95: float
    p99: float
    queries: int

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return values | {"measure": self.measure.label}


LONG_COLUMNS = (
    "system", "baseline", "measure", "mean", "baseline_mean", "difference", "p", "p_corrected",
    "stars", "relative", "low", "high", "test", "statistic", "d_z", "d_z_low", "d_z_high", "wins",
    "ties", "losses", "gsb", "minimum_detectable", "queries", "margin", "p_noninferior",
    "p_equivalent", "seeds", "p_these_seeds", "group", "note", "bound_low", "bound_high", "settled",
    "lower_is_better", "exploratory", "tied_within", "verdict",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(SavedAsJson, AsFrames, Reportable):
    """Systems against baselines, measure by measure.

    `comparison["dense", "nDCG@10"]` is one pair; with several baselines name it as a third.

    >>> import goodgain as gg
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> bm25 = {q: ["x", "a"] for q in qrels}
    >>> dense = {q: ["a", "x"] if q < "q6" else ["y", "x", "a"] for q in qrels}
    >>> comparison = gg.compare(qrels, {"bm25": bm25, "dense": dense}, "RR")
    >>> pair = comparison["dense", "RR"]
    >>> round(pair.difference, 4), round(pair.low, 4), round(pair.high, 4), round(pair.p, 4)
    (0.3333, 0.0753, 0.5913, 0.0185)
    >>> comparison.verdict(pair)
    'better'
    """

    KIND: ClassVar[str] = "comparison"
    FORMAT: ClassVar[int] = 2
    settings: Settings
    baselines: tuple[str, ...]
    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    pairs: tuple[Pair, ...]
    means: dict[str, dict[str, float]]
    group_pairs: tuple[Pair, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    design: str = ""  # how the scores were made, and what the test covers
    factor: str = "seed"  # what repeats the scores of a query
    seeds: tuple[SeedSpread, ...] = ()
    prices: tuple[Price, ...] = ()
    trade_off: tuple[TradeOff, ...] = ()
    standings: Standings | None = None  # by the first measure of quality
    notes: tuple[str, ...] = ()
    inputs: tuple[dict[str, Any], ...] = ()  # files with their hashes, policies of evaluations
    created: str = ""
    version: str = ""
    # What was compared, query by query; not saved, since the evaluations hold it.
    scores: ScoreSet | None = field(default=None, repr=False, compare=False)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, key: tuple[str | Measure, ...]) -> Pair:
        system, measure, *baseline = (str(part) for part in key)
        matches = [
            pair
            for pair in self.pairs
            if (pair.system, pair.measure.label) == (system, measure)
            and (not baseline or pair.baseline == baseline[0])
        ]
        if len(matches) != 1:
            raise KeyError(
                f"{len(matches)} pairs match {', '.join(map(str, key))}; systems: "
                f"{', '.join(self.systems)}; measures: {', '.join(map(str, self.measures))}"
            )
        return matches[0]

    def keys(self) -> tuple[tuple[str, ...], ...]:
        """(system, measure) of every pair, with several baselines (system, measure, baseline)."""
        if len(self.baselines) > 1:
            return tuple((p.system, p.measure.label, p.baseline) for p in self.pairs)
        return tuple((p.system, p.measure.label) for p in self.pairs)

    @property
    def primary(self) -> tuple[Measure, ...]:
        """The measures whose tests are corrected and can show something; all, unless some were chosen."""
        chosen = self.settings.primary
        return tuple(m for m in self.measures if not chosen or m.label in chosen)

    @property
    def exploratory(self) -> tuple[Measure, ...]:
        """The other measures: their p-values are not corrected and confirm nothing."""
        return tuple(m for m in self.measures if m not in self.primary)

    def measure(self, label: str) -> Measure:
        """The compared measure that is printed like this."""
        return next(m for m in self.measures if m.label == label)

    def verdict(self, pair: Pair) -> Verdict:
        """What the test of a pair shows at the level of this comparison."""
        return pair.verdict(self.settings.alpha)

    @property
    def quality(self) -> Measure | None:
        """The first measure that is neither time nor cost: what the verdict is about."""
        return next((m for m in self.measures if not m.is_cost), None)

    def card(self) -> Card | None:
        """The verdict: who is better, by how much, at what cost, next; None without a quality measure."""
        from goodgain.comparison.card import verdict_card

        return verdict_card(self)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, in order of appearance."""
        return tuple(dict.fromkeys(pair.group or "" for pair in self.group_pairs))

    def warnings(self) -> list[str]:
        """What a reader of the p-values should know."""
        return [*judge_notes(self.inputs), *different_judges(self.inputs), *self.notes]

    # --- as text ---

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and long rows, groups after the whole."""
        rows = []
        for pair in (*self.pairs, *self.group_pairs):
            values = pair.to_dict() | {"verdict": self.verdict(pair)}
            rows.append([values[column] for column in LONG_COLUMNS])
        return list(LONG_COLUMNS), rows

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The result as text in any of the command line's formats."""
        if format in LONG_FORMATS:
            return render(format, *self.rows())
        from goodgain.comparison.render import comparison_text

        return comparison_text(self, format)

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def __repr__(self) -> str:
        others = ", ".join(s for s in self.systems if s not in self.baselines) or "-"
        measures = ", ".join(map(str, self.measures))
        return f"Comparison({others} against {', '.join(self.baselines)}; {measures})"

    def _repr_html_(self) -> str:
        from goodgain.comparison.render import blocks, blocks_html, legend

        tables = blocks_html(blocks(self), legend(self), self.card())
        return tables + warnings_html(self.warnings())

    # --- as data of other libraries ---

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: what `save` writes."""
        data: dict[str, Any] = {
            f.name: getattr(self, f.name) for f in fields(self) if f.name != "scores"
        }
        data["settings"] = asdict(self.settings)
        data["measures"] = [measure.to_dict() for measure in self.measures]
        for name in _RECORDS:
            data[name] = [record.to_dict() for record in getattr(self, name)]
        data["standings"] = None if self.standings is None else self.standings.to_dict()
        data["verdict"] = None if (card := self.card()) is None else card.to_dict()
        return {"goodgain": self.KIND, "format": self.FORMAT, **data}

    def _frame_rows(self) -> tuple[list[str], list[list[Any]]]:
        return self.rows()

    # --- saved ---

    def __reduce__(self) -> tuple[Any, ...]:
        return Comparison.from_dict, (self.to_dict(),)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        from goodgain.results.shapes import COMPARISON, DamagedError, require_shape

        require_shape(data, COMPARISON)
        known = {*data["systems"], *data["baselines"]}
        for i, pair in enumerate(data["pairs"]):
            if not {pair["system"], pair["baseline"]} <= known:
                raise DamagedError(f"pairs[{i}]")
        for system, means in data["means"].items():
            for m in data["measures"]:
                if (label := m if isinstance(m, str) else m["label"]) not in means:
                    raise DamagedError(f"means.{system}.{label}")
        saved = data["settings"]
        settings = Settings(**{**saved, "primary": tuple(saved.get("primary", ()))})
        # Version 0.1 recorded the direction with the pairs, and only labels of measures.
        lower = {pair["measure"]: pair.get("lower_is_better") for pair in data["pairs"]}
        measures = [
            saved_measure(m, lower.get(m) if isinstance(m, str) else None) for m in data["measures"]
        ]
        by_label = {m.label: m for m in measures}
        values: dict[str, Any] = {
            "settings": settings,
            "means": data["means"],
            "measures": tuple(measures),
        }
        for name, kind in _RECORDS.items():
            values[name] = tuple(_record(kind, item, by_label) for item in data[name])
        for own in fields(cls):
            if own.name not in values and own.name != "scores":
                value = data.get(own.name, own.default) if own.name in _LATER else data[own.name]
                values[own.name] = tuple(value) if isinstance(value, list) else value
        if values["standings"] is not None:
            values["standings"] = Standings.from_dict(values["standings"])
        return cls(**values)


_LATER = ("design", "factor", "standings")  # fields that version 0.1 did not save

# The fields of a comparison that hold records, and their class.
_RECORDS: dict[str, Any] = {
    "pairs": Pair,
    "group_pairs": Pair,
    "interactions": Interaction,
    "seeds": SeedSpread,
    "prices": Price,
    "trade_off": TradeOff,
}


def _record(kind: Any, item: dict[str, Any], measures: dict[str, Measure]) -> Any:
    names = {f.name for f in fields(kind)}
    values = {name: value for name, value in item.items() if name in names}
    if kind in (Pair, Interaction, Price):
        label = values["measure"]
        values["measure"] = measures.get(label) or saved_measure(label)
    return kind(**values)
