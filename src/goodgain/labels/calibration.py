"""How far to trust labels: their agreement with human judgments, and means corrected for their errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from goodgain.errors import InputError, UsageError
from goodgain.labels.canaries import KNOWN_GOOD
from goodgain.labels.correction import CorrectedMean, Corrector, Evidence
from goodgain.labels.designs import find_design, refusal
from goodgain.labels.scale import OUTSIDE, Gains, Outside, Scale
from goodgain.labels.sides import judge_side, people_side, refuse_the_same
from goodgain.measures.grammar import parse_all
from goodgain.ranking.evaluator import several_runs
from goodgain.ranking.mismatch import pair_notes
from goodgain.results.notebook import warnings_html
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, html_table, render
from goodgain.results.views import Reportable
from goodgain.stats import agreement
from goodgain.stats.paired import enough_to_resample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.labels.sides import JudgeLabels
    from goodgain.ranking.evaluator import Measures

    Floats = NDArray[np.float64]

DEFAULT_MEASURES = "nDCG@10"
_OPTIONAL = (
    "scale",
    "clipped",
    "examples",
    "revised",
    "several_votes",
    "human_model",
)  # fields that saved files of version 0.1 may lack
_FIGURES = ["figure", "value", "low", "high", "n"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its interval, and the number of pairs, queries or systems it is based on."""

    name: str
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(SavedAsJson, Reportable):
    """The result of `calibrate`; `matrix[i][j]` counts pairs that humans grade i and the judge grades j.

    >>> import goodgain as gg
    >>> human = {"q1": {"a": 4, "b": 0, "c": 2}, "q2": {"d": 3, "e": 0}}
    >>> judge = {"q1": {"a": 4, "b": 1, "c": 2}, "q2": {"d": 1, "e": 0}}
    >>> calibration = gg.calibrate(human, judge, scale="0..4")
    >>> calibration["exact agreement"].value
    0.6
    >>> round(calibration["missed-good rate"].value, 4)
    0.3333
    >>> calibration.matrix[3]
    (0, 1, 0, 0, 0)
    """

    KIND: ClassVar[str] = "calibration"
    FORMAT: ClassVar[int] = 2
    grades: tuple[float, ...]
    matrix: tuple[tuple[int, ...], ...]
    figures: tuple[Figure, ...]
    canaries: tuple[tuple[str, int, int], ...]  # kind, labelled, judged good
    corrected: tuple[CorrectedMean, ...]
    differences: tuple[CorrectedMean, ...]  # of every other run from the first
    design: str  # how people's labels were chosen
    votes: str  # how several votes on one document became one label; empty if there were none
    generalise: bool
    threshold: float
    confidence: float
    pairs: int
    failed: int  # pairs with a human judgment for which the judge gave no gain
    not_labelled: int  # pairs with a human judgment but without a label
    scale: tuple[float, float] | None = None  # as declared
    clipped: tuple[int, int] = (0, 0)  # human judgments and labels that were outside the scale
    examples: int = 0  # pairs that the judge was shown as examples, and that are left out
    revised: int = 0  # votes that were changed when the judge's label was visible
    several_votes: int = 0  # documents on which more than one person voted
    human_model: str = ""  # whose labels stand for those of people, if they are a model's

    def __getitem__(self, name: str) -> Figure:
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise KeyError(f"unknown figure '{name}'; available figures: {', '.join(self.keys())}")

    def keys(self) -> list[str]:
        """The names of the figures, so that `dict(calibration)` is {name: figure}."""
        return [figure.name for figure in self.figures]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.figures)

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row for every figure."""
        rows = [[f.name, f.value, f.low, f.high, f.n] for f in self.figures]
        rows += [
            [f"canary {kind} found good", good / count, None, None, count]
            for kind, count, good in self.canaries
        ]
        rows += [
            [f"{c.measure} of {name(c)}, corrected", c.corrected, c.low, c.high, c.judged]
            for c in (*self.corrected, *self.differences)
        ]
        return _FIGURES, rows

    def render(self, format: str = "table") -> str:  # noqa: A002
        """As text; formats for machines have the figures only, without the confusion matrix."""
        if format in LONG_FORMATS:
            return render(format, *self.rows())
        return "\n".join(render(format, *table) for table in self._tables())

    def _tables(self) -> list[tuple[list[str], list[list[Any]]]]:
        """The confusion matrix, the figures, the canaries, and the corrected means."""
        names = [f"{g:g}" for g in self.grades]
        matrix = [[f"human {n}", *row] for n, row in zip(names, self.matrix, strict=True)]
        tables: list[tuple[list[str], list[list[Any]]]] = [
            (["", *(f"judge {n}" for n in names)], matrix),
            (_FIGURES, [list(asdict(f).values()) for f in self.figures]),
        ]
        if self.canaries:
            tables.append((["canary", "labelled", "judged good"], [[*c] for c in self.canaries]))
        several = (self.corrected, self.differences)
        return tables + [corrected_table(records) for records in several if records]

    def _repr_html_(self) -> str:
        tables = "".join(html_table(*table) for table in self._tables())
        return tables + warnings_html(self.warnings())

    def warnings(self) -> list[str]:
        """What a reader of the figures should know."""
        messages = []
        if self.failed:
            messages.append(
                f"ignored {self.failed:,} pairs with a human judgment that the judge failed to label"
            )
        if self.not_labelled:
            messages.append(
                f"ignored {self.not_labelled:,} pairs with a human judgment but without a label"
            )
        fooled = [
            f"{kind} ({good} of {count})"
            for kind, count, good in self.canaries
            if good and kind not in KNOWN_GOOD
        ]
        if fooled:
            messages.append(f"decoy documents fooled the judge: {', '.join(fooled)}")
        missed = [
            f"{kind} ({count - good} of {count})"
            for kind, count, good in self.canaries
            if good < count and kind in KNOWN_GOOD
        ]
        if missed:
            messages.append(f"the judge did not recognise known answers: {', '.join(missed)}")
        if self.human_model:
            messages.append(
                f"labels of the model '{self.human_model}' are used in place of people's: this is "
                "agreement with a model"
            )
        if self.several_votes:
            have = (
                "1 document has"
                if self.several_votes == 1
                else f"{self.several_votes:,} documents have"
            )
            messages.append(f"{have} several votes; the label is that of {self.votes}")
        if self.examples:
            messages.append(
                f"left out {self.examples:,} pairs that the judge was shown as examples"
            )
        if self.revised:
            what = "1 label was" if self.revised == 1 else f"{self.revised:,} labels were"
            messages.append(
                f"{what} changed by people who had seen the judge's label, so agreement may be too high"
            )
        if any(self.clipped) and self.scale is not None:
            counts = [
                f"{n:,} {whose} label{'s' * (n > 1)}"
                for n, whose in zip(self.clipped, ("human", "judge's"), strict=True)
                if n
            ]
            low, high = self.scale
            messages.append(f"clipped {' and '.join(counts)} to the scale {low:g} to {high:g}")
        uncorrected = any(c.corrected != c.corrected for c in self.corrected)
        if uncorrected and (why := refusal(self.design)):
            messages.append(why)
        messages += [
            f"{c.measure} of {name(c)}: {status}"
            for c in (*self.corrected, *self.differences)
            if (status := c.status)
        ]
        return messages

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        from goodgain import __version__

        data = _plain(asdict(self))
        return {"goodgain": self.KIND, "format": self.FORMAT, "version": __version__, **data}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        scale = data.get("scale")
        if data.get("format", cls.FORMAT) < 2:
            data = _from_first_format(data)
        from goodgain.results.shapes import CALIBRATION, DamagedError, require_shape

        require_shape(data, CALIBRATION)
        size = len(data["grades"])
        if [len(row) for row in data["matrix"]] != [size] * size:
            raise DamagedError("matrix")
        values = {f.name: data[f.name] for f in fields(cls) if f.name not in _OPTIONAL}
        return cls(
            **values
            | {
                "grades": tuple(data["grades"]),
                "scale": None if scale is None else tuple(scale),
                "clipped": tuple(data.get("clipped", (0, 0))),
                "examples": data.get("examples", 0),
                "revised": data.get("revised", 0),
                "several_votes": data.get("several_votes", 0),
                "human_model": data.get("human_model", ""),
                "matrix": tuple(tuple(row) for row in data["matrix"]),
                "figures": tuple(Figure(**_numbers(f)) for f in data["figures"]),
                "canaries": tuple(tuple(canary) for canary in data["canaries"]),
                **{
                    key: tuple(CorrectedMean(**_numbers(c)) for c in data[key])
                    for key in ("corrected", "differences")
                },
            }
        )

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        figures = ", ".join(f"{f.name} {f.value:.3f}" for f in self.figures[:4])
        return f"Calibration({self.pairs:,} pairs; {figures})"


def calibrate(
    human: Any,
    labels: Any,
    runs: Any = None,
    measures: Measures = DEFAULT_MEASURES,
    *,
    threshold: float = 2,
    scale: str | tuple[float, float] | Scale | None = None,
    outside: Outside = "error",
    design: Any = None,
    generalise: bool = False,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Calibration:
    """Compare a judge's labels with human judgments of the same pairs.

    `human` and `labels` are judgments in any form that `evaluate` takes, `Labels`, a `Store` or its
    path; the labels of people in a store are its votes, if it has any. With `runs`, in any form that
    `evaluate` takes, the result also says whether both rank the systems alike, and has means of measures
    and differences of systems, corrected by the human judgments. That needs their `design`: a sample of
    the store, or "queries" or "pairs" if you know that they are a random sample of these; without one
    nothing is corrected unless people judged everything. Intervals are for the mean over these queries,
    or with `generalise` over queries like these.
    A gain of at least `threshold` is good. `scale` declares the lowest and highest gain ("0..4"): a label
    outside it is an error, or with `outside="clip"` counts as the nearest end and is counted. Intervals of
    agreement come from resampling queries, since the labels of one query are not independent.

    >>> import goodgain as gg
    >>> human = {"q1": {"a": 4, "b": 0, "c": 2}, "q2": {"d": 3, "e": 0}}
    >>> judge = {"q1": {"a": 4, "b": 1, "c": 2}, "q2": {"d": 1, "e": 0}}
    >>> print(gg.calibrate(human, judge, scale="0..4"))
             judge 0  judge 1  judge 2  judge 3  judge 4
    human 0        1        1        0        0        0
    human 1        0        0        0        0        0
    human 2        0        0        1        0        0
    human 3        0        1        0        0        0
    human 4        0        0        0        0        1
    <BLANKLINE>
    figure                   value  low  high  n
    exact agreement         0.6000    -     -  5
    agreement within 1      0.8000    -     -  5
    Cohen's kappa           0.5238    -     -  5
    quadratic kappa         0.7748    -     -  5
    kappa at the threshold  0.6154    -     -  5
    Krippendorff's alpha    0.7892    -     -  5
    false-good rate         0.0000    -     -  2
    missed-good rate        0.3333    -     -  3
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must be between 0 and 1, got {confidence}")
    if outside not in OUTSIDE:
        raise UsageError(f"invalid outside='{outside}'", hint=f"one of: {', '.join(OUTSIDE)}")
    declared = Scale.of(scale)
    refuse_the_same(human, labels)
    people = people_side(human)
    truth = people.gains
    judged = judge_side(labels, threshold)
    truth, left_out = _without(truth, judged.examples)
    clipped = (0, 0)
    if declared is not None:
        declared.require_threshold(threshold)
        truth, first = declared.apply(truth, "human", outside)
        gains, second = declared.apply(judged.gains, "judge's", outside)
        clipped = (first, second)
        judged = judged._replace(gains=gains)
    both = {
        q: [(g, judged.gains[q][d]) for d, g in docs.items() if d in judged.gains.get(q, {})]
        for q, docs in truth.items()
    }
    both = {q: pairs for q, pairs in both.items() if pairs}
    if not both:
        alike = pair_notes(truth, judged.gains, ("the labels have", "the human judgments have"))
        raise InputError(
            "no pair has both a human judgment and a label",
            hint="; ".join(alike) or "check that both use the same query and document ids",
        )
    grades, counts = _counts(list(both.values()), declared.grades() if declared else [])
    sampler = _Sampler(len(counts), resamples, seed, confidence)
    figures = _agreement(grades, counts, threshold, sampler)
    corrected: list[CorrectedMean] = []
    differences: list[CorrectedMean] = []
    chosen = ""
    if runs is not None and not (isinstance(runs, list | tuple | Mapping) and not runs):
        stores = {id(s): s for s in (people.store, judged.store) if s is not None}
        documents = judged.documents()
        known_design = find_design(design, documents, judged.gains, stores.values())
        chosen = known_design.sentence()
        corrector = Corrector(
            Evidence(
                human=truth,
                judge=judged.gains,
                runs=tuple(several_runs(runs)),
                design=known_design,
                scale=_scale_of(declared, judged, truth),
                confidence=confidence,
                generalise=generalise,
            )
        )
        for measure in parse_all(measures):
            own, others = corrector.of(measure)
            corrected += own
            differences += others
            if len(own) > 1:
                figures.append(_order(measure.label, corrector.by_both(measure), sampler))
    pairs = sum(map(len, both.values()))
    failed = sum((q, d) in judged.failed for q, docs in truth.items() for d in docs)
    return Calibration(
        grades=tuple(grades.tolist()),
        matrix=tuple(tuple(int(n) for n in row) for row in counts.sum(0)),
        figures=tuple(figures),
        canaries=judged.canaries,
        corrected=tuple(corrected),
        differences=tuple(differences),
        design=chosen,
        votes=people.votes,
        generalise=generalise,
        threshold=threshold,
        confidence=confidence,
        pairs=pairs,
        failed=failed,
        not_labelled=sum(map(len, truth.values())) - pairs - failed,
        scale=None if declared is None else (declared.low, declared.high),
        clipped=clipped,
        examples=left_out,
        revised=people.revised,
        several_votes=people.several,
        human_model=people.model,
    )


def _without(gains: Gains, pairs: frozenset[tuple[str, str]]) -> tuple[Gains, int]:
    """The gains without some pairs, and how many these were."""
    left = {q: {d: g for d, g in docs.items() if (q, d) not in pairs} for q, docs in gains.items()}
    count = sum(map(len, gains.values())) - sum(map(len, left.values()))
    return {q: docs for q, docs in left.items() if docs}, count


def _scale_of(declared: Scale | None, judged: JudgeLabels, truth: Gains) -> tuple[float, float]:
    """The lowest and highest gain: as declared, as the judge was told, or as they occur."""
    if declared is not None:
        return declared.low, declared.high
    ends = [0.0, *judged.scale]
    ends += [g for table in (truth, judged.gains) for docs in table.values() for g in docs.values()]
    return min(ends), max(ends)


def _counts(queries: list[list[tuple[float, float]]], scale: list[float]) -> tuple[Floats, Floats]:
    """The grades of the scale and those that occur, and a confusion matrix per query."""
    import numpy as np

    occurring = [grade for pairs in queries for pair in pairs for grade in pair]
    grades = np.unique(np.array([*occurring, *scale], float))
    counts = np.zeros((len(queries), len(grades), len(grades)))
    for i, pairs in enumerate(queries):
        places = np.searchsorted(grades, np.array(pairs, float))
        np.add.at(counts[i], (places[:, 0], places[:, 1]), 1)
    return grades, counts


class _Sampler:
    """Resamples of the queries, the same for all figures."""

    def __init__(self, queries: int, resamples: int, seed: int, confidence: float) -> None:
        import numpy as np

        self.queries = queries
        self.resamples = resamples
        self.seed = seed
        self.confidence = confidence
        self.tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        generator = np.random.default_rng(seed)
        weights = generator.multinomial(queries, np.full(queries, 1 / queries), size=resamples)
        enough = enough_to_resample(queries, confidence)
        self.weights = weights.astype(float) if enough else None

    def interval(
        self, statistic: Callable[[Floats], Floats], per_query: Floats
    ) -> tuple[float, float]:
        """The percentile interval of a statistic of the sum over queries; undefined for too few queries."""
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
        ("kappa at the threshold", n, lambda c: agreement.kappa_at(c, grades, threshold)),
        ("Krippendorff's alpha", n, agreement.alpha),
        ("false-good rate", bad, lambda c: agreement.false_good(c, grades, threshold)),
        ("missed-good rate", n - bad, lambda c: agreement.missed_good(c, grades, threshold)),
    ]
    return [
        Figure(name, float(statistic(total)), *sampler.interval(statistic, counts), count)
        for name, count, statistic in statistics
    ]


def _order(label: str, values: Floats, sampler: _Sampler) -> Figure:
    """Kendall's tau of the systems' means; `values` is indexed by system, judgments, and query."""
    import numpy as np

    per_query = np.moveaxis(values, -1, 0)
    per_query = per_query[~np.isnan(per_query).any((1, 2))]  # defined for all systems by both
    name = f"Kendall's tau of systems by {label}"

    def tau(sums: Floats) -> Floats:
        return agreement.kendall_tau(sums[..., 0], sums[..., 1])

    if not len(per_query):
        return Figure(name, float("nan"), float("nan"), float("nan"), len(values))
    if sampler.queries != len(per_query):
        sampler = _Sampler(len(per_query), sampler.resamples, sampler.seed, sampler.confidence)
    value = float(tau(per_query.sum(0)))
    return Figure(name, value, *sampler.interval(tau, per_query), len(values))


def name(corrected: CorrectedMean) -> str:
    """The run, or the two runs of a difference."""
    against = f" against {corrected.baseline}" if corrected.baseline else ""
    return f"{corrected.run}{against}"


def corrected_table(records: tuple[CorrectedMean, ...]) -> tuple[list[str], list[list[Any]]]:
    """Corrected means or differences as a table; what has no interval says so."""
    noun = "difference" if records[0].baseline else "run"
    header = [noun, "measure", "judge", "human", "corrected", "low", "high", "judged", "remark"]
    return header, [
        [name(c), c.measure, c.labels, c.human, c.corrected, c.low, c.high,
         f"{c.judged:,} {c.units}", c.status]
        for c in records
    ]  # fmt: skip


def _from_first_format(data: dict[str, Any]) -> dict[str, Any]:
    """A calibration saved by version 0.1, whose corrected means assumed a random sample of queries."""
    corrected = [
        {
            **{k: v for k, v in c.items() if k not in ("human_queries", "other_queries")},
            "method": "0.1",
            "judged": c["human_queries"],
            "queries": c["human_queries"] + c["other_queries"],
            "note": "by version 0.1, which assumed that the judged queries are a random sample, "
            "judged completely",
        }
        for c in data["corrected"]
    ]
    rest = {"differences": [], "design": "", "votes": "", "generalise": False}
    return {**data, **rest, "corrected": corrected}


def _numbers(saved: dict[str, Any]) -> dict[str, Any]:
    """A saved record, in which undefined values are null."""
    return {name: float("nan") if value is None else value for name, value in saved.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and value != value else value
