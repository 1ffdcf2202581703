"""From scores to a Comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goodgain.comparison import groups
from goodgain.comparison.comparison import Comparison, Pair, Settings
from goodgain.comparison.design import describe
from goodgain.comparison.equivalence import is_tied, usual_margin
from goodgain.comparison.pairing import (
    RESAMPLED,
    Column,
    Paired,
    Pairing,
    choose_columns,
    direction_notes,
    missing_labels,
    open_reason,
    primary_columns,
    primary_first,
)
from goodgain.comparison.prices import front, price_table
from goodgain.comparison.replicates import require_test
from goodgain.comparison.score_table import read_groups
from goodgain.comparison.scores import ScoreSet, collect
from goodgain.comparison.standings import Standings, stand
from goodgain.comparison.sugar import evaluated_sources
from goodgain.cores import thread_count
from goodgain.errors import InputError, UsageError, suggest_keywords
from goodgain.stats import effect, paired
from goodgain.stats.corrections import CORRECTIONS, correct
from goodgain.stats.margin import Margin
from goodgain.stats.paired import TESTS, Outcome, Resampling
from goodgain.stats.seeds import SeedSpread, seed_spread
from goodgain.stats.tukey import Tukey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from goodgain.measures.definition import Measure
    from goodgain.names import Correction, Seeds, TestName, Unpaired
    from goodgain.stats.paired import Draws

    Floats = NDArray[np.float64]

DEFAULT_MEASURES = "nDCG@10 AP RR"  # of compare(qrels, runs)


@suggest_keywords
def compare(
    *sources: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    baseline: str | Iterable[str] | None = None,
    test: TestName = "t",
    correction: Correction = "holm",
    primary: str | Measure | Iterable[str | Measure] | None = None,
    alpha: float = 0.05,
    confidence: float = 0.95,
    margin: float | str | Mapping[str, float | str] | None = None,
    tie: float = 0.0,
    unpaired: Unpaired = "drop",
    seeds: Seeds = "random",
    by: str | Mapping[str, str] | None = None,
    queries: Any = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    lower_is_better: Iterable[str] = (),
    higher_is_better: Iterable[str] = (),
    permutations: int = paired.PERMUTATIONS,
    bootstraps: int = paired.BOOTSTRAPS,
    seed: int = 0,
    threads: int | None = None,
    qrels: Any = None,
    runs: Any = None,
) -> Comparison:
    r"""Compare systems with a baseline, query by query, with significance.

    Each source is an Evaluation, a GoodGain, a result with `per_unit_scores()`, a saved result, a table
    of scores per query (a path, a data frame, rows), or a list of those: the seeds of one system.
    `compare(qrels, runs, measures)` evaluates first. The systems of the first source are the
    baselines, or its first system if it is the only source; `baseline` names one or several instead,
    and "all" compares every pair. `lower_is_better` and `higher_is_better` state the direction of
    measures and win over what is known about them. `margin` (0.01, "2%", or one for each measure) adds
    non-inferiority and equivalence; `by` (a column, or {query: group}) adds a table for each group; the
    column is in the scores or in the table `queries`. `seeds="random"` tests for new queries and new
    seeds where scores depend on a seed; "fixed" averages over these seeds and tests over queries.
    `primary` chooses the measures that are tested, and corrected for; the others are exploratory.
    `columns` names columns of tables by role; several that together identify a query are a list.

    >>> import goodgain as gg
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> bm25 = {q: ["x", "a"] for q in qrels}
    >>> dense = {q: ["a", "x"] if q < "q6" else ["y", "x", "a"] for q in qrels}
    >>> comparison = gg.compare(qrels, {"bm25": bm25, "dense": dense}, "RR")
    >>> print(str(comparison).split("\n\n")[0])
    verdict      better: dense is better than bm25 by RR
    by how much  RR 0.833 vs 0.500: +0.333, 95% interval +0.075 to +0.591, p = 0.0185, on 8 queries
                 0 │·····──────────────────────●────────────────────── +0.591
    caveat       only 8 queries, which may not be representative
    next         use dense; look at the 2 queries on which it is worse
    """
    if test not in TESTS:
        raise UsageError(f"unknown test '{test}'", hint=f"one of: {', '.join(TESTS)}")
    if correction not in CORRECTIONS:
        raise UsageError(
            f"unknown correction '{correction}'", hint=f"one of: {', '.join(CORRECTIONS)}"
        )
    for name, value in (("alpha", alpha), ("confidence", confidence)):
        if not 0 < value < 1:
            raise UsageError(f"{name} must be between 0 and 1, got {value}")
    if not tie >= 0:
        raise UsageError(f"tie must not be negative, got {tie}")
    sources, measures = evaluated_sources(
        sources, measures, DEFAULT_MEASURES, qrels, runs, primary=primary
    )
    scores = ScoreSet()
    group_column = by if isinstance(by, str) else None
    first: list[int] = []
    for source in sources:
        indexes = collect(source, scores, columns, group_column)
        first = first or indexes
    if queries is not None and group_column is not None:
        read_groups(queries, group_column, scores, columns or {})
    if isinstance(by, Mapping):
        group_column, scores.groups["group"] = "group", {str(q): str(g) for q, g in by.items()}
    scores.state_directions(lower_is_better, higher_is_better)
    limits = Margin.of(margin)
    chosen = primary_columns(scores, primary)
    settings = Settings(
        test=test,
        correction=correction,
        alpha=alpha,
        confidence=confidence,
        tie=tie,
        unpaired=unpaired,
        seeds=seeds,
        margin=None if limits is None else str(limits),
        permutations=permutations,
        bootstraps=bootstraps,
        seed=seed,
        by=group_column,
        primary=tuple(column.label for column in chosen),
    )
    names = list(scores.systems)
    defaults = [names[index] for index in (first if len(sources) > 1 else first[:1])]
    baselines = _baselines(scores, baseline, defaults)
    return compare_scores(
        scores,
        baselines,
        primary_first(chosen, choose_columns(scores, measures)),
        settings,
        limits,
        Resampling(permutations, bootstraps, seed, thread_count(threads)),
    )


def _baselines(scores: ScoreSet, named: str | Iterable[str] | None, first: list[str]) -> list[str]:
    if named is None:
        names = first
    elif named == "all":
        names = list(scores.systems)
    else:
        names = [named] if isinstance(named, str) else list(named)
    for name in names:
        if name not in scores.systems:
            raise UsageError(
                f"unknown baseline '{name}'", hint=f"systems: {', '.join(scores.systems)}"
            )
    if len(scores.systems) < 2:
        only = next(iter(scores.systems), None)
        raise UsageError(
            f"nothing to compare '{only}' with" if only else "nothing to compare",
            hint="give at least two systems",
        )
    return names


def compare_scores(
    scores: ScoreSet,
    baselines: list[str],
    columns: list[Column],
    settings: Settings,
    margin: Margin | None,
    resampling: Resampling,
) -> Comparison:
    """Compare what was collected."""
    import datetime

    from goodgain import __version__

    _require_labels(scores, columns)
    pairing = Pairing(scores, settings.unpaired, settings.seeds)
    duels = [(b, s) for i, b in enumerate(baselines) for s in scores.systems
             if s != b and s not in baselines[:i]]  # fmt: skip
    cells: list[Paired] = []
    errors: dict[str, Tukey] = {}
    for column in columns:
        units = None
        if settings.test == "tukey":
            units = pairing.complete(scores.systems, column)
        cells += [pairing.pair(b, s, column, units) for b, s in duels]
        if units is not None:
            errors[column.label] = _tukey(scores, column, units)
    spreads = _seed_spreads(scores, columns)
    require_test(settings.test, [(cell.system, cell.replicates) for cell in cells])
    tester = _Tester(settings, resampling, margin, errors)
    prices = price_table(scores, columns)
    means = {
        s: {column.label: _level(column, _defined(scores, s, column.key)) for column in columns}
        for s in scores.systems
    }
    pairs = tester.pairs(cells)
    notes = [
        *scores.notes,
        *pairing.notes(),
        *direction_notes(c.measure for c in columns),
        *_open_notes(pairs),
    ]
    group_pairs: tuple[Pair, ...] = ()
    interactions: tuple[Any, ...] = ()
    if settings.by is not None:
        members = groups.members(scores, settings.by, cells)
        subsets = [
            subset
            for group in groups.names(members, cells)
            for cell in cells
            if (subset := cell.only(group, members))
        ]
        group_pairs = tester.pairs(subsets)
        interactions = groups.interactions(cells, members, settings.correction, tester.is_tested)
        notes += groups.notes(members, cells)
    return Comparison(
        settings=settings,
        baselines=tuple(baselines),
        systems=tuple(scores.systems),
        measures=tuple(column.measure for column in columns),
        pairs=pairs,
        means=means,
        group_pairs=group_pairs,
        interactions=interactions,
        design=describe(scores, cells, settings),
        factor=scores.factor,
        seeds=tuple(spread for spread in spreads.values() if spread),
        prices=prices,
        trade_off=front(scores, columns, means, prices),
        standings=_standings(scores, columns, means, pairing, settings, pairs),
        notes=tuple(notes),
        inputs=tuple(scores.inputs),
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        version=__version__,
        scores=scores,
    )


def _standings(
    scores: ScoreSet,
    columns: list[Column],
    means: Mapping[str, Mapping[str, float]],
    pairing: Pairing,
    settings: Settings,
    pairs: Sequence[Pair],
) -> Standings | None:
    """All pairs of systems by the first measure of quality."""
    quality = next((column for column in columns if not column.measure.is_cost), None)
    if quality is None:
        return None
    return stand(
        scores=scores,
        column=quality,
        means=means,
        pairing=pairing,
        settings=settings,
        pairs=pairs,
    )


def _open_reason(pair: Pair) -> str:
    unbounded = math.inf in (abs(pair.bound_low or 0), abs(pair.bound_high or 0))
    return open_reason(unbounded)


def _require_labels(scores: ScoreSet, columns: list[Column]) -> None:
    for column in columns:
        if column.measure.namespace == "agentic" and (
            unlabelled := missing_labels(column.measure, scores, scores.systems)
        ):
            raise InputError(
                f"{column.label} cannot be compared: no result of '{unlabelled[0]}' is labelled",
                hint="label the results (goodgain label), or compare what needs no labels, such as SRR",
            )


def _open_notes(pairs: Iterable[Pair]) -> list[str]:
    return [
        f"{p.system} against {p.baseline}, {p.measure}: {_open_reason(p)} leave the verdict open "
        f"(the difference could be {p.bound_low:+.4g} to {p.bound_high:+.4g})"
        for p in pairs
        if not p.settled and not p.exploratory
    ]


class _Tester:
    """Turns paired values into pairs with p-values, corrected by family: quality, time and cost."""

    def __init__(
        self, settings: Settings, resampling: Resampling, margin: Margin | None,
        tukeys: Mapping[str, Tukey],
    ) -> None:  # fmt: skip
        self._settings = settings
        self._resampling = resampling
        self._margin = margin
        self._tukeys = tukeys

    def is_tested(self, cell: Paired) -> bool:
        """Whether a cell belongs to the tests that are corrected: its measure is primary."""
        return not self._settings.primary or cell.column.label in self._settings.primary

    def pairs(self, cells: list[Paired]) -> tuple[Pair, ...]:
        """All cells tested; quality and time or cost are corrected apart, exploratory ones not at all."""
        outcomes = self._outcomes(cells)
        corrected: dict[int, tuple[float | None, int]] = {
            i: (None, 1) for i, cell in enumerate(cells) if not self.is_tested(cell)
        }
        for is_cost in (False, True):
            family = [
                i
                for i, cell in enumerate(cells)
                if cell.measure.is_cost == is_cost and i not in corrected
            ]
            hypotheses, p_values = self._corrected([cells[i] for i in family],
                                                   [outcomes[i][0].p for i in family])  # fmt: skip
            corrected |= {i: (p, hypotheses) for i, p in zip(family, p_values, strict=True)}
        return tuple(
            self._pair(cell, outcome, span, *corrected[i])
            for i, (cell, (outcome, span)) in enumerate(zip(cells, outcomes, strict=True))
        )

    def _corrected(self, cells: list[Paired], p_values: list[float]) -> tuple[int, list[float]]:
        """The number of hypotheses that are corrected for, and the corrected p-values."""
        settings = self._settings
        if settings.correction == "none":
            return 1, p_values
        if settings.test == "tukey":
            measures = len({cell.measure.label for cell in cells})  # systems are covered already
            return measures, [min(1.0, p * measures) for p in p_values]
        return len(cells), correct(p_values, settings.correction)

    def _outcomes(self, cells: list[Paired]) -> list[tuple[Outcome, tuple[float, float] | None]]:
        """All at once if samples are drawn: measures share signs and samples."""
        drawn_outcomes: dict[int, Outcome] = {}
        draws: dict[int, Draws] = {}
        means: dict[int, Floats] = {}
        places = [
            i
            for i, cell in enumerate(cells)
            if cell.column.kind != "percentile" and cell.replicates is None
        ]
        columns = [_differences(cells[i]) for i in places]
        if self._settings.test == "randomisation":
            outcomes = paired.randomisation(columns, resampling=self._resampling)
            drawn_outcomes = dict(zip(places, outcomes, strict=True))
        if self._settings.test == "bootstrap":
            draws = dict(zip(places, paired.moments(columns, self._resampling), strict=True))
            means = {i: drawn.means for i, drawn in draws.items()}
        elif self._settings.test in RESAMPLED:
            drawn = paired.resampled(columns, self._resampling)
            means = dict(zip(places, drawn, strict=True))
        return [
            self._outcome(cell, drawn_outcomes.get(i), draws.get(i), means.get(i))
            for i, cell in enumerate(cells)
        ]

    def _outcome(
        self, cell: Paired, drawn: Outcome | None, draws: Draws | None, means: Floats | None
    ) -> tuple[Outcome, tuple[float, float] | None]:
        from goodgain.stats.quantiles import percentile

        settings, how = self._settings, self._resampling
        if cell.column.kind == "percentile":
            if cell.replicates is not None:
                factor = cell.replicates.factor
                return Outcome(None, 1.0, f"no test of a percentile covers {factor}s"), None
            return paired.percentile_test(
                cell.a, cell.b, cell.column.percent, settings.confidence, how, percentile
            )
        if settings.test == "tukey" and cell.group is None:
            return self._tukey_outcome(cell)
        name = _test_name(settings, cell)
        compared = cell.logarithms() if cell.column.kind == "geometric" else cell
        outcome = drawn or compared.test(
            name, how, toward=cell.measure.sign, tie=settings.tie, draws=draws
        )
        if cell.column.kind == "geometric":
            return outcome, self._geometric_interval(cell)
        return outcome, cell.interval(name, settings.confidence, how, means)

    def _tukey_outcome(self, cell: Paired) -> tuple[Outcome, tuple[float, float] | None]:
        """By one error for all systems; where seeds vary, each pair has its own (Games and Howell)."""
        tukey, mean = self._tukeys[cell.column.label], float((cell.b - cell.a).mean())
        if cell.replicates is None:
            outcome, reach = tukey.test(mean), tukey.reach(self._settings.confidence)
        elif reason := cell.replicates.refusal():
            outcome, reach = Outcome(None, 1.0, reason), None
        else:
            own = tukey.with_error(cell.replicates.error(), cell.replicates.smallest_p())
            outcome, reach = own.test(mean), own.reach(self._settings.confidence)
        return outcome, None if reach is None else (mean - reach, mean + reach)

    def _geometric_interval(self, cell: Paired) -> tuple[float, float] | None:
        import numpy as np

        if cell.replicates is not None:
            before, after = (_level(cell.column, side.tolist()) for side in (cell.a, cell.b))
            logs = cell.logarithms().replicates
            scaled = logs and logs.mapped(lambda a: before * a, lambda b: after * b)
            span = scaled and scaled.interval(self._settings.confidence)
            half = (span[1] - span[0]) / 2 if span else None
            return None if half is None else (after - before - half, after - before + half)
        if not paired.enough_to_resample(len(cell.a), self._settings.confidence):
            return None
        logarithms = cell.logarithms()
        means = paired.bootstrap_means([logarithms.a, logarithms.b], self._resampling)
        tail = 50 * (1 - self._settings.confidence)
        low, high = np.percentile(np.exp(means[1]) - np.exp(means[0]), [tail, 100 - tail])
        return float(low), float(high)

    def _pair(
        self,
        cell: Paired,
        outcome: Outcome,
        span: tuple[float, float] | None,
        p_corrected: float | None,
        hypotheses: int,
    ) -> Pair:
        column, settings = cell.column, self._settings
        before, after = _level(column, cell.a.tolist()), _level(column, cell.b.tolist())
        d = _differences(cell)
        improvements = column.measure.sign * d
        is_mean = column.kind == "mean"
        difference = float(d.mean()) if is_mean else after - before
        size = effect.effect_size(d) if column.kind != "percentile" else None
        size_span = None
        if size is not None and len(d) > 1 and d.any() and cell.replicates is None:
            size_span = effect.effect_interval(size, len(d), settings.confidence)
        margin = self._margin.value(column.label, before) if self._margin and is_mean else None
        noninferior = equivalent = None
        if margin is not None:
            noninferior, other_side = (
                cell.noninferior_p(margin, settings.test, self._resampling, toward=toward)
                for toward in (1, -1)
            )
            equivalent = max(noninferior, other_side)
        by_queries = None
        if cell.replicates is not None and column.kind != "percentile":
            by_queries = paired.run_test("t", d).p
        wins = int((improvements > settings.tie).sum())
        losses = int((improvements < -settings.tie).sum())
        level, detectable = settings.alpha / max(1, hypotheses), None
        if is_mean:
            detectable = self._detectable(cell, level)
        p = outcome.p if p_corrected is None else p_corrected
        bounds = self._bounds(cell, p, hypotheses) if is_mean else None
        within = margin
        if within is None and is_mean:
            within = usual_margin(column.measure, before)
        return Pair(
            system=cell.system,
            baseline=cell.baseline,
            measure=column.measure,
            mean=after,
            baseline_mean=before,
            difference=difference,
            relative=None if abs(before) <= 1e-9 * abs(difference) else difference / abs(before),
            low=None if span is None else span[0],
            high=None if span is None else span[1],
            test="randomisation" if column.kind == "percentile" else _test_name(settings, cell),
            statistic=outcome.statistic,
            p=outcome.p,
            p_corrected=p_corrected,
            d_z=size,
            d_z_low=None if size_span is None else size_span[0],
            d_z_high=None if size_span is None else size_span[1],
            wins=wins,
            ties=len(d) - wins - losses,
            losses=losses,
            minimum_detectable=detectable,
            queries=len(d),
            margin=margin,
            p_noninferior=noninferior,
            p_equivalent=equivalent,
            seeds=0 if cell.replicates is None else max(cell.replicates.counts),
            p_these_seeds=by_queries,
            group=cell.group,
            note=outcome.note,
            bound_low=None if bounds is None else bounds[0],
            bound_high=None if bounds is None else bounds[1],
            settled=bounds is None or bounds[2],
            tests=hypotheses,
            tied=bool(within) and is_tied(cell, within or 0.0, level, self._resampling),
            tied_within=within,
            exploratory=not self.is_tested(cell),
        )

    def _detectable(self, cell: Paired, level: float) -> float | None:
        """The smallest true difference that is shown with 80 % power, over seeds too if they vary."""
        if cell.replicates is None:
            return effect.minimum_detectable(cell.b - cell.a, level)
        error = None if cell.replicates.refusal() else cell.replicates.error()
        if error is None or not error.variance:
            return None
        return effect.shift_for_power(error, level) * math.sqrt(error.variance)

    def _bounds(
        self, cell: Paired, p_corrected: float, hypotheses: int
    ) -> tuple[float, float, bool] | None:
        """The extremes of the mean difference over missing labels, and whether all give one verdict."""
        if not cell.is_bounded:
            return None
        extremes = {"worst": cell.worst_improvements, "best": cell.best_improvements}
        alpha = self._settings.alpha
        verdicts = {self._sign(float(cell.improvements.mean()), p_corrected)}
        name = "t" if self._settings.test == "tukey" else self._settings.test
        for labels, values in extremes.items() if not cell.is_unbounded else ():
            p = cell.test(name, self._resampling, labels=labels, tie=self._settings.tie).p  # type: ignore[arg-type]
            # The correction of the others is not known at the extremes: Bonferroni's is safe.
            verdicts.add(self._sign(float(values.mean()), min(1.0, p * hypotheses), alpha))
        low, high = sorted(cell.measure.sign * float(v.mean()) for v in extremes.values())
        return low, high, len(verdicts) == 1 and not cell.is_unbounded

    def _sign(self, improvement: float, p: float, alpha: float | None = None) -> int:
        """1 better, -1 worse, 0 not shown."""
        if not p < (alpha or self._settings.alpha):
            return 0
        return (improvement > 0) - (improvement < 0)


def _test_name(settings: Settings, cell: Paired) -> str:
    """Tukey's test covers all queries; groups are tested by the t-test."""
    return "t" if settings.test == "tukey" and cell.group is not None else settings.test


def _differences(cell: Paired) -> Floats:
    """System minus baseline; for a geometric mean, of logarithms."""
    compared = cell.logarithms() if cell.column.kind == "geometric" else cell
    return compared.b - compared.a


def _level(column: Column, values: list[float]) -> float:
    """One number for all queries."""
    from goodgain.ranking.scores import aggregate

    if column.kind != "mean":
        return aggregate(column.measure, values)
    return math.fsum(values) / len(values) if values else math.nan


def _defined(scores: ScoreSet, system: str, key: str) -> list[float]:
    return [v for v in scores.values(system, key).values() if v == v]


def _tukey(scores: ScoreSet, column: Column, units: set[str]) -> Tukey:
    import numpy as np

    order = sorted(units)
    table = [[scores.values(s, column.key)[u] for u in order] for s in scores.systems]
    return Tukey.of(np.array(table).T)


def _seed_spreads(
    scores: ScoreSet, columns: list[Column]
) -> dict[tuple[str, str], SeedSpread | None]:
    import numpy as np

    spreads: dict[tuple[str, str], SeedSpread | None] = {}
    for system, seeds in scores.systems.items():
        if len(seeds) < 2:
            continue
        for column in columns:
            values = [seed.get(column.key, {}) for seed in seeds]
            units = list(dict.fromkeys(u for v in values for u in v))
            table = np.array([[v.get(u, math.nan) for v in values] for u in units])
            table = table[~np.isnan(table).all(1)] if units else table
            spreads[system, column.key] = seed_spread(system, column.label, table)
    return spreads
