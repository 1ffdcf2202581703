"""One session of an experiment: index the documents and make the calls that are left."""

from __future__ import annotations

import itertools
import random
import time
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from goodgain.experiment.chunks import chunk_facts
from goodgain.experiment.control import control_queries, with_control
from goodgain.experiment.judgments import CHUNK
from goodgain.experiment.loads import LoadGenerator, step_of
from goodgain.experiment.progress import Progress
from goodgain.experiment.retrievers import Retriever
from goodgain.experiment.retrievers.base import RankedByOrder
from goodgain.experiment.sharing import SharedSearches
from goodgain.experiment.timing import TIMEOUT, Caller, Outcome, error_text
from goodgain.threads import NoThreadsError, thread_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.experiment.experiment import Experiment, Key
    from goodgain.experiment.folder import Folder
    from goodgain.experiment.stages import Stages

    Task = tuple[Key, str, int]  # (system and seed, query, repeat)


class Session:
    """Runs an experiment, or the part of it that is left."""

    def __init__(
        self, experiment: Experiment, folder: Folder, stages: Stages, progress: bool
    ) -> None:
        self._experiment = experiment
        self._folder = folder
        self._stages = stages
        self._progress = progress
        self._sharing = SharedSearches(experiment)
        self._number = 1 + max((c["session"] for c in folder.calls), default=0)
        self._remade = self._unknown_again(folder)
        addresses = {name: each.digest for name, each in experiment.addresses.items()}
        done = [c for c in folder.current_calls() if "error" not in c]
        self._done = {((c["system"], c["seed"]), c["query"], c["repeat"]) for c in done} | {
            ((c["control"], c["seed"]), c["of"], c["call"])
            for c in folder.calls
            if "control" in c and addresses.get(c["control"]) == c["address"]
        }
        self._first_rankings = {
            (c["system"], c["seed"], c["query"]): c.get("hits") for c in done if not c["repeat"]
        }

    def _unknown_again(self, folder: Folder) -> dict[str, str]:
        """Systems with calls of an earlier session of which nobody knows whether they are still the same."""
        called = {c["system"] for c in folder.calls if "query" in c}
        return {
            name: address.unknown[0]
            for name, address in self._experiment.addresses.items()
            if address.unknown and name in called
        }

    def notes(self) -> tuple[str, ...]:
        """What was made again, and why."""
        return tuple(
            f"{name}: its calls were made again, because {what}; name its version to reuse them: "
            f"versions={{'{name}': '1'}}"
            for name, what in self._remade.items()
        ) + tuple(self._stages.notes)

    def run(self) -> None:
        """Make every call that the folder does not have."""
        waiting = [task for task in self._schedule() if task not in self._done]
        called = {(key, query) for key, query, repeat in waiting if not repeat}
        # a control belongs to calls that are timed in this session
        waiting = [task for task in waiting if task[2] >= 0 or task[:2] in called]
        loaded = [key for key in self._first_seeds() if self._next_rate(key[0]) is not None]
        try:
            self._count_searches({key[0] for key, _, _ in waiting})
            if waiting or loaded:
                self._make_calls(waiting, loaded)
        finally:
            self._folder.set_stages(self._stages.counts())

    def _count_searches(self, waiting: set[str]) -> None:
        """The search of all queries by a system is a stage, too."""
        for name, search in self._experiment.systems.items():
            self._stages.count(name, self._sharing.uses(search, name in waiting))

    def _make_calls(self, waiting: list[Task], loaded: list[Key]) -> None:
        searches = self._indexed(list(dict.fromkeys([*(key for key, _, _ in waiting), *loaded])))
        waiting = [task for task in waiting if task[0] in searches]
        caller = self.caller()
        bar = Progress("searching", len(waiting), self._progress)
        try:
            self._warm_up(caller, searches)
            if self._experiment.concurrency == 1:
                for key, query, repeat in waiting:
                    self._call(caller, searches[key], key, query, repeat)
                    bar.advance()
            else:
                self._call_concurrently(caller, searches, waiting, bar)
        finally:
            bar.close()
        if loaded:
            self._make_load(caller, {key: searches[key] for key in loaded if key in searches})

    def caller(self) -> Caller:
        """What makes the calls of the experiment."""
        return Caller(
            self._experiment.depth,
            self._experiment.timeout,
            duplicates=self._experiment.duplicates,
            canonical=self._experiment.canonical,
        )

    def _schedule(self) -> Iterator[Task]:
        """Every call, in order.

        One at a time, all systems answer a query before the next query, in a new random order for each
        query, so that drift and load affect all systems alike. Concurrently, each system has the
        machine to itself for one round of all queries, and the systems take turns.
        """
        experiment = self._experiment
        keys, queries = experiment.keys(), list(experiment.queries)
        baseline = next(key for key in keys if key[0] == experiment.plan.baseline)
        controlled = control_queries(queries) if experiment.is_controlled else set()
        for repeat in range(experiment.repeats):
            if experiment.concurrency > 1:
                rng = random.Random(repeat)
                rounds = [(key, "", repeat) for key in rng.sample(keys, len(keys))]
                if controlled and not repeat:
                    rounds = with_control(rounds, baseline, rng)
                for key, _, number in rounds:
                    chosen = queries if number >= 0 else [q for q in queries if q in controlled]
                    yield from ((key, query, number) for query in chosen)
                continue
            for query in queries:
                rng = random.Random(f"{repeat} {query}")
                order = [(key, query, repeat) for key in rng.sample(keys, len(keys))]
                if query in controlled and not repeat:
                    order = with_control(order, baseline, rng)
                yield from order

    def _first_seeds(self) -> list[Key]:
        """Every system with its first seed."""
        return list({key[0]: key for key in reversed(self._experiment.keys())}.values())[::-1]

    def _indexed(self, keys: list[Key]) -> dict[Key, Any]:
        """The retrievers of these systems, with their documents indexed."""
        searches: dict[Key, Any] = {}
        names = list(dict.fromkeys(name for name, _ in keys))
        bar = Progress("indexing", len(names), self._progress)
        for name in names:
            search = self._experiment.systems[name]
            for retriever in search.all_retrievers() if isinstance(search, Retriever) else ():
                retriever.stages = self._stages
                retriever.use_queries(self._experiment.queries)
                retriever.ensure_loaded()
        for name in names:
            search = self._experiment.systems[name]
            if self._index(name, search):
                for key in keys:
                    if key[0] == name:
                        searches[key] = search if key[1] is None else search.seeded(key[1])
            bar.advance()
        bar.close()
        return self._sharing.wrap(searches)

    def _index(self, name: str, search: Any) -> bool:
        """Index the documents; an error costs the system its row, not the others theirs."""
        from goodgain.experiment.retrievers.memory import resident_bytes

        if not hasattr(search, "index"):
            return True
        record: dict[str, Any] = {
            "index": name,
            "address": self._experiment.addresses[name].digest,
            "session": self._number,
        }
        before, start = resident_bytes(), time.perf_counter()
        try:
            search.index(self._experiment.documents)
        except NoThreadsError:  # no failure of the system: it ends the experiment
            raise
        except Exception as error:
            self._folder.add({**record, "error": error_text(error)})
            return False
        if isinstance(search, Retriever):
            self._stages.count(name, [use for r in search.all_retrievers() for use in r.uses])
            seconds, size = search.index_seconds(), search.index_bytes()
            record |= chunk_facts(search, self._judged_chunks())
            record |= {"reused": reused} if (reused := search.reused()) else {"seconds": seconds}
            if notes := [note for r in search.all_retrievers() for note in r.notes()]:
                record["notes"] = notes
        else:
            record["seconds"] = time.perf_counter() - start
            size = max(0, resident_bytes() - before)
        if "seconds" not in self._folder.index_of(name):
            self._folder.add({**record, "bytes": size})
        return True

    def _judged_chunks(self) -> list[str]:
        """The ids of judged chunks, if chunks are judged."""
        judgments = self._experiment.judgments
        if judgments.by != CHUNK:
            return []
        return list(dict.fromkeys(i for own in judgments.documents().values() for i in own))

    def _warm_up(self, caller: Caller, searches: dict[Key, Any]) -> None:
        """Search for something else first: a query that was searched for before is answered faster."""
        warm: set[Key] = set()
        for text in warm_up_queries(
            list(self._experiment.queries.values()), self._experiment.warmup
        ):
            for (name, seed), search in searches.items():
                self._sharing.begin(text)
                outcome, _ = self._composed(caller.call(search, text))
                if (name, seed) not in warm and outcome.timed:
                    self._folder.add({
                        "warmup": name, "address": self._experiment.addresses[name].digest,
                        "seed": seed, "seconds": outcome.seconds, "session": self._number,
                    })  # fmt: skip
                warm.add((name, seed))

    def _call(self, caller: Caller, search: Any, key: Key, query: str, repeat: int) -> None:
        self._sharing.begin(query, repeat)
        outcome = caller.call(search, self._experiment.queries[query])
        outcome, is_composed = self._composed(outcome)
        system, seed = key
        if repeat < 0:
            self._folder.add({
                "control": system, "address": self._experiment.addresses[system].digest, "seed": seed,
                "of": query, "call": repeat, "seconds": outcome.seconds, "session": self._number,
                **({"error": outcome.error} if outcome.error else {}),
                **({"beside": True} if outcome.beside else {}),
            })  # fmt: skip
            return
        record: dict[str, Any] = {
            "system": system, "address": self._experiment.addresses[system].digest, "seed": seed,
            "query": query, "repeat": repeat,
            "start": round(outcome.start, 6), "seconds": outcome.seconds, "session": self._number,
        }  # fmt: skip
        ranking: list[Any] = [list(pair) for pair in outcome.ranking]
        if isinstance(outcome.ranking, RankedByOrder):
            ranking = [doc for doc, _ in outcome.ranking]
        record |= outcome.extras.to_dict()
        if is_composed:
            record["composed"] = True
        if outcome.ascending:
            record["ascending"] = True
        if outcome.beside:
            record["beside"] = True
        if outcome.repeated:
            record["repeated"] = outcome.repeated
        if outcome.error:
            record["error"] = outcome.error
        elif repeat == 0:
            record["hits"] = ranking
            self._first_rankings[system, seed, query] = ranking
        elif self._first_rankings.get((system, seed, query)) != ranking:
            record["differs"] = True
        self._folder.add(record)

    def _composed(self, outcome: Outcome) -> tuple[Outcome, bool]:
        """The outcome with the time of searches that another system of the grid had made."""
        seconds, reused = self._sharing.end()
        if not reused or outcome.error:
            return outcome, False
        total, limit = outcome.seconds + seconds, self._experiment.timeout
        if limit is not None and total > limit:
            return replace(outcome, ranking=[], seconds=limit, error=TIMEOUT), True
        return replace(outcome, seconds=total), True

    def _call_concurrently(
        self, caller: Caller, searches: dict[Key, Any], waiting: list[Task], bar: Progress
    ) -> None:
        """Search several queries at a time, one system after the other."""
        rounds: dict[tuple[Key, int], list[str]] = {}
        for key, query, repeat in waiting:
            rounds.setdefault((key, repeat), []).append(query)
        with thread_pool(self._experiment.concurrency) as pool:
            for (key, repeat), queries in rounds.items():
                tasks = [
                    pool.submit(self._call, caller, searches[key], key, query, repeat)
                    for query in queries
                ]
                for task in tasks:
                    task.result()
                    bar.advance()

    def _next_rate(self, system: str) -> float | None:
        """The next rate of calls to a system; None when all its steps were made."""
        load = self._experiment.load
        settings = [load.arrivals, load.seconds, load.workers]
        address = self._experiment.addresses[system].digest
        steps = [
            step_of(system, record)
            for record in self._folder.calls
            if record.get("load") == system and record["address"] == address
            and [record["arrivals"], record["seconds"], record["workers"]] == settings
        ]  # fmt: skip
        seconds = [
            c["seconds"] for c in self._folder.calls
            if c.get("system") == system and c["address"] == address and "error" not in c
        ]  # fmt: skip
        return load.next_rate(steps, fmean(seconds) if seconds else 0.0)

    def _caller_of(self, caller: Caller, search: Any) -> Callable[[str], Outcome]:
        return lambda query: caller.call(search, self._experiment.queries[query])

    def _make_load(self, caller: Caller, searches: dict[Key, Any]) -> None:
        """Let calls arrive at every rate; the systems take turns."""
        texts, ids = self._experiment.queries, list(self._experiment.queries)
        others = warm_up_queries(list(texts.values()), 1) or [next(iter(texts.values()))]
        self._sharing.close()  # calls under load are whole
        generator = LoadGenerator(self._experiment.load)
        rates = self._experiment.load.rates
        total = 0 if isinstance(rates, str) else len(rates) * len(searches)
        bar = Progress("under load", total, self._progress)
        try:
            for number in itertools.count():
                keys = random.Random(f"load {number}").sample(list(searches), len(searches))
                left = [
                    (key, rate) for key in keys if (rate := self._next_rate(key[0])) is not None
                ]
                for key, rate in left:
                    search = searches[key]
                    if not number:
                        generator.warm_up(partial(caller.call, search, others[0]))
                    step = generator.run(rate, self._caller_of(caller, search), ids)
                    self._folder.add({
                        "load": key[0], "address": self._experiment.addresses[key[0]].digest,
                        "seed": key[1], "session": self._number, **step,
                    })  # fmt: skip
                    bar.advance()
                if not left:
                    return
        finally:
            bar.close()
            generator.close()


def warm_up_queries(texts: list[str], count: int) -> list[str]:
    """Queries of the same kind that are none of these: the beginning of one and the end of another."""
    known = set(texts)
    others: list[str] = []
    for i, first in enumerate(texts):
        second = texts[(i + 1) % len(texts)]
        head, tail = first.split(), second.split()
        text = " ".join([*head[: (len(head) + 1) // 2], *tail[len(tail) // 2 :]])
        if text in known:
            text = f"{text} {first}"
        if text not in known and len(others) < count:
            others.append(text)
            known.add(text)
    return others
