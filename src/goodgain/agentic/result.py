"""The result of Good Gain: tables per iteration and conversation, saved like an Evaluation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from goodgain.agentic.conversations import Conversations
from goodgain.agentic.notes import notes
from goodgain.agentic.settings import GainSettings
from goodgain.agentic.system import Figure, SystemGain
from goodgain.errors import InputError
from goodgain.measures.grammar import make
from goodgain.measures.registry import definitions
from goodgain.results.frames import AsFrames
from goodgain.results.judges import judge_notes
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, html_table, number, render
from goodgain.results.views import Reportable
from goodgain.stats.intervals import mean_interval
from goodgain.stats.seeds import seed_spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodgain.agentic.trajectory import TrajectoryDiff
    from goodgain.io.sources import Source
    from goodgain.measures.definition import Measure
    from goodgain.stats.seeds import SeedSpread
    from goodgain.traces.ledger import Ledger

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
    FORMAT = 3
    __slots__ = (
        "_conversations",
        "_created",
        "_facts",
        "_inputs",
        "_ledgers",
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
        ledgers: Mapping[str, Ledger] | None = None,
    ) -> None:
        import time

        self._ledgers = dict(ledgers or {})
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
    def ledgers(self) -> dict[str, Ledger]:
        """What became of every item, by source."""
        return dict(self._ledgers)

    @property
    def ledger(self) -> Ledger:
        """What became of every item of all sources; empty for results of versions without one."""
        from goodgain.traces.ledger import Ledger

        whole = Ledger()
        for ledger in self._ledgers.values():
            whole.merge(ledger)
        return whole

    def account(self) -> str:
        """The ledger as text: one line a source when all is well, a table when not."""
        from goodgain.traces.ledger import render_ledger

        return "\n".join(render_ledger(name, each) for name, each in self._ledgers.items())

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
        """As `per_unit_scores`, with what is not known of each value; only where something is not."""
        return {
            s.name: {m: s.final_bounds(m) for m in s.measures} for s in self.systems if s.bounded
        }

    def per_repeat_scores(self) -> dict[str, list[dict[Measure, dict[str, float]]]]:
        """{system: `per_unit_scores` of each repeat}, for systems with repeats."""
        return {
            s.name: _transposed({m: s.final_of_repeats(m) for m in s.measures}, s.repeats)
            for s in self.systems
            if s.repeats > 1
        }

    def per_repeat_bounds(
        self,
    ) -> dict[str, list[dict[Measure, dict[str, tuple[float, float]]]]]:
        """As `per_repeat_scores`, with what is not known of each value."""
        return {
            s.name: _transposed({m: s.bounds_of_repeats(m) for m in s.measures}, s.repeats)
            for s in self.systems
            if s.repeats > 1 and s.bounded
        }

    def spread(self, measures: Sequence[str] = SUMMARY) -> list[SeedSpread]:
        """How much systems vary between conversations and between repeats of the same ones."""
        import numpy as np

        spreads = []
        for s in self.systems:
            for m in measures if s.repeats > 1 else ():
                columns = s.final_of_repeats(m)
                units = [
                    u for u in columns[0] if all(c.get(u, math.nan) == c.get(u) for c in columns)
                ]
                table = np.array([[c[u] for c in columns] for u in units], dtype=np.float64)
                spread = seed_spread(s.name, m, table) if units else None
                spreads += [spread] if spread else []
        return spreads

    def label_coverage(self) -> dict[str, float]:
        """{system: the share of its unique results that have a label}; 1 if nothing lacks one."""
        return {
            s.name: s.counts()["coverage"] if s.counts()["results"] else float(s.figure("CG").n > 0)
            for s in self.systems
        }

    def per_unit_scores(self) -> dict[str, dict[Measure, dict[str, float]]]:
        """{system: {measure: {conversation: value after its last iteration}}}, over repeats their mean."""
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
        # A conversation without a search has spent nothing and gained nothing, where that is known.
        searched = chosen.lengths > 0
        begins = chosen.first_row[:-1]
        spent = spent.copy()
        spent[begins[~searched]] = 0 * gains[begins[~searched]]
        sizes = np.diff(chosen.first_row)
        of = np.repeat(np.arange(len(sizes)), sizes)  # each row's run
        known = np.bincount(of, np.isnan(spent), len(sizes)) == 0
        if not (known & searched).any():
            return []
        steps = np.unique(spent[(known & searched)[of]])
        if len(steps) > 200:
            steps = np.quantile(steps, np.linspace(0, 1, 200))
        # What an iteration added counts from where it was complete: all of them in order of that place.
        added = np.diff(gains, prepend=0)
        added[begins] = gains[begins]
        share = 1 / chosen.runs_per_conversation  # repeats of a conversation count as one
        rows = np.flatnonzero(known[of])
        added = added[rows] * share[of[rows]]
        rows, added = rows[order := np.lexsort((added, spent[rows]))], added[order]
        sums = np.concatenate([[0], np.cumsum(added)]) / math.fsum(share[known])
        values = sums[np.searchsorted(spent[rows], steps, side="right")]
        return list(zip(steps.tolist(), values.tolist(), strict=True))

    # --- as rows and tables ---

    def rows(self, per_conversation: bool = False) -> tuple[list[str], list[list[Any]]]:
        """Column names and long rows; iteration None is the value at the end of conversations."""
        rows: list[list[Any]] = []
        if per_conversation:
            repeated = any(s.is_repeated for s in self.systems)
            for s in self.systems:
                places = [place if repeated else place[::2] for place in _places(s)]
                for m in self.measures:
                    c = s.column(m)
                    columns = [matrix[:, c].tolist() for matrix in (s.values, s.lower, s.upper)]
                    rows.extend(
                        [s.name, *place, m.label, *values]
                        for place, *values in zip(places, *columns, strict=True)
                    )
            named = ["conversation", *(["repeat"] if repeated else []), "iteration"]
            return ["system", *named, "measure", "value", "lower", "upper"], rows
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
            for key, label, always in (
                ("conversations", "conversations", True),
                ("runs", "runs of them", any(s.is_repeated for s in self.systems)),
                ("without_search", "without a search", False),
                ("iterations", "iterations", True),
                ("searches", "searches", True),
                ("failed", "failed searches", False),
                ("unread", "unread searches", False),
                ("empty", "empty searches", False),
                ("results", "results", True),
                ("duplicates", "duplicates", True),
            )
            if always or (key != "runs" and any(counts[n][key] for n in self.names))
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
                        mean_interval(ours[both])[0],
                        mean_interval(theirs[both])[0],
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
        if spreads := self.spread():
            columns = [
                "system", "measure", "repeats", "mean", "lowest", "highest", "conversations sd",
                "repeats sd", "residual sd",
            ]  # fmt: skip
            cells = [
                [x.system, x.measure, x.seeds, x.mean, x.lowest, x.highest, x.between_queries,
                 x.between_seeds, x.rest] for x in spreads
            ]  # fmt: skip
            tables.append(render(format, columns, cells))
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
        repeated = any(s.is_repeated for s in self.systems)
        for s in self.systems:
            columns = [s.column(m) for m in listed]
            for place, row in zip(_places(s), s.values[:, columns].tolist(), strict=True):
                cells = [
                    int(v) if m in _COUNTS and v == v and v == int(v) else v
                    for m, v in zip(listed, row, strict=True)
                ]
                rows.append([s.name, *(place if repeated else place[::2]), *cells])
        named = ["conversation", *(["repeat"] if repeated else []), "i"]
        return ["system", *named, *(_HEADINGS.get(m, m) for m in listed)], rows

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

    def diff(
        self, conversation: str, systems: Sequence[str] = (), *, repeat: str | None = None
    ) -> TrajectoryDiff:
        """One conversation as two systems had it: where they part, and what only one of them found."""
        from goodgain.agentic.trajectory import compare_trajectories

        return compare_trajectories(self, conversation, systems, repeat)

    def warnings(self) -> list[str]:
        """Skipped conversations, unread searches, missing labels, and other caveats."""
        return [*judge_notes(self._judge_inputs()), *notes(self.facts, self.systems, self.settings)]

    def _judge_inputs(self) -> list[dict[str, Any]]:
        return [i if isinstance(i, dict) else i[1].provenance(hashed=False) for i in self._inputs]

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
            "ledgers": {name: ledger.to_dict() for name, ledger in self._ledgers.items()},
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
        ledgers = {}
        if data.get("ledgers"):
            from goodgain.traces.ledger import Ledger

            ledgers = {name: Ledger.from_dict(saved) for name, saved in data["ledgers"].items()}
        return cls(
            systems=systems,
            settings=settings,
            inputs=data["inputs"],
            facts=data["facts"],
            created=created,
            version=data["version"],
            conversations=conversations,
            ledgers=ledgers,
        )


def _places(s: SystemGain) -> list[tuple[str, str, int]]:
    """(conversation, repeat, iteration) of each row; iteration 0 where there was no search."""
    return [
        (conversation, repeat, i)
        for conversation, repeat, n in zip(
            s.runs.conversations, s.runs.repeats, s.lengths.tolist(), strict=True
        )
        for i in (range(1, n + 1) if n else (0,))
    ]


def _transposed(by_measure: dict[Measure, list[Any]], count: int) -> list[dict[Measure, Any]]:
    """From values by measure and repeat to values by repeat and measure."""
    return [{m: listed[i] for m, listed in by_measure.items()} for i in range(count)]


_COUNTS = ("R", "UR", "GR", "Dup", "G", "AvgGain", "MarginalGain")
_HEADINGS = {"MarginalGain": "marginal", "Tokens": "tokens", "Seconds": "seconds"}


def _cell(f: Figure) -> Any:
    """A figure for people, with bounds if missing labels leave it open."""
    return f.value if f.exact else f"{number(f.value)} [{number(f.lower)}, {number(f.upper)}]"


def _range(low: float, high: float) -> str:
    return "-" if low != low else f"[{number(low)}, {number(high)}]"
