"""The result of a comparison: frozen, printable, saved with all that was settled."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from goodgain.results.frames import AsFrames
from goodgain.results.numbers import stars
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, render
from goodgain.results.views import Reportable
from goodgain.stats.pareto import TradeOff
from goodgain.stats.seeds import SeedSpread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.comparison.gsb import GSB
    from goodgain.comparison.scores import ScoreSet


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked, recorded in every result."""

    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    confidence: float = 0.95
    tie: float = 0.0
    unpaired: str = "drop"
    margin: str | None = None
    permutations: int = 100_000
    bootstraps: int = 10_000
    seed: int = 0
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """One system against one baseline on one measure.

    `difference` is system minus baseline; whether that is good is for `improvement`, which is positive
    when the system is better. What has no value is None.
    """

    system: str
    baseline: str
    measure: str
    mean: float
    baseline_mean: float
    difference: float
    relative: float | None
    low: float | None
    high: float | None
    test: str
    statistic: float | None
    p: float
    p_corrected: float
    d_z: float | None
    d_z_low: float | None
    d_z_high: float | None
    wins: int
    ties: int
    losses: int
    minimum_detectable: float | None
    queries: int
    lower_is_better: bool = False
    margin: float | None = None
    p_noninferior: float | None = None
    p_equivalent: float | None = None
    p_seeds: float | None = None
    group: str | None = None
    note: str = ""

    @property
    def stars(self) -> str:
        """*** < 0.001, ** < 0.01, * < 0.05, else ns; of the corrected p."""
        return stars(self.p_corrected)

    @property
    def improvement(self) -> float:
        """The difference, positive when the system is better."""
        return -self.difference if self.lower_is_better else self.difference

    @property
    def gsb(self) -> float:
        """(wins - losses) / queries."""
        return (self.wins - self.losses) / self.queries

    def side_by_side(self, alpha: float = 0.05) -> GSB:
        """Wins, ties and losses as Good, Same and Bad, with a sign test and whether to ship."""
        from goodgain.comparison.gsb import gsb_counts

        return gsb_counts(self.wins, self.ties, self.losses, alpha=alpha)

    def to_dict(self) -> dict[str, Any]:
        """Field to value, and what follows from the fields."""
        return asdict(self) | {"stars": self.stars, "gsb": self.gsb}


@dataclass(frozen=True, slots=True)
class Interaction:
    """Whether the difference between two systems is another in each group: an F test."""

    system: str
    baseline: str
    measure: str
    groups: int
    f: float | None
    p: float | None
    p_corrected: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Price:
    """One system's time or cost over its queries."""

    system: str
    measure: str
    mean: float
    p50: float
    p95: float
    p99: float
    queries: int


LONG_COLUMNS = (
    "system", "baseline", "measure", "mean", "baseline_mean", "difference", "p", "p_corrected",
    "stars", "relative", "low", "high", "test", "statistic", "d_z", "d_z_low", "d_z_high", "wins",
    "ties", "losses", "gsb", "minimum_detectable", "queries", "margin", "p_noninferior",
    "p_equivalent", "p_seeds", "group", "note",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison(SavedAsJson, AsFrames, Reportable):
    """Systems against baselines, measure by measure.

    `comparison["dense", "nDCG@10"]` is one pair; with several baselines name it as a third.
    """

    KIND: ClassVar[str] = "comparison"
    FORMAT: ClassVar[int] = 1
    settings: Settings
    baselines: tuple[str, ...]
    systems: tuple[str, ...]
    measures: tuple[str, ...]
    pairs: tuple[Pair, ...]
    means: dict[str, dict[str, float]]
    group_pairs: tuple[Pair, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    seeds: tuple[SeedSpread, ...] = ()
    prices: tuple[Price, ...] = ()
    trade_off: tuple[TradeOff, ...] = ()
    notes: tuple[str, ...] = ()
    inputs: tuple[dict[str, Any], ...] = ()  # files with their hashes, policies of evaluations
    created: str = ""
    version: str = ""
    # What was compared, query by query; not saved: the evaluations are where it is kept.
    scores: ScoreSet | None = field(default=None, repr=False, compare=False)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, key: tuple[str, ...]) -> Pair:
        system, measure, *baseline = (str(part) for part in key)
        found = [
            pair
            for pair in self.pairs
            if (pair.system, pair.measure) == (system, measure)
            and (not baseline or pair.baseline == baseline[0])
        ]
        if len(found) != 1:
            raise KeyError(
                f"{len(found)} pairs are {', '.join(map(str, key))}; systems: "
                f"{', '.join(self.systems)}; measures: {', '.join(self.measures)}"
            )
        return found[0]

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, in order of appearance."""
        return tuple(dict.fromkeys(pair.group or "" for pair in self.group_pairs))

    def warnings(self) -> list[str]:
        """What a reader of the p-values should know."""
        return list(self.notes)

    # --- as text ---

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and long rows, groups after the whole."""
        rows = []
        for pair in (*self.pairs, *self.group_pairs):
            values = pair.to_dict()
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
        return (
            f"Comparison({others} against {', '.join(self.baselines)}; {', '.join(self.measures)})"
        )

    def _repr_html_(self) -> str:
        from goodgain.comparison.render import blocks, blocks_html, legend

        return blocks_html(blocks(self), legend(self))

    # --- as data of other libraries ---

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: what `save` writes."""
        data = asdict(replace(self, scores=None))
        del data["scores"]
        for name in ("pairs", "group_pairs"):
            data[name] = [pair.to_dict() for pair in getattr(self, name)]
        return {"goodgain": self.KIND, "format": self.FORMAT, **data}

    def _frame_rows(self) -> tuple[list[str], list[list[Any]]]:
        return self.rows()

    # --- saved ---

    def __reduce__(self) -> tuple[Any, ...]:
        return Comparison.from_dict, (self.to_dict(),)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        parts: dict[str, Any] = {
            "pairs": Pair, "group_pairs": Pair, "interactions": Interaction, "seeds": SeedSpread,
            "prices": Price, "trade_off": TradeOff,
        }  # fmt: skip
        values: dict[str, Any] = {"settings": Settings(**data["settings"]), "means": data["means"]}
        for own in fields(cls):
            if own.name in parts:
                kind = parts[own.name]
                known = {f.name for f in fields(kind)}
                values[own.name] = tuple(
                    kind(**{k: v for k, v in item.items() if k in known}) for item in data[own.name]
                )
            elif own.name not in values and own.name != "scores":
                value = data[own.name]
                values[own.name] = tuple(value) if isinstance(value, list) else value
        return cls(**values)
