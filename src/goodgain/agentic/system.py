"""Good Gain of one system: a row of values per iteration of each conversation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MeasureError
from goodgain.measures.grammar import parse_agentic
from goodgain.results.frozen import Frozen
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.agentic.settings import Align
    from goodgain.measures.definition import Measure

    Matrix = NDArray[np.float64]
    Numbers = NDArray[np.int64]

COUNTED = ("results", "unique", "labelled", "unread")  # per run: what was read of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean over conversations, with its interval, their number, and its bounds.

    Missing labels and unread searches leave bounds; an upper bound may be infinite.
    """

    value: float
    n: int
    low: float  # of the 95 % confidence interval
    high: float
    lower: float  # if nothing unlabelled or unread were good
    upper: float  # if all of it were as good as can be

    @property
    def exact(self) -> bool:
        """Whether missing labels and unread searches cannot change it."""
        return self.lower == self.upper or self.lower != self.lower

    @property
    def is_open(self) -> bool:
        """Whether bounds leave it open by more than rounding."""
        return not self.exact and not math.isclose(self.lower, self.upper, abs_tol=1e-12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The runs of a system: one per conversation, or several where it is repeated."""

    conversations: tuple[str, ...]
    repeats: tuple[str, ...]
    lengths: Numbers  # iterations of each
    counted: Numbers  # a row per run, columns COUNTED

    @classmethod
    def of(
        cls,
        system: str,
        conversations: Sequence[str],
        repeats: Sequence[str],
        lengths: Numbers,
        counted: Numbers,
    ) -> Runs:
        """Runs without a name of their own are numbered in order."""
        names = number_repeats(system, conversations, repeats)
        return cls(
            conversations=tuple(conversations), repeats=names, lengths=lengths, counted=counted
        )


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
    _lower: Matrix | None
    _upper: Matrix | None

    def __init__(
        self,
        *,
        name: str,
        runs: Runs,
        columns: Sequence[str],
        values: Matrix,
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
            _lower=lower,
            _upper=upper,
        )

    @classmethod
    def join(cls, name: str, pieces: Sequence[tuple[Any, list[int]]]) -> SystemGain:
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
            rows = None if whole else _ranges(begins[members], sizes[members])
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
        return cls(
            name=name,
            runs=runs,
            columns=gain_columns(),
            values=joined["value"],
            lower=joined.get("lower"),
            upper=joined.get("upper"),
        )

    def renamed(self, name: str) -> SystemGain:
        """The same values under another name."""
        return SystemGain(
            name=name,
            runs=self.runs,
            columns=self.columns,
            values=self.values,
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
        return self._final(self.values, measure)

    def final_bounds(self, measure: str | Measure) -> dict[str, tuple[float, float]]:
        """{conversation: (lower, upper)} after its last iteration, over what is not known of it."""
        low, high = (self._final(matrix, measure) for matrix in (self.lower, self.upper))
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
        slots = sorted(set(self.runs.repeats), key=_natural)
        by_name = len(slots) == self.repeats
        listed: list[dict[str, Any]] = [{} for _ in range(self.repeats)]
        for (conversation, repeat), value in zip(runs, values, strict=True):
            place = slots.index(repeat) if by_name else places.get(conversation, 0)
            places[conversation] = place + 1
            if value == value or conversation in self._searching:
                listed[place][conversation] = value
        return listed

    def _final(self, matrix: Matrix, measure: str | Measure) -> dict[str, float]:
        values = matrix[self._last_rows, self.column(measure)]
        means = self._over_repeats(values, None).tolist()
        return {
            conversation: value
            for conversation, value in zip(self.conversations, means, strict=True)
            if value == value or conversation in self._searching
        }

    def _over_repeats(self, values: Matrix, runs: Numbers | None) -> Matrix:
        """The mean over the runs of each conversation in which it is defined."""
        import numpy as np

        if not self.is_repeated:
            return values
        owners = self.owners if runs is None else self.owners[runs]
        groups: dict[int, list[float]] = {}
        for owner, value in zip(owners.tolist(), values.tolist(), strict=True):
            group = groups.setdefault(owner, [])
            if value == value:
                group.append(value)
        means = [math.fsum(g) / len(g) if g else math.nan for g in groups.values()]
        return np.array(means, dtype=np.float64)

    def figure(
        self, measure: str | Measure, iteration: int | None = None, align: Align = "active"
    ) -> Figure:
        """The mean at an iteration, or after the last (None)."""
        import numpy as np

        column = self.column(measure)
        definition = self.measures[column].definition
        runs, ended = None, None
        if iteration is None:
            rows = self._last_rows
        else:
            rows, runs, ended = self._rows_at(iteration, align)
        # After its end a conversation adds nothing, and what it has stays.
        stays = definition.cumulative or definition.level == "conversation"
        columns = []
        for matrix in (self.values, self.lower, self.upper) if self.bounded else (self.values,):
            values = matrix[rows, column]
            if ended is not None and not stays:
                values = np.where(ended, 0, values)
            columns.append(self._over_repeats(values, runs))
        mean, low, high, n = mean_interval(columns[0])
        bounds = _mean_bounds(*columns) if self.bounded else (mean, mean)
        return Figure(value=mean, n=n, low=low, high=high, lower=bounds[0], upper=bounds[1])

    def _rows_at(self, iteration: int, align: Align) -> tuple[Numbers, Numbers, Any]:
        """The rows at an iteration, their runs, and which of these have ended before."""
        import numpy as np

        begins, lengths = self.first_row[:-1], self.lengths
        if align == "active":
            runs = np.flatnonzero(lengths >= iteration)
            return begins[runs] + iteration - 1, runs, None
        rows = begins + np.maximum(np.minimum(lengths, iteration), 1) - 1
        return rows, np.arange(len(lengths)), (lengths > 0) & (lengths < iteration)

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


def number_repeats(
    system: str, conversations: Sequence[str], repeats: Sequence[str]
) -> tuple[str, ...]:
    """The repeats, those without a name numbered; a name that is used twice is an error."""
    taken: dict[str, set[str]] = {}
    for conversation, repeat in zip(conversations, repeats, strict=True):
        if not repeat:
            continue
        if repeat in taken.setdefault(conversation, set()):
            raise InputError(
                f"duplicate conversation '{conversation}', repeat '{repeat}' of system '{system}'",
                hint="give each run of a conversation its own 'repeat', or use --by file",
            )
        taken[conversation].add(repeat)
    numbers: dict[str, int] = {}
    names = []
    for conversation, repeat in zip(conversations, repeats, strict=True):
        if not repeat:
            number = numbers.get(conversation, 0) + 1
            while str(number) in taken.get(conversation, ()):
                number += 1
            numbers[conversation] = number
        names.append(repeat or str(number))
    return tuple(names)


def _natural(name: str) -> tuple[int, int, str]:
    return (0, int(name), name) if name.isdecimal() else (1, 0, name)


def _mean_bounds(values: Matrix, lower: Matrix, upper: Matrix) -> tuple[float, float]:
    """The bounds of a mean.

    A conversation whose value is undefined may still have bounds: it could join the mean or not.
    """
    return _lowest_mean(lower, values), -_lowest_mean(-upper, values)


def _lowest_mean(bounds: Matrix, values: Matrix) -> float:
    """The lowest mean of the bounds of all defined values, and of any others."""
    import numpy as np

    defined, known = values == values, bounds == bounds
    members = bounds[defined & known].tolist()
    optional = np.sort(bounds[~defined & known]).tolist()
    if not members:
        return float(optional[0]) if optional else math.nan
    total = math.fsum(members)
    for bound in optional:
        if bound >= total / len(members):
            break
        members.append(bound)
        total += bound
    return math.fsum(members) / len(members)


def _ranges(begins: Numbers, sizes: Numbers) -> Numbers:
    """The row numbers of several ranges."""
    import numpy as np

    if not len(sizes):
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum(sizes)
    return np.arange(ends[-1]) - np.repeat(ends - sizes, sizes) + np.repeat(begins, sizes)
