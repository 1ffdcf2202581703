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


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean over conversations, with its interval, their number, and its bounds over missing labels."""

    value: float
    n: int
    low: float  # of the 95 % confidence interval
    high: float
    lower: float  # if no unlabelled result were good
    upper: float  # if all of them were as good as can be

    @property
    def exact(self) -> bool:
        """Whether missing labels cannot change it."""
        return self.lower == self.upper or self.lower != self.lower


class SystemGain(Frozen):
    """All values of one system, a row per iteration of each conversation.

    It is a mapping from measures to means at the end of conversations: `system["CG"]`.
    """

    name: str
    conversations: tuple[str, ...]
    first_row: NDArray[np.int64]
    columns: tuple[str, ...]
    values: Matrix
    _lower: Matrix | None
    _upper: Matrix | None

    def __init__(
        self,
        *,
        name: str,
        conversations: Sequence[str],
        first_row: NDArray[np.int64],
        columns: Sequence[str],
        values: Matrix,
        lower: Matrix | None = None,
        upper: Matrix | None = None,
    ) -> None:
        vars(self).update(
            name=name,
            conversations=tuple(conversations),
            columns=tuple(columns),
            first_row=first_row,
            values=values,
            _lower=lower,
            _upper=upper,
        )
        if len(set(self.conversations)) < len(self.conversations):
            seen: set[str] = set()
            repeated = next(c for c in self.conversations if c in seen or seen.add(c))  # type: ignore[func-returns-value]
            raise InputError(
                f"duplicate conversation '{repeated}' of system '{name}'",
                hint="give runs of one system different names: {'run 1': ..., 'run 2': ...}, or --by file",
            )

    @classmethod
    def join(cls, name: str, pieces: Sequence[tuple[Any, list[int], list[str]]]) -> SystemGain:
        """One system from what the core computed for several files; a single whole file is not copied."""
        import numpy as np

        from goodgain._core import gain_columns

        conversations = [c for _, _, names in pieces for c in names]
        bounded = any(scores.bounded for scores, _, _ in pieces)
        counts: list[NDArray[np.int64]] = []
        matrices: dict[str, list[Matrix]] = {which: [] for which in ("value", "lower", "upper")}
        for scores, members, _ in pieces:
            first = np.asarray(scores.first_row, dtype=np.int64)
            sizes = np.diff(first)
            whole = len(members) == len(sizes)
            counts.append(sizes if whole else sizes[members])
            rows = None if whole else _ranges(first[:-1][members], counts[-1])
            for which in matrices if bounded else ("value",):
                matrix = scores.matrix(which)
                matrices[which].append(matrix if rows is None else matrix[rows])
        joined = {
            which: listed[0] if len(listed) == 1 else np.concatenate(listed)
            for which, listed in matrices.items()
            if listed
        }
        return cls(
            name=name,
            conversations=conversations,
            first_row=np.concatenate([[0], np.cumsum(np.concatenate(counts))]),
            columns=gain_columns(),
            values=joined["value"],
            lower=joined.get("lower"),
            upper=joined.get("upper"),
        )

    def renamed(self, name: str) -> SystemGain:
        """The same values under another name."""
        return SystemGain(
            name=name,
            conversations=self.conversations,
            first_row=self.first_row,
            columns=self.columns,
            values=self.values,
            lower=self._lower,
            upper=self._upper,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, a list per column; undefined values are None."""

        def columns(matrix: Matrix) -> dict[str, list[float | None]]:
            return {
                name: [None if v != v else v for v in matrix[:, i].tolist()]
                for i, name in enumerate(self.columns)
            }

        saved = {
            "name": self.name,
            "conversations": list(self.conversations),
            "iterations": self.lengths.tolist(),
            "values": columns(self.values),
        }
        bounds = (
            {"lower": columns(self.lower), "upper": columns(self.upper)} if self.bounded else {}
        )
        return saved | bounds

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SystemGain:
        """The reverse of `to_dict`."""
        import numpy as np

        def matrix(columns: dict[str, list[float | None]]) -> Matrix:
            return np.array(list(columns.values()), dtype=np.float64).T.reshape(-1, len(columns))

        first_row = np.concatenate([[0], np.cumsum(np.array(data["iterations"], dtype=np.int64))])
        return cls(
            name=data["name"],
            conversations=data["conversations"],
            first_row=first_row,
            columns=list(data["values"]),
            values=matrix(data["values"]),
            lower=matrix(data["lower"]) if "lower" in data else None,
            upper=matrix(data["upper"]) if "upper" in data else None,
        )

    @property
    def lower(self) -> Matrix:
        """The values if no unlabelled result were good."""
        return self.values if self._lower is None else self._lower

    @property
    def upper(self) -> Matrix:
        """The values if every unlabelled result had the highest gain."""
        return self.values if self._upper is None else self._upper

    @property
    def bounded(self) -> bool:
        """Whether any result lacks a label."""
        return self._lower is not None

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of iterations of each conversation."""
        import numpy as np

        return np.diff(self.first_row)

    @cached_property
    def _last_rows(self) -> NDArray[np.int64]:
        return (self.first_row[1:] - 1)[self.lengths > 0]

    @property
    def searching(self) -> list[str]:
        """The conversations with at least one search."""
        return [c for c, n in zip(self.conversations, self.lengths, strict=True) if n]

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

    def final(self, measure: str | Measure) -> dict[str, float]:
        """{conversation: the value after its last iteration}."""
        return self._final(self.values, measure)

    def final_bounds(self, measure: str | Measure) -> dict[str, tuple[float, float]]:
        """{conversation: (lower, upper)} after its last iteration, over what missing labels could be."""
        low, high = (self._final(matrix, measure) for matrix in (self.lower, self.upper))
        return {unit: (low[unit], high[unit]) for unit in low}

    def _final(self, matrix: Matrix, measure: str | Measure) -> dict[str, float]:
        values = matrix[self._last_rows, self.column(measure)]
        return dict(zip(self.searching, values.tolist(), strict=True))

    def figure(
        self, measure: str | Measure, iteration: int | None = None, align: Align = "active"
    ) -> Figure:
        """The mean at an iteration, or after the last (None)."""
        column = self.column(measure)
        definition = self.measures[column].definition
        if iteration is None:
            rows, ended = self._last_rows, None
        else:
            rows, ended = self._rows_at(iteration, align)
        # After its end a conversation adds nothing, and what it has stays.
        stays = definition.cumulative or definition.level == "conversation"
        columns = []
        for matrix in (self.values, self.lower, self.upper):
            values = matrix[rows, column]
            if ended is not None and not stays:
                values[ended] = 0
            columns.append(values)
        mean, low, high, n = mean_interval(columns[0])
        bounds = [mean_interval(v)[0] for v in columns[1:]] if self.bounded else [mean, mean]
        return Figure(value=mean, n=n, low=low, high=high, lower=bounds[0], upper=bounds[1])

    def _rows_at(self, iteration: int, align: Align) -> tuple[NDArray[np.int64], Any]:
        import numpy as np

        begins, lengths = self.first_row[:-1], self.lengths
        if align == "active":
            return (begins + iteration - 1)[lengths >= iteration], None
        some = lengths > 0
        return (begins + np.minimum(lengths, iteration) - 1)[some], lengths[some] < iteration

    def counts(self) -> dict[str, float]:
        """Numbers of conversations, iterations, searches, results and duplicates, and label coverage."""
        last = self.values[self._last_rows]
        total = {
            c: float(last[:, self.columns.index(c)].sum())
            for c in ("Searches", "R@i", "DupR@i", "UR@i")
        }
        covered = last[:, self.columns.index("Coverage")] * last[:, self.columns.index("UR@i")]
        labelled = float(covered[covered == covered].sum())
        return {
            "conversations": len(self.conversations),
            "without_search": int((self.lengths == 0).sum()),
            "iterations": int(self.lengths.sum()),
            "searches": int(total["Searches"]),
            "results": int(total["R@i"]),
            "duplicates": int(total["DupR@i"]),
            "coverage": labelled / total["UR@i"] if total["UR@i"] else math.nan,
        }

    def __repr__(self) -> str:
        c = self.counts()
        return (
            f"SystemGain('{self.name}', {c['conversations']:,} conversations, {c['iterations']:,} "
            f"iterations, {c['results']:,} results)"
        )


def _ranges(begins: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row numbers of several ranges."""
    import numpy as np

    if not len(sizes):
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum(sizes)
    return np.arange(ends[-1]) - np.repeat(ends - sizes, sizes) + np.repeat(begins, sizes)
