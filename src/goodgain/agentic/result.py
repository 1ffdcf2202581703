"""The result of Good Gain: tables per iteration, per conversation and over them, saved like an Evaluation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from goodgain.agentic.conversations import Conversations
from goodgain.agentic.settings import GainSettings
from goodgain.agentic.system import Figure, SystemGain
from goodgain.errors import InputError
from goodgain.measures.table.agentic import BY_COLUMN, LEVELS
from goodgain.results.frames import AsFrames
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, html_table, number, render
from goodgain.results.views import Reportable
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodgain.io.sources import Source

ROW = ("CG", "DCG", "RG", "DRG", "RAG", "DRAG", "SRE", "SRR", "MarginalGain", "Tokens", "Seconds")
UNLABELLED_ROW = ("R", "UR", "Dup", "R@i", "UR@i", "SRR", "RepeatedQueries", "Tokens", "Seconds")
SUMMARY = (
    "CG",
    "DCG",
    "SRE",
    "SRR",
    "IterationsForAllGoodResults",
    "EvidenceRecall",
    "WastedSearches",
    "RepeatedQueries",
    "nsDCG",
    "AreaSearches",
)
PAIRED = (
    "CG",
    "DCG",
    "RG",
    "DRG",
    "RAG",
    "DRAG",
    "SRE",
    "SRR",
    "IterationsForAllGoodResults",
    "Searches",
)


class GoodGain(SavedAsJson, AsFrames, Reportable):
    """Good Gain of one or several systems. `result["agent-a"]` is one of them."""

    KIND = "good gain"
    FORMAT = 1
    __slots__ = (
        "_created",
        "_inputs",
        "_systems",
        "_version",
        "conversations",
        "facts",
        "settings",
    )

    def __init__(
        self,
        systems: Sequence[SystemGain],
        settings: GainSettings,
        inputs: Sequence[tuple[str, Source]] | list[dict[str, Any]],
        facts: Mapping[str, Any],
        created: float | None = None,
        version: str | None = None,
        conversations: Conversations | None = None,
    ) -> None:
        import time

        self.conversations = conversations  # the way back to the traces
        self._systems = {s.name: s for s in systems}
        self.settings = settings
        self._inputs = inputs
        self.facts = dict(facts)
        self._created = time.time() if created is None else created
        self._version = version

    @property
    def names(self) -> tuple[str, ...]:
        """The systems, in the order they came."""
        return tuple(self._systems)

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, as tables print them."""
        return tuple(LEVELS)

    def __iter__(self) -> Iterator[SystemGain]:
        return iter(self._systems.values())

    def __len__(self) -> int:
        return len(self._systems)

    def __getitem__(self, system: str) -> SystemGain:
        try:
            return self._systems[system]
        except KeyError:
            raise KeyError(
                f"there is no system '{system}'; there is: {', '.join(self._systems)}"
            ) from None

    def figure(
        self, measure: str, iteration: int | None = None, system: str | None = None
    ) -> Figure:
        """The mean of a measure at an iteration, or at the end of conversations."""
        if system is None:
            if len(self) != 1:
                raise KeyError(f"there are several systems: say which of {', '.join(self.names)}")
            system = self.names[0]
        return self[system].figure(measure, iteration, self.settings.align)

    def per_unit_scores(self) -> dict[str, dict[str, dict[str, float]]]:
        """{system: {measure: {conversation: value after its last iteration}}}, for comparisons."""
        return {s.name: {m: s.final(m) for m in self.measures} for s in self}

    def budget_curve(
        self, budget: str = "searches", system: str | None = None
    ) -> list[tuple[float, float]]:
        """(budget spent, mean good gain by then): `searches`, `seconds` or `tokens`.

        A conversation that ended keeps its gain; gain counts once its iteration is complete.
        """
        import numpy as np

        found = self[system or self.names[0]]
        if budget not in ("searches", "seconds", "tokens", "cost"):
            raise InputError(f"'{budget}' is no budget", hint="searches, seconds, tokens or cost")
        spent = found.values[:, found.column(budget.capitalize())]
        gains = found.values[:, found.column("CG")]
        steps = np.unique(spent[~np.isnan(spent)])
        if len(steps) > 200:
            steps = np.quantile(steps, np.linspace(0, 1, 200))
        of = np.repeat(np.arange(len(found.lengths)), found.lengths)  # each row's conversation
        known = (found.lengths > 0) & (np.bincount(of, np.isnan(spent), len(found.lengths)) == 0)
        if not known.any():
            return []
        # What an iteration added counts from where it was complete: all of them in order of that place.
        added = np.diff(gains, prepend=0)
        begins = found.first_row[:-1][found.lengths > 0]
        added[begins] = gains[begins]
        rows = np.flatnonzero(known[of])
        rows = rows[np.argsort(spent[rows], kind="stable")]
        sums = np.concatenate([[0], np.cumsum(added[rows])]) / int(known.sum())
        values = sums[np.searchsorted(spent[rows], steps, side="right")]
        return list(zip(steps.tolist(), values.tolist(), strict=True))

    # --- as rows and tables ---

    def rows(self, per_conversation: bool = False) -> tuple[list[str], list[list[Any]]]:
        """Column names and long rows. An iteration of None is the value at the end of conversations."""
        rows: list[list[Any]] = []
        if per_conversation:
            for s in self:
                numbers = [i for n in s.lengths.tolist() for i in range(1, n + 1)]
                names = [
                    c
                    for c, n in zip(s.conversations, s.lengths.tolist(), strict=True)
                    for _ in range(n)
                ]
                for m in self.measures:
                    c = s.column(m)
                    columns = [matrix[:, c].tolist() for matrix in (s.values, s.lower, s.upper)]
                    rows.extend(
                        [s.name, name, i, m, *values]
                        for name, i, *values in zip(names, numbers, *columns, strict=True)
                    )
            return [
                "system",
                "conversation",
                "iteration",
                "measure",
                "value",
                "lower",
                "upper",
            ], rows
        for s in self:
            for i in [*range(1, s.iterations + 1), None]:
                coverage = s.figure("Coverage", i, self.settings.align).value
                for m in self.measures:
                    if i is not None and LEVELS[m] == "conversation":
                        continue
                    f = s.figure(m, i, self.settings.align)
                    rows.append(
                        [s.name, i, m, f.value, f.n, f.low, f.high, f.lower, f.upper, coverage]
                    )
        header = [
            "system",
            "iteration",
            "measure",
            "value",
            "n",
            "ci_low",
            "ci_high",
            "lower",
            "upper",
            "coverage",
        ]
        return header, rows

    @property
    def labelled(self) -> bool:
        """Whether any result has a label; without one, gains are unknown."""
        return any(s.counts()["coverage"] > 0 for s in self)

    def table(self, measures: Sequence[str] | None = None) -> tuple[list[str], list[list[Any]]]:
        """A row for each system and iteration, for people; without any label only what is known."""
        measures = measures or (ROW if self.labelled else UNLABELLED_ROW)
        shown = [m for m in measures if any(not math.isnan(s.figure(m).value) for s in self)]
        several = ["system"] if len(self) > 1 else []
        rows = []
        for s in self:
            for i in range(1, s.iterations + 1):
                figures = {m: s.figure(m, i, self.settings.align) for m in shown}
                n = s.figure("R@i", i, self.settings.align).n
                rows.append(
                    [*([s.name] if several else []), i, n, *(_cell(f) for f in figures.values())]
                )
        return [*several, "i", "n", *(_HEADINGS.get(m, m) for m in shown)], rows

    def summary(self, measures: Sequence[str] = SUMMARY) -> tuple[list[str], list[list[Any]]]:
        """A row for each measure at the end of conversations, a column for each system."""
        counts = {s.name: s.counts() for s in self}
        rows: list[list[Any]] = [
            [label, *(int(counts[n][key]) for n in self.names)]
            for key, label in (
                ("conversations", "conversations"),
                ("without_search", "without a search"),
                ("iterations", "iterations"),
                ("searches", "searches"),
                ("results", "results"),
                ("duplicates", "duplicates"),
            )
            if key != "without_search" or any(counts[n][key] for n in self.names)
        ]
        rows.append(["labelled", *(counts[n]["coverage"] for n in self.names)])
        for m in measures:
            figures = [s.figure(m) for s in self]
            if any(f.n for f in figures):
                rows.append([m, *(_cell(f) for f in figures)])
        return ["at the end", *self.names], rows

    def paired(self, measures: Sequence[str] = PAIRED) -> tuple[list[str], list[list[Any]]]:
        """Each further system against the first over the conversations that both have."""
        import numpy as np

        rows: list[list[Any]] = []
        baseline, *others = self.names
        for other in others:
            for m in measures:
                a, b = self[baseline].final(m), self[other].final(m)
                shared = [c for c in a if c in b]
                if not shared:
                    continue
                ours, theirs = (np.array([x[c] for c in shared]) for x in (b, a))
                difference, low, high, n = mean_interval(ours - theirs)
                if not n:
                    continue
                both = ~np.isnan(ours - theirs)
                rows.append(
                    [
                        other,
                        baseline,
                        m,
                        float(ours[both].mean()),
                        float(theirs[both].mean()),
                        difference,
                        low,
                        high,
                        n,
                        BY_COLUMN[m].lower_is_better,
                    ]
                )
        header = [
            "system",
            "baseline",
            "measure",
            "mean",
            "baseline_mean",
            "difference",
            "ci_low",
            "ci_high",
            "n",
            "lower_is_better",
        ]
        return header, rows

    def render(self, format: str = "table", per_conversation: bool = False) -> str:  # noqa: A002
        """The result as text in any of the command line's formats."""
        if format in LONG_FORMATS:
            return render(format, *self.rows(per_conversation))
        if per_conversation:
            return render(format, *self._conversations())
        parts = [render(format, *self.table()), render(format, *self.summary())]
        if len(self) > 1:
            _, rows = self.paired()
            if rows:
                shown = [
                    [
                        r[0],
                        r[2] + (" (lower is better)" if r[9] else ""),
                        r[4],
                        r[3],
                        r[5],
                        _range(r[6], r[7]),
                        r[8],
                    ]
                    for r in rows
                ]
                columns = [
                    "system",
                    "measure",
                    self.names[0],
                    "mean",
                    "difference",
                    "95 % interval",
                    "n",
                ]
                parts.append(render(format, columns, shown))
        return "\n".join(parts)

    def _conversations(self) -> tuple[list[str], list[list[Any]]]:
        """A row for each iteration of each conversation, for people."""
        shown = [m for m in ("R", "UR", "GR", "Dup", "G", *ROW) if any(s.figure(m).n for s in self)]
        rows = []
        for s in self:
            columns = [s.column(m) for m in shown]
            for c, begin, end in zip(
                s.conversations, s.first_row[:-1], s.first_row[1:], strict=True
            ):
                for i, row in enumerate(s.values[begin:end, columns].tolist(), 1):
                    cells = [
                        int(v) if LEVELS[m] == "iteration" and v == int(v) else v
                        for m, v in zip(shown, row, strict=True)
                    ]
                    rows.append([s.name, c, i, *cells])
        return ["system", "conversation", "i", *(_HEADINGS.get(m, m) for m in shown)], rows

    def sketch(self, measure: str | None = None) -> str:
        """A measure by iteration as a small plot for a terminal; nothing for a single iteration.

        Without any label it is the count of unique results.
        """
        from goodgain.results.terminal_plot import curves

        measure = measure or ("CG" if self.labelled else "UR@i")

        series = {
            s.name: [
                s.figure(measure, i, self.settings.align).value for i in range(1, s.iterations + 1)
            ]
            for s in self
        }
        return curves(series, f"{measure} by iteration")

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def __repr__(self) -> str:
        count = sum(len(s.conversations) for s in self)
        names = ", ".join(self.names)
        return f"GoodGain({len(self)} system{'s' * (len(self) != 1)}: {names}; {count:,} conversations)"

    def _repr_html_(self) -> str:
        by_iteration = f"by iteration, {self.settings.align} conversations"
        return html_table(*self.table(), by_iteration) + html_table(*self.summary())

    def warnings(self) -> list[str]:
        """What a reader of the figures should know."""
        found = [str(n) for n in self.facts.get("notes", ())]
        if self.facts.get("skipped"):
            examples = "".join(f"; {e}" for e in self.facts.get("skipped_examples", ())[:3])
            found.append(f"{self.facts['skipped']:,} bad conversations were skipped{examples}")
        if self.facts.get("unknown_conversations"):
            found.append(
                f"{self.facts['unknown_conversations']:,} conversations are not in the labels"
            )
        if self.facts.get("left_out"):
            found.append(
                f"{self.facts['left_out']:,} results share their keys with more than 64 others and were "
                "compared with the most telling 64 only"
            )
        for s in self:
            c = s.counts()
            if c["without_search"]:
                found.append(
                    f"{s.name}: {c['without_search']:,} of {c['conversations']:,} conversations have no "
                    "search and are left out"
                )
            if c["results"] and c["coverage"] == 0:
                found.append(
                    f"{s.name}: no result has a label, so gains are unknown; only counts and SRR are exact"
                )
            elif c["coverage"] < 1:
                found.append(
                    f"{s.name}: {number(100 * (1 - c['coverage']), 1)} % of the unique results have no label "
                    "and earn nothing; [lower, upper] say what they could change"
                )
        return found

    # --- as data of other libraries ---

    def inputs(self) -> list[dict[str, Any]]:
        """Traces and labels: name, kind, and of files their size and the hash of their bytes."""
        return [
            i if isinstance(i, dict) else {"role": i[0], **i[1].provenance()} for i in self._inputs
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: what `save` writes."""
        import datetime

        from goodgain import __version__

        created = datetime.datetime.fromtimestamp(self._created, datetime.UTC)
        told = self.conversations
        return {
            "goodgain": self.KIND,
            "format": self.FORMAT,
            "version": self._version or __version__,
            "created": created.isoformat(timespec="seconds"),
            "settings": self.settings.to_dict(),
            "inputs": self.inputs(),
            **({"reading": told.to_dict()} if told and told.sources else {}),
            "facts": self.facts,
            "systems": [s.to_dict() for s in self],
        }

    def _frame_rows(self, per_conversation: bool = True) -> tuple[list[str], list[list[Any]]]:
        return self.rows(per_conversation)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        import datetime

        created = datetime.datetime.fromisoformat(data["created"]).timestamp()
        systems = [SystemGain.from_dict(s) for s in data["systems"]]
        settings = GainSettings(**data["settings"])
        conversations = Conversations.saved(data.get("reading"), data["inputs"], settings)
        return cls(
            systems,
            settings,
            data["inputs"],
            data["facts"],
            created,
            data["version"],
            conversations,
        )


_HEADINGS = {"MarginalGain": "marginal", "Tokens": "tokens", "Seconds": "seconds"}


def _cell(f: Figure) -> Any:
    """A figure for people: with its bounds where missing labels leave it open."""
    return f.value if f.exact else f"{number(f.value)} [{number(f.lower)}, {number(f.upper)}]"


def _range(low: float, high: float) -> str:
    return "-" if low != low else f"[{number(low)}, {number(high)}]"
