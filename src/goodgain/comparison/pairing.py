"""Scores of two systems paired by query, and what could not be paired."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from goodgain.comparison.replicates import SEEDS
from goodgain.comparison.scores import other_spellings
from goodgain.errors import InputError, MeasureError, UsageError
from goodgain.measures.definition import Measure
from goodgain.measures.grammar import parse
from goodgain.results.nouns import unit_nouns
from goodgain.stats.effect import t_interval
from goodgain.stats.paired import bca_interval, run_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.comparison.replicates import Replicates
    from goodgain.comparison.scores import ScoreSet
    from goodgain.stats.paired import Alternative, Draws, Outcome, Resampling

    Floats = NDArray[np.float64]

LARGEST = 1e100  # size of a score; squares and their sums stay far from overflow
Labels = Literal["known", "worst", "best"]
UNPAIRED = {
    "drop": "leave the query out of this pair",
    "zero": "count missing values as 0 (never for measures where lower is better)",
    "error": "report an error",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A measure to compare, and the label of the scores that hold its values."""

    measure: Measure
    key: str

    @property
    def label(self) -> str:
        """How the measure is printed."""
        return self.measure.label

    @property
    def kind(self) -> Literal["mean", "geometric", "percentile"]:
        """How the values of all queries become one number; counts too are compared by their mean."""
        aggregate = self.measure.definition.aggregate
        if aggregate == "stat" and self.measure.get("stat") not in ("mean", None):
            return "percentile"
        return "geometric" if aggregate == "geometric" else "mean"

    @property
    def percent(self) -> int:
        """Which percentile."""
        return int(str(self.measure.get("stat") or "p50").removeprefix("p"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """The values of a baseline and a system for the same queries."""

    baseline: str
    system: str
    column: Column
    units: tuple[str, ...]
    a: Floats
    b: Floats
    a_limits: tuple[Floats, Floats] | None = None  # lower and upper, where something is unknown
    b_limits: tuple[Floats, Floats] | None = None
    group: str | None = None
    replicates: Replicates | None = None  # seeds behind the values, if they are a sample
    replicate_limits: tuple[Replicates, Replicates] | None = (
        None  # for the least, the greatest b - a
    )

    @property
    def measure(self) -> Measure:
        """The measure that is compared."""
        return self.column.measure

    @property
    def improvements(self) -> Floats:
        """System minus baseline per query, positive where the system is better."""
        return self.measure.sign * (self.b - self.a)

    @property
    def worst_improvements(self) -> Floats:
        """The same if everything without a label spoke against the system."""
        return self._extreme(worst=True)

    @property
    def best_improvements(self) -> Floats:
        """The same if everything without a label spoke for the system."""
        return self._extreme(worst=False)

    def _extreme(self, worst: bool) -> Floats:
        a_low, a_high = self.a_limits or (self.a, self.a)
        b_low, b_high = self.b_limits or (self.b, self.b)
        low_difference, high_difference = b_low - a_high, b_high - a_low
        if self.measure.lower_is_better:
            return -high_difference if worst else -low_difference
        return low_difference if worst else high_difference

    @property
    def is_bounded(self) -> bool:
        """Whether missing labels leave any of the values open."""
        return any(
            limits is not None and bool((limits[0] != limits[1]).any())
            for limits in (self.a_limits, self.b_limits)
        )

    @property
    def is_unbounded(self) -> bool:
        """Whether unread searches leave any of the values without a bound."""
        import numpy as np

        return any(
            limits is not None and not np.isfinite(limits).all()
            for limits in (self.a_limits, self.b_limits)
        )

    def only(self, group: str, members: Mapping[str, str]) -> Paired | None:
        """The queries of one group; None if there are none."""
        rows = [i for i, unit in enumerate(self.units) if members.get(unit, "") == group]
        if not rows:
            return None

        def pick(limits: tuple[Floats, Floats] | None) -> tuple[Floats, Floats] | None:
            return None if limits is None else (limits[0][rows], limits[1][rows])

        return Paired(
            baseline=self.baseline,
            system=self.system,
            column=self.column,
            units=tuple(self.units[i] for i in rows),
            a=self.a[rows],
            b=self.b[rows],
            a_limits=pick(self.a_limits),
            b_limits=pick(self.b_limits),
            group=group,
            replicates=None if self.replicates is None else self.replicates.rows(rows),
            replicate_limits=None
            if self.replicate_limits is None
            else (self.replicate_limits[0].rows(rows), self.replicate_limits[1].rows(rows)),
        )

    def logarithms(self) -> Paired:
        """The pair with the logarithm of every score, as geometric means are compared."""
        own = self.replicates
        return replace(
            self,
            a=_logs(self.a),
            b=_logs(self.b),
            a_limits=None,
            b_limits=None,
            replicates=None if own is None else own.mapped(_logs, _logs),
            replicate_limits=None,
        )

    def test(
        self,
        name: str,
        resampling: Resampling,
        *,
        labels: Labels = "known",
        toward: int = 1,
        shift: float = 0.0,
        alternative: Alternative = "two-sided",
        tie: float = 0.0,
        draws: Draws | None = None,
    ) -> Outcome:
        """Test `toward` x improvement + `shift` over queries, and over seeds if they are a sample.

        `labels` says what is assumed of everything without a label: the worst or the best for the
        system.
        """
        if self.replicates is not None:
            sign = self.measure.sign
            chosen = self.replicates
            if labels != "known" and self.replicate_limits is not None:
                chosen = self.replicate_limits[(labels == "best") == (sign > 0)]
            return chosen.test(name, alternative, sign * toward, shift, resampling)
        values = {
            "known": self.improvements,
            "worst": self.worst_improvements,
            "best": self.best_improvements,
        }[labels]
        return run_test(name, toward * values + shift, alternative, resampling, tie, draws)

    def noninferior_p(
        self,
        margin: float,
        test: str,
        resampling: Resampling,
        *,
        toward: int = 1,
        labels: Labels = "known",
    ) -> float:
        """P-value against "worse by the margin or more"; with `toward` -1, against "better by it"."""
        return self.test(
            "t" if test == "tukey" else test,
            resampling,
            alternative="greater",
            toward=toward,
            shift=margin,
            labels=labels,
        ).p

    def interval(
        self, name: str, confidence: float, resampling: Resampling, means: Floats | None = None
    ) -> tuple[float, float] | None:
        """Of system minus baseline: over queries and seeds, or by Student's t or the bootstrap."""
        if self.replicates is not None:
            return self.replicates.interval(confidence)
        if name in RESAMPLED:
            return bca_interval(self.b - self.a, confidence, resampling, means)
        return t_interval(self.b - self.a, confidence)


RESAMPLED = ("bootstrap", "randomisation", "wilcoxon", "sign")  # tests whose interval is BCa


def _logs(values: Floats) -> Floats:
    import numpy as np

    logs: Floats = np.log(np.maximum(values, 0.00001))
    return logs


def open_reason(is_unbounded: bool) -> str:
    """What leaves a verdict open: only unread searches leave values without a bound."""
    return "unread searches and missing labels" if is_unbounded else "missing labels"


def choose_columns(
    scores: ScoreSet, measures: str | Measure | Iterable[str | Measure] | None
) -> list[Column]:
    """The measures to compare.

    Named ones must exist. Without names: the sources' defaults or all measures, without those that
    some system has no value of, or whose labels are all missing; a note says which.
    """
    if measures is not None:
        columns = [_find_column(item, scores) for item in _listed(measures, scores)]
        return list({column.label: column for column in columns}.values())
    labels = [m for m in scores.default_measures if m in scores.measures] or list(scores.measures)
    columns, undefined, unlabelled = [], [], []
    for label in labels:
        measure = scores.measures[label]
        if missing_labels(measure, scores, scores.systems):
            unlabelled.append(label)
        elif any(not any(v == v for v in scores.values(s, label).values()) for s in scores.systems):
            undefined.append(label)
        else:
            columns.append(Column(measure, label))
    reasons = []
    if unlabelled:
        reasons.append(f"not compared, since nothing is labelled: {', '.join(unlabelled)}")
    if undefined:
        reasons.append(f"not compared, since some system has no values: {', '.join(undefined)}")
    if not columns:
        raise InputError(
            "no measure has values for every system",
            hint="; ".join(reasons) or "the systems have no measure in common",
        )
    scores.notes += reasons
    return columns


def primary_columns(
    scores: ScoreSet, primary: str | Measure | Iterable[str | Measure] | None
) -> list[Column]:
    """The measures that are tested; empty if none were chosen, and all are."""
    if primary is None:
        return []
    columns = [_find_column(item, scores) for item in _listed(primary, scores)]
    if not columns:
        raise UsageError(
            "primary names no measure", hint="leave it out to test and correct all measures"
        )
    return columns


def primary_first(primary: Sequence[Column], columns: Sequence[Column]) -> list[Column]:
    """All columns, primary measures first: tables, charts and verdicts begin with them."""
    return list({column.label: column for column in (*primary, *columns)}.values())


def missing_labels(measure: Measure, scores: ScoreSet, systems: Iterable[str]) -> list[str]:
    """The systems of which nothing is labelled, if the measure means nothing without labels."""
    if not measure.definition.needs_labels:
        return []
    return [s for s in systems if not scores.is_labelled(s)]


def _listed(
    measures: str | Measure | Iterable[str | Measure], scores: ScoreSet
) -> Sequence[str | Measure]:
    if isinstance(measures, Measure):
        return [measures]
    if not isinstance(measures, str):
        return [one for item in measures for one in _listed(item, scores)]
    if measures in scores.measures:
        return [measures]
    return [part for part in re.split(r"[\s,]+(?![^()]*\))", measures) if part]


def _find_column(item: str | Measure, scores: ScoreSet) -> Column:
    """The scores of a measure, named by its label or in another way that means the same."""
    label = str(item)
    if label in scores.measures:
        return Column(scores.measures[label], label)
    for key, measure in scores.measures.items():
        if label in other_spellings(measure):
            return Column(measure, key)
    wanted = item if isinstance(item, Measure) else _parsed(label)
    if wanted is not None:
        for key, measure in scores.measures.items():
            if measure.same_values(wanted):
                return Column(measure.with_label(label), key)
        for key, measure in scores.measures.items():  # p95 of the latencies: the latencies' column
            if wanted.definition.aggregate == "stat" and measure.name == wanted.name:
                stated = measure.stated
                return Column(wanted.with_direction(stated) if stated else wanted, key)
    raise UsageError(
        f"no scores for the measure '{label}'", hint=f"available: {', '.join(scores.measures)}"
    )


def _parsed(label: str) -> Measure | None:
    try:
        return parse(label)
    except MeasureError:
        return None


def direction_notes(measures: Iterable[Measure]) -> list[str]:
    """A sentence about measures whose direction nobody stated."""
    assumed = [measure.label for measure in measures if measure.direction_assumed]
    if not assumed:
        return []
    return [
        f"higher is assumed to be better for {', '.join(assumed)}; state it with lower_is_better or "
        "higher_is_better (--lower-is-better, --higher-is-better)"
    ]


class Pairing:
    """Pairs systems by query and records what did not pair."""

    def __init__(self, scores: ScoreSet, unpaired: str, seeds: str = "random") -> None:
        if unpaired not in UNPAIRED:
            raise UsageError(
                f"invalid unpaired='{unpaired}'", hint=f"one of: {', '.join(UNPAIRED)}"
            )
        if seeds not in SEEDS:
            raise UsageError(f"invalid seeds='{seeds}'", hint=f"one of: {', '.join(SEEDS)}")
        self._scores = scores
        self._unpaired = unpaired
        self._random = seeds == "random"
        self._dropped: dict[tuple[str, ...], list[str]] = {}  # (systems, reason) -> measures

    def pair(
        self, baseline: str, system: str, column: Column, units: set[str] | None = None
    ) -> Paired:
        """The values of two systems for the queries that both have; `units` narrows them further."""
        if self._random and {baseline, system} & self._scores.seed_labels.keys():
            cell = self._pair_seeds(baseline, system, column, units)
        else:
            cell = self._pair_values(baseline, system, column, units)
        _require_range(cell)
        return cell

    def _pair_values(
        self, baseline: str, system: str, column: Column, units: set[str] | None
    ) -> Paired:
        import numpy as np

        left = self._scores.values(baseline, column.key)
        right = self._scores.values(system, column.key)
        shared, a, b, reasons = [], [], [], []
        for unit in {**left, **right}:
            if units is not None and unit not in units:
                continue
            x, y = left.get(unit, math.nan), right.get(unit, math.nan)
            if x != x or y != y:
                reasons.append((unit, _reason(unit, left, baseline), _reason(unit, right, system)))
                if not self._counts_as_zero(column.measure):
                    continue
                x, y = (0.0 if v != v else v for v in (x, y))
            shared.append(unit)
            a.append(x)
            b.append(y)
        if not shared:
            raise _nothing_shared(baseline, system, column, list(left), list(right))
        if reasons:
            self._note(f"{system} against {baseline}", column, reasons, len({**left, **right}))
        values = np.array(a), np.array(b)
        return Paired(
            baseline=baseline,
            system=system,
            column=column,
            units=tuple(shared),
            a=values[0],
            b=values[1],
            a_limits=self._limits(baseline, column, shared, values[0]),
            b_limits=self._limits(system, column, shared, values[1]),
        )

    def _pair_seeds(
        self, baseline: str, system: str, column: Column, units: set[str] | None
    ) -> Paired:
        """The same with the values of every seed."""
        from goodgain.comparison.seed_pairing import SeedPairing

        pairing = SeedPairing(self._scores, baseline, system, column, units)
        if self._counts_as_zero(column.measure):
            pairing.fill_with_zero()
        if not pairing.paired_units:
            raise _nothing_shared(baseline, system, column, *pairing.ids())
        if pairing.reasons:
            self._note(f"{system} against {baseline}", column, pairing.reasons, pairing.total)
        if note := pairing.partial_note():
            self._dropped.setdefault((f"{system} against {baseline}", note), []).append(
                column.label
            )
        replicates, limits = pairing.replicates()
        a, b = replicates.means
        return Paired(
            baseline=baseline,
            system=system,
            column=column,
            units=tuple(pairing.paired_units),
            a=a,
            b=b,
            a_limits=None if limits is None else (limits[1].means[0], limits[0].means[0]),
            b_limits=None if limits is None else (limits[0].means[1], limits[1].means[1]),
            replicates=replicates,
            replicate_limits=limits,
        )

    def _limits(
        self, system: str, column: Column, units: Sequence[str], values: Floats
    ) -> tuple[Floats, Floats] | None:
        import numpy as np

        if system not in self._scores.bounds:
            return None
        known = self._scores.limits(system, column.key)
        pairs = [known.get(unit, (math.nan, math.nan)) for unit in units]
        low, high = (np.array(side) for side in zip(*pairs, strict=True))
        return np.where(np.isnan(low), values, low), np.where(np.isnan(high), values, high)

    def _counts_as_zero(self, measure: Measure) -> bool:
        return self._unpaired == "zero" and not measure.lower_is_better

    def complete(self, systems: Iterable[str], column: Column) -> set[str]:
        """The queries that all systems have."""
        columns = {s: self._scores.values(s, column.key) for s in systems}
        units = {unit: None for values in columns.values() for unit in values}
        lost = []
        for unit in units:
            reasons = [reason for s, v in columns.items() if (reason := _reason(unit, v, s))]
            if reasons:
                lost.append((unit, reasons[0], ""))
        shared = set(units) - {unit for unit, *_ in lost}
        if shared and lost:
            self._note("all systems", column, lost, len(units), may_be_zero=False)
        if not shared:
            raise InputError(
                f"no query has a value of {column.label} for every system",
                hint="Tukey's test needs the same queries of all systems; leave a system out",
            )
        return shared

    def _note(
        self,
        systems: str,
        column: Column,
        reasons: list[tuple[str, str, str]],
        total: int,
        may_be_zero: bool = True,
    ) -> None:
        examples = [f"{u} ({'; '.join(filter(None, (x, y)))})" for u, x, y in reasons[:3]]
        more = f" and {len(reasons) - 3:,} more" if len(reasons) > 3 else ""
        listed = ", ".join(examples) + more
        what = f"{len(reasons):,} of {total:,} {unit_nouns(column.measure)[1]}"
        if self._unpaired == "error":
            raise InputError(
                f"{what} cannot be paired for {column.label}: {listed}",
                where=systems,
                hint="unpaired='drop' leaves them out, unpaired='zero' counts them as 0",
            )
        zero = may_be_zero and self._counts_as_zero(column.measure)
        action = "count as 0" if zero else "are left out"
        reason = (systems, f"{what} {action}: {listed}")
        self._dropped.setdefault(reason, []).append(column.label)

    def notes(self) -> list[str]:
        """A sentence for everything that did not pair."""
        return [
            f"{systems}, {', '.join(measures)}: {reason}"
            for (systems, reason), measures in self._dropped.items()
        ]


def _require_range(cell: Paired) -> None:
    """Scores of which differences and squares are numbers."""
    import numpy as np

    own = cell.replicates
    sides = (cell.a, cell.b) if own is None else (own.a, own.b)
    for system, side in zip((cell.baseline, cell.system), sides, strict=True):
        by_query = np.nan_to_num(
            side.reshape(len(cell.units), -1), posinf=math.inf, neginf=-math.inf
        )
        values = by_query[np.arange(len(by_query)), np.abs(by_query).argmax(1)]
        size = np.abs(values)
        place = int(size.argmax())
        if math.isinf(size[place]):
            raise InputError(
                f"{cell.column.label} of query '{cell.units[place]}' of '{system}' is infinite",
                hint="scores must be finite; leave an undefined one empty",
            )
        if size[place] > LARGEST:
            raise InputError(
                f"{cell.column.label} of query '{cell.units[place]}' of '{system}' is too large to "
                f"compare: {values[place]:.3g}",
                hint=f"scores may be up to {LARGEST:g} in size; divide all of them by a constant",
            )
    widest = float(np.abs(cell.b - cell.a).max())
    if 0 < widest < 1 / LARGEST:
        raise InputError(
            f"the differences in {cell.column.label} between '{cell.system}' and '{cell.baseline}' are "
            f"too small to compare: at most {widest:.3g}",
            hint=f"they must be at least {1 / LARGEST:g}; multiply all scores by a constant",
        )


def _reason(unit: str, values: Mapping[str, float], system: str) -> str:
    if unit not in values:
        return f"not in {system}"
    return f"undefined in {system}" if values[unit] != values[unit] else ""


def _nothing_shared(
    baseline: str, system: str, column: Column, left: list[str], right: list[str]
) -> InputError:
    def example(ids: list[str]) -> str:
        return f"'{ids[0]}'" if ids else "nothing"

    return InputError(
        f"'{system}' and '{baseline}' share no query with a value of {column.label}",
        hint=f"the first query of '{baseline}' is {example(left)}, of '{system}' {example(right)}",
    )
