"""The result of Good Gain: tables per iteration and conversation, saved like an Evaluation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from goodgain.agentic.conversations import Conversations
from goodgain.agentic.settings import GainSettings
from goodgain.agentic.system import Figure, SystemGain
from goodgain.errors import InputError
from goodgain.measures.grammar import make
from goodgain.measures.registry import definitions
from goodgain.results.frames import AsFrames
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, html_table, number, render
from goodgain.results.views import Reportable
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodgain.io.sources import Source
    from goodgain.measures.definition import Measure

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
# What systems are compared by unless measures are named.
DEFAULT_COMPARED = (
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
    """Good Gain of one or several systems.

    With one system it is a mapping from measures to means at the end of conversations:
    `result["CG"]`. With several it is a mapping from their names to `SystemGain`:
    `result["agent-a"]["CG"]`. `systems` is always the tuple of systems.
    """

    KIND = "good gain"
    FORMAT = 2
    __slots__ = (
        "_conversations",
        "_created",
        "_facts",
        "_inputs",
        "_settings",
        "_systems",
        "_version",
    )

    def __init__(
        self,
        *,
        systems: Sequence[SystemGain],
        settings: GainSettings,
        inputs: Sequence[tuple[str, Source]] | list[dict[str, Any]],
        facts: Mapping[str, Any],
        created: float | None = None,
        version: str | None = None,
        conversations: Conversations | None = None,
    ) -> None:
        import time

        self._conversations = conversations
        self._systems = {s.name: s for s in systems}
        self._settings = settings
        self._inputs = inputs
        self._facts = dict(facts)
        self._created = time.time() if created is None else created
        self._version = version

    @property
    def systems(self) -> tuple[SystemGain, ...]:
        """The systems, in the order of the input."""
        return tuple(self._systems.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self._systems)

    @property
    def settings(self) -> GainSettings:
        """How gains were counted."""
        return self._settings

    @property
    def facts(self) -> dict[str, Any]:
        """What was read, skipped and left out."""
        return dict(self._facts)

    @property
    def conversations(self) -> Conversations | None:
        """The way back to the traces."""
        return self._conversations

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order of the tables."""
        return tuple(make(d, {}, None) for d in definitions("agentic"))

    def keys(self) -> tuple[str, ...]:
        """Measures of the one system, or names of several: whatever can stand in brackets."""
        return self.systems[0].keys() if len(self._systems) == 1 else self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self._systems or (len(self._systems) == 1 and key in self.keys())

    def __getitem__(self, key: str | Measure) -> Any:
        if key in self._systems:
            return self._systems[key]  # type: ignore[index]
        if len(self._systems) == 1:
            return self.systems[0][key]
        raise KeyError(f"no system '{key}'; systems: {', '.join(self._systems)}")

    def figure(
        self, measure: str | Measure, iteration: int | None = None, system: str | None = None
    ) -> Figure:
        """The mean of a measure at an iteration, or at the end of conversations."""
        if system is None:
            if len(self._systems) != 1:
                raise KeyError(f"several systems: choose one of {', '.join(self.names)}")
            system = self.names[0]
        return self._systems[system].figure(measure, iteration, self.settings.align)

    @property
    def default_measures(self) -> tuple[str, ...]:
        """What `compare` and `gate` take unless measures are named."""
        return DEFAULT_COMPARED

    def per_unit_bounds(self) -> dict[str, dict[Measure, dict[str, tuple[float, float]]]]:
        """As `per_unit_scores`, with what missing labels could make of each value; only where some miss."""
        return {
            s.name: {m: s.final_bounds(m) for m in s.measures} for s in self.systems if s.bounded
        }

    def label_coverage(self) -> dict[str, float]:
        """{system: the share of its unique results that have a label}."""
        return {s.name: s.counts()["coverage"] for s in self.systems}

    def per_unit_scores(self) -> dict[str, dict[Measure, dict[str, float]]]:
        """{system: {measure: {conversation: value after its last iteration}}}, for comparisons."""
        return {s.name: {m: s.final(m) for m in s.measures} for s in self.systems}

    def budget_curve(
        self, budget: str = "searches", system: str | None = None
    ) -> list[tuple[float, float]]:
        """(budget spent, mean good gain by then), for `searches`, `seconds`, `tokens` or `cost`.

        Finished conversations carry their gain on; gain counts once its iteration is complete.
        """
        import numpy as np

        chosen = self._systems[system or self.names[0]]
        if budget not in ("searches", "seconds", "tokens", "cost"):
            raise InputError(f"invalid budget='{budget}'", hint="searches, seconds, tokens or cost")
        spent = chosen.values[:, chosen.column(budget.capitalize())]
        gains = chosen.values[:, chosen.column("CG")]
        steps = np.unique(spent[~np.isnan(spent)])
        if len(steps) > 200:
            steps = np.quantile(steps, np.linspace(0, 1, 200))
        of = np.repeat(np.arange(len(chosen.lengths)), chosen.lengths)  # each row's conversation
        known = (chosen.lengths > 0) & (np.bincount(of, np.isnan(spent), len(chosen.lengths)) == 0)
        if not known.any():
            return []
        # What an iteration added counts from where it was complete: all of them in order of that place.
        added = np.diff(gains, prepend=0)
        begins = chosen.first_row[:-1][chosen.lengths > 0]
        added[begins] = gains[begins]
        rows = np.flatnonzero(known[of])
        rows = rows[np.argsort(spent[rows], kind="stable")]
        sums = np.concatenate([[0], np.cumsum(added[rows])]) / int(known.sum())
        values = sums[np.searchsorted(spent[rows], steps, side="right")]
        return list(zip(steps.tolist(), values.tolist(), strict=True))

    # --- as rows and tables ---

    def rows(self, per_conversation: bool = False) -> tuple[list[str], list[list[Any]]]:
        """Column names and long rows; iteration None is the value at the end of conversations."""
        rows: list[list[Any]] = []
        if per_conversation:
            for s in self.systems:
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
                        [s.name, name, i, m.label, *values]
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
        for s in self.systems:
            for i in [*range(1, s.iterations + 1), None]:
                coverage = s.figure("Coverage", i, self.settings.align).value
                for m in self.measures:
                    if i is not None and m.definition.level == "conversation":
                        continue
                    f = s.figure(m, i, self.settings.align)
                    rows.append(
                        [
                            s.name,
                            i,
                            m.label,
                            f.value,
                            f.n,
                            f.low,
                            f.high,
                            f.lower,
                            f.upper,
                            coverage,
                        ]
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
        """Whether any result has a label."""
        return any(s.counts()["coverage"] > 0 for s in self.systems)

    def table(self, measures: Sequence[str] | None = None) -> tuple[list[str], list[list[Any]]]:
        """A row per system and iteration for people; without labels only what needs none."""
        measures = measures or (ROW if self.labelled else UNLABELLED_ROW)
        listed = [
            m for m in measures if any(not math.isnan(s.figure(m).value) for s in self.systems)
        ]
        several = ["system"] if len(self._systems) > 1 else []
        rows = []
        for s in self.systems:
            for i in range(1, s.iterations + 1):
                figures = {m: s.figure(m, i, self.settings.align) for m in listed}
                n = s.figure("R@i", i, self.settings.align).n
                rows.append(
                    [*([s.name] if several else []), i, n, *(_cell(f) for f in figures.values())]
                )
        return [*several, "i", "n", *(_HEADINGS.get(m, m) for m in listed)], rows

    def summary(self, measures: Sequence[str] = SUMMARY) -> tuple[list[str], list[list[Any]]]:
        """A row per measure at the end of conversations, a column per system."""
        counts = {s.name: s.counts() for s in self.systems}
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
            figures = [s.figure(m) for s in self.systems]
            if any(f.n for f in figures):
                rows.append([m, *(_cell(f) for f in figures)])
        return ["at the end", *self.names], rows

    def paired(
        self, measures: Sequence[str] = DEFAULT_COMPARED
    ) -> tuple[list[str], list[list[Any]]]:
        """Each further system against the first, over their common conversations."""
        import numpy as np

        rows: list[list[Any]] = []
        baseline, *others = self.names
        for other in others:
            for m in measures:
                a, b = self._systems[baseline].final(m), self._systems[other].final(m)
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
                        self._systems[other].measure(m).lower_is_better,
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
        """The result as text, in any format of the command line."""
        if format in LONG_FORMATS:
            return render(format, *self.rows(per_conversation))
        if per_conversation:
            return render(format, *self._conversation_rows())
        tables = [render(format, *self.table()), render(format, *self.summary())]
        if len(self._systems) > 1:
            _, rows = self.paired()
            if rows:
                cells = [
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
                tables.append(render(format, columns, cells))
        return "\n".join(tables)

    def _conversation_rows(self) -> tuple[list[str], list[list[Any]]]:
        """A row per iteration of each conversation, for people."""
        listed = [
            m
            for m in ("R", "UR", "GR", "Dup", "G", *ROW)
            if any(s.figure(m).n for s in self.systems)
        ]
        rows = []
        for s in self.systems:
            columns = [s.column(m) for m in listed]
            for c, begin, end in zip(
                s.conversations, s.first_row[:-1], s.first_row[1:], strict=True
            ):
                for i, row in enumerate(s.values[begin:end, columns].tolist(), 1):
                    cells = [
                        int(v) if m in _COUNTS and v == int(v) else v
                        for m, v in zip(listed, row, strict=True)
                    ]
                    rows.append([s.name, c, i, *cells])
        return ["system", "conversation", "i", *(_HEADINGS.get(m, m) for m in listed)], rows

    def sketch(self, measure: str | None = None) -> str:
        """A measure by iteration as a small terminal plot; empty for a single iteration.

        Without labels it is the count of unique results.
        """
        from goodgain.results.terminal_plot import curves

        measure = measure or ("CG" if self.labelled else "UR@i")

        series = {
            s.name: [
                s.figure(measure, i, self.settings.align).value for i in range(1, s.iterations + 1)
            ]
            for s in self.systems
        }
        return curves(series, f"{measure} by iteration")

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def __repr__(self) -> str:
        count = sum(len(s.conversations) for s in self.systems)
        names = ", ".join(self.names)
        systems = f"{len(self._systems)} system{'s' * (len(self._systems) != 1)}"
        return f"GoodGain({systems}: {names}; {count:,} conversations)"

    def _repr_html_(self) -> str:
        by_iteration = f"by iteration, {self.settings.align} conversations"
        return html_table(*self.table(), by_iteration) + html_table(*self.summary())

    def warnings(self) -> list[str]:
        """Skipped conversations, missing labels, and other caveats."""
        messages = [str(n) for n in self.facts.get("notes", ())]
        if self.facts.get("skipped"):
            examples = "".join(f"; {e}" for e in self.facts.get("skipped_examples", ())[:3])
            messages.append(f"{self.facts['skipped']:,} bad conversations were skipped{examples}")
        if self.facts.get("unknown_conversations"):
            messages.append(
                f"{self.facts['unknown_conversations']:,} conversations are not in the labels"
            )
        if self.facts.get("ambiguous_labels"):
            messages.append(
                f"{self.facts['ambiguous_labels']:,} results match labels with different gains; "
                "that of exactly their id or URL counts, otherwise the highest"
            )
        if self.facts.get("left_out"):
            messages.append(
                f"{self.facts['left_out']:,} results share keys with more than 64 others and were "
                "compared only with the 64 likeliest"
            )
        for s in self.systems:
            c = s.counts()
            if c["without_search"]:
                messages.append(
                    f"{s.name}: {c['without_search']:,} of {c['conversations']:,} conversations have no "
                    "search and are left out"
                )
            if c["results"] and c["coverage"] == 0:
                messages.append(
                    f"{s.name}: no result has a label, so gains are unknown; only counts and SRR are exact"
                )
            elif c["coverage"] < 1:
                messages.append(
                    f"{s.name}: {number(100 * (1 - c['coverage']), 1)} % of the unique results have no label "
                    "and earn nothing; [lower, upper] bounds what they could change"
                )
        return messages

    # --- as data of other libraries ---

    def inputs(self) -> list[dict[str, Any]]:
        """Traces and labels: name and kind, for files also size and hash."""
        return [
            i if isinstance(i, dict) else {"role": i[0], **i[1].provenance()} for i in self._inputs
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: what `save` writes."""
        import datetime

        from goodgain import __version__

        created = datetime.datetime.fromtimestamp(self._created, datetime.UTC)
        return {
            "goodgain": self.KIND,
            "format": self.FORMAT,
            "version": self._version or __version__,
            "created": created.isoformat(timespec="seconds"),
            "settings": self.settings.to_dict(),
            "inputs": self.inputs(),
            **self._reading(),
            "facts": self.facts,
            "systems": [s.to_dict() for s in self.systems],
        }

    def _reading(self) -> dict[str, Any]:
        conversations = self._conversations
        if conversations is None or not conversations.sources:
            return {}
        return {"reading": conversations.to_dict()}

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
            systems=systems,
            settings=settings,
            inputs=data["inputs"],
            facts=data["facts"],
            created=created,
            version=data["version"],
            conversations=conversations,
        )


_COUNTS = ("R", "UR", "GR", "Dup", "G", "AvgGain", "MarginalGain")
_HEADINGS = {"MarginalGain": "marginal", "Tokens": "tokens", "Seconds": "seconds"}


def _cell(f: Figure) -> Any:
    """A figure for people, with bounds if missing labels leave it open."""
    return f.value if f.exact else f"{number(f.value)} [{number(f.lower)}, {number(f.upper)}]"


def _range(low: float, high: float) -> str:
    return "-" if low != low else f"[{number(low)}, {number(high)}]"
