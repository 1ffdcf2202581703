"""Ensembles: several judges or prompts label every pair, and a named rule makes one gain of theirs.

The members' labels are stored and paid for once, each under its own setting; the ensemble is a setting of its
own whose pairs refer to the members' replies, so a reply that is retried later counts in the ensemble too.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from itertools import count
from statistics import median_low
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import UsageError
from goodgain.labels.judges.registry import judge_of
from goodgain.labels.store import PairRow, Setting
from goodgain.labels.template import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from goodgain.labels.judges.protocol import Judge
    from goodgain.labels.result import Labels
    from goodgain.labels.store import Store

RULES = {
    "vote": "the most frequent gain; in a tie, the one nearest to the median, then the lower",
    "mean": "the mean of the gains, which may lie between two grades",
    "median": "the median, or the lower of two",
}
_BATCH = 500
_numbers = count()


class Member(NamedTuple):
    """A judge with the prompt that it uses; None is the prompt of the call."""

    judge: Judge
    prompt: Prompt | None


class Opinion(NamedTuple):
    """What one member says about a pair: its gain, or the status that says why it has none."""

    gain: float | None
    status: str
    detail: str


class Combined(NamedTuple):
    """What the members say together; `spread` is the largest difference between two of them."""

    gain: float | None
    status: str
    members: int  # with a gain
    spread: float | None
    detail: str


class Ensemble:
    """Several judges whose gains are combined.

    `members` are judges, names of models, or (judge, prompt). `rule` is vote, mean or median. A member
    that fails has no gain and is left out; with fewer than `minimum` gains (by default more than half of
    the members) the pair has none either.
    """

    def __init__(
        self,
        members: Sequence[Judge | str | tuple[Judge | str, Prompt | str | None]],
        rule: str = "vote",
        minimum: int | None = None,
        name: str | None = None,
    ) -> None:
        if rule not in RULES:
            raise UsageError(
                f"unknown rule '{rule}' of an ensemble", hint=f"one of: {', '.join(RULES)}"
            )
        if len(members) < 2:
            raise UsageError(f"an ensemble needs at least two members, got {len(members)}")
        self.members = tuple(_member(member) for member in members)
        self.rule = rule
        self.minimum = len(members) // 2 + 1 if minimum is None else minimum
        if not 1 <= self.minimum <= len(members):
            raise UsageError(
                f"the minimum of members must be from 1 to {len(members)}, got {self.minimum}"
            )
        self.name = name

    def setting(
        self, members: Sequence[Setting], replicates: int, name: str | None = None
    ) -> Setting:
        """The setting of the ensemble, with its members; they must be different and have one scale."""
        twice = [s for s, n in Counter(s.digest for s in members).items() if n > 1]
        if twice:
            same = next(s for s in members if s.digest == twice[0])
            raise UsageError(
                f"the ensemble has the member '{same}' twice",
                hint="members must differ in judge, prompt or parameters",
            )
        scales = {(s.low, s.high) for s in members}
        if len(scales) > 1:
            listed = ", ".join(f"{s} has {s.low}-{s.high}" for s in members)
            raise UsageError(f"the members of the ensemble have different scales: {listed}")
        names = ", ".join(s.model for s in members)
        prompts = {s.prompt for s in members}
        facts = [{"model": s.model, "prompt": s.prompt, "digest": s.digest} for s in members]
        return Setting(
            prompt=prompts.pop() if len(prompts) == 1 else "several prompts",
            model=name or self.name or f"{self.rule}({names})",
            parameters={
                "ensemble": {
                    "rule": self.rule, "minimum": self.minimum, "replicates": replicates,
                    "members": facts,
                }
            },
            low=members[0].low,
            high=members[0].high,
        )  # fmt: skip


def _member(value: Any) -> Member:
    judge, prompt = value if isinstance(value, tuple) else (value, None)
    return Member(judge_of(judge), None if prompt is None else Prompt.of(prompt))


def combine(opinions: Sequence[Opinion], rule: str, minimum: int, members: int) -> Combined:
    """One gain by the rule, if enough members have one; a failure is never a gain."""
    gains = [opinion.gain for opinion in opinions if opinion.gain is not None]
    spread = max(gains) - min(gains) if gains else None
    failed = [o for o in opinions if o.gain is None]
    missing = members - len(gains)
    detail = ""
    if missing:
        reasons = Counter(o.status for o in failed)
        reasons["pending"] += members - len(opinions)
        why = ", ".join(f"{n} {status}" for status, n in reasons.items() if n)
        detail = f"{len(gains)} of {members} members have a gain ({why})"
    if len(gains) >= minimum:
        return Combined(_RULES[rule](gains), "ok", len(gains), spread, detail)
    counts = Counter(o.status for o in failed)
    status = counts.most_common(1)[0][0] if counts else "pending"
    return Combined(None, status, len(gains), spread, f"{detail}; at least {minimum} are needed")


def combine_replies(replies: Mapping[int, Opinion], parameters: Mapping[str, Any]) -> Combined:
    """The members' replies by replicate: first one gain per member, then the rule over members."""
    size = int(parameters["replicates"])
    members: dict[int, list[Opinion]] = {}
    for number, reply in replies.items():
        members.setdefault(number // size, []).append(reply)
    opinions = []
    for own in members.values():
        gains = [reply.gain for reply in own if reply.gain is not None]
        opinions.append(Opinion(median_low(gains), "ok", "") if gains else own[-1])
    return combine(
        opinions, str(parameters["rule"]), int(parameters["minimum"]), len(parameters["members"])
    )


def gain_of_replies(gains: Mapping[int, float | None], setting: Setting) -> float | None:
    """The gain of a pair from those of its replicates: by the rule of an ensemble, else the median."""
    if ensemble := setting.parameters.get("ensemble"):
        opinions = {
            number: Opinion(gain, "pending" if gain is None else "ok", "")
            for number, gain in gains.items()
        }
        return combine_replies(opinions, ensemble).gain
    known = [gain for gain in gains.values() if gain is not None]
    return median_low(known) if known else None


def _vote(gains: list[float]) -> float:
    counts = Counter(gains)
    most = max(counts.values())
    middle = median_low(gains)
    return min((g for g, n in counts.items() if n == most), key=lambda g: (abs(g - middle), g))


_RULES: dict[str, Callable[[list[float]], float]] = {
    "vote": _vote,
    "mean": lambda gains: sum(gains) / len(gains),
    "median": median_low,
}


def label_ensemble(
    ensemble: Ensemble,
    source: Any,
    store: Store,
    label_one: Callable[..., Labels],
    *,
    name: str | None,
    prompt: Prompt | str | None,
    replicates: int,
    **options: Any,
) -> Labels:
    """Label with every member in turn, then store which replies make up the ensemble's labels."""
    from goodgain.labels.result import Labels

    reread = isinstance(source, str | os.PathLike | list | tuple | Mapping)
    pairs = source if reread or hasattr(source, "__arrow_c_stream__") else list(source)
    results: list[Labels] = []
    for member in ensemble.members:
        results.append(
            label_one(
                pairs, member.judge, store, prompt=member.prompt or prompt, replicates=replicates,
                **options,
            )
        )  # fmt: skip
        stopped = results[-1].summary is not None and results[-1].summary.stopped
        if stopped:
            break
    settings = [labels.setting for labels in results]
    summary = _total([labels.summary for labels in results])
    if len(results) < len(ensemble.members):  # the others are asked when the command runs again
        return Labels(store, settings[-1], results[-1].pairs_table, summary)
    setting = ensemble.setting(settings, replicates, name)
    table = f"plan_ensemble_{next(_numbers)}"
    store.db.create(
        f"CREATE TEMPORARY TABLE {table} (id INTEGER PRIMARY KEY, query TEXT, doc TEXT, key TEXT, "
        "replicate INTEGER, question TEXT)"
    )
    for number, labels in enumerate(results):
        store.db.execute(
            f"INSERT INTO {table} (query, doc, key, replicate, question) SELECT query, doc, key, "
            f"replicate + {number * replicates}, question FROM {labels.pairs_table} ORDER BY id"
        )
    for rows in _batches(store, table):
        store.add_pairs(setting, rows)
    return Labels(store, setting, table, summary)


def _batches(store: Store, table: str) -> Iterator[list[PairRow]]:
    last = 0
    while rows := store.db.execute(
        f"SELECT id, query, doc, key, replicate, question FROM {table} WHERE id > ? ORDER BY id "
        f"LIMIT {_BATCH}",
        (last,),
    ).fetchall():
        last = rows[-1][0]
        yield [PairRow(*row[1:]) for row in rows]


def _total(summaries: Sequence[Any]) -> Any:
    """The summaries of the members' runs as one."""
    from goodgain.labels.progress import Progress

    first = summaries[0]
    total = Progress(total=0, pairs=first.pairs, cost=first.cost if first.cost is None else 0.0)
    total.started = first.started
    for summary in summaries:
        for field in fields(Progress):
            value = getattr(summary, field.name)
            if field.name == "unused":  # the members have the same pairs, but not the same prompt
                total.unused |= value
            elif isinstance(value, Counter):
                getattr(total, field.name).update(value)
            elif type(value) is int and field.name != "pairs":
                setattr(total, field.name, getattr(total, field.name) + value)
        total.last_failure = summary.last_failure or total.last_failure
        if summary.cost is not None:
            total.cost = (total.cost or 0.0) + summary.cost
        total.stopped = total.stopped or summary.stopped
    total.ended = summaries[-1].ended
    return total
