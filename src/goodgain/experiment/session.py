"""One session of an experiment: index the documents and make the calls that are left."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError, UsageError
from goodgain.experiment.progress import Progress
from goodgain.experiment.retrievers import Retriever
from goodgain.experiment.retrievers.base import RankedByOrder
from goodgain.experiment.timing import Caller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.experiment.experiment import Experiment, Key
    from goodgain.experiment.folder import Folder

    Task = tuple[Key, str, int]  # (system and seed, query, repeat)


class Session:
    """Runs an experiment, or the part of it that is left."""

    def __init__(self, experiment: Experiment, folder: Folder, progress: bool) -> None:
        self._experiment = experiment
        self._folder = folder
        self._progress = progress
        calls = [c for c in folder.calls if "query" in c]
        self._number = 1 + max((c["session"] for c in folder.calls), default=0)
        self._done = {((c["system"], c["seed"]), c["query"], c["repeat"]) for c in calls}
        self._first_rankings = {
            (c["system"], c["seed"], c["query"]): c.get("hits") for c in calls if not c["repeat"]
        }

    def run(self) -> None:
        """Make every call that the folder does not have."""
        waiting = [task for task in self._schedule() if task not in self._done]
        if not waiting:
            return
        keys = list(dict.fromkeys(key for key, _, _ in waiting))
        searches = self._indexed(keys)
        caller = Caller(self._experiment.depth, self._experiment.timeout)
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
            caller.close()

    def _schedule(self) -> Iterator[Task]:
        """Every call, in order.

        One at a time, all systems answer a query before the next query, in a new random order for each
        query, so that drift and load affect all systems alike. Concurrently, each system has the
        machine to itself for one round of all queries, and the systems take turns.
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
        """The retrievers of these systems, with their documents indexed."""
        searches: dict[Key, Any] = {}
        names = list(dict.fromkeys(name for name, _ in keys))
        bar = Progress("indexing", len(names), self._progress)
        for name in names:
            search = self._experiment.systems[name]
            for retriever in search.all_retrievers() if isinstance(search, Retriever) else ():
                retriever.load()
        for name in names:
            search = self._experiment.systems[name]
            self._index(name, search)
            for key in keys:
                if key[0] == name:
                    searches[key] = search if key[1] is None else search.seeded(key[1])
            bar.advance()
        bar.close()
        return searches

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

    def _warm_up(self, caller: Caller, searches: dict[Key, Any]) -> None:
        """Search the first queries without recording them."""
        for text in list(self._experiment.queries.values())[: self._experiment.warmup]:
            for search in searches.values():
                caller.call(search, text)

    def _call(self, caller: Caller, search: Any, key: Key, query: str, repeat: int) -> None:
        outcome = caller.call(search, self._experiment.queries[query])
        system, seed = key
        record: dict[str, Any] = {
            "system": system, "seed": seed, "query": query, "repeat": repeat,
            "start": round(outcome.start, 6), "seconds": outcome.seconds, "session": self._number,
        }  # fmt: skip
        ranking: list[Any] = [list(pair) for pair in outcome.ranking]
        if isinstance(outcome.ranking, RankedByOrder):
            ranking = [doc for doc, _ in outcome.ranking]
        if outcome.error:
            record["error"] = outcome.error
        elif repeat == 0:
            record["hits"] = ranking
            self._first_rankings[system, seed, query] = ranking
        elif self._first_rankings.get((system, seed, query)) != ranking:
            record["differs"] = True
        self._folder.add(record)

    def _call_concurrently(
        self, caller: Caller, searches: dict[Key, Any], waiting: list[Task], bar: Progress
    ) -> None:
        """Search several queries at a time, one system after the other."""
        rounds: dict[tuple[Key, int], list[str]] = {}
        for key, query, repeat in waiting:
            rounds.setdefault((key, repeat), []).append(query)
        with ThreadPoolExecutor(self._experiment.concurrency) as pool:
            for (key, repeat), queries in rounds.items():
                tasks = [
                    pool.submit(self._call, caller, searches[key], key, query, repeat)
                    for query in queries
                ]
                for task in tasks:
                    task.result()
                    bar.advance()
