"""From pairs and a judge to labels, and what that would take."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.cores import available_cores
from goodgain.errors import UsageError
from goodgain.labels.canaries import with_canaries
from goodgain.labels.judges.anthropic import AnthropicJudge
from goodgain.labels.judges.openai import OpenAIJudge
from goodgain.labels.judges.protocol import STATUSES, model_of, parameters_of
from goodgain.labels.judges.spread import Spread
from goodgain.labels.limits import Limits
from goodgain.labels.pairs import is_pairs, pairs_of
from goodgain.labels.plan import Plan
from goodgain.labels.result import Labels
from goodgain.labels.runner import Runner
from goodgain.labels.store import Setting, Store
from goodgain.labels.template import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from goodgain.labels.judges.client import ClientJudge
    from goodgain.labels.judges.protocol import Judge
    from goodgain.labels.pairs import Pair
    from goodgain.labels.runner import Progress

TEXT_LIMIT = 24_000  # characters of a document
AGAIN = ("error",)  # nothing was paid for these
AT_ONCE = 64  # calls of one process: it falls behind where replies take less than about 50 ms
WORTH_IT = 1_000  # calls for each process, which takes a second to start
KINDS = {"openai": OpenAIJudge, "anthropic": AnthropicJudge}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What labelling would take; tokens are guessed cautiously, the money is the most it could be."""

    pairs: int
    labels: int
    known: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    spent: float


def label(
    source: Any,
    judge: Judge | str,
    store: Store | str | os.PathLike[str] | None = None,
    *,
    prompt: Prompt | str | None = None,
    replicates: int = 1,
    batch: int = 1,
    concurrency: int | None = None,
    processes: int | None = None,
    budget: float | None = None,
    limits: Limits | None = None,
    text_limit: int = TEXT_LIMIT,
    canaries: int = 0,
    identity: Any = None,
    again: Iterable[str] = AGAIN,
    progress: Callable[[Progress], None] | None = None,
) -> Labels:
    """Gains for pairs of question and document, or for the results of traces.

    What the store has already is not asked again. Of traces, `identity` says which results are the
    same, and each is labelled once per question.

    `judge` is the name of a model, or anything that can be called with a `Request`. `processes` make
    the calls of a built-in judge: by default, in a long run, one for every 64 calls at once, at most one
    a core. `budget` is the most that the store may have cost in the end. `again` names the failures that
    are tried again; `canaries` is for how many questions worthless documents are added, for `calibrate`
    to tell of.
    """
    made = judge_for(judge) if isinstance(judge, str) else judge
    bounds = _limits(limits, concurrency, budget, made)
    _check_processes(processes, made)
    if hasattr(made, "prepare"):
        made.prepare()
    opened = Store.of(store)
    retried = retried_of(again)
    plan = _plan(
        source,
        made,
        opened,
        prompt,
        replicates,
        batch,
        text_limit,
        canaries,
        identity,
        retried,
        True,
    )
    spread = _spread(made, processes, bounds.concurrency, plan.todo // batch)
    runner = Runner(plan, spread, bounds, batch, retried, progress)
    return Labels(opened, plan.setting, plan.wanted, runner.run())


def estimate(
    source: Any,
    judge: Judge | str,
    store: Store | str | os.PathLike[str] | None = None,
    *,
    prompt: Prompt | str | None = None,
    replicates: int = 1,
    batch: int = 1,
    text_limit: int = TEXT_LIMIT,
    canaries: int = 0,
    identity: Any = None,
    again: Iterable[str] = AGAIN,
) -> Estimate:
    """What `label` would take, without a call and without a trace in the store."""
    made = judge_for(judge) if isinstance(judge, str) else judge
    there = isinstance(store, Store) or (store is not None and Path(store).exists())
    opened = Store.of(store if there else None)
    plan = _plan(
        source,
        made,
        opened,
        prompt,
        replicates,
        batch,
        text_limit,
        canaries,
        identity,
        retried_of(again),
        False,
    )
    calls = sum(1 for _ in plan.calls(batch))
    tokens_out = plan.todo * int(getattr(made, "max_tokens", 0))
    price = getattr(made, "price", None)
    cost = price.of(plan.tokens, tokens_out) if price else None
    return Estimate(
        plan.pairs, plan.labels, plan.known, calls, plan.tokens, tokens_out, cost, opened.cost()
    )


def judge_for(
    model: str, *, api: str | None = None, base_url: str | None = None, **options: Any
) -> ClientJudge:
    """The built-in judge for a model: Anthropic's for claude, else that of the OpenAI interface."""
    chosen = api or ("anthropic" if model.startswith("claude") and not base_url else "openai")
    if chosen not in KINDS:
        raise UsageError(f"api='{chosen}' is neither 'openai' nor 'anthropic'")
    return KINDS[chosen](model, base_url=base_url, **options)


def setting_of(judge: Any, prompt: Prompt, batch: int = 1) -> Setting:
    """What decides labels by this judge and prompt."""
    parameters = parameters_of(judge)
    if batch > 1:
        parameters["batch"] = batch
    return Setting(prompt.version, model_of(judge), parameters, prompt.low, prompt.high)


def _limits(
    limits: Limits | None, concurrency: int | None, budget: float | None, judge: Any
) -> Limits:
    bounds = limits or Limits()
    if concurrency is not None:
        bounds = replace(bounds, concurrency=concurrency)
    if budget is not None:
        bounds = replace(bounds, budget=budget)
    if bounds.budget is not None and getattr(judge, "price", None) is None:
        raise UsageError(
            "a budget needs the price of the model",
            hint="money for a million tokens in and out: price=Price(0.15, 0.60) (--price 0.15/0.60)",
        )
    return bounds


def _check_processes(processes: int | None, judge: Judge) -> None:
    if processes is None:
        return
    if processes < 1:
        raise UsageError(f"processes={processes} is not a whole number from 1 on")
    if processes > 1 and type(judge) not in KINDS.values():
        raise UsageError(
            f"processes={processes}, but only a built-in judge can be spread over processes",
            hint="a judge of your own may start as many as it likes",
        )


def _spread(judge: Any, processes: int | None, concurrency: int, calls: int) -> Judge:
    """The judge over as many processes as are asked for, or as many as are likely to pay."""
    if processes is None and type(judge) in KINDS.values():
        processes = min(concurrency // AT_ONCE, calls // WORTH_IT, available_cores())
    return Spread(judge, processes) if processes and processes > 1 else judge


def retried_of(statuses: Iterable[str]) -> tuple[str, ...]:
    """The failures that are tried again, checked."""
    chosen = tuple(statuses)
    for status in chosen:
        if status == "ok" or status not in STATUSES:
            raise UsageError(
                f"'{status}' is not a failure that can be tried again",
                hint=f"one of: {', '.join(s for s in STATUSES if s != 'ok')}",
            )
    return tuple({*chosen, *AGAIN})


def pairs_from(source: Any, identity: Any = None) -> Iterator[Pair]:
    """Pairs as they are, or those of traces; of files the first line tells which they are."""
    from goodgain.labels.traces import trace_pairs

    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        yield from pairs_of(path) if is_pairs(path) else trace_pairs(path, identity)
        return
    rows = iter(source)
    for first in rows:
        rows = chain([first], rows)
        is_trace = hasattr(first, "turns") or (isinstance(first, Mapping) and "turns" in first)
        yield from trace_pairs(rows, identity) if is_trace else pairs_of(rows)
        return


def _plan(
    source: Any,
    judge: Any,
    store: Store,
    prompt: Prompt | str | None,
    replicates: int,
    batch: int,
    text_limit: int,
    canaries: int,
    identity: Any,
    again: tuple[str, ...],
    record: bool,
) -> Plan:
    for name, value in (("replicates", replicates), ("batch", batch)):
        if value < 1:
            raise UsageError(f"{name}={value} is not a whole number from 1 on")
    chosen = Prompt.of(prompt)
    plan = Plan(store, setting_of(judge, chosen, batch), chosen, text_limit)
    pairs = with_canaries(pairs_from(source, identity), canaries, chosen.high)
    plan.fill(pairs, replicates, again, record)
    return plan
