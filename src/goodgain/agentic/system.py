"""Good Gain of one system: a row of values per iteration of each conversation."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.agentic.evidence import EvidenceTable
from goodgain.agentic.runs import COUNTED, Figure, Runs, mean_bounds, natural, row_ranges
from goodgain.errors import MeasureError
from goodgain.measures.grammar import parse_agentic
from goodgain.results.frozen import Frozen
from goodgain.stats.calibration_error import Bin, calibration_bins, calibration_error
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.agentic.answers import AnswerCheck
    from goodgain.agentic.settings import Align
    from goodgain.measures.definition import Measure

    Matrix = NDArray[np.float64]
    Numbers = NDArray[np.int64]


class SystemGain(Frozen):
    """All values of one system, a row per iteration of each conversation.

    A conversation without a search has one row, with iteration 0. Several runs of one conversation
    are repeats: their mean is the conversation's value. It is a mapping from measures to means at the
    end of conversations: `system["CG"]`.
    """

    name: str
    runs: Runs
    first_row: Numbers
    columns: tuple[str, ...]
    values: Matrix
    evidence: EvidenceTable
    _lower: Matrix | None
    _upper: Matrix | None

    def __init__(
        self,
        *,
        name: str,
        runs: Runs,
        columns: Sequence[str],
        values: Matrix,
        evidence: EvidenceTable,
        lower: Matrix | None = None,
        upper: Matrix | None = None,
    ) -> None:
        import numpy as np

        first_row = np.concatenate([[0], np.cumsum(np.maximum(runs.lengths, 1))])
        vars(self).update(
            name=name,
            runs=runs,
            columns=tuple(columns),
            first_row=first_row,
            values=values,
            evidence=evidence,
            _lower=lower,
            _upper=upper,
        )

    @classmethod
    def join(
        cls,
        name: str,
        pieces: Sequence[tuple[Any, list[int]]],
        *,
        hops: Mapping[str, Mapping[str, str]] | None = None,
        answers: AnswerCheck | None = None,
    ) -> SystemGain:
        """One system from what the core computed for several files; a single whole file is not copied."""
        import numpy as np

        from goodgain._core import gain_columns

        bounded = any(scores.bounded for scores, _ in pieces)
        facts: list[tuple[str, str, tuple[int, ...]]] = []
        matrices: dict[str, list[Matrix]] = {which: [] for which in ("value", "lower", "upper")}
        for scores, members in pieces:
            counts = scores.counts
            listed = list(zip(scores.conversations, scores.repeats, counts, strict=True))
            whole = len(members) == len(listed)
            facts += listed if whole else [listed[i] for i in members]
            sizes = np.maximum([c[0] for c in counts], 1)
            begins = np.cumsum(sizes) - sizes
            rows = None if whole else row_ranges(begins[members], sizes[members])
            for which in matrices if bounded else ("value",):
                matrix = scores.matrix(which)
                matrices[which].append(matrix if rows is None else matrix[rows])
        joined = {
            which: listed[0] if len(listed) == 1 else np.concatenate(listed)
            for which, listed in matrices.items()
            if listed
        }
        counted = np.array([c for _, _, c in facts], dtype=np.int64).reshape(-1, len(COUNTED) + 1)
        runs = Runs.of(
            name, [f[0] for f in facts], [f[1] for f in facts], counted[:, 0], counted[:, 1:]
        )
        system = cls(
            name=name,
            runs=runs,
            columns=gain_columns(),
            values=joined["value"],
            evidence=EvidenceTable.of(pieces, hops),
            lower=joined.get("lower"),
            upper=joined.get("upper"),
        )
        if answers is None:
            return system
        texts = [listed[i][1] for one, m in pieces for listed in [one.answers] for i in m]
        return system.with_answers(texts, answers)

    def with_answers(self, answers: Sequence[str | None], check: AnswerCheck) -> SystemGain:
        """The same system with the answer of each run checked, and the confidence that it states."""
        from goodgain.agentic.answers import confidence_in

        last = self._last_rows
        values, lower, upper = self.values.copy(), self.lower.copy(), self.upper.copy()
        answer, confidence = (self.columns.index(name) for name in ("Answer", "Confidence"))
        unknown = False
        for row, conversation, text in zip(last, self.runs.conversations, answers, strict=True):
            value, is_known = check.check(conversation, text)
            values[row, answer] = lower[row, answer] = upper[row, answer] = value
            if is_known and value != value:  # it may be right or wrong
                lower[row, answer], upper[row, answer] = 0, 1
                unknown = True
            if text and values[row, confidence] != values[row, confidence]:
                stated = confidence_in(text)
                for matrix in (values, lower, upper):
                    matrix[row, confidence] = stated
        bounded = self.bounded or unknown
        return SystemGain(
            name=self.name,
            runs=self.runs,
            columns=self.columns,
            values=values,
            evidence=self.evidence,
            lower=lower if bounded else None,
            upper=upper if bounded else None,
        )

    def renamed(self, name: str) -> SystemGain:
        """The same values under another name."""
        return SystemGain(
            name=name,
            runs=self.runs,
            columns=self.columns,
            values=self.values,
            evidence=self.evidence,
            lower=self._lower,
            upper=self._upper,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, a list per column; undefined values are None, unbounded ones "inf"."""

        def columns(matrix: Matrix) -> dict[str, list[float | str | None]]:
            return {
                name: [
                    None if v != v else "inf" if v == math.inf else v for v in matrix[:, i].tolist()
                ]
                for i, name in enumerate(self.columns)
            }

        runs = self.runs
        saved = {
            "name": self.name,
            "conversations": list(runs.conversations),
            "repeats": list(runs.repeats),
            "iterations": runs.lengths.tolist(),
            "counted": {c: runs.counted[:, i].tolist() for i, c in enumerate(COUNTED)},
            "values": columns(self.values),
            "funnel": self.evidence.to_dict(),
        }
        bounds = (
            {"lower": columns(self.lower), "upper": columns(self.upper)} if self.bounded else {}
        )
        return saved | bounds

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SystemGain:
        """The reverse of `to_dict`; reads what earlier versions saved, too."""
        import numpy as np

        from goodgain._core import gain_columns

        names = gain_columns()
        lengths = np.array(data["iterations"], dtype=np.int64)
        earlier = "counted" not in data

        def matrix(columns: dict[str, list[float | str | None]]) -> Matrix:
            size = len(next(iter(columns.values()), []))
            listed = [columns.get(name, [None] * size) for name in names]
            values = np.array(
                [[math.nan if v is None else float(v) for v in column] for column in listed]
            )
            values = values.T.reshape(-1, len(names))
            if earlier:  # conversations without a search had no row
                empty = (np.cumsum(lengths) - lengths)[lengths == 0]
                values = np.insert(values, empty, math.nan, axis=0)
            return values

        values = matrix(data["values"])
        if earlier:
            last = values[np.cumsum(np.maximum(lengths, 1)) - 1]
            of = {
                name: np.nan_to_num(last[:, names.index(name)])
                for name in ("R@i", "UR@i", "Coverage")
            }
            labelled = np.rint(of["Coverage"] * of["UR@i"])
            counted = np.stack([of["R@i"], of["UR@i"], labelled, 0 * labelled], axis=1)
        else:
            counted = np.array([data["counted"][c] for c in COUNTED]).T.reshape(-1, len(COUNTED))
        conversations = data["conversations"]
        runs = Runs.of(
            data["name"],
            conversations,
            data.get("repeats", [""] * len(conversations)),
            lengths,
            counted.astype(np.int64),
        )
        return cls(
            name=data["name"],
            runs=runs,
            columns=names,
            values=values,
            evidence=EvidenceTable.from_dict(data["funnel"])
            if "funnel" in data
            else EvidenceTable.unknown(len(conversations)),
            lower=matrix(data["lower"]) if "lower" in data else None,
            upper=matrix(data["upper"]) if "upper" in data else None,
        )

    @property
    def lower(self) -> Matrix:
        """The values if nothing unlabelled or unread were good."""
        return self.values if self._lower is None else self._lower

    @property
    def upper(self) -> Matrix:
        """The values if all that is unlabelled or unread had the highest gain."""
        return self.values if self._upper is None else self._upper

    @property
    def bounded(self) -> bool:
        """Whether any result lacks a label, or any search is unread."""
        return self._lower is not None

    @property
    def lengths(self) -> Numbers:
        """The number of iterations of each run."""
        return self.runs.lengths

    @cached_property
    def conversations(self) -> tuple[str, ...]:
        """The conversations, in the order of the input."""
        return tuple(dict.fromkeys(self.runs.conversations))

    @cached_property
    def owners(self) -> Numbers:
        """The number of each run's conversation."""
        import numpy as np

        numbers = {name: i for i, name in enumerate(self.conversations)}
        return np.array([numbers[name] for name in self.runs.conversations], dtype=np.int64)

    @cached_property
    def runs_per_conversation(self) -> Numbers:
        """For each run, the number of runs of its conversation."""
        import numpy as np

        return np.bincount(self.owners)[self.owners] if len(self.owners) else self.owners

    @property
    def is_repeated(self) -> bool:
        """Whether a conversation has several runs."""
        return len(self.conversations) < len(self.runs.conversations)

    @cached_property
    def _searching(self) -> frozenset[str]:
        """The conversations with a search; of the others, what is undefined is left out."""
        return frozenset(c for c, n in zip(self.runs.conversations, self.lengths, strict=True) if n)

    @cached_property
    def _last_rows(self) -> Numbers:
        return self.first_row[1:] - 1

    @property
    def iterations(self) -> int:
        """The length of the longest conversation."""
        return int(self.lengths.max()) if len(self.lengths) else 0

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order of the columns."""
        return tuple(parse_agentic(column) for column in self.columns)

    def measure(self, name: str | Measure) -> Measure:
        """The measure of this name, such as `SRR` or `SRR@i`."""
        if name in self.columns:
            return self.measures[self.columns.index(str(name))]
        try:
            measure = parse_agentic(str(name))
        except MeasureError:
            measure = None
        if measure is None or measure.label not in self.columns:
            raise KeyError(f"unknown measure '{name}'; known: {', '.join(self.columns)}")
        return measure

    def column(self, measure: str | Measure) -> int:
        """The number of a measure's column."""
        return self.columns.index(self.measure(measure).label)

    def keys(self) -> tuple[str, ...]:
        """The labels of the measures."""
        return self.columns

    def __getitem__(self, measure: str | Measure) -> float:
        return self.figure(measure).value

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def rows_of(self, conversation: str, repeat: str) -> slice:
        """The rows of one run."""
        runs = zip(self.runs.conversations, self.runs.repeats, strict=True)
        number = next(i for i, run in enumerate(runs) if run == (conversation, repeat))
        return slice(int(self.first_row[number]), int(self.first_row[number + 1]))

    def final(self, measure: str | Measure) -> dict[str, float]:
        """{conversation: the value after its last iteration}, over repeats their mean."""
        values = self.values[self._last_rows, self.column(measure)]
        return self._by_conversation(self._over_repeats(values, None))

    def final_bounds(self, measure: str | Measure) -> dict[str, tuple[float, float]]:
        """{conversation: (lower, upper)} after its last iteration, over what is not known of it."""
        column = self.column(measure)
        values, lower, upper = (
            matrix[self._last_rows, column] for matrix in (self.values, self.lower, self.upper)
        )
        bounds = self._bounds_over_repeats(values, lower, upper, None)
        low, high = map(self._by_conversation, bounds)
        return {unit: (low[unit], high[unit]) for unit in low if unit in high}

    def final_of_repeats(self, measure: str | Measure) -> list[dict[str, float]]:
        """`final` of each repeat; conversations with fewer runs are missing from the later ones."""
        values = self.values[self._last_rows, self.column(measure)].tolist()
        return self._by_repeat(values)

    def bounds_of_repeats(self, measure: str | Measure) -> list[dict[str, tuple[float, float]]]:
        """`final_bounds` of each repeat, in the order of `final_of_repeats`."""
        column = self.column(measure)
        low, high = (m[self._last_rows, column].tolist() for m in (self.lower, self.upper))
        return self._by_repeat(list(zip(low, high, strict=True)))

    @cached_property
    def repeats(self) -> int:
        """The highest number of runs of a conversation."""
        return int(self.runs_per_conversation.max()) if len(self.lengths) else 0

    def _by_repeat(self, values: list[Any]) -> list[dict[str, Any]]:
        """Values by repeat: by name where all conversations use the same names, or else by order."""
        places: dict[str, int] = {}
        runs = list(zip(self.runs.conversations, self.runs.repeats, strict=True))
        slots = sorted(set(self.runs.repeats), key=natural)
        by_name = len(slots) == self.repeats
        listed: list[dict[str, Any]] = [{} for _ in range(self.repeats)]
        for (conversation, repeat), value in zip(runs, values, strict=True):
            place = slots.index(repeat) if by_name else places.get(conversation, 0)
            places[conversation] = place + 1
            if value == value or conversation in self._searching:
                listed[place][conversation] = value
        return listed

    def _by_conversation(self, values: Matrix) -> dict[str, float]:
        """Values by conversation; undefined ones only of conversations that searched."""
        return {
            conversation: value
            for conversation, value in zip(self.conversations, values.tolist(), strict=True)
            if value == value or conversation in self._searching
        }

    def _over_repeats(self, values: Matrix, runs: Numbers | None) -> Matrix:
        """The mean over the runs of each conversation in which it is defined."""
        import numpy as np

        if not self.is_repeated:
            return values
        means = []
        for places in self._runs_by_conversation(runs):
            defined = [v for v in values[places].tolist() if v == v]
            means.append(math.fsum(defined) / len(defined) if defined else math.nan)
        return np.array(means, dtype=np.float64)

    def _bounds_over_repeats(
        self, values: Matrix, lower: Matrix, upper: Matrix, runs: Numbers | None
    ) -> tuple[Matrix, Matrix]:
        """The bounds of these means: a run whose value is undefined could join its mean or not."""
        import numpy as np

        if not self.is_repeated:
            return lower, upper
        groups = self._runs_by_conversation(runs)
        pairs = [mean_bounds(values[g], lower[g], upper[g]) for g in groups]
        low, high = np.array(pairs, dtype=np.float64).reshape(len(groups), 2).T
        return low, high

    def _runs_by_conversation(self, runs: Numbers | None) -> list[list[int]]:
        """The places of each conversation's runs among these, in order of appearance."""
        owners = self.owners if runs is None else self.owners[runs]
        places: dict[int, list[int]] = {}
        for place, owner in enumerate(owners.tolist()):
            places.setdefault(owner, []).append(place)
        return list(places.values())

    def figure(
        self, measure: str | Measure, iteration: int | None = None, align: Align = "active"
    ) -> Figure:
        """The mean at an iteration, or after the last (None)."""
        import numpy as np

        column = self.column(measure)
        definition = self.measures[column].definition
        if definition.level == "system":
            return self._calibration()
        runs, ended = None, None
        if iteration is None:
            rows = self._last_rows
        else:
            rows, runs, ended = self._rows_at(iteration, align)
        # After its end a conversation adds nothing, and what it has stays.
        stays = definition.cumulative or definition.level != "iteration"
        columns = []
        for matrix in (self.values, self.lower, self.upper) if self.bounded else (self.values,):
            values = matrix[rows, column]
            columns.append(values if ended is None or stays else np.where(ended, 0, values))
        means = self._over_repeats(columns[0], runs)
        mean, low, high, n = mean_interval(means)
        bounds = (mean, mean)
        if self.bounded:
            values, lower, upper = columns
            bounds = mean_bounds(means, *self._bounds_over_repeats(values, lower, upper, runs))
        return Figure(value=mean, n=n, low=low, high=high, lower=bounds[0], upper=bounds[1])

    @cached_property
    def calibration_bins(self) -> list[Bin]:
        """Stated confidence and accuracy, over runs with both; equal confidences by the name of the run."""
        answer, confidence = (self.final_of_runs(name) for name in ("Answer", "Confidence"))
        names = zip(self.runs.conversations, self.runs.repeats, strict=True)
        pairs = [
            ((natural(c), natural(r)), (stated, value))
            for (c, r), value, stated in zip(names, answer, confidence, strict=True)
            if value == value and stated == stated
        ]
        return calibration_bins([pair for _, pair in sorted(pairs, key=lambda item: item[0])])

    def _calibration(self) -> Figure:
        """CalibrationError, which has no value of a single conversation."""
        bins = self.calibration_bins
        value = calibration_error(bins)
        answer, stated = self.final_of_runs("Answer"), self.final_of_runs("Confidence")
        _, most = self.final_bounds_of_runs("Answer")
        unknown = bool(((answer != answer) & (most == most) & (stated == stated)).any())
        lower, upper = (0.0, 1.0) if unknown else (value, value)
        n = sum(b.n for b in bins)
        return Figure(value=value, n=n, low=math.nan, high=math.nan, lower=lower, upper=upper)

    def final_of_runs(self, measure: str | Measure) -> Matrix:
        """The value of every run after its last iteration."""
        values: Matrix = self.values[self._last_rows, self.column(measure)]
        return values

    def final_bounds_of_runs(self, measure: str | Measure) -> tuple[Matrix, Matrix]:
        """Its bounds."""
        column = self.column(measure)
        return self.lower[self._last_rows, column], self.upper[self._last_rows, column]

    def _rows_at(self, iteration: int, align: Align) -> tuple[Numbers, Numbers, Any]:
        """The rows at an iteration, their runs, and which of these have ended before."""
        import numpy as np

        begins, lengths = self.first_row[:-1], self.lengths
        if align == "active":
            runs = np.flatnonzero(lengths >= iteration)
            return begins[runs] + iteration - 1, runs, None
        rows = begins + np.maximum(np.minimum(lengths, iteration), 1) - 1
        return rows, np.arange(len(lengths)), (lengths > 0) & (lengths < iteration)

    @property
    def is_unlabelled(self) -> bool:
        """Whether no result has a label, or none was read: gains are unknown then, not 0."""
        counts = self.counts()
        return not counts["coverage"] > 0 and bool(counts["results"] or counts["unread"])

    def is_unknown(self, measure: str | Measure) -> bool:
        """Whether the measure needs labels that the system has not."""
        return self.is_unlabelled and self.measure(measure).definition.needs_labels

    def counts(self) -> dict[str, float]:
        """Numbers of conversations, iterations, searches, results and duplicates, and label coverage."""
        last = self.values[self._last_rows]

        def total(column: str) -> int:
            values = last[:, self.columns.index(column)]
            return int(values[values == values].sum())

        counted = dict(zip(COUNTED, self.runs.counted.sum(axis=0).tolist(), strict=True))
        return {
            "conversations": len(self.conversations),
            "runs": len(self.runs.conversations),
            "without_search": int((self.lengths == 0).sum()),
            "iterations": int(self.lengths.sum()),
            "searches": total("Searches"),
            "failed": total("FailedSearches"),
            "empty": total("EmptySearches"),
            "unread": counted["unread"],
            "results": counted["results"],
            "duplicates": counted["results"] - counted["unique"],
            "coverage": counted["labelled"] / counted["unique"] if counted["unique"] else math.nan,
        }

    def __repr__(self) -> str:
        c = self.counts()
        return (
            f"SystemGain('{self.name}', {c['conversations']:,} conversations, {c['iterations']:,} "
            f"iterations, {c['results']:,} results)"
        )
