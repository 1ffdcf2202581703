"""The funnel from evidence to answer: known, returned, opened, cited, and was the answer right.

docs/funnel.md defines every number.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from goodgain.agentic.square import Square, square_of
from goodgain.results.text import number, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.agentic.evidence import Evidence
    from goodgain.agentic.result import GoodGain
    from goodgain.agentic.runs import Figure
    from goodgain.agentic.system import SystemGain

FIGURES = ("Answer", "EvidenceRecall", "Searches", "CalibrationError")  # BrowseComp-Plus
RIGHT = 0.5  # the least Answer that counts as right
_CITATION_COUNTS = ("good", "not_good", "unlabelled", "unsupported", "unresolved")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the funnel: how much evidence got this far, and how much got no further than before.

    Of the `unknown` it is not recorded: runs without an answer may have cited it.
    """

    name: str
    evidence: int
    share: float  # of the known evidence
    lost: int
    unknown: int = 0
    measure: str | None = None
    figure: Figure | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "step": self.name,
            "evidence": self.evidence,
            "share": plain(self.share),
            "lost": self.lost,
            "unknown": self.unknown,
            "measure": self.measure,
            "figure": figure_dict(self.figure),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFunnel:
    """The evidence of one run, and what became of it.

    `turned` is the last iteration that brought new evidence, if some was missing and at least one
    iteration followed: from there on the conversation brought nothing. 0 if none ever did.
    """

    system: str
    conversation: str
    repeat: str
    answer: float | None
    confidence: float | None
    iterations: int
    turned: int | None
    evidence: tuple[Evidence, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            **{name: getattr(self, name) for name in self.__slots__ if name != "evidence"},
            "evidence": [e.to_dict() for e in self.evidence],
        }


class SystemFunnel:
    """The funnel of one system."""

    def __init__(self, system: SystemGain) -> None:
        self.system = system

    @property
    def name(self) -> str:
        """The name of the system."""
        return self.system.name

    def figure(self, measure: str) -> Figure:
        """The mean of a measure at the end of conversations."""
        return self.system.figure(measure)

    def _total(self, count: str) -> int:
        return int(self.system.evidence.count(count).sum())

    @property
    def has_opens(self) -> bool:
        """Whether any run opened anything, so that opening is a step."""
        return self._total("opens") > 0

    @property
    def has_answers(self) -> bool:
        """Whether the answer of any run is recorded, so that citing is a step."""
        return self._total("has_citations") > 0

    @property
    def recorded(self) -> bool:
        """Whether there is more to show than what searches returned."""
        return self.has_opens or self.citations["citing"] > 0 or self.is_checked

    @property
    def is_checked(self) -> bool:
        """Whether any answer was checked."""
        return self.answers is not None

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Known, returned, opened and cited evidence over all runs; steps that no trace records are left out.

        What is lost at a step got as far as the step before and no further, so that the known evidence is
        what is cited plus all losses, plus what is not recorded.
        """
        known = self._total("known")
        names = [("returned", "EvidenceRecall")]
        names += [("opened", "OpenedRecall")] if self.has_opens else []
        names += [("cited", "CitedRecall")] if self.has_answers else []
        lost, unknown = self._losses([name for name, _ in names])
        steps = [Step("known", known, 1.0 if known else math.nan, 0)]
        for name, measure in names:
            count = self._total(name)
            share = count / known if known else math.nan
            steps.append(
                Step(
                    name=name,
                    evidence=count,
                    share=share,
                    lost=lost[name],
                    unknown=unknown if name == "cited" else 0,
                    measure=measure,
                    figure=self.figure(measure),
                )
            )
        return tuple(steps)

    def _losses(self, names: list[str]) -> tuple[dict[str, int], int]:
        """The evidence that got only as far as the step before each, and what may have been cited."""
        lost, unknown = dict.fromkeys(names, 0), 0
        answered = self.system.evidence.count("has_citations").tolist()
        for rows, has_answer in zip(self.system.evidence.rows, answered, strict=True):
            for _, _, iteration, _, _, opened, cited in rows:
                reached = {
                    "returned": bool(iteration),
                    "opened": opened is not None,
                    "cited": cited,
                }
                furthest = max((i for i, name in enumerate(names) if reached[name]), default=-1)
                following = names[furthest + 1] if furthest + 1 < len(names) else None
                if following == "cited" and not has_answer:
                    unknown += 1
                elif following is not None:
                    lost[following] += 1
        return lost, unknown

    @cached_property
    def answers(self) -> dict[str, int] | None:
        """Runs by what is known of their answer; None if no answer could be checked."""
        value = self.system.final_of_runs("Answer")
        _, upper = self.system.final_bounds_of_runs("Answer")
        checked = upper == upper
        if not checked.any():
            return None
        answered = self.system.evidence.count("answered") > 0
        unknown = checked & (value != value)
        return {
            "gold": int(checked.sum()),
            "right": int((value >= RIGHT).sum()),
            "wrong": int((value < RIGHT).sum()),
            "unanswered": int((unknown & ~answered).sum()),
            "unknown": int((unknown & answered).sum()),
        }

    @cached_property
    def citations(self) -> dict[str, int]:
        """Runs with an answer, those that cite something, and what is cited, each document once a run."""
        counts = {name: self.system.evidence.count(name) for name in _CITATION_COUNTS}
        cited = counts["good"] + counts["not_good"] + counts["unlabelled"]
        return {
            "answers": self._total("has_citations"),
            "citing": int(((cited + counts["unresolved"]) > 0).sum()),
            "cited": int(cited.sum()),
            **{name.replace("_", " "): int(counts[name].sum()) for name in _CITATION_COUNTS},
            "unsupported": self._unsupported(),
        }

    def _unsupported(self) -> int:
        """Documents that are cited and were certainly not returned: an unread search may have had them."""
        values = self.system.final_of_runs("UnsupportedCitations")
        return int(values[values == values].sum())

    def square(self, evidence: Literal["any", "all"] = "any") -> Square | None:
        """Evidence against answers: any (EvidenceRecall > 0) or all of it (= 1), right or wrong."""
        return square_of(self.system, evidence, RIGHT) if self.is_checked else None

    @cached_property
    def iterations(self) -> dict[str, int]:
        """What every iteration brought; each is in one account.

        New evidence; nothing (results, but no new evidence); unknown (unlabelled or unread results that
        may be evidence); nothing because all its searches were empty, or because they failed.
        """
        import numpy as np

        s = self.system
        rows = np.repeat(s.lengths > 0, np.maximum(s.lengths, 1))

        def column(name: str) -> Any:
            return s.values[rows, s.column(name)]

        first = np.ones(int(rows.sum()), dtype=bool)
        begins = np.cumsum(s.lengths[s.lengths > 0])[:-1]
        first[:] = False
        first[np.concatenate([[0], begins]).astype(int)[: len(first)]] = True

        def of_iteration(name: str) -> Any:
            values = column(name)
            before = np.concatenate([[0], values[:-1]]) if len(values) else values
            return np.where(first, values, values - before)

        good = column("GR") > 0
        possible = ~good & (s.upper[rows, s.column("GR")] > 0)
        failed, empty = of_iteration("FailedSearches"), of_iteration("EmptySearches")
        without = ~good & ~possible & (failed + empty == of_iteration("Searches"))
        return {
            "evidence": int(good.sum()),
            "nothing": int((~good & ~possible & ~without).sum()),
            "unknown": int(possible.sum()),
            "empty": int((without & (failed == 0)).sum()),
            "failed": int((without & (failed > 0)).sum()),
        }

    @cached_property
    def turned(self) -> dict[str, int]:
        """Runs that went on without new evidence although some was missing, and those iterations."""
        dry = self.system.final_of_runs("DryIterations")
        dry = dry[dry > 0]
        return {"conversations": len(dry), "iterations": int(dry.sum())}

    @cached_property
    def hops(self) -> list[dict[str, Any]]:
        """For each hop of the gold evidence: how much of it got how far, and when it was returned."""
        if not self.system.evidence.hops:
            return []
        groups: dict[str, list[Evidence]] = {}
        for each in self.conversations():
            for e in each.evidence:
                if e.hop is not None:
                    groups.setdefault(e.hop, []).append(e)
        from goodgain.agentic.runs import natural

        rows = []
        for hop in sorted(groups, key=natural):
            listed = groups[hop]
            returned = [e.iteration for e in listed if e.iteration is not None]
            rows.append(
                {
                    "hop": hop,
                    "evidence": len(listed),
                    "returned": len(returned),
                    "opened": sum(e.opened is not None for e in listed),
                    "cited": sum(e.cited for e in listed),
                    "iteration": sum(returned) / len(returned) if returned else None,
                }
            )
        return rows

    def conversations(self) -> Iterator[ConversationFunnel]:
        """Every run, with its evidence."""
        s = self.system
        answers, stated = (s.final_of_runs(m).tolist() for m in ("Answer", "Confidence"))
        for i, (conversation, repeat) in enumerate(
            zip(s.runs.conversations, s.runs.repeats, strict=True)
        ):
            evidence = s.evidence.of_run(i, conversation)
            yield ConversationFunnel(
                system=s.name,
                conversation=conversation,
                repeat=repeat,
                answer=plain(answers[i]),
                confidence=plain(stated[i]),
                iterations=int(s.lengths[i]),
                turned=_turned(evidence, int(s.lengths[i])),
                evidence=evidence,
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain data; undefined numbers are None, unbounded ones "inf"."""
        bins = self.system.calibration_bins
        error = self.figure("CalibrationError")
        calibration = {"value": plain(error.value), "n": error.n, "bins": [asdict(b) for b in bins]}
        squares = {each: self.square(each) for each in ("any", "all")}
        return {
            "system": self.name,
            "conversations": len(self.system.conversations),
            "runs": len(self.system.runs.conversations),
            "figures": {name: figure_dict(self.figure(name)) for name in FIGURES},
            "steps": [step.to_dict() for step in self.steps],
            "answers": self.answers,
            "square": {k: v.to_dict() for k, v in squares.items() if v} or None,
            "citations": self.citations,
            "calibration": calibration if bins else None,
            "iterations": self.iterations,
            "turned": self.turned,
            "hops": self.hops,
        }

    def __repr__(self) -> str:
        steps = ", ".join(f"{step.evidence:,} {step.name}" for step in self.steps)
        return f"SystemFunnel('{self.name}': {steps})"


class Funnel:
    """The funnel of every system of a Good Gain, read from its values."""

    def __init__(self, gains: GoodGain) -> None:
        self._gains = gains
        self.systems = tuple(SystemFunnel(system) for system in gains.systems)

    def __getitem__(self, system: str) -> SystemFunnel:
        for each in self.systems:
            if each.name == system:
                return each
        raise KeyError(f"no system '{system}'; systems: {', '.join(s.name for s in self.systems)}")

    @property
    def recorded(self) -> bool:
        """Whether any trace records an open, a citation or an answer that could be checked."""
        return any(s.recorded for s in self.systems)

    @property
    def is_checked(self) -> bool:
        """Whether any answer was checked."""
        return any(s.is_checked for s in self.systems)

    def conversations(self, system: str | None = None) -> Iterator[ConversationFunnel]:
        """Every run, of one system or of all."""
        for each in self.systems if system is None else (self[system],):
            yield from each.conversations()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as /docs/funnel.md describes it."""
        settings = self._gains.settings
        return {
            "threshold": settings.threshold,
            "opens": settings.opens,
            "systems": [s.to_dict() for s in self.systems],
        }

    # --- as rows and tables ---

    def rows(self) -> list[list[Any]]:
        """Long rows as those of a Good Gain: system, name, value, n, interval."""
        listed: list[list[Any]] = []
        for s in self.systems:
            counts = {f"evidence {step.name}": step.evidence for step in s.steps}
            counts |= {f"evidence lost before {step.name}": step.lost for step in s.steps[1:]}
            counts |= {f"citations {name}": count for name, count in s.citations.items()}
            counts |= {f"answers {name}": count for name, count in (s.answers or {}).items()}
            counts |= {f"iterations {name}": count for name, count in s.iterations.items()}
            runs = len(s.system.runs.conversations)
            listed += [
                [s.name, name, count, runs, math.nan, math.nan] for name, count in counts.items()
            ]
            for which in ("any", "all"):
                square = s.square(which)
                for cell in square.cells if square else ():
                    name = f"{cell.title(which)} evidence"
                    listed.append([s.name, name, cell.share, square.n, cell.low, cell.high])  # type: ignore[union-attr]
        return listed

    def render(self, format: str = "table", evidence: Literal["any", "all"] = "any") -> str:  # noqa: A002
        """The funnel as text: figures and steps, then evidence against answers."""
        names = [s.name for s in self.systems]
        tables = [render(format, ["funnel", *names], self._figure_rows())]
        if self.is_checked:
            rows = self._square_rows(evidence)
            title = "all evidence returned" if evidence == "all" else "evidence returned"
            tables.append(render(format, [title, "answer", *names], rows))
        if any(s.hops for s in self.systems):
            columns = ["system", "hop", "evidence", "returned", "opened", "cited", "iteration"]
            cells = [[s.name, *hop.values()] for s in self.systems for hop in s.hops]
            tables.append(render(format, columns, cells))
        return "\n".join(tables)

    def _figure_rows(self) -> list[list[Any]]:
        """A row per number, a column per system."""
        rows: list[list[Any]] = []

        def add(label: str, values: list[Any]) -> None:
            if any(value is not None for value in values):
                rows.append([label, *("-" if value is None else value for value in values)])

        add("conversations", [len(s.system.conversations) for s in self.systems])
        labels = ("accuracy", "recall of evidence", "searches", "calibration error")
        for label, measure in zip(labels, FIGURES, strict=True):
            add(label, [_cell(s.figure(measure)) for s in self.systems])
        names = dict.fromkeys(step.name for s in self.systems for step in s.steps)
        for name in names:
            steps = [next((x for x in s.steps if x.name == name), None) for s in self.systems]
            label = {"known": "evidence known"}.get(name, f"  {name}")
            add(label, [_step_cell(step) for step in steps])
        for label, measure in (("citation precision", "CitationPrecision"),
                               ("unsupported citations", "UnsupportedCitations")):  # fmt: skip
            cited = any(s.citations["citing"] for s in self.systems)
            add(label, [_cell(s.figure(measure)) if cited else None for s in self.systems])
        unresolved = [s.citations["unresolved"] for s in self.systems]
        add("unresolved markers", [u or None for u in unresolved])
        for label, key in (("without an answer", "unanswered"), ("answer not judged", "unknown")):
            add(label, [(s.answers or {}).get(key) or None for s in self.systems])
        add("turned bad", [_turned_cell(s) for s in self.systems])
        add("iterations contributing", [_brought(s) for s in self.systems])
        return rows

    def _square_rows(self, evidence: Literal["any", "all"]) -> list[list[Any]]:
        rows: list[list[Any]] = []
        squares = [s.square(evidence) for s in self.systems]
        for i in range(4):
            cells = [square.cells[i] if square else None for square in squares]
            some = next(cell for cell in cells if cell)
            rows.append(
                [
                    "yes" if some.evidence else "no",
                    "right" if some.right else "wrong",
                    *("-" if cell is None else cell.text() for cell in cells),
                ]
            )
        if any(square and square.unknown for square in squares):
            rows.append(
                ["not known", "-", *(square.unknown if square else "-" for square in squares)]
            )
        return rows

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        return f"Funnel({', '.join(s.name for s in self.systems)})"


def _turned(evidence: tuple[Evidence, ...], iterations: int) -> int | None:
    """See `ConversationFunnel.turned`."""
    if all(e.iteration is not None for e in evidence):
        return None
    last = max((e.iteration for e in evidence if e.iteration is not None), default=0)
    return last if last < iterations else None


def plain(value: float) -> Any:
    """A number as JSON has it: None if undefined, "inf" if unbounded."""
    return None if value != value else "inf" if math.isinf(value) else value


def figure_dict(figure: Figure | None) -> dict[str, Any] | None:
    """A figure as plain data."""
    if figure is None:
        return None
    return {
        name: plain(getattr(figure, name))
        for name in ("value", "n", "low", "high", "lower", "upper")
    }


def _cell(figure: Figure) -> str | None:
    """A mean with its interval, and its bounds if it has any."""
    if not figure.n:
        return None
    text = number(figure.value)
    if figure.low == figure.low:
        text += f" ±{number(figure.high - figure.value)}"
    return text if figure.exact else f"{text} [{number(figure.lower)}, {number(figure.upper)}]"


def _step_cell(step: Step | None) -> str | None:
    if step is None or (not step.evidence and step.name == "known"):
        return None
    if step.name == "known":
        return f"{step.evidence:,}"
    share = "-" if step.share != step.share else f"{100 * step.share:.0f} %"
    unknown = f", {step.unknown:,} not recorded" if step.unknown else ""
    return f"{step.evidence:,} ({share}), {step.lost:,} lost{unknown}"


def _turned_cell(s: SystemFunnel) -> str | None:
    runs, iterations = s.turned["conversations"], s.turned["iterations"]
    return f"{runs:,} conversations, {iterations:,} iterations" if runs else None


def _brought(s: SystemFunnel) -> str | None:
    counts = ", ".join(f"{count:,} {name}" for name, count in s.iterations.items() if count)
    return counts or None
