"""The result of Good Gain: tables per iteration and conversation, saved like an Evaluation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from goodgain.agentic.conversations import Conversations
from goodgain.agentic.notes import notes
from goodgain.agentic.settings import GainSettings
from goodgain.agentic.system import SystemGain
from goodgain.agentic.tables import DEFAULT_COMPARED, SUMMARY, GainTables
from goodgain.errors import InputError
from goodgain.measures.grammar import make
from goodgain.measures.registry import definitions
from goodgain.results.frames import AsFrames
from goodgain.results.judges import judge_notes
from goodgain.results.notebook import warnings_html
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import html_table
from goodgain.results.views import Reportable
from goodgain.stats.seeds import seed_spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goodgain.agentic.funnel import Funnel
    from goodgain.agentic.runs import Figure
    from goodgain.agentic.trajectory import TrajectoryDiff
    from goodgain.io.sources import Source
    from goodgain.measures.definition import Measure
    from goodgain.stats.seeds import SeedSpread
    from goodgain.traces.ledger import Ledger


class GoodGain(GainTables, SavedAsJson, AsFrames, Reportable):
    """Good Gain of one or several systems.

    With one system it is a mapping from measures to means at the end of conversations:
    `result["CG"]`. With several it is a mapping from their names to `SystemGain`:
    `result["agent-a"]["CG"]`. `systems` is always the tuple of systems.

    >>> import goodgain as gg
    >>> with gg.record("traces.jsonl") as recorder:
    ...     recorder.search("join paths", [{"url": "https://a.example/join", "gain": 3}])
    ...     recorder.search("path join", [{"url": "https://a.example/join"}])
    ...     recorder.search("pathlib", [{"url": "https://b.example/pathlib", "gain": 4}])
    ...
    >>> result = gg.good_gain("traces.jsonl")
    >>> result["CG"], round(result["SRR"], 4)
    (7.0, 0.3333)
    >>> result.figure("CG", iteration=1).value
    3.0
    """

    KIND = "good gain"
    FORMAT = 4
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
    def funnel(self) -> Funnel:
        """What became of the evidence: returned, opened, cited, and were the answers right."""
        from goodgain.agentic.funnel import Funnel

        return Funnel(self)

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

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def __repr__(self) -> str:
        count = sum(len(s.conversations) for s in self.systems)
        names = ", ".join(self.names)
        systems = f"{len(self._systems)} system{'s' * (len(self._systems) != 1)}"
        return f"GoodGain({systems}: {names}; {count:,} conversations)"

    def _repr_html_(self) -> str:
        by_iteration = f"by iteration, {self.settings.align} conversations"
        tables = html_table(*self.table(), by_iteration) + html_table(*self.summary_cells())
        note = "<p>Below each mean: its 95% interval over conversations.</p>"
        return tables + note + warnings_html(self.warnings())

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
            "funnel": self.funnel.to_dict(),
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

        from goodgain.results.shapes import GOOD_GAIN, require_shape

        require_shape(data, GOOD_GAIN)
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


def _transposed(by_measure: dict[Measure, list[Any]], count: int) -> list[dict[Measure, Any]]:
    """From values by measure and repeat to values by repeat and measure."""
    return [{m: listed[i] for m, listed in by_measure.items()} for i in range(count)]
