"""When to stop searching: recorded conversations replayed under stopping rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from goodgain.agentic.oracle import OracleCurve
from goodgain.agentic.outcomes import Outcome, SystemReplay, SystemRuns
from goodgain.agentic.replay import Replay
from goodgain.agentic.result import GoodGain
from goodgain.agentic.rules import COSTS, Combined, Spent, StopRule
from goodgain.agentic.scorer import good_gain
from goodgain.errors import InputError, UsageError
from goodgain.results.frames import AsFrames
from goodgain.results.frozen import Frozen
from goodgain.results.notebook import warnings_html
from goodgain.results.numbers import hundredths
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, html_table, render, render_data
from goodgain.results.views import Reportable
from goodgain.stats.paired import Resampling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goodgain.agentic.rules import Condition
    from goodgain.agentic.runs import Figure

DEFAULT_RULES = (
    "after 1", "after 2", "after 3", "after 5", "after 10", "stale 1", "stale 2", "quiet 1", "quiet 2",
)  # fmt: skip
BOOTSTRAPS = 2_000
MAX_SENTENCES = 5  # above the table in a terminal
_LEADING = (
    "tokens",
    "cost",
    "seconds",
    "searches",
)  # the cost of a sentence: the first that is known


def stopping(
    traces: Any,
    rules: Any = None,
    *,
    confidence: float = 0.95,
    bootstraps: int = BOOTSTRAPS,
    seed: int = 0,
    **options: Any,
) -> Stopping:
    """Replay conversations under stopping rules: what each would have saved, and what it would have lost.

    `traces` is a `GoodGain`, or whatever `good_gain` takes, with its `options`. `rules` are texts such as
    "after 3" or "after 8 or stale 2", functions of the `Progress` after each iteration, `StopRule`s, or
    {name: any of these}; by default a selection of the simple ones. Intervals are by bootstrap over
    conversations.

    >>> import goodgain as gg
    >>> with gg.record("traces.jsonl") as recorder:
    ...     for query in ("seine", "seine river", "seine source"):
    ...         recorder.search(query, [{"url": "https://a.example/seine", "gain": 4}])
    ...
    >>> print(gg.stopping("traces.jsonl", ["after 1", "stale 1"]))
    'after 1' keeps 100.0 % of the gain for 33.3 % of the searches
    'stale 1' keeps 100.0 % of the gain for 66.7 % of the searches
    <BLANKLINE>
    rule     stopped early  gain kept  95 % interval  searches saved  best gain for these searches
    after 1  1 of 1         100.0 %    -              66.7 %          100.0 %
    stale 1  1 of 1         100.0 %    -              33.3 %          100.0 %
    """
    if not isinstance(traces, GoodGain):
        traces = good_gain(traces, **options)
    elif options:
        raise UsageError(
            f"stopping() of a GoodGain has no parameter '{next(iter(options))}'",
            hint="pass it to good_gain()",
        )
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must be between 0 and 1, got {confidence}")
    resampling = Resampling(bootstraps=bootstraps, seed=seed)
    systems = [
        SystemReplay(Replay(s, traces.conversations), confidence, resampling)
        for s in traces.systems
    ]
    listed = _default_rules(traces) if rules is None else _rules(rules)
    for rule in listed:
        _require_costs(rule, systems)
    return Stopping(
        rules=tuple(rule.name for rule in listed),
        outcomes=tuple(outcome for s in systems for outcome in s.outcomes(listed)),
        curves=tuple(curve for s in systems for curve in s.curves.values() if curve.points),
        runs=tuple(s.recorded for s in systems),
        settings={
            **traces.settings.to_dict(),
            "confidence": confidence,
            "bootstraps": bootstraps,
            "seed": seed,
        },
        inputs=traces.inputs(),
    )


def _rules(rules: Any) -> list[StopRule]:
    if isinstance(rules, Mapping):
        listed = [StopRule.of(rule, str(name)) for name, rule in rules.items()]
    elif isinstance(rules, str | StopRule) or callable(rules):
        listed = [StopRule.of(rules)]
    else:
        listed = [StopRule.of(rule) for rule in rules]
    if not listed:
        raise UsageError("no stopping rules", hint="for example 'after 3', 'stale 2'")
    unique = {rule.name: rule for rule in listed}
    for name, rule in unique.items():
        others = [r for r in listed if r.name == name and r.condition != rule.condition]
        if others:
            raise UsageError(
                f"two stopping rules are called '{name}'", hint="name them: rules={name: rule}"
            )
    return list(unique.values())


def _default_rules(gain: GoodGain) -> list[StopRule]:
    """Rules on searches that stop somewhere, and those on news; oracles only where there are labels."""
    longest = max(
        (float(s.values[:, s.column("Searches")].max(initial=0)) for s in gain.systems), default=0
    )
    rules = [StopRule(text) for text in DEFAULT_RULES]
    return [
        rule
        for rule in rules
        if (not rule.is_oracle or gain.labelled)
        and not (isinstance(rule.condition, Spent) and rule.condition.amount >= longest > 1)
    ]


def _require_costs(rule: StopRule, systems: Sequence[SystemReplay]) -> None:
    """A budget of something that no trace records would never stop anything."""
    for what in _budgets(rule.condition):
        known = any((s.replay.spent(what) >= 0).any() for s in systems)
        if systems and not known:
            field = {"seconds": "latency"}.get(what, what)
            raise InputError(
                f"the traces do not record {what}, so '{rule.name}' cannot be replayed",
                hint=f"every search needs the field {field}, or every iteration {what}",
            )


def _budgets(condition: Condition) -> Iterator[str]:
    if isinstance(condition, Combined):
        for each in condition.conditions:
            yield from _budgets(each)
    elif isinstance(condition, Spent):
        yield condition.what


class Stopping(Frozen, SavedAsJson, AsFrames, Reportable):
    """What stopping rules would have saved and lost, for each rule and system.

    `outcomes` has the figures, `curves` the best trade-off with hindsight, for each cost that is known.

    >>> import goodgain as gg
    >>> with gg.record("traces.jsonl") as recorder:
    ...     for query in ("seine", "seine river", "seine source"):
    ...         recorder.search(query, [{"url": "https://a.example/seine", "gain": 4}])
    ...
    >>> outcome, = gg.stopping("traces.jsonl", "stale 1").outcomes
    >>> outcome.retained.value, round(outcome.saved["searches"].value, 4)
    (1.0, 0.3333)
    """

    KIND = "stopping"
    FORMAT = 1

    rules: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    curves: tuple[OracleCurve, ...]
    runs: tuple[SystemRuns, ...]
    settings: dict[str, Any]

    def __init__(
        self,
        *,
        rules: tuple[str, ...],
        outcomes: tuple[Outcome, ...],
        curves: tuple[OracleCurve, ...],
        runs: tuple[SystemRuns, ...],
        settings: dict[str, Any],
        inputs: list[dict[str, Any]],
        created: float | None = None,
        version: str | None = None,
    ) -> None:
        import time

        vars(self).update(
            rules=rules,
            outcomes=outcomes,
            curves=curves,
            runs=runs,
            settings=settings,
            _inputs=inputs,
            _created=time.time() if created is None else created,
            _version=version,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(runs.name for runs in self.runs)

    def outcome(self, rule: str, system: str | None = None) -> Outcome:
        """The outcome of a rule."""
        if system is None and len(self.runs) == 1:
            system = self.runs[0].name
        for outcome in self.outcomes:
            if (outcome.system, outcome.rule) == (system, rule):
                return outcome
        if system is None:
            raise KeyError(f"several systems: choose one of {', '.join(self.names)}")
        raise KeyError(f"no rule '{rule}' of system '{system}'; rules: {', '.join(self.rules)}")

    def curve(self, cost: str, system: str | None = None) -> OracleCurve:
        """The best trade-off of gain and a cost; without points where the cost is not known."""
        system = system or self.names[0]
        for curve in self.curves:
            if (curve.system, curve.cost) == (system, cost):
                return curve
        return OracleCurve(system=system, cost=cost, points=())

    def costs(self, system: str | None = None) -> tuple[str, ...]:
        """The costs that are known for a system, or for any."""
        own = [o for o in self.outcomes if system in (None, o.system)]
        return tuple(c for c in COSTS if any(_known(o.saved[c]) for o in own))

    def leading_cost(self, system: str | None = None) -> str:
        """The cost to speak of: tokens if they are known, or else cost, seconds, searches."""
        costs = self.costs(system)
        return next((c for c in _LEADING if c in costs), "searches")

    # --- as sentences, rows and tables ---

    def sentences(self) -> list[str]:
        """One for each rule: what it keeps of the gain, for which share of the cost."""
        return [self.sentence(outcome) for outcome in self.outcomes]

    def sentence(self, outcome: Outcome) -> str:
        """'after 2 keeps 97.0 % [95.1, 98.4] of the gain for 61.2 % [..] of the tokens'."""
        cost = self.leading_cost(outcome.system)
        system = f"{outcome.system}: " if len(self.runs) > 1 else ""
        oracle = " (an oracle: it needs labels)" if outcome.is_oracle else ""
        gain = _share_text(outcome.retained)
        keeps = f"keeps {gain} of the gain" if gain else "keeps an unknown share of the gain"
        price = _share_text(outcome.spent(cost)) or "an unknown share"
        return f"{system}'{outcome.rule}'{oracle} {keeps} for {price} of the {cost}"

    def rows(self, per_conversation: bool = False) -> tuple[list[str], list[list[Any]]]:
        """Column names and long rows: for each rule the gain kept and the costs saved, as shares."""
        if per_conversation:
            return self._conversation_rows()
        rows = [
            [
                o.system, o.rule, o.is_oracle, name, f.value, f.n, f.low, f.high, f.lower, f.upper,
                o.best.get(cost), o.early, o.losing, o.undecided,
            ]
            for o in self.outcomes
            for cost, name, f in (
                ("", "gain kept", o.retained),
                *((cost, f"{cost} saved", o.saved[cost]) for cost in COSTS),
            )
        ]  # fmt: skip
        header = [
            "system", "rule", "oracle", "measure", "value", "n", "ci_low", "ci_high", "lower", "upper",
            "best_gain", "early", "losing", "undecided",
        ]  # fmt: skip
        return header, rows

    def _conversation_rows(self) -> tuple[list[str], list[list[Any]]]:
        """A row for each run and rule: where it ends, and the gain by then."""
        runs = {r.name: r for r in self.runs}
        rows = []
        for o in self.outcomes:
            r = runs[o.system]
            for name, repeat, n, gain, stop, left in zip(
                r.conversations, r.repeats, r.iterations, r.gains, o.stops, o.gains, strict=True
            ):
                rows.append(
                    [o.system, o.rule, name, repeat, None if stop < 0 else stop, n, left, gain]
                )
        header = [
            "system",
            "rule",
            "conversation",
            "repeat",
            "stop",
            "iterations",
            "gain",
            "full_gain",
        ]
        return header, rows

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """A row per rule for people: shares in percent, with intervals and bounds."""
        several = len(self.runs) > 1
        costs, lead = self.costs(), self.leading_cost()
        level = f"{100 * self.settings['confidence']:g} % interval"
        rows = []
        for o in self.outcomes:
            rule = f"{o.rule} (oracle)" if o.is_oracle else o.rule
            cells = [_percent(o.saved[c].value) + _bounds(o.saved[c]) for c in costs]
            rows.append([
                *([o.system] if several else []), rule, f"{o.early} of {self._count(o)}",
                _percent(o.retained.value) + _bounds(o.retained), _interval(o.retained), *cells,
                _percent(o.best[lead]),
            ])  # fmt: skip
        header = [
            *(["system"] if several else []), "rule", "stopped early", "gain kept", level,
            *(f"{c} saved" for c in costs), f"best gain for these {lead}",
        ]  # fmt: skip
        return header, rows

    def _count(self, outcome: Outcome) -> int:
        return len(outcome.stops)

    def render(self, format: str = "table", per_conversation: bool = False) -> str:  # noqa: A002
        """The result as text, in any format of the command line."""
        if format in LONG_FORMATS or per_conversation:
            return render_data(format, *self.rows(per_conversation))
        text = render(format, *self.table())
        if format != "table" or len(self.outcomes) > MAX_SENTENCES:
            return text
        return "".join(f"{sentence}\n" for sentence in self.sentences()) + "\n" + text

    def _frame_rows(self, per_conversation: bool = False) -> tuple[list[str], list[list[Any]]]:
        return self.rows(per_conversation)

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def __repr__(self) -> str:
        return f"Stopping({len(self.rules)} rules; {', '.join(self.names)})"

    def _repr_html_(self) -> str:
        return html_table(*self.table()) + warnings_html(self.warnings())

    def warnings(self) -> list[str]:
        """What is bounded, undefined, or an oracle."""
        return list(dict.fromkeys(self._warnings()))

    def _warnings(self) -> Iterator[str]:
        oracles = list(dict.fromkeys(o.rule for o in self.outcomes if o.is_oracle))
        if oracles:
            verb = "needs" if len(oracles) == 1 else "need"
            yield f"{_quoted(oracles)} {verb} labels, which no agent has: an oracle, not a rule to follow"
        for runs in self.runs:
            yield from _caveats(runs)
            yield from self._rule_caveats(runs)

    def _rule_caveats(self, runs: SystemRuns) -> Iterator[str]:
        """What is not known of rules, and rules that lost nothing."""
        own = [o for o in self.outcomes if o.system == runs.name]
        name = f"{runs.name}: " if len(self.runs) > 1 else ""
        for o in own:
            if o.undecided:
                yield (
                    f"{name}where '{o.rule}' stops is not known in {o.undecided:,} of {len(o.stops):,} "
                    "conversations, so its figures are bounds"
                )
        n = runs.count
        decided = [o for o in own if not o.undecided and runs.good and n > 1]
        if harmless := [o.rule for o in decided if not o.losing]:
            most = 100 * (1 - (1 - self.settings["confidence"]) ** (1 / n))
            yield (
                f"{name}none of {n:,} conversations loses gain under {_quoted(harmless)}, so there is no "
                f"interval; up to {most:.1f} % of such conversations may lose some"
            )

    # --- as data ---

    def inputs(self) -> list[dict[str, Any]]:
        """The traces and labels behind it."""
        return list(vars(self)["_inputs"])

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: what `save` writes."""
        import datetime

        from goodgain import __version__

        created = datetime.datetime.fromtimestamp(vars(self)["_created"], datetime.UTC)
        return {
            "goodgain": self.KIND,
            "format": self.FORMAT,
            "version": vars(self)["_version"] or __version__,
            "created": created.isoformat(timespec="seconds"),
            "settings": self.settings,
            "inputs": self.inputs(),
            "rules": list(self.rules),
            "systems": [runs.to_dict() for runs in self.runs],
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "curves": [curve.to_dict() for curve in self.curves],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        import datetime

        return cls(
            rules=tuple(data["rules"]),
            outcomes=tuple(Outcome.from_dict(o) for o in data["outcomes"]),
            curves=tuple(OracleCurve.from_dict(c) for c in data["curves"]),
            runs=tuple(SystemRuns.from_dict(r) for r in data["systems"]),
            settings=data["settings"],
            inputs=data["inputs"],
            created=datetime.datetime.fromisoformat(data["created"]).timestamp(),
            version=data["version"],
        )


def _caveats(runs: SystemRuns) -> Iterator[str]:
    for what, unknown in runs.unknown.items():
        if unknown and (unknown < runs.count):
            yield (
                f"{runs.name}: {what} are not known in {unknown:,} of {runs.count:,} conversations, so "
                "what a rule saves of them is undefined"
            )
    if runs.unread:
        yield (
            f"{runs.name}: {runs.unread:,} searches are unread; what a rule keeps of the gain is bounded, "
            "and so is where a rule on results stops"
        )
    if not runs.good:
        yield f"{runs.name}: no result is known to be good, so there is no gain to keep"
    elif runs.unlabelled > 0:
        yield (
            f"{runs.name}: {100 * runs.unlabelled:.1f} % of the unique results have no label and count as "
            "not good; [lower, upper] bounds what they could change"
        )


def _quoted(rules: Iterable[str]) -> str:
    return ", ".join(f"'{rule}'" for rule in rules)


def _known(figure: Figure) -> bool:
    return figure.value == figure.value or figure.lower == figure.lower


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{hundredths(share)} %"


def _interval(f: Figure) -> str:
    if math.isnan(f.low):
        return "-"
    return f"[{hundredths(f.low)}, {hundredths(f.high)}]"


def _bounds(f: Figure) -> str:
    """The bounds that missing labels and unread searches leave, if they leave any."""
    return f" ({hundredths(f.lower)} to {hundredths(f.upper)})" if f.is_open else ""


def _share_text(f: Figure) -> str:
    """A share with its interval, or only its bounds; empty if nothing is known."""
    if math.isnan(f.value):
        if math.isnan(f.lower):
            return ""
        return f"{hundredths(f.lower)} to {hundredths(f.upper)} %"
    interval = "" if math.isnan(f.low) else f" {_interval(f)}"
    return f"{_percent(f.value)}{interval}{_bounds(f)}"
