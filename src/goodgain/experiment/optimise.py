"""Race the systems of an experiment, and measure the winner on queries that the race did not see."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.experiment.choice import estimate
from goodgain.experiment.folder import Folder
from goodgain.experiment.optimisation import BudgetCheck, Optimisation, Savings, SettingResult
from goodgain.experiment.plan import documents_of
from goodgain.experiment.progress import Progress
from goodgain.experiment.racing import NONE_LEFT, Race, Rules
from goodgain.experiment.result import ExperimentResult
from goodgain.experiment.session import Session
from goodgain.experiment.timings import is_timed
from goodgain.measures.grammar import parse_all
from goodgain.stats.betting import mean_bounds, percentile_bounds
from goodgain.stats.margin import Margin
from goodgain.stats.quantiles import percentile, percentile_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goodgain.experiment.experiment import Experiment, Key
    from goodgain.experiment.racing import Budget
    from goodgain.experiment.stages import Stages
    from goodgain.measures import Measure

MARGIN, HELD_OUT, ALPHA = 0.02, 0.5, 0.05
LEAST_QUERIES = 4
_TOLERANCE = 1e-9  # of values at the ends of a measure's range


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What to optimise, on which queries."""

    measure: Measure
    rules: Rules
    seed: int
    race_queries: list[str]
    held_out_queries: list[str]


def task_of(
    experiment: Experiment,
    measure: Any,
    *,
    budgets: Sequence[Budget] = (),
    margin: Any = None,
    held_out: float = HELD_OUT,
    alpha: float = ALPHA,
    seed: int = 0,
) -> Task:
    """Check what is asked for before anything is called."""
    chosen = next(iter(_quality_measures(experiment))) if measure is None else _one(measure)
    definition = chosen.definition
    low, high = definition.range.low, definition.range.high
    if len(experiment.systems) < 2:
        raise UsageError("there is only one system, so there is nothing to choose")
    if definition.is_cost:
        raise UsageError(
            f"{chosen} is a cost, not a quality", hint="set a budget for it: --max-latency 50ms"
        )
    if not (math.isfinite(low) and math.isfinite(high)) or definition.aggregate != "mean":
        raise UsageError(
            f"{chosen} has no known range ({definition.range}), so no test holds at every query",
            hint="race for a measure between 0 and 1, such as nDCG@10 or Recall@10",
        )
    if documents_of(chosen) > experiment.depth:
        raise UsageError(
            f"{chosen} looks at {documents_of(chosen)} documents, but lists are cut to {experiment.depth}",
            hint=f"set depth = {documents_of(chosen)} in the experiment",
        )
    for name, value in (("alpha", alpha), ("held_out", held_out)):
        if not 0 < value < 1:
            raise UsageError(f"{name} must be between 0 and 1, got {value:g}")
    own_margin = _margin(margin, chosen, high - low)
    queries = sorted(experiment.queries)
    if len(queries) < LEAST_QUERIES:
        raise UsageError(
            f"too few queries: {len(queries)}, of which some choose the best and others measure it",
            hint=f"at least {LEAST_QUERIES}; hundreds to distinguish settings",
        )
    random.Random(seed).shuffle(queries)
    reserved = min(max(1, round(held_out * len(queries))), len(queries) - 1)
    return Task(
        measure=chosen,
        rules=Rules(
            low=low,
            high=high,
            sign=chosen.sign,
            alpha=alpha,
            margin=own_margin,
            budgets=tuple(budgets),
        ),
        seed=seed,
        race_queries=queries[: len(queries) - reserved],
        held_out_queries=queries[len(queries) - reserved :],
    )


def _margin(margin: Any, measure: Measure, reach: float) -> float:
    """The margin in the unit of the measure; by default a share of its range."""
    margins = Margin.of(margin)
    own = None if margins is None else margins.special.get(str(measure), margins.default)
    if own is None:
        return MARGIN * reach
    value, is_share = own
    if is_share or value >= reach:
        raise UsageError(
            f"invalid margin '{margins}'",
            hint=f"a number below {reach:g}, in the unit of {measure}: a share of a mean is not known "
            "before the race",
        )
    return value


def _quality_measures(experiment: Experiment) -> list[Measure]:
    return [m for m in experiment.plan.measures if not m.is_cost]


def _one(measure: Any) -> Measure:
    measures = parse_all(measure)
    if len(measures) != 1:
        raise UsageError(f"one measure is optimised, got {', '.join(map(str, measures))}")
    return measures[0]


def run_race(
    experiment: Experiment, task: Task, path: Any = None, *, progress: bool = False
) -> Optimisation:
    """Run the race; calls are saved in the experiment's folder as they finish, and reused."""
    folder = Folder(path)
    try:
        folder.begin(experiment.settings())
        return RaceSession(experiment, folder, progress, task, experiment.stages(path)).race()
    finally:
        folder.close()


class RaceSession(Session):
    """A session that calls the settings still in the race only."""

    def __init__(
        self, experiment: Experiment, folder: Folder, progress: bool, task: Task, stages: Stages
    ) -> None:
        super().__init__(experiment, folder, stages, progress)
        self._task = task
        self._race = Race(list(experiment.systems), task.rules)
        self._keys: dict[str, list[Key]] = {}
        for key in experiment.keys():  # noqa: SIM118 - a list, not a mapping
            self._keys.setdefault(key[0], []).append(key)
        self._answers = {
            (c["system"], c["seed"], c["query"]): c
            for c in folder.current_calls()
            if not c["repeat"] and "error" not in c
        }
        self._known = set(self._answers)
        self._used: dict[tuple[Any, ...], None] = {}
        self._read = len(folder.calls)
        self._searches: dict[Key, Any] = {}
        self._caller = self.caller()
        self._raced: dict[str, int] = dict.fromkeys(
            experiment.systems, 0
        )  # queries, from the first
        self._values: dict[tuple[str, str], float] = {}
        self._failures: dict[str, str] = {}

    def race(self) -> Optimisation:
        """Race until it is decided, then measure the winner; again without it if it is over a budget."""
        queries = self._task.race_queries
        size = self._experiment.concurrency
        total = len(self._experiment.keys()) * (len(queries) + len(self._task.held_out_queries))
        self._bar = Progress("racing", total, self._progress)
        try:
            while True:
                while self._race.outcome() is None:
                    if behind := [
                        n for n in self._race.live if self._raced[n] < self._race.queries
                    ]:
                        self._catch_up(behind)
                    elif self._race.queries < len(queries):
                        self._advance(queries[self._race.queries :][:size])
                    else:
                        break
                if self._race.outcome() == NONE_LEFT or not self._measure_leader():
                    break
        finally:
            self._bar.close()
        return self._result()

    def _advance(self, queries: Sequence[str]) -> None:
        """Call every live setting for the next queries, and tell the race."""
        self._require_answers((name, q) for q in queries for name in self._race.live)
        for query in queries:
            live = self._race.live
            if self._race.outcome() is not None:
                return
            if not self._race.queries:
                self._require_costs(live, query)
            for name in live:
                self._raced[name] = self._race.queries + 1
                self._race.observe_calls(name, query, self._amounts(name, query))
            self._race.observe({name: self._values[name, query] for name in live})

    def _catch_up(self, names: Sequence[str]) -> None:
        """The queries that settings missed while one that is over the budget had beaten them."""
        for name in names:
            numbers = range(self._raced[name], self._race.queries)
            queries = [self._task.race_queries[i] for i in numbers]
            self._require_answers((name, q) for q in queries)
            self._raced[name] = self._race.queries
            for query in queries:
                self._race.observe_calls(name, query, self._amounts(name, query))
            values = [self._values[name, q] for q in queries]
            self._race.catch_up(name, dict(zip(numbers, values, strict=True)))

    def _measure_leader(self) -> bool:
        """Call the leader on the queries that the race did not see; whether it is over a budget after all."""
        leader = self._race.leader()
        queries = self._unseen()
        self._require_answers([(leader, q) for q in queries])
        for query in queries:
            if leader in self._race.live:
                self._race.observe_calls(leader, query, self._amounts(leader, query))
        return leader not in self._race.live

    def _unseen(self) -> list[str]:
        return [*self._task.race_queries[self._race.queries :], *self._task.held_out_queries]

    # --- calls ---

    def _require_answers(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Make the calls that are missing, and score the queries."""
        wanted = [
            (key, query)
            for name, query in dict.fromkeys(pairs)
            if (name, query) not in self._values and name not in self._failures
            for key in self._keys[name]
        ]
        tasks = [(key, q, 0) for key, q in wanted if (*key, q) not in self._answers]
        self._require_index(dict.fromkeys(key for key, _, _ in tasks))
        tasks = [task for task in tasks if task[0][0] not in self._failures]
        if self._experiment.concurrency == 1:
            for key, query, repeat in self._shuffled(tasks):
                self._call(self._caller, self._searches[key], key, query, repeat)
                self._bar.advance()
        elif tasks:
            self._call_concurrently(self._caller, self._searches, tasks, self._bar)
        for call in self._folder.calls[self._read :]:
            if "query" in call and not call["repeat"]:
                self._answers[call["system"], call["seed"], call["query"]] = call
        self._read = len(self._folder.calls)
        wanted = [(key, q) for key, q in wanted if key[0] not in self._failures]
        self._used.update(dict.fromkeys((*key, q) for key, q in wanted))
        self._score(wanted)

    def _shuffled(self, tasks: list[Any]) -> list[Any]:
        """In the order of queries, and the settings of each in the order that an experiment calls them."""
        ordered = []
        for query in dict.fromkeys(query for _, query, _ in tasks):
            own = [task for task in tasks if task[1] == query]
            ordered += random.Random(f"0 {query}").sample(own, len(own))
        return ordered

    def _require_index(self, keys: Iterable[Key]) -> None:
        missing = [key for key in keys if key not in self._searches]
        if not missing:
            return
        searches = self._indexed(missing)
        for name in dict.fromkeys(name for name, _ in missing):
            if not any(key[0] == name for key in searches):
                error = self._folder.index_of(name).get("error", "unknown")
                self._failures[name] = f"cannot index the documents: {error}"
                self._race.give_up(name, "failed")
        self._searches.update(searches)
        self._warm_up(self._caller, searches)

    def _score(self, wanted: Sequence[tuple[Key, str]]) -> None:
        """The measure of these answers, as an experiment computes it; a failed call is an empty list."""
        if not wanted:
            return
        scratch = Folder(None)
        scratch.settings = self._folder.settings
        for key, query in wanted:
            call = {k: v for k, v in self._answers[*key, query].items() if k != "error"}
            scratch.calls.append({"hits": [], **call})
        plan = replace(self._experiment.plan, measures=(self._task.measure,), primary=())
        e = self._experiment
        result = ExperimentResult(
            scratch, plan, e.qrels, e.queries, e.documents, matching=e.matching()
        )
        for name in dict.fromkeys(key[0] for key, _ in wanted):
            columns = [
                dict(zip(run.queries, run.column(self._task.measure), strict=True))
                for run in result[name].runs
            ]
            for query in dict.fromkeys(q for key, q in wanted if key[0] == name):
                value = math.fsum(column[query] for column in columns) / len(columns)
                self._values[name, query] = self._in_range(name, query, value)

    def _in_range(self, name: str, query: str, value: float) -> float:
        rules = self._task.rules
        reach = _TOLERANCE * (rules.high - rules.low)
        if value < rules.low - reach or value > rules.high + reach:
            raise InputError(
                f"{self._task.measure} of query '{query}' is {value:g} for '{name}', outside its range of "
                f"{rules.low:g} to {rules.high:g}",
                hint="no test holds for it; race for another measure",
            )
        return min(max(value, rules.low), rules.high) if value == value else value

    def _amounts(self, name: str, query: str) -> dict[str, list[float]]:
        """Latencies and costs of the calls of one query."""
        calls = [self._answers[*key, query] for key in self._keys[name]]
        return {
            "latency": [c["seconds"] for c in calls if is_timed(c)],
            "cost": [float(c["cost"]) for c in calls if c.get("cost") is not None],
        }

    def _require_costs(self, names: Sequence[str], query: str) -> None:
        if not any(b.quantity == "cost" for b in self._task.rules.budgets):
            return
        if not any(self._amounts(name, query)["cost"] for name in names):
            raise InputError(
                f"no system reported the cost of query '{query}', so a budget of costs cannot be judged",
                hint="a retriever reports it with its answer: {'results': [...], 'cost': 0.001}",
            )

    # --- the result ---

    def _result(self) -> Optimisation:
        task, race = self._task, self._race
        outcome = race.outcome()
        best = None if outcome == NONE_LEFT else race.leader()
        unseen = self._unseen()
        measured = (
            None
            if best is None
            else estimate([self._values[best, q] for q in unseen], 1 - task.rules.alpha)
        )
        return Optimisation(
            measure=task.measure,
            rules=task.rules,
            seed=task.seed,
            outcome=outcome or "not enough evidence",
            best=best,
            settings=tuple(self._setting(name, best, outcome) for name in race.settings),
            raced=race.queries,
            race_queries=len(task.race_queries),
            estimate=measured,
            checks=() if best is None else tuple(self._checks(best, unseen)),
            savings=self._savings(),
            failures=dict(self._failures),
            notes=self.notes(),
        )

    def _setting(self, name: str, best: str | None, outcome: str | None) -> SettingResult:
        import numpy as np

        rules = self._task.rules
        queries = self._task.race_queries[: self._raced[name]]
        values = np.array([self._values[name, q] for q in queries if (name, q) in self._values])
        drop = self._race.dropped.get(name)
        low, high = mean_bounds(values, rules.alpha, rules.low, rules.high)
        latencies = [a for q in queries if (a := self._amounts(name, q)["latency"])]
        flat = [v for group in latencies for v in group]
        percent = next((b.percent for b in rules.budgets if b.quantity == "latency"), 95.0)
        defined = values[~np.isnan(values)]
        costs = [v for q in queries for v in self._amounts(name, q)["cost"]]
        used = [self._answers[k] for k in self._used if k[0] == name]
        errors = [call["error"] for call in used if "error" in call]
        return SettingResult(
            name=name,
            outcome=drop.reason if drop else _standing(name == best, outcome),
            rival=drop.rival if drop else "",
            queries=len(queries),
            mean=math.fsum(defined) / len(defined) if len(defined) else math.nan,
            low=low,
            high=high,
            latency=percentile(flat, percent) if flat else math.nan,
            latency_low=percentile_bounds(latencies, percent, rules.alpha)[0],
            latency_high=percentile_bounds(latencies, percent, rules.alpha)[1],
            cost=math.fsum(costs) / len(costs) if costs else math.nan,
            failed=len(errors),
            error=errors[0] if errors else "",
        )

    def _checks(self, best: str, queries: Sequence[str]) -> Iterable[BudgetCheck]:
        """Whether the winner is within each budget, by one call of every held-out query."""
        for budget in self._task.rules.budgets:
            amounts = [self._amounts(best, q)[budget.quantity] for q in queries]
            values = [own[0] for own in amounts if own]  # calls of other seeds are not independent
            level = 1 - self._task.rules.alpha
            low, high = percentile_interval(values, budget.percent, level)
            yield BudgetCheck(
                budget=budget,
                value=percentile(values, budget.percent) if values else math.nan,
                low=low,
                high=high,
                calls=len(values),
                level=level,
            )

    def _savings(self) -> Savings:
        """The calls that were needed, and about what the others would have cost."""
        queries = len(self._task.race_queries) + len(self._task.held_out_queries)
        full = used = reused = 0
        seconds = cost = seconds_saved = cost_saved = 0.0
        any_cost = False
        for name, keys in self._keys.items():
            if name in self._failures:
                continue
            own = [k for k in self._used if k[0] == name]
            calls = [self._answers[k] for k in own]
            costs = [float(c["cost"]) for c in calls if c.get("cost") is not None]
            left = queries * len(keys) - len(own)
            full += queries * len(keys)
            used += len(own)
            reused += sum(k in self._known for k in own)
            spent = math.fsum(c["seconds"] for c in calls)
            seconds += spent
            seconds_saved += left * spent / max(1, len(calls))
            any_cost |= bool(costs)
            cost += math.fsum(costs)
            cost_saved += left * math.fsum(costs) / max(1, len(costs))
        return Savings(
            full=full,
            used=used,
            reused=reused,
            seconds=seconds,
            seconds_saved=seconds_saved,
            cost=cost if any_cost else None,
            cost_saved=cost_saved if any_cost else None,
        )


def _standing(is_best: bool, outcome: str | None) -> str:
    """How a setting that is left stands at the end."""
    if is_best:
        return "best" if outcome else "leads"
    return outcome or "open"
