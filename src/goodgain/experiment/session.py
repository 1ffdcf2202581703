"""One sitting of an experiment: index what is needed, and ask what has not been asked."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError, UsageError
from goodgain.experiment.progress import Progress
from goodgain.experiment.retrievers import Retriever
from goodgain.experiment.timing import Caller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.experiment.folder import Folder
    from goodgain.experiment.run import Experiment, Key

    Task = tuple[Key, str, int]  # who is asked what, for the how manieth time


class Session:
    """Runs an experiment, or what is left of it."""

    def __init__(self, experiment: Experiment, folder: Folder, progress: bool) -> None:
        self._experiment = experiment
        self._folder = folder
        self._progress = progress
        calls = [c for c in folder.calls if "query" in c]
        self._number = 1 + max((c["session"] for c in folder.calls), default=0)
        self._done = {((c["system"], c["seed"]), c["query"], c["repeat"]) for c in calls}
        self._first = {
            (c["system"], c["seed"], c["query"]): c.get("hits") for c in calls if not c["repeat"]
        }

    def run(self) -> None:
        """Do all that is not done."""
        waiting = [task for task in self._schedule() if task not in self._done]
        if not waiting:
            return
        keys = list(dict.fromkeys(key for key, _, _ in waiting))
        searches = self._indexed(keys)
        caller = Caller(self._experiment.depth, self._experiment.timeout)
        bar = Progress("asking", len(waiting), self._progress)
        try:
            self._warm(caller, searches)
            if self._experiment.concurrency == 1:
                for key, query, repeat in waiting:
                    self._ask(caller, searches[key], key, query, repeat)
                    bar.step()
            else:
                self._crowd(caller, searches, waiting, bar)
        finally:
            bar.close()
            caller.close()

    def _schedule(self) -> Iterator[Task]:
        """Every call in its order.

        One at a time, all systems answer a query before the next one, in an order drawn anew for each
        query, so that drift and neighbours hit all alike. Several at a time, each system has the machine
        for itself for one round of all queries, and rounds take turns.
        """
        experiment = self._experiment
        keys, queries = experiment.keys(), list(experiment.queries)
        for repeat in range(experiment.repeats):
            if experiment.concurrency > 1:
                for key in random.Random(repeat).sample(keys, len(keys)):
                    yield from ((key, query, repeat) for query in queries)
                continue
            for query in queries:
                order = random.Random(f"{repeat} {query}").sample(keys, len(keys))
                yield from ((key, query, repeat) for key in order)

    def _indexed(self, keys: list[Key]) -> dict[Key, Any]:
        """The retrievers of these systems, ready to be asked."""
        found: dict[Key, Any] = {}
        names = list(dict.fromkeys(name for name, _ in keys))
        bar = Progress("indexing", len(names), self._progress)
        for name in names:
            search = self._experiment.systems[name]
            for part in search.everything() if isinstance(search, Retriever) else ():
                if isinstance(part, Retriever):
                    part.load()
        for name in names:
            search = self._experiment.systems[name]
            self._index(name, search)
            for key in keys:
                if key[0] == name:
                    found[key] = search if key[1] is None else search.seeded(key[1])
            bar.step()
        bar.close()
        return found

    def _index(self, name: str, search: Any) -> None:
        from goodgain.experiment.retrievers.memory import resident_bytes

        if not hasattr(search, "index"):
            return
        before, start = resident_bytes(), time.perf_counter()
        try:
            search.index(self._experiment.documents)
        except GoodgainError:
            raise
        except Exception as error:
            raise UsageError(
                f"the system '{name}' cannot index the documents: {type(error).__name__}: {error}"
            ) from error
        if isinstance(search, Retriever):
            seconds, size = search.index_seconds(), search.index_bytes()
        else:
            seconds, size = time.perf_counter() - start, max(0, resident_bytes() - before)
        if not any(c.get("index") == name for c in self._folder.calls):
            self._folder.add(
                {"index": name, "seconds": seconds, "bytes": size, "session": self._number}
            )

    def _warm(self, caller: Caller, searches: dict[Key, Any]) -> None:
        """Ask the first queries without keeping time or answers."""
        for text in list(self._experiment.queries.values())[: self._experiment.warmup]:
            for search in searches.values():
                caller.ask(search, text)

    def _ask(self, caller: Caller, search: Any, key: Key, query: str, repeat: int) -> None:
        outcome = caller.ask(search, self._experiment.queries[query])
        system, seed = key
        record: dict[str, Any] = {
            "system": system, "seed": seed, "query": query, "repeat": repeat,
            "start": round(outcome.start, 6), "seconds": outcome.seconds, "session": self._number,
        }  # fmt: skip
        hits = [list(hit) for hit in outcome.hits]
        if outcome.error:
            record["error"] = outcome.error
        elif repeat == 0:
            record["hits"] = hits
            self._first[system, seed, query] = hits
        elif self._first.get((system, seed, query)) != hits:
            record["differs"] = True
        self._folder.add(record)

    def _crowd(
        self, caller: Caller, searches: dict[Key, Any], waiting: list[Task], bar: Progress
    ) -> None:
        """Ask several queries at a time, one system after the other."""
        rounds: dict[tuple[Key, int], list[str]] = {}
        for key, query, repeat in waiting:
            rounds.setdefault((key, repeat), []).append(query)
        with ThreadPoolExecutor(self._experiment.concurrency) as pool:
            for (key, repeat), queries in rounds.items():
                tasks = [
                    pool.submit(self._ask, caller, searches[key], key, query, repeat)
                    for query in queries
                ]
                for task in tasks:
                    task.result()
                    bar.step()
