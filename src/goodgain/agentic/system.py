"""Good Gain of one system: a row of values for each iteration of each conversation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.measures.table.agentic import LEVELS
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.agentic.settings import Align

    Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over conversations: its interval, how many are behind it, and its bounds over missing labels."""

    value: float
    n: int
    low: float  # of the 95 % confidence interval
    high: float
    lower: float  # if no unlabelled result were good
    upper: float  # if all of them were as good as can be

    @property
    def exact(self) -> bool:
        """Whether missing labels leave it as it is."""
        return self.lower == self.upper or self.lower != self.lower


class SystemGain:
    """All values of one system. Rows stand in the order of conversations and iterations."""

    def __init__(
        self,
        name: str,
        conversations: Sequence[str],
        first_row: NDArray[np.int64],
        columns: Sequence[str],
        values: Matrix,
        lower: Matrix | None,
        upper: Matrix | None,
    ) -> None:
        self.name = name
        self.conversations = tuple(conversations)
        self.columns = tuple(columns)
        self.first_row = first_row
        self.values = values
        self._lower, self._upper = lower, upper
        if len(set(self.conversations)) < len(self.conversations):
            seen: set[str] = set()
            twice = next(c for c in self.conversations if c in seen or seen.add(c))  # type: ignore[func-returns-value]
            raise InputError(
                f"the conversation '{twice}' of system '{name}' is there twice",
                hint="give runs of one system different names: {'run 1': ..., 'run 2': ...}, or --by file",
            )

    @classmethod
    def of(cls, name: str, parts: Sequence[tuple[Any, list[int], list[str]]]) -> SystemGain:
        """Put together what the core found in several files; one whole file is taken over uncopied."""
        import numpy as np

        from goodgain._core import gain_columns

        conversations = [c for _, _, names in parts for c in names]
        bounded = any(scores.bounded for scores, _, _ in parts)
        counts: list[NDArray[np.int64]] = []
        picked: dict[str, list[Matrix]] = {which: [] for which in ("value", "lower", "upper")}
        for scores, members, _ in parts:
            first = np.asarray(scores.first_row, dtype=np.int64)
            sizes = np.diff(first)
            whole = len(members) == len(sizes)
            counts.append(sizes if whole else sizes[members])
            rows = None if whole else _ranges(first[:-1][members], counts[-1])
            for which in picked if bounded else ("value",):
                matrix = scores.matrix(which)
                picked[which].append(matrix if rows is None else matrix[rows])
        joined = {
            which: found[0] if len(found) == 1 else np.concatenate(found)
            for which, found in picked.items()
            if found
        }
        first_row = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        return cls(
            name,
            conversations,
            first_row,
            gain_columns(),
            joined["value"],
            joined.get("lower"),
            joined.get("upper"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, a list for each column; what is undefined is None."""

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
        bounds = [matrix(data[key]) if key in data else None for key in ("lower", "upper")]
        return cls(
            data["name"],
            data["conversations"],
            first_row,
            list(data["values"]),
            matrix(data["values"]),
            *bounds,
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
        """How many iterations each conversation has."""
        import numpy as np

        return np.diff(self.first_row)

    @cached_property
    def _last_rows(self) -> NDArray[np.int64]:
        return (self.first_row[1:] - 1)[self.lengths > 0]

    @property
    def searching(self) -> list[str]:
        """The conversations that searched at all."""
        return [c for c, n in zip(self.conversations, self.lengths, strict=True) if n]

    @property
    def iterations(self) -> int:
        """The length of the longest conversation."""
        return int(self.lengths.max()) if len(self.lengths) else 0

    def column(self, measure: str) -> int:
        """The number of a measure's column."""
        plain = measure.removesuffix("@i") if measure not in self.columns else measure
        plain = plain.removesuffix("_i")
        if plain not in self.columns:
            raise KeyError(f"there is no measure '{measure}'; there is: {', '.join(self.columns)}")
        return self.columns.index(plain)

    def final(self, measure: str) -> dict[str, float]:
        """{conversation: the value after its last iteration}."""
        values = self.values[self._last_rows, self.column(measure)]
        return dict(zip(self.searching, values.tolist(), strict=True))

    def figure(self, measure: str, iteration: int | None = None, align: Align = "active") -> Figure:
        """The mean at an iteration, or after the last (None)."""
        column = self.column(measure)
        if iteration is None:
            rows, ended = self._last_rows, None
        else:
            rows, ended = self._rows_at(iteration, align)
        # After its end a conversation adds nothing, and what it has stays.
        stays = LEVELS[self.columns[column]] != "iteration"
        found = []
        for matrix in (self.values, self.lower, self.upper):
            values = matrix[rows, column]
            if ended is not None and not stays:
                values[ended] = 0
            found.append(values)
        mean, low, high, n = mean_interval(found[0])
        if not self.bounded:
            return Figure(mean, n, low, high, mean, mean)
        bounds = [mean_interval(v)[0] for v in found[1:]]
        return Figure(mean, n, low, high, bounds[0], bounds[1])

    def _rows_at(self, iteration: int, align: Align) -> tuple[NDArray[np.int64], Any]:
        import numpy as np

        begins, lengths = self.first_row[:-1], self.lengths
        if align == "active":
            return (begins + iteration - 1)[lengths >= iteration], None
        some = lengths > 0
        return (begins + np.minimum(lengths, iteration) - 1)[some], lengths[some] < iteration

    def counts(self) -> dict[str, float]:
        """Conversations, those without a search, iterations, searches, results, the share of duplicates."""
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
    """The numbers of all rows of several stretches."""
    import numpy as np

    if not len(sizes):
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum(sizes)
    return np.arange(ends[-1]) - np.repeat(ends - sizes, sizes) + np.repeat(begins, sizes)
