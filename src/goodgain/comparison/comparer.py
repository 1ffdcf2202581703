"""From scores to a Comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from goodgain.comparison import groups
from goodgain.comparison.comparison import Comparison, Pair, Price, Settings
from goodgain.comparison.pairing import Asked, Paired, Pairing, asked_measures
from goodgain.comparison.score_table import read_groups
from goodgain.comparison.scores import ScoreSet, collect, is_price
from goodgain.cores import available_cores
from goodgain.errors import UsageError
from goodgain.stats import effect, paired
from goodgain.stats.corrections import CORRECTIONS, correct
from goodgain.stats.margin import Margin, noninferior_p
from goodgain.stats.paired import TESTS, Outcome, Resampling
from goodgain.stats.pareto import TradeOff, pareto_front, percentiles
from goodgain.stats.seeds import SeedSpread, seed_spread, seeds_test
from goodgain.stats.tukey import Tukey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goodgain.measures import Measure

    Floats = NDArray[np.float64]


def compare(
    baseline: Any,
    *others: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    baselines: str | Iterable[str] | None = None,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    confidence: float = 0.95,
    margin: float | str | Mapping[str, float | str] | None = None,
    tie: float = 0.0,
    unpaired: str = "drop",
    by: str | Mapping[str, str] | None = None,
    queries: Any = None,
    columns: Mapping[str, str] | None = None,
    lower_is_better: Iterable[str] = (),
    permutations: int = paired.PERMUTATIONS,
    bootstraps: int = paired.BOOTSTRAPS,
    seed: int = 0,
    threads: int | None = None,
) -> Comparison:
    """Compare systems with baselines, query by query, with significance.

    Each argument is an Evaluation, a result with `per_unit_scores()`, a table of per-query scores (a
    path, a data frame, rows), or a list of those: the seeds of one system. The systems of the first
    argument are the baselines, or its first system where it is the only argument; `baselines` names
    them instead, and "all" compares every pair. `margin` (0.01, "2%", or one for each measure) adds
    non-inferiority and equivalence; `by` (a column, or {query: group}) adds a table for each group;
    the column is of the scores or of the table `queries`.
    """
    if test not in TESTS:
        raise UsageError(f"there is no test '{test}'", hint=f"one of: {', '.join(TESTS)}")
    if correction not in CORRECTIONS:
        raise UsageError(
            f"there is no correction '{correction}'", hint=f"one of: {', '.join(CORRECTIONS)}"
        )
    for name, value in (("alpha", alpha), ("confidence", confidence)):
        if not 0 < value < 1:
            raise UsageError(f"{name}={value} is not between 0 and 1")
    if not tie >= 0:
        raise UsageError(f"tie={tie} is not a number from 0 on")
    scores = ScoreSet()
    column = by if isinstance(by, str) else None
    first = collect(baseline, scores, columns, column)
    for other in others:
        collect(other, scores, columns, column)
    if queries is not None and column is not None:
        read_groups(queries, column, scores, columns or {})
    if isinstance(by, Mapping):
        column, scores.groups["group"] = "group", {str(q): str(g) for q, g in by.items()}
    limits = Margin.of(margin)
    settings = Settings(
        test, correction, alpha, confidence, tie, unpaired,
        None if limits is None else str(limits), permutations, bootstraps, seed, column,
    )  # fmt: skip
    return compare_scores(
        scores,
        _baselines(scores, baselines, first if others else first[:1]),
        asked_measures(scores, measures, lower_is_better),
        settings,
        limits,
        Resampling(permutations, bootstraps, seed, threads or available_cores()),
    )


def _baselines(scores: ScoreSet, named: str | Iterable[str] | None, first: list[str]) -> list[str]:
    if named is None:
        found = first
    elif named == "all":
        found = list(scores.systems)
    else:
        found = [named] if isinstance(named, str) else list(named)
    for name in found:
        if name not in scores.systems:
            raise UsageError(
                f"there is no system '{name}' to be the baseline",
                hint=f"there is: {', '.join(scores.systems)}",
            )
    if len(scores.systems) < 2:
        raise UsageError(
            f"there is nothing to compare '{next(iter(scores.systems))}' with",
            hint="give at least two systems",
        )
    return found


def compare_scores(
    scores: ScoreSet,
    baselines: list[str],
    asked: list[Asked],
    settings: Settings,
    margin: Margin | None,
    resampling: Resampling,
) -> Comparison:
    """Compare what was collected."""
    import datetime

    from goodgain import __version__

    pairing = Pairing(scores, settings.unpaired)
    duels = [(b, s) for i, b in enumerate(baselines) for s in scores.systems
             if s != b and s not in baselines[:i]]  # fmt: skip
    spreads = _seed_spreads(scores, asked)
    cells: list[Paired] = []
    errors: dict[str, Tukey] = {}
    for one in asked:
        units = None
        if settings.test == "tukey":
            units = pairing.complete(scores.systems, one)
            errors[one.label] = _tukey(scores, one, units)
        cells += [pairing.pair(b, s, one, units) for b, s in duels]
    judge = _Judge(settings, resampling, margin, errors, spreads)
    made = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    prices = _prices(scores, asked)
    means = {
        s: {one.label: _level(one, _defined(scores, s, one.column)) for one in asked}
        for s in scores.systems
    }
    notes = [*scores.notes, *pairing.notes()]
    group_pairs: tuple[Pair, ...] = ()
    interactions: tuple[Any, ...] = ()
    if settings.by is not None:
        members = groups.members(scores, settings.by, cells)
        parts = [
            part
            for g in groups.names(members, cells)
            for c in cells
            if (part := c.only(g, members))
        ]
        group_pairs = judge.pairs(parts)
        interactions = groups.interactions(cells, members, settings.correction)
        notes += groups.notes(members, cells)
    return Comparison(
        settings,
        tuple(baselines),
        tuple(scores.systems),
        tuple(one.label for one in asked),
        judge.pairs(cells),
        means,
        group_pairs,
        interactions,
        tuple(spread for spread in spreads.values() if spread),
        prices,
        _trade_off(asked, means, prices),
        tuple(notes),
        tuple(scores.inputs),
        made,
        __version__,
        scores,
    )


_BOOTSTRAPPED = ("bootstrap", "randomisation", "wilcoxon", "sign")  # tests whose interval is BCa


class _Judge:
    """Turns paired values into pairs with p-values; one family of hypotheses a call."""

    def __init__(
        self, settings: Settings, resampling: Resampling, margin: Margin | None,
        tukeys: Mapping[str, Tukey], spreads: Mapping[tuple[str, str], SeedSpread | None],
    ) -> None:  # fmt: skip
        self._settings = settings
        self._resampling = resampling
        self._margin = margin
        self._tukeys = tukeys
        self._spreads = spreads

    def pairs(self, cells: list[Paired]) -> tuple[Pair, ...]:
        """All cells tested, and their p-values corrected together."""
        found = self._outcomes(cells)
        p_values = [outcome.p for outcome, _ in found]
        if self._settings.test == "tukey" and self._settings.correction != "none":
            measures = len({cell.asked.label for cell in cells})  # systems are covered already
            corrected = [min(1.0, p * measures) for p in p_values]
        else:
            corrected = correct(p_values, self._settings.correction)
        return tuple(
            self._pair(cell, outcome, span, p)
            for cell, (outcome, span), p in zip(cells, found, corrected, strict=True)
        )

    def _outcomes(self, cells: list[Paired]) -> list[tuple[Outcome, tuple[float, float] | None]]:
        """All at once where there is something to draw: measures share signs and samples."""
        known: dict[int, Outcome] = {}
        means: dict[int, Floats] = {}
        places = [i for i, cell in enumerate(cells) if cell.asked.kind != "percentile"]
        columns = [_differences(cells[i]) for i in places]
        if self._settings.test == "randomisation":
            outcomes = paired.randomisation(columns, resampling=self._resampling)
            known = dict(zip(places, outcomes, strict=True))
        if self._settings.test in _BOOTSTRAPPED:
            drawn = paired.resampled(columns, self._resampling)
            means = dict(zip(places, drawn, strict=True))
        return [self._outcome(cell, known.get(i), means.get(i)) for i, cell in enumerate(cells)]

    def _outcome(
        self, cell: Paired, known: Outcome | None, means: Floats | None
    ) -> tuple[Outcome, tuple[float, float] | None]:
        from goodgain.stats.quantiles import percentile

        settings, how = self._settings, self._resampling
        if cell.asked.kind == "percentile":
            return paired.percentile_test(
                cell.a, cell.b, cell.asked.percent, settings.confidence, how, percentile
            )
        d = _differences(cell)
        if settings.test == "tukey" and cell.group is None:
            tukey = self._tukeys[cell.asked.label]
            reach, mean = tukey.reach(settings.confidence), float(d.mean())
            span = None if reach is None else (mean - reach, mean + reach)
            return tukey.test(mean), span
        name = "t" if settings.test == "tukey" else settings.test
        outcome = known or paired.run_test(name, d, resampling=how, tie=settings.tie, means=means)
        if cell.asked.kind == "geometric":
            return outcome, self._geometric_interval(cell)
        if settings.test in _BOOTSTRAPPED:
            return outcome, paired.bca_interval(d, settings.confidence, how, means)
        return outcome, effect.t_interval(d, settings.confidence)

    def _geometric_interval(self, cell: Paired) -> tuple[float, float] | None:
        import numpy as np

        if len(cell.a) < 2:
            return None
        logs = [_logs(cell.a), _logs(cell.b)]
        before, after = paired.bootstrap_means(logs, self._resampling)
        tail = 50 * (1 - self._settings.confidence)
        low, high = np.percentile(np.exp(after) - np.exp(before), [tail, 100 - tail])
        return float(low), float(high)

    def _pair(
        self, cell: Paired, outcome: Outcome, span: tuple[float, float] | None, p_corrected: float
    ) -> Pair:
        asked, settings = cell.asked, self._settings
        before, after = _level(asked, cell.a.tolist()), _level(asked, cell.b.tolist())
        d = _differences(cell)
        gains = -d if asked.lower_is_better else d
        plain = asked.kind == "mean"
        difference = float(d.mean()) if plain else after - before
        size = effect.effect_size(d) if asked.kind != "percentile" else None
        size_span = None
        if size is not None and len(d) > 1 and d.any():
            size_span = effect.effect_interval(size, len(d), settings.confidence)
        margin = self._margin.value(asked.label, before) if self._margin and plain else None
        noninferior = equivalent = None
        if margin is not None:
            noninferior = noninferior_p(gains, margin, settings.test, self._resampling)
            other_side = noninferior_p(-gains, margin, settings.test, self._resampling)
            equivalent = max(noninferior, other_side)
        by_seeds = None
        if cell.group is None and plain:
            known = [self._spreads.get((s, asked.column)) for s in (cell.baseline, cell.system)]
            by_seeds = seeds_test(d, *known)
        wins, losses = int((gains > settings.tie).sum()), int((gains < -settings.tie).sum())
        return Pair(
            cell.system, cell.baseline, asked.label, after, before, difference,
            None if before == 0 else difference / abs(before),
            None if span is None else span[0], None if span is None else span[1],
            "randomisation" if asked.kind == "percentile" else _test_name(settings, cell),
            outcome.statistic, outcome.p, p_corrected,
            size, None if size_span is None else size_span[0], None if size_span is None else size_span[1],
            wins, len(d) - wins - losses, losses,
            effect.minimum_detectable(d, settings.alpha) if plain else None,
            len(d), asked.lower_is_better, margin, noninferior, equivalent,
            by_seeds.p if by_seeds else None, cell.group, outcome.note,
        )  # fmt: skip


def _test_name(settings: Settings, cell: Paired) -> str:
    """Tukey's test is for the whole; a group is tested by the t-test."""
    return "t" if settings.test == "tukey" and cell.group is not None else settings.test


def _differences(cell: Paired) -> Floats:
    """System minus baseline; for a geometric mean, of the logarithms."""
    if cell.asked.kind == "geometric":
        return _logs(cell.b) - _logs(cell.a)
    return cell.b - cell.a


def _logs(values: Floats) -> Floats:
    import numpy as np

    logs: Floats = np.log(np.maximum(values, 0.00001))
    return logs


def _level(asked: Asked, values: list[float]) -> float:
    """One number for all queries."""
    from goodgain.ranking.scores import aggregate

    if asked.kind != "mean" and asked.measure is not None:
        return aggregate(asked.measure, values)
    return math.fsum(values) / len(values) if values else math.nan


def _defined(scores: ScoreSet, system: str, column: str) -> list[float]:
    return [v for v in scores.values(system, column).values() if v == v]


def _tukey(scores: ScoreSet, asked: Asked, units: set[str]) -> Tukey:
    import numpy as np

    order = sorted(units)
    table = [[scores.values(s, asked.column)[u] for u in order] for s in scores.systems]
    return Tukey.of(np.array(table).T)


def _seed_spreads(scores: ScoreSet, asked: list[Asked]) -> dict[tuple[str, str], SeedSpread | None]:
    import numpy as np

    found: dict[tuple[str, str], SeedSpread | None] = {}
    for system, seeds in scores.systems.items():
        if len(seeds) < 2:
            continue
        for one in asked:
            columns = [seed.get(one.column, {}) for seed in seeds]
            units = [
                u for u in columns[0] if not any(math.isnan(c.get(u, math.nan)) for c in columns)
            ]
            if units:
                table = np.array([[c[u] for c in columns] for u in units])
                found[system, one.column] = seed_spread(system, one.label, table)
    return found


def _prices(scores: ScoreSet, asked: list[Asked]) -> tuple[Price, ...]:
    """mean, p50, p95 and p99 of every column of time or cost, once each."""
    found = []
    for column in dict.fromkeys(one.column for one in asked if is_price(one.column)):
        for system in scores.systems:
            values = _defined(scores, system, column)
            if values:
                found.append(Price(system, column, **percentiles(values), queries=len(values)))
    return tuple(found)


def _trade_off(
    asked: list[Asked], means: Mapping[str, Mapping[str, float]], prices: tuple[Price, ...]
) -> tuple[TradeOff, ...]:
    """The first measure of quality against the first of time or cost, where there are both."""
    quality = next((one for one in asked if not is_price(one.column)), None)
    if quality is None or not prices:
        return ()
    price = {p.system: p.mean for p in prices if p.measure == prices[0].measure}
    return pareto_front(
        {s: values[quality.label] for s, values in means.items()}, price, quality.lower_is_better
    )
