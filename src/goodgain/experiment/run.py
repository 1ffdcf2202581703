"""An experiment: retrievers over the same queries, timed, measured and compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goodgain.data import Qrels
from goodgain.errors import InputError, UsageError
from goodgain.experiment.folder import FORMAT, Folder
from goodgain.experiment.groups import TARGETS, by_targets
from goodgain.experiment.result import ExperimentResult, Plan
from goodgain.experiment.retrievers import DEPTH, Retriever, make
from goodgain.experiment.retrievers.base import has_chance, told
from goodgain.io.texts import read_texts
from goodgain.measures.grammar import parse_all

if TYPE_CHECKING:
    import os

    from goodgain.experiment.retrievers import Search

    Key = tuple[str, int | None]  # a system, and its seed if there is chance in it

UNJUDGED = ("error", "skip")
PACKAGES = ("numpy", "bm25s", "scikit-learn", "scipy", "usearch", "sentence-transformers")


def default_measures(rel: float = 1) -> str:
    """The columns of a retrieval experiment: early precision, depth, variety."""
    mark = "" if rel == 1 else f"(rel={rel:g})"
    hits = " ".join(f"Hit{mark}@{k}" for k in (1, 5, 10, 20))
    return f"{hits} MRR{mark} Recall{mark}@20 DR{mark}@20 Diversity{mark}@20"


class Experiment:
    """Systems to be run over the same queries; everything that can be checked is checked here.

    `systems` is {name: retriever}: any callable query -> [(document, score)], sync or async, a built-in
    one (`goodgain.experiment.retrievers`), or the name of one. `baseline` is the first system unless
    named. `by` groups the queries: a column of theirs, {query: group}, or "targets" (simple up to 3
    targets, medium 4 to 6, complex above). `rel` is the gain from which a document is relevant, for the
    groups and the default measures. Systems with chance in them are run once for each of `seeds`.
    """

    def __init__(
        self,
        corpus: Any,
        queries: Any,
        qrels: Any,
        systems: Mapping[str, Search | str],
        baseline: str | None = None,
        measures: str | Iterable[str] | None = None,
        *,
        by: str | Mapping[str, str] | None = None,
        rel: float = 1,
        depth: int = DEPTH,
        seeds: Sequence[int] = (0,),
        repeats: int = 1,
        warmup: int = 3,
        concurrency: int = 1,
        timeout: float | None = None,
        unjudged: str = "error",
        test: str = "t",
        correction: str = "holm",
    ) -> None:
        _whole(1, depth=depth, repeats=repeats, concurrency=concurrency)
        _whole(0, warmup=warmup)
        if timeout is not None and not timeout > 0:
            raise UsageError(f"the timeout {timeout} is not a number of seconds above 0")
        if not seeds or len(set(seeds)) != len(seeds):
            raise UsageError(f"the seeds {list(seeds)} are not different numbers")
        if unjudged not in UNJUDGED:
            raise UsageError(
                f"unjudged='{unjudged}' is no policy", hint=f"one of: {', '.join(UNJUDGED)}"
            )
        self.systems = _systems(systems, depth)
        if baseline is not None and baseline not in self.systems:
            raise UsageError(
                f"there is no system '{baseline}' to be the baseline",
                hint=f"there is: {', '.join(self.systems)}",
            )
        asked = measures if isinstance(measures, str | None) else " ".join(map(str, measures))
        asked = asked or default_measures(rel)
        labels = [measure.label for measure in parse_all(asked)]
        if not any(label.startswith("Latency") for label in labels):
            asked += " Latency"
        self.documents = read_texts(corpus, "document").texts
        self.queries, columns = read_texts(queries, "query")
        self.qrels = Qrels.of(qrels)
        self._meet(unjudged)
        self.plan = Plan(
            asked,
            baseline or next(iter(self.systems)),
            rel,
            test,
            correction,
            *self._groups(by, rel, columns),
        )
        self.depth, self.seeds, self.repeats, self.warmup = depth, list(seeds), repeats, warmup
        self.concurrency, self.timeout = concurrency, timeout

    def _meet(self, unjudged: str) -> None:
        """See that queries and judgements belong together."""
        judged = dict.fromkeys(self.qrels.queries)
        without = [query for query in self.queries if query not in judged]
        if len(without) == len(self.queries):
            raise InputError(
                "no query has judgements",
                hint=f"the first query is '{next(iter(self.queries))}', the first judged one "
                f"'{next(iter(judged), '')}'",
            )
        if without and unjudged == "error":
            raise InputError(
                f"{len(without):,} of {len(self.queries):,} queries have no judgements: {_some(without)}",
                hint="unjudged = 'skip' leaves them out",
            )
        self.queries = {query: text for query, text in self.queries.items() if query in judged}
        unknown = [query for query in judged if query not in self.queries]
        if unknown:
            raise InputError(
                f"{len(unknown):,} of {len(judged):,} judged queries have no text: {_some(unknown)}",
                hint="give their texts, or leave their judgements out",
            )

    def _groups(
        self, by: Any, rel: float, columns: Mapping[str, Mapping[str, str]]
    ) -> tuple[str | None, dict[str, str]]:
        if by is None:
            return None, {}
        if isinstance(by, Mapping):
            return "group", {str(query): str(group) for query, group in by.items()}
        if by in columns:
            return by, {query: columns[by][query] for query in self.queries}
        if by == TARGETS:
            return by, by_targets(self.qrels, rel)
        raise UsageError(
            f"the queries have no column '{by}' to group by",
            hint=f"there is: {', '.join([*columns, TARGETS])}",
        )

    def run(
        self, folder: str | os.PathLike[str] | None = None, *, progress: bool = False
    ) -> ExperimentResult:
        """Index, ask every system every query, measure and compare.

        With a folder everything is kept there, and a second run goes on where the first one stopped.
        """
        from goodgain.experiment.session import Session

        kept = Folder(folder)
        kept.begin(self._settings())
        try:
            Session(self, kept, progress).run()
        finally:
            kept.close()
        result = ExperimentResult(kept, self.plan, self.qrels, self.queries, self.documents)
        result.write()
        return result

    def keys(self) -> list[Key]:
        """The systems; those with chance once for each seed."""
        return [
            (name, seed)
            for name, search in self.systems.items()
            for seed in (self.seeds if has_chance(search) else [None])
        ]

    def _settings(self) -> dict[str, Any]:
        """What a saved experiment says about itself."""
        import datetime
        import platform
        from importlib.metadata import PackageNotFoundError, version

        from goodgain import __version__

        versions = {"python": platform.python_version(), "goodgain": __version__}
        for package in PACKAGES:
            try:
                versions[package] = version(package)
            except PackageNotFoundError:
                continue
        return {
            "format": FORMAT,
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "versions": versions,
            "system": f"{platform.system()} {platform.machine()}",
            "data": _hash(self.documents, self.queries),
            "documents": len(self.documents),
            "queries": len(self.queries),
            "judgements": self.qrels.judgments,
            "systems": {
                name: search.settings()
                if isinstance(search, Retriever)
                else {"retriever": told(search)}
                for name, search in self.systems.items()
            },
            "chance": [name for name, search in self.systems.items() if has_chance(search)],
            "seeds": self.seeds,
            "depth": self.depth,
            "repeats": self.repeats,
            "warmup": self.warmup,
            "concurrency": self.concurrency,
            "timeout": self.timeout,
            "plan": self.plan.to_dict(),
        }


def _whole(least: int, **values: int) -> None:
    for name, value in values.items():
        if not isinstance(value, int) or value < least:
            raise UsageError(f"{name}={value} is not a whole number from {least} on")


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:3]) + (f" and {len(ids) - 3:,} more" if len(ids) > 3 else "")


def _hash(documents: Mapping[str, str], queries: Mapping[str, str]) -> str:
    import hashlib

    digest = hashlib.sha256()
    for part in (documents, queries):
        for key, text in part.items():
            digest.update(f"{len(key)} {len(text)} {key}{text}".encode("utf-8", "surrogateescape"))
        digest.update(b"\0")
    return digest.hexdigest()


def _systems(given: Mapping[str, Search | str], depth: int) -> dict[str, Any]:
    """The systems by name, each knowing those it builds on."""
    if not given:
        raise UsageError("there are no systems to run")
    found: dict[str, Any] = {}
    for name, search in given.items():
        if not isinstance(search, str) and not callable(search):
            raise UsageError(
                f"the system '{name}' is a {type(search).__name__} and cannot be asked",
                hint="a function query -> [(document, score)], or the name of a built-in retriever",
            )
        found[name] = make(search, {"depth": depth}) if isinstance(search, str) else search
    for search in found.values():
        if isinstance(search, Retriever):
            for part in list(search.everything()):
                if isinstance(part, Retriever):
                    part.bind(found)
    for name, search in found.items():
        if isinstance(search, Retriever) and _turns(search, ()):
            raise UsageError(f"the system '{name}' is built on itself")
    return found


def _turns(search: Any, above: tuple[int, ...]) -> bool:
    if id(search) in above:
        return True
    parts = search.parts() if isinstance(search, Retriever) else []
    return any(_turns(part, (*above, id(search))) for part in parts)
