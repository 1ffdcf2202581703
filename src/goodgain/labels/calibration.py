"""How far to trust labels: their agreement with human ones, and means corrected for their faults."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict, dataclass, fields
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, Self

from goodgain.data.qrels import Qrels
from goodgain.errors import InputError, UsageError
from goodgain.labels.canaries import PREFIX
from goodgain.labels.result import Labels
from goodgain.measures.grammar import parse_all
from goodgain.ranking import Evaluator
from goodgain.ranking.evaluator import named_runs
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, html_table, render
from goodgain.results.views import Reportable
from goodgain.stats import agreement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MEASURES = "nDCG@10"
_FIGURES = ["figure", "value", "low", "high", "n"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its interval, and how many pairs, queries or systems stand behind it."""

    name: str
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Corrected:
    """The mean of a measure under the judge's labels, under human ones, and corrected."""

    run: str
    measure: str
    labels: float
    human: float
    corrected: float
    low: float
    high: float
    weight: float
    human_queries: int
    other_queries: int


@dataclass(frozen=True, slots=True)
class Calibration(SavedAsJson, Reportable):
    """What `calibrate` found; `matrix[i][j]` counts human `grades[i]` that the judge calls `grades[j]`."""

    KIND: ClassVar[str] = "calibration"
    FORMAT: ClassVar[int] = 1
    grades: tuple[float, ...]
    matrix: tuple[tuple[int, ...], ...]
    figures: tuple[Figure, ...]
    canaries: tuple[tuple[str, int, int], ...]  # kind, labelled, found good
    corrected: tuple[Corrected, ...]
    threshold: float
    confidence: float
    pairs: int
    failed: int  # pairs with a human label for which the judge has no gain
    not_labelled: int  # pairs with a human label that the judge was not asked about

    def __getitem__(self, name: str) -> Figure:
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise KeyError(
            f"there is no figure '{name}'; there is: {', '.join(f.name for f in self.figures)}"
        )

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row for every figure."""
        rows = [[f.name, f.value, f.low, f.high, f.n] for f in self.figures]
        rows += [
            [f"canary {kind} found good", good / count, None, None, count]
            for kind, count, good in self.canaries
        ]
        rows += [
            [f"{c.measure} of {c.run}, corrected", c.corrected, c.low, c.high, c.human_queries]
            for c in self.corrected
        ]
        return _FIGURES, rows

    def render(self, format: str = "table") -> str:  # noqa: A002
        """As text: for machines the figures, for people also the matrix and the corrected means."""
        if format in LONG_FORMATS:
            return render(format, *self.rows())
        return "\n".join(render(format, *table) for table in self._tables())

    def _tables(self) -> list[tuple[list[str], list[list[Any]]]]:
        """For people: the matrix, the figures, the canaries, the corrected means."""
        names = [f"{g:g}" for g in self.grades]
        matrix = [[f"human {n}", *row] for n, row in zip(names, self.matrix, strict=True)]
        found: list[tuple[list[str], list[list[Any]]]] = [
            (["", *(f"judge {n}" for n in names)], matrix),
            (_FIGURES, [list(asdict(f).values()) for f in self.figures]),
        ]
        if self.canaries:
            found.append((["canary", "labelled", "found good"], [[*c] for c in self.canaries]))
        if self.corrected:
            rows = [list(asdict(c).values()) for c in self.corrected]
            header = ["run", "measure", "judge", "human", "corrected", "low", "high", "weight",
                      "human queries", "other queries"]  # fmt: skip
            found.append((header, rows))
        return found

    def _repr_html_(self) -> str:
        return "".join(html_table(*table) for table in self._tables())

    def warnings(self) -> list[str]:
        """What a reader of the figures should know."""
        found = []
        if self.failed:
            found.append(
                f"{self.failed:,} pairs with a human label have no gain from the judge: left out"
            )
        if self.not_labelled:
            found.append(
                f"{self.not_labelled:,} pairs with a human label were not labelled: left out"
            )
        fooled = [f"{kind} ({good} of {count})" for kind, count, good in self.canaries if good]
        if fooled:
            found.append(f"the judge falls for worthless documents: {', '.join(fooled)}")
        small = {c.human_queries for c in self.corrected if c.human_queries < 30}
        if small:
            found.append(f"intervals of corrected means are rough with {min(small)} human queries")
        return found

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        from goodgain import __version__

        data = _plain(asdict(self))
        return {"goodgain": self.KIND, "format": self.FORMAT, "version": __version__, **data}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        values = {field.name: data[field.name] for field in fields(cls)}
        return cls(
            **values
            | {
                "grades": tuple(data["grades"]),
                "matrix": tuple(tuple(row) for row in data["matrix"]),
                "figures": tuple(Figure(**_numbers(f)) for f in data["figures"]),
                "canaries": tuple(tuple(canary) for canary in data["canaries"]),
                "corrected": tuple(Corrected(**_numbers(c)) for c in data["corrected"]),
            }
        )

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name} {f.value:.3f}" for f in self.figures[:4])
        return f"Calibration({self.pairs:,} pairs; {shown})"


def calibrate(
    human: Any,
    labels: Any,
    runs: Iterable[Any] = (),
    measures: str = MEASURES,
    *,
    threshold: float = 2,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Calibration:
    """Hold labels against human ones over the same pairs.

    `labels` are `Labels`, the path of a store, or judgements of any form. With `runs`, also whether
    both put the systems in the same order, and the means of measures corrected by the human labels.
    Intervals come from resampling queries, since labels of one query are not independent.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence={confidence} is not between 0 and 1")
    truth = Qrels.of(human).to_dict()
    judged, failed_pairs, canaries = _labels(labels, threshold)
    both = {
        q: [(g, judged[q][d]) for d, g in docs.items() if d in judged.get(q, {})]
        for q, docs in truth.items()
    }
    both = {q: pairs for q, pairs in both.items() if pairs}
    if not both:
        raise InputError(
            "no pair has both a human label and one of the judge",
            hint="are the ids of queries and documents the same in both?",
        )
    grades, counts = _counts(list(both.values()))
    sampler = _Sampler(len(counts), resamples, seed, confidence)
    figures = _agreement(grades, counts, threshold, sampler)
    chosen = named_runs(runs)
    corrected: tuple[Corrected, ...] = ()
    if chosen:
        orders, corrected = _systems(truth, judged, chosen, measures, sampler, confidence)
        figures += orders
    pairs = sum(map(len, both.values()))
    failed = sum((q, d) in failed_pairs for q, docs in truth.items() for d in docs)
    return Calibration(
        grades=tuple(grades.tolist()),
        matrix=tuple(tuple(int(n) for n in row) for row in counts.sum(0)),
        figures=tuple(figures),
        canaries=canaries,
        corrected=corrected,
        threshold=threshold,
        confidence=confidence,
        pairs=pairs,
        failed=failed,
        not_labelled=sum(map(len, truth.values())) - pairs - failed,
    )


def _labels(
    labels: Any, threshold: float
) -> tuple[dict[str, dict[str, float]], set[tuple[str, str]], tuple[tuple[str, int, int], ...]]:
    """Gains, pairs without one, and what became of the canaries."""
    if isinstance(labels, str | os.PathLike) and is_store(os.fspath(labels)):
        labels = Labels.of(labels)
    if not isinstance(labels, Labels):
        return Qrels.of(labels).to_dict(), set(), ()
    gains: dict[str, dict[str, float]] = {}
    failed: set[tuple[str, str]] = set()
    seen: Counter[str] = Counter()
    good: Counter[str] = Counter()
    for label in labels:
        if label.doc.startswith(PREFIX):
            if label.gain is not None:
                kind = label.doc.removeprefix(PREFIX)
                seen[kind] += 1
                good[kind] += label.gain >= threshold
        elif label.gain is None:
            failed.add((label.query, label.doc))
        else:
            gains.setdefault(label.query, {})[label.doc] = label.gain
    return gains, failed, tuple((kind, seen[kind], good[kind]) for kind in sorted(seen))


def is_store(path: str) -> bool:
    """Whether a file is a store of labels."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _counts(queries: list[list[tuple[float, float]]]) -> tuple[Floats, Floats]:
    """The grades that occur, and for each query how often which met which."""
    import numpy as np

    grades = np.unique(np.array([pair for pairs in queries for pair in pairs], float))
    counts = np.zeros((len(queries), len(grades), len(grades)))
    for i, pairs in enumerate(queries):
        places = np.searchsorted(grades, np.array(pairs, float))
        np.add.at(counts[i], (places[:, 0], places[:, 1]), 1)
    return grades, counts


class _Sampler:
    """Resamples of the queries, the same for all figures."""

    def __init__(self, queries: int, resamples: int, seed: int, confidence: float) -> None:
        import numpy as np

        self.queries, self.resamples, self.seed, self.confidence = (
            queries,
            resamples,
            seed,
            confidence,
        )
        self.tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        generator = np.random.default_rng(seed)
        weights = generator.multinomial(queries, np.full(queries, 1 / queries), size=resamples)
        self.weights = weights.astype(float) if queries > 1 else None

    def interval(
        self, statistic: Callable[[Floats], Floats], per_query: Floats
    ) -> tuple[float, float]:
        """The percentile interval of a statistic of the sum over queries; unknown for one query."""
        import numpy as np

        if self.weights is None:
            return float("nan"), float("nan")
        values = statistic(np.tensordot(self.weights, per_query, 1))
        values = values[~np.isnan(values)]
        if not len(values):
            return float("nan"), float("nan")
        low, high = np.quantile(values, self.tails)
        return float(low), float(high)


def _agreement(grades: Floats, counts: Floats, threshold: float, sampler: _Sampler) -> list[Figure]:
    total = counts.sum(0)
    human = total.sum(1)
    n, bad = int(total.sum()), int(human[grades < threshold].sum())
    statistics: list[tuple[str, int, Callable[[Floats], Floats]]] = [
        ("exact agreement", n, lambda c: agreement.within(c, grades, 0)),
        ("agreement within 1", n, lambda c: agreement.within(c, grades, 1)),
        ("Cohen's kappa", n, lambda c: agreement.kappa(c, grades)),
        ("quadratic kappa", n, lambda c: agreement.kappa(c, grades, quadratic=True)),
        ("Krippendorff's alpha", n, agreement.alpha),
        ("false-good rate", bad, lambda c: agreement.false_good(c, grades, threshold)),
        ("missed-good rate", n - bad, lambda c: agreement.missed_good(c, grades, threshold)),
    ]
    return [
        Figure(name, float(of(total)), *sampler.interval(of, counts), count)
        for name, count, of in statistics
    ]


def _systems(
    truth: dict[str, dict[str, float]],
    judged: dict[str, dict[str, float]],
    runs: list[Any],
    measures: str,
    sampler: _Sampler,
    confidence: float,
) -> tuple[list[Figure], tuple[Corrected, ...]]:
    """Whether both label sets order the systems alike, and each mean corrected."""
    import numpy as np

    by_human, by_judge = (Evaluator(table, measures).evaluate(runs) for table in (truth, judged))
    common = [q for q in truth if q in judged]
    others = [q for q in judged if q not in truth]
    reach = NormalDist().inv_cdf((1 + confidence) / 2)
    figures, corrected = [], []
    for measure in parse_all(measures):
        columns: list[Floats] = []
        for run in runs:
            human, judge = (
                dict(zip(r.queries, r.column(measure), strict=True))
                for r in (by_human[run.name] if len(runs) > 1 else by_human.runs[0],
                          by_judge[run.name] if len(runs) > 1 else by_judge.runs[0])
            )  # fmt: skip
            y, f, g = (
                np.array([table[q] for q in queries])
                for table, queries in ((human, common), (judge, common), (judge, others))
            )
            columns.append(np.stack([y, f]))
            keep = ~(np.isnan(y) | np.isnan(f))
            mean, error, weight = agreement.ppi_mean(y[keep], f[keep], g[~np.isnan(g)])
            corrected.append(
                Corrected(
                    run.name, measure.label, _mean(np.concatenate([f, g])),
                    _mean(y), mean, mean - reach * error, mean + reach * error, weight,
                    int(keep.sum()), int((~np.isnan(g)).sum()),
                )
            )  # fmt: skip
        if len(runs) > 1:
            figures.append(_order(measure.label, np.stack(columns), len(runs), sampler))
    return figures, tuple(corrected)


def _order(label: str, values: Floats, systems: int, sampler: _Sampler) -> Figure:
    """Kendall's tau of the systems' means; `values` has systems, label sets, queries."""
    import numpy as np

    per_query = np.moveaxis(values, -1, 0)
    per_query = per_query[~np.isnan(per_query).any((1, 2))]  # defined for all, under both

    def tau(sums: Floats) -> Floats:
        return agreement.kendall_tau(sums[..., 0], sums[..., 1])

    if sampler.queries != len(per_query):
        if not len(per_query):
            nan = float("nan")
            return Figure(f"Kendall's tau of systems by {label}", nan, nan, nan, systems)
        sampler = _Sampler(len(per_query), sampler.resamples, sampler.seed, sampler.confidence)
    value = float(tau(per_query.sum(0)))
    return Figure(
        f"Kendall's tau of systems by {label}", value, *sampler.interval(tau, per_query), systems
    )


def _mean(values: Floats) -> float:
    """Of the values that are defined."""
    defined = values[values == values]
    return float(defined.mean()) if len(defined) else float("nan")


def _numbers(saved: dict[str, Any]) -> dict[str, Any]:
    """Undefined is null in a file."""
    return {name: float("nan") if value is None else value for name, value in saved.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and value != value else value
