"""Label pairs or traces with a judge, or estimate what that would cost."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from goodgain.cores import available_cores
from goodgain.errors import Interrupted, UsageError
from goodgain.labels.batches import BatchRunner, refuse_open_batches
from goodgain.labels.canaries import with_canaries
from goodgain.labels.ensemble import Ensemble, label_ensemble
from goodgain.labels.judges.identity import fingerprint_of, model_of, parameters_of
from goodgain.labels.judges.processes import JudgeProcesses
from goodgain.labels.judges.protocol import STATUSES
from goodgain.labels.judges.registry import BUILT_IN, judge_of
from goodgain.labels.limits import Limits, require_count
from goodgain.labels.pairs import Pair, collected, holds_pairs, read_pairs
from goodgain.labels.plan import Plan
from goodgain.labels.result import Labels
from goodgain.labels.runner import Runner
from goodgain.labels.store import Setting, Store, now
from goodgain.labels.template import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from goodgain.labels.judges.protocol import Judge
    from goodgain.labels.progress import Progress

TEXT_LIMIT = 24_000  # characters of a document
RETRIED = ("error",)  # failures that cost nothing
CALLS_PER_PROCESS = 64  # with more, a process falls behind if replies take less than about 50 ms
KEEP = ("hash", "text")
_PLAN_AHEAD = 2.0  # seconds before the first call; the rest is planned while calls are made
MIN_CALLS_PER_PROCESS = 1_000  # in total; a process takes a second to start


class PlanOptions(TypedDict, total=False):
    """The options of `label` that determine which calls are needed."""

    name: str | None
    prompt: Prompt | str | None
    replicates: int
    batch: int
    text_limit: int
    canaries: int
    identity: Any
    retry: Iterable[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What labelling would take; `tokens_in` is a conservative estimate, `cost` an upper bound."""

    pairs: int
    labels: int
    stored: int  # labels that the store has already
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    spent: float


def label(
    source: Any,
    judge: Judge | Ensemble | str,
    store: Store | str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
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
    retry: Iterable[str] = RETRIED,
    keep: str = "hash",
    progress: Callable[[Progress], None] | None = None,
    batch_api: bool = False,
    wait: bool = True,
) -> Labels:
    """Label pairs of a question and a document, or the unique results of traces.

    `source` holds pairs (a file, a data frame, or rows, as `pool` returns them) or traces (a path or
    several, `Trace` objects or dictionaries, or {system: any of these}). Labels that the store has are
    not requested again. For traces, `identity` decides which results are the same, and each unique one
    is labelled once per question.

    `judge` is the name of a judge or of a model, anything that can be called with a `Request`, or an
    `Ensemble` of several of these. Labels belong to the judge that made them: to a model with its server
    and parameters, or to a function with its code and the data it refers to. `name` names a judge that
    cannot be told from others in this way.
    `processes` distributes the calls of a built-in judge; by default a long run uses one process per 64
    concurrent calls, and at most one per core. `budget` limits the total cost of the store. `retry`
    lists failures of earlier runs to try again. `keep` is what the store keeps of a document for audit:
    the "hash" of its text, or also the "text". `canaries` is the number of questions for which decoy
    documents are added; `calibrate` reports how many fooled the judge.

    `batch_api` submits the calls to the provider's batch API, at its lower price, and collects what
    earlier runs have submitted; without `wait` it returns at once, and a later call collects.

    Ctrl-C, or interrupting the cell of a notebook, lets calls in flight finish and raises `Interrupted`,
    a KeyboardInterrupt whose `result` has the labels so far; a second one aborts the calls.

    >>> import goodgain as gg
    >>> def judge(request):
    ...     return 4 if "hash" in request.document else 0
    ...
    >>> pairs = [
    ...     ("q1", "d1", "How does dict find a key?", "It takes the hash of the key."),
    ...     ("q1", "d2", "How does dict find a key?", "Lists keep their order."),
    ... ]
    >>> labels = gg.label(pairs, judge, "labels.db")
    >>> labels.to_dict()
    {'q1': {'d1': 4.0, 'd2': 0.0}}
    >>> gg.label(pairs, judge, "labels.db").summary.calls
    0
    """
    if isinstance(judge, Ensemble):
        _check_members(judge, prompt, batch, replicates)
        return label_ensemble(
            judge, source, Store.of(store), label, name=name, prompt=prompt, replicates=replicates,
            batch=batch, concurrency=concurrency, processes=processes, budget=budget, limits=limits,
            text_limit=text_limit, canaries=canaries, identity=identity, retry=retry, keep=keep,
            progress=progress, batch_api=batch_api, wait=wait,
        )  # fmt: skip
    judge = judge_of(judge)
    statuses = retry_statuses(retry)
    chosen_limits = _limits(limits, concurrency, budget, judge)
    _check_processes(processes, judge)
    if hasattr(judge, "prepare"):
        judge.prepare()
    plan = _plan(
        source, judge, Store.of(store), record=True, name=name, prompt=prompt, replicates=replicates,
        batch=batch, text_limit=text_limit, canaries=canaries, identity=identity, retry=statuses, keep=keep,
    )  # fmt: skip
    if batch_api:
        if batch > 1:
            raise UsageError("calls of a batch API show one document each, so batch must be 1")
        limit = chosen_limits.budget
        summary = BatchRunner(plan, judge, budget=limit, wait=wait, show=progress).run()
    else:
        refuse_open_batches(plan.store, plan.setting)
        summary = _run(plan, judge, chosen_limits, batch, statuses, processes, progress)
    if plan.store.path != ":memory:" and summary.done:
        _warn_if_changed(judge, plan.setting)
    labels = Labels(plan.store, plan.setting, plan.pairs_table, summary)
    if summary.stopped == "interrupted":
        raise Interrupted(
            f"interrupted after {summary.done:,} of {summary.total:,} labels; they are in the store",
            labels,
        )
    return labels


def _check_members(
    ensemble: Ensemble, prompt: Prompt | str | None, batch: int, replicates: int
) -> None:
    """Refuse members that do not fit together before any of them is paid."""
    default = Prompt.of(prompt)
    members = [setting_of(m.judge, m.prompt or default, batch) for m in ensemble.members]
    ensemble.setting(members, replicates)


def _warn_if_changed(judge: Any, setting: Setting) -> None:
    """A judge that counts its calls, say, is another one when it is used again, and pays again."""
    code = setting.parameters.get("code")
    if code is not None and fingerprint_of(judge)[0] != code:
        warnings.warn(
            f"the judge '{setting.model}' has changed data that it refers to while it was labelling, such as "
            "a counter: the next run will not find these labels; name the judge to find them: "
            "label(..., name='my-judge-1')",
            stacklevel=3,
        )


def _run(
    plan: Plan,
    judge: Any,
    limits: Limits,
    batch: int,
    retry: tuple[str, ...],
    processes: int | None,
    progress: Callable[[Progress], None] | None,
) -> Progress:
    """Make the calls of a plan one by one."""
    plan.advance(_PLAN_AHEAD)
    calls = plan.todo // batch if plan.complete else sys.maxsize
    runner = Runner(
        plan,
        _distributed(judge, processes, limits.concurrency, calls),
        limits=limits,
        batch=batch,
        retry=retry,
        show=progress,
    )
    return runner.run()


def estimate(
    source: Any,
    judge: Judge | Ensemble | str,
    store: Store | str | os.PathLike[str] | None = None,
    **options: Unpack[PlanOptions],
) -> Estimate:
    """What `label` would take with the same arguments, without any call or change to the store."""
    if isinstance(judge, Ensemble):
        _check_members(judge, options.get("prompt"), options.get("batch", 1), 1)
        pairs = list(pairs_to_label(source, options.get("identity")))
        own = [{**options, "prompt": m.prompt or options.get("prompt")} for m in judge.members]
        return total_estimate(
            [
                estimate(pairs, member.judge, store, **choice)  # type: ignore[arg-type]
                for member, choice in zip(judge.members, own, strict=True)
            ]
        )
    judge = judge_of(judge)
    if store is not None and not isinstance(store, Store):
        store = Store(store, read_only=True) if Store.exists(store) else None
    plan = _plan(source, judge, Store.of(store), record=False, **options)
    plan.advance(math.inf)
    tokens_out = plan.todo * int(getattr(judge, "max_tokens", 0))
    price = getattr(judge, "price", None)
    return Estimate(
        pairs=plan.pairs,
        labels=plan.labels,
        stored=plan.stored,
        calls=sum(1 for _ in plan.calls(options.get("batch", 1))),
        tokens_in=plan.tokens,
        tokens_out=tokens_out,
        cost=price.of(plan.tokens, tokens_out) if price else None,
        spent=plan.store.cost(),
    )


def total_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """What the members of an ensemble would take in total."""
    costs = [e.cost for e in estimates]
    names = ("labels", "stored", "calls", "tokens_in", "tokens_out")
    return Estimate(
        pairs=estimates[0].pairs,
        cost=None if None in costs else sum(c for c in costs if c is not None),
        spent=estimates[0].spent,
        **{name: sum(getattr(e, name) for e in estimates) for name in names},
    )


def setting_of(judge: Any, prompt: Prompt, batch: int = 1, name: str | None = None) -> Setting:
    """What determines the labels of this judge and prompt."""
    parameters = parameters_of(judge, name)
    if batch > 1:
        parameters["batch"] = batch
    if task := getattr(prompt, "task", ""):
        parameters["task"] = task
    if prompt.examples:
        parameters["examples"] = [[e.query, e.doc] for e in prompt.examples]
    return Setting(
        prompt=prompt.version,
        model=model_of(judge, name),
        parameters=parameters,
        low=prompt.low,
        high=prompt.high,
    )


def add_prompt(store: Store, prompt: Prompt) -> None:
    """Store the text of a prompt, which the judge's passport shows."""
    text = json.dumps(prompt.to_dict(), ensure_ascii=False)
    store.insert("prompts", [{"version": prompt.version, "text": text, "created": now()}])


def retry_statuses(statuses: Iterable[str]) -> tuple[str, ...]:
    """The failures to try again, checked; errors are always among them."""
    chosen = tuple(statuses.split(",") if isinstance(statuses, str) else statuses)
    failures = [status for status in STATUSES if status != "ok"]
    for status in chosen:
        if status not in failures:
            raise UsageError(
                f"cannot retry '{status}', which is not a failure",
                hint=f"choose from: {', '.join(failures)}",
            )
    return tuple({*chosen, *RETRIED})


def pairs_to_label(source: Any, identity: Any = None) -> Iterator[Pair]:
    """Pairs as they are, or those of traces; the first line or row tells which they are."""
    from goodgain.labels.traces import is_trace, trace_pairs

    source = collected(source)
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return read_pairs(path) if holds_pairs(path) else trace_pairs(path, identity)
    if isinstance(source, Pair) or (isinstance(source, Mapping) and "question" in source):
        return read_pairs([source])
    if isinstance(source, Mapping) or is_trace(source):
        return trace_pairs(source, identity)
    if hasattr(source, "__arrow_c_stream__"):
        return read_pairs(source)
    rows = iter(source)
    first = next(rows, None)
    if first is None:
        return iter(())
    rows = chain([first], rows)
    if isinstance(first, str | os.PathLike):
        return chain.from_iterable(pairs_to_label(path, identity) for path in rows)
    return trace_pairs(rows, identity) if is_trace(first) else read_pairs(rows)


def _limits(
    limits: Limits | None, concurrency: int | None, budget: float | None, judge: Any
) -> Limits:
    chosen = limits or Limits()
    if concurrency is not None:
        chosen = replace(chosen, concurrency=concurrency)
    if budget is not None:
        chosen = replace(chosen, budget=budget)
    if chosen.budget is not None and getattr(judge, "price", None) is None:
        raise UsageError(
            "a budget needs the price of the model",
            hint="pass the prices of a million input and output tokens: price=Price(0.15, 0.60) "
            "(--price 0.15/0.60)",
        )
    return chosen


def _check_processes(processes: int | None, judge: Any) -> None:
    if processes is None:
        return
    require_count("processes", processes)
    if processes > 1 and os.name == "nt":
        raise UsageError("Windows supports only processes=1", hint="leave processes out")
    if processes > 1 and type(judge) not in BUILT_IN.values():
        raise UsageError(
            f"processes={processes} is only possible with a built-in judge",
            hint="your own judge may start as many processes as it needs",
        )


def _distributed(judge: Any, processes: int | None, concurrency: int, calls: int) -> Judge:
    """The judge over this number of processes or, by default, over as many as pay off."""
    if processes is None and type(judge) in BUILT_IN.values() and os.name != "nt":
        processes = min(
            concurrency // CALLS_PER_PROCESS, calls // MIN_CALLS_PER_PROCESS, available_cores()
        )
    distributed: Judge = JudgeProcesses(judge, processes) if processes and processes > 1 else judge
    return distributed


def _plan(
    source: Any,
    judge: Any,
    store: Store,
    *,
    record: bool,
    name: str | None = None,
    prompt: Prompt | str | None = None,
    replicates: int = 1,
    batch: int = 1,
    text_limit: int = TEXT_LIMIT,
    canaries: int = 0,
    identity: Any = None,
    retry: Iterable[str] = RETRIED,
    keep: str = "hash",
) -> Plan:
    options = {"replicates": replicates, "batch": batch, "text_limit": text_limit}
    for option, value in options.items():
        require_count(option, value)
    template = Prompt.of(prompt)
    if batch > 1 and not template.takes_several:
        raise UsageError(f"prompt '{template.name}' shows one document, so batch must be 1")
    if record:
        add_prompt(store, template)
    if keep not in KEEP:
        raise UsageError(
            f"cannot keep '{keep}' of documents", hint=f"choose from: {', '.join(KEEP)}"
        )
    plan = Plan(
        store,
        setting_of(judge, template, batch, name),
        template,
        text_limit=text_limit,
        replicates=replicates,
        retry=retry_statuses(retry),
        record=record,
        keep=keep,
    )
    known = not template.name.startswith("answer-")  # these compare with an answer in the question
    pairs = pairs_to_label(source, identity)
    plan.take(with_canaries(pairs, canaries, template.high, known))
    return plan
