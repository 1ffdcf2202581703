"""An experiment: several retrievers over the same queries, timed, measured and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError, suggest_keywords
from goodgain.experiment.addresses import address_of
from goodgain.experiment.chunks import require_own_indexes, returns_chunks, unlocated_texts
from goodgain.experiment.folder import FORMAT, Folder
from goodgain.experiment.grid import LIMIT as GRID_LIMIT
from goodgain.experiment.grid import Expansion, Recipe, expand
from goodgain.experiment.groups import TARGETS, by_targets
from goodgain.experiment.judgments import SPAN, Matching, read_judgments, require_measures
from goodgain.experiment.loads import Load
from goodgain.experiment.machine import machine_facts
from goodgain.experiment.plan import Plan, documents_of, primary_measures
from goodgain.experiment.queries import (
    filters_of,
    metadata_of,
    reads_fields,
    takes_filters,
    with_fields,
)
from goodgain.experiment.result import ExperimentResult
from goodgain.experiment.retrievers import DEPTH, Retriever, make
from goodgain.experiment.retrievers.base import depends_on_seed, to_json
from goodgain.experiment.retrievers.frameworks import as_retriever
from goodgain.experiment.sampling import sample_queries
from goodgain.experiment.sharing import SEARCHES, SHARED
from goodgain.experiment.sources import read_data
from goodgain.experiment.stages import LIMIT, Stages, hash_texts
from goodgain.measures.grammar import parse, parse_all
from goodgain.ranking.identity import canonical_ids
from goodgain.ranking.policy import CHOICES
from goodgain.spans.tokens import tokenizer_of

if TYPE_CHECKING:
    import os

    from goodgain.experiment.judgments import Judgments
    from goodgain.experiment.optimisation import Optimisation
    from goodgain.experiment.retrievers import SearchFunction
    from goodgain.measures import Measure
    from goodgain.ranking.evaluator import Measures

    Key = tuple[str, int | None]  # a system, and its seed if it has one

STAGES = "stages"  # the folder of stages in that of the experiment
UNJUDGED = ("error", "skip")
WHOLE_LISTS = 1000  # documents kept for measures of whole lists, such as AP: TREC's convention
EARLY = ("RR", "Hit", "NumRel", "NumQ")  # without a cut-off, yet documents far down hardly count
PACKAGES = ("numpy", "scikit-learn", "scipy", "sentence-transformers")


def default_measures(rel: float = 1) -> str:
    """The measures of a retrieval experiment: early precision, recall and diversity."""
    mark = "" if rel == 1 else f"(rel={rel:g})"
    hits = " ".join(f"Hit{mark}@{k}" for k in (1, 5, 10, 20))
    return f"{hits} MRR{mark} Recall{mark}@20 DR{mark}@20 Diversity{mark}@20"


class Experiment:
    """Systems to run over the same queries; mistakes are reported here, before anything is run.

    `systems` is {name: retriever}, where a retriever is a callable query -> [(document, score)], sync or
    async, one of `goodgain.experiment.retrievers`, or its name. `baseline` is by default the first system.
    `by` groups the queries: a column of theirs, {query: group}, or "targets" (simple up to 3 targets,
    medium 4 to 6, complex above). `rel` is the lowest gain of a relevant document, for the groups and the
    default measures. `depth` is how many documents are kept of each answer: by default 100, or as many as
    the measures look at (1000 for those of whole lists, such as AP). `duplicates` and `identity` say which
    documents of an answer are the same, as in `evaluate`. Systems that depend on a seed run once for each of
    `seeds`. With `control` the baseline is timed against itself, too. `rates` are calls per second that then
    arrive at every system, for `load_seconds` each, or "saturation"; `arrivals` is poisson or fixed, and at
    most `workers` calls are in flight. `filters` names columns of the queries that restrict the documents,
    for retrievers that take filters; without it a column `filters` may hold them. `versions` names
    the version of systems whose state cannot be read, such as clients of a service.
    `grid` varies parameters: {"k1": [0.9, 1.2]} for all systems that have them, {"knn": {"embed": [...]}} for
    one; a system becomes one system for each point, up to `grid_limit` of them.
    `searches` is "shared" if what points of a grid have in common is searched once, or "whole".
    `cache` is a folder for stages (embeddings, indexes) that experiments share, by default that of
    `run`; beyond `cache_limit` GB the ones used longest ago are removed.
    `primary` chooses the measures that are tested and corrected for; the others are exploratory.

    `data` stands for corpus, queries and qrels: a folder of BEIR, MTEB or MS MARCO (with the judgments of
    `split`), "ir_datasets:ID", or such a data set. `sample` draws so many of the queries by `sample_seed`.
    Judgments may be of spans of text (`cover` is the share of a span that chunks must cover), of chunks, or
    of documents. `tokenizer` says what a token is in measures such as nDCG@2000tokens.

    >>> import goodgain as gg
    >>> corpus = {"a": "rotate the signing keys", "b": "raise a quota", "c": "read the logs"}
    >>> queries = {"q1": "rotate keys", "q2": "quota"}
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> def shared_words(query):
    ...     words = set(query.split())
    ...     return [(doc, len(words & set(text.split()))) for doc, text in corpus.items()]
    ...
    >>> experiment = gg.Experiment(corpus, queries, qrels, {"words": shared_words}, measures="RR")
    >>> experiment.run(progress=False)["RR"]
    1.0
    """

    @suggest_keywords
    def __init__(
        self,
        corpus: Any = None,
        queries: Any = None,
        qrels: Any = None,
        systems: Mapping[str, SearchFunction | str | Recipe] | None = None,
        *,
        data: Any = None,
        split: str | None = None,
        sample: int | None = None,
        sample_seed: int = 0,
        cover: float = 0.5,
        tokenizer: Any = None,
        baseline: str | None = None,
        measures: Measures | None = None,
        by: str | Mapping[str, str] | None = None,
        rel: float = 1,
        depth: int | None = None,
        grid: Mapping[str, Any] | None = None,
        grid_limit: int = GRID_LIMIT,
        versions: Mapping[str, str] | None = None,
        seeds: Sequence[int] = (0,),
        repeats: int = 1,
        warmup: int = 3,
        concurrency: int = 1,
        timeout: float | None = None,
        control: bool = True,
        rates: Sequence[float] | str = (),
        arrivals: str = "poisson",
        load_seconds: float = 10.0,
        workers: int = 32,
        unjudged: str = "error",
        duplicates: str = "best",
        identity: Any = None,
        filters: str | Sequence[str] | None = None,
        test: str = "t",
        correction: str = "holm",
        searches: str = SHARED,
        cache: str | os.PathLike[str] | None = None,
        cache_limit: float = LIMIT / 1e9,
        primary: Measures | None = None,
    ) -> None:
        _require_integers(1, repeats=repeats, concurrency=concurrency)
        _require_integers(0, warmup=warmup)
        if timeout is not None and not timeout > 0:
            raise UsageError(f"timeout must be a positive number of seconds, got {timeout}")
        if not seeds or len(set(seeds)) != len(seeds):
            raise UsageError(f"seeds must be different numbers, got {list(seeds)}")
        if unjudged not in UNJUDGED:
            raise UsageError(
                f"invalid unjudged='{unjudged}'", hint=f"available: {', '.join(UNJUDGED)}"
            )
        if duplicates not in CHOICES["duplicates"]:
            raise UsageError(
                f"invalid duplicates='{duplicates}'",
                hint=f"available: {', '.join(CHOICES['duplicates'])}",
            )
        if searches not in SEARCHES:
            raise UsageError(
                f"invalid searches='{searches}'", hint=f"available: {', '.join(SEARCHES)}"
            )
        self.searches = searches
        if not cache_limit > 0:
            raise UsageError(f"cache_limit must be a positive number of GB, got {cache_limit}")
        self.cache, self.cache_limit = cache, cache_limit
        self.load = Load(
            rates=rates if isinstance(rates, str) else tuple(rates),
            arrivals=arrivals,
            seconds=load_seconds,
            workers=workers,
        )
        self.duplicates = duplicates
        self.identity = to_json(identity)
        self.canonical = None if identity is None else canonical_ids(identity)
        chosen = parse_all(default_measures(rel) if measures is None else measures)
        if all(measure.name != "Latency" for measure in chosen):
            chosen = (*chosen, parse("Latency"))
        tested = () if primary is None else primary_measures(primary, chosen, rel)
        chosen = tuple(dict.fromkeys([*tested, *chosen]))
        depth = _depth(depth, chosen)
        expansion = Expansion(_retrievers(systems or {}, depth), {}, {})
        if grid is not None:
            _require_integers(1, grid_limit=grid_limit)
            expansion = expand(expansion.systems, grid, grid_limit)
        self.systems = _bound(expansion.systems, depth)
        self.chunked = [name for name, each in self.systems.items() if returns_chunks(each)]
        self.grids, self.points = expansion.grids, expansion.points
        self.versions: dict[str, str] = {}
        for name, version in (versions or {}).items():
            if name not in self.systems and name not in self.grids:
                raise UsageError(
                    f"unknown system '{name}' in versions",
                    hint=f"systems: {', '.join(self.systems)}",
                )
            self.versions |= dict.fromkeys(self.grids.get(name, (name,)), version)
        if baseline is not None and baseline not in self.systems:
            if baseline in self.grids:
                raise UsageError(
                    f"the baseline '{baseline}' has {len(self.grids[baseline]):,} points in the grid",
                    hint=f"choose one of them, such as '{self.grids[baseline][0]}'",
                )
            raise UsageError(
                f"unknown baseline '{baseline}'",
                hint=f"available systems: {', '.join(self.systems)}",
            )
        source = read_data(data=data, split=split, corpus=corpus, queries=queries, qrels=qrels)
        self.documents = source.documents
        self.queries = with_fields(source.queries, source.values, filters)
        judgments = read_judgments(source.qrels, self.documents, bool(self.chunked))
        require_measures(chosen, judgments.by)
        if judgments.by == SPAN and identity is not None:
            raise UsageError("identity does not apply to judgments of spans", hint="leave it out")
        notes = self._match_queries("skip" if source.is_whole else unjudged, judgments)
        if sample is not None:
            total = len(self.queries)
            drawn = sample_queries(self.queries, sample, sample_seed)
            self.queries = {query: self.queries[query] for query in drawn}
            notes.append(
                f"a sample of {len(drawn):,} of {total:,} judged queries (seed {sample_seed})"
            )
        self.judgments = judgments.of_queries(self.queries)
        self.qrels = self.judgments.qrels
        self.data_notes = (*source.notes, *notes)
        group_name, groups = self._groups(by, rel, source.columns)
        self.plan = Plan(
            measures=chosen,
            baseline=baseline or next(iter(self.systems)),
            rel=rel,
            test=test,
            correction=correction,
            by=group_name,
            groups=groups,
            primary=tested,
            judged=self.judgments.by,
            cover=cover,
            tokenizer="" if tokenizer is None else tokenizer_of(tokenizer).name,
        )
        self.tokenizer = tokenizer
        self.depth, self.seeds, self.repeats, self.warmup = depth, list(seeds), repeats, warmup
        self.concurrency, self.timeout, self.control = concurrency, timeout, control
        digest = hash_texts(self.documents, self.queries)
        by_object = {id(self.systems[name]): version for name, version in self.versions.items()}
        self.version_ids = by_object
        for name, version in self.versions.items():
            _set_version(self.systems[name], version, by_object)
        self.addresses = {
            name: address_of(
                search,
                data=digest,
                depth=depth,
                versions=by_object,
                answers=[duplicates, self.identity, *self._fields_of(search)],
            )
            for name, search in self.systems.items()
        }
        self._data = digest

    def _match_queries(self, unjudged: str, judgments: Judgments) -> list[str]:
        """Check that queries and judgments belong together; what was left out is returned as notes."""
        judged = dict.fromkeys(judgments.qrels.queries)
        without = [query for query in self.queries if query not in judged]
        if len(without) == len(self.queries):
            raise InputError(
                "no query has judgments",
                hint=f"the first query is '{next(iter(self.queries))}', the first judged query "
                f"'{next(iter(judged), '')}'",
            )
        if without and unjudged == "error":
            raise InputError(
                f"{len(without):,} of {len(self.queries):,} queries have no judgments: {_some(without)}",
                hint="unjudged='skip' leaves them out",
            )
        self.queries = {query: text for query, text in self.queries.items() if query in judged}
        unknown = [query for query in judged if query not in self.queries]
        notes = []
        if without:
            notes.append(f"{len(without):,} queries without judgments are left out")
        if unknown:
            raise InputError(
                f"{len(unknown):,} of {len(judged):,} judged queries have no text: {_some(unknown)}",
                hint="add their texts, or remove their judgments",
            )
        return notes

    def _fields_of(self, search: Any) -> list[Any]:
        """What a system's answers depend on besides the texts of the queries."""
        if not reads_fields(search):
            return []
        return [
            [filters_of(query), {k: str(v) for k, v in metadata_of(query).items()}]
            for query in self.queries.values()
        ]

    def unfiltered_systems(self) -> list[str]:
        """The systems that ignore the filters of queries."""
        if not any(map(filters_of, self.queries.values())):
            return []
        return [name for name, search in self.systems.items() if not takes_filters(search)]

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
            f"column '{by}' not found in the queries",
            hint=f"available groups: {', '.join([*columns, TARGETS])}",
        )

    def run(
        self, folder: str | os.PathLike[str] | None = None, *, progress: bool = False
    ) -> ExperimentResult:
        """Index the documents, run every query on every system, measure and compare.

        With a folder all calls are saved, and a second run continues where the first one stopped.
        """
        from goodgain.experiment.session import Session

        calls = Folder(folder)
        try:
            calls.begin(self.settings())
            stages = self.stages(folder)
            session = Session(self, calls, stages, progress)
            session.run()
            changed = {n: s for n, s in self.systems.items() if calls.index_of(n).get("unlocated")}
            extra = unlocated_texts(changed, self.documents, stages)
        finally:
            calls.close()
        result = ExperimentResult(
            calls,
            self.plan,
            self.qrels,
            self.queries,
            self.documents,
            session.notes(),
            matching=self.matching(extra),
        )
        result.write()
        return result

    def optimise(
        self,
        measure: str | Measure | None = None,
        folder: str | os.PathLike[str] | None = None,
        *,
        max_latency: str | float | None = None,
        max_cost: str | float | None = None,
        margin: float | Mapping[str, float] | None = None,
        held_out: float = 0.5,
        alpha: float = 0.05,
        seed: int = 0,
        progress: bool = False,
    ) -> Optimisation:
        """Race the systems query by query, and measure the best on queries that the race did not see.

        `measure` is by default the first of the experiment. A budget is a limit of a percentile of calls:
        "50ms" (at the 95th), "p99=1s", a number of seconds; costs likewise. Settings that are surely worse
        or over a budget are no longer called; the best is dropped with a probability of at most `alpha`.
        The race ends when none that is left can be better by the `margin` (0.02 of the measure's range).
        `held_out` is the share of queries that the race never uses. Calls are saved in the folder, and `run`
        reuses them.
        """
        from goodgain.experiment.optimise import run_race, task_of
        from goodgain.experiment.racing import budgets_of

        task = task_of(
            self,
            measure,
            budgets=budgets_of(max_latency, max_cost),
            margin=margin,
            held_out=held_out,
            alpha=alpha,
            seed=seed,
        )
        return run_race(self, task, folder, progress=progress)

    def stages(self, folder: str | os.PathLike[str] | None) -> Stages:
        """The stages that are shared or, without a cache, those of the folder."""
        place = self.cache
        if place is None and folder is not None:
            place = Path(folder) / STAGES
        return Stages(place, limit=self.cache_limit * 1e9)

    @property
    def is_controlled(self) -> bool:
        """Whether the baseline is timed against itself: there is something to compare it with."""
        return self.control and len(self.systems) > 1

    def matching(self, texts: Mapping[str, str] | None = None) -> Matching:
        """How results are matched with the judgments; `texts` are those of results in no document."""
        return Matching(
            judgments=self.judgments,
            documents={**self.documents, **texts} if texts else self.documents,
            cover=self.plan.cover,
            tokenizer=self.tokenizer,
        )

    def keys(self) -> list[Key]:
        """Every system, those that depend on a seed once for each seed."""
        return [
            (name, seed)
            for name, search in self.systems.items()
            for seed in (self.seeds if depends_on_seed(search) else [None])
        ]

    def settings(self) -> dict[str, Any]:
        """The content of experiment.json."""
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
            "machine": machine_facts(),
            "data": self._data,
            "documents": len(self.documents),
            "queries": len(self.queries),
            "judgments": len(self.judgments.spans) or self.qrels.judgments,
            "data_notes": list(self.data_notes),
            "data_warnings": list(self.judgments.notes),
            "chunked": self.chunked,
            "systems": {
                name: {
                    **self.addresses[name].settings,
                    "address": self.addresses[name].digest,
                    "seeds": self.seeds if depends_on_seed(search) else [None],
                }
                for name, search in self.systems.items()
            },
            "unfiltered_systems": self.unfiltered_systems(),
            "seeded_systems": [
                name for name, search in self.systems.items() if depends_on_seed(search)
            ],
            "grids": {name: list(points) for name, points in self.grids.items()},
            "points": {
                name: {key: to_json(value) for key, value in point.items()}
                for name, point in self.points.items()
            },
            "seeds": self.seeds,
            "depth": self.depth,
            "repeats": self.repeats,
            "warmup": self.warmup,
            "concurrency": self.concurrency,
            "searches": self.searches,
            "timeout": self.timeout,
            "identity": self.identity,
            "control": self.is_controlled,
            "load": asdict(self.load),
            "plan": self.plan.to_dict(),
        }


def _depth(depth: int | None, measures: Sequence[Measure]) -> int:
    """As given, or as many documents as the measures look at."""
    if depth is not None:
        _require_integers(1, depth=depth)
        return depth
    whole = any(
        m.cutoff is None
        and (m.namespace == "ranked" or m.budget)
        and (m.name not in EARLY or m.budget)
        for m in measures
    )
    return max(WHOLE_LISTS if whole else DEPTH, *map(documents_of, measures))


def _require_integers(least: int, **values: int) -> None:
    for name, value in values.items():
        if not isinstance(value, int) or value < least:
            raise UsageError(f"{name} must be an integer of at least {least}, got {value}")


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:3]) + (f" and {len(ids) - 3:,} more" if len(ids) > 3 else "")


def _retrievers(systems: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """The retrievers by name, as they are or made by name."""
    if not systems:
        raise UsageError("the experiment has no systems")
    retrievers: dict[str, Any] = {}
    for name, search in systems.items():
        if isinstance(search, Recipe):
            retrievers[name] = search
            continue
        retrievers[name] = (
            make(search, {}, depth) if isinstance(search, str) else as_retriever(search)
        )
        _require_callable(name, retrievers[name])
    return retrievers


def _require_callable(name: str, search: Any) -> None:
    if not callable(search):
        raise UsageError(
            f"the system '{name}' has type {type(search).__name__} and cannot be called",
            hint="pass a function query -> [(document, score)], the name of a retriever, or an object of "
            "LangChain, LlamaIndex or Haystack",
        )


def _bound(systems: Mapping[str, Any], depth: int) -> dict[str, Any]:
    """The systems, each bound to those it is built on."""
    retrievers = {
        name: as_retriever(search.system(name)) if isinstance(search, Recipe) else search
        for name, search in systems.items()
    }
    for name, search in retrievers.items():
        _require_callable(name, search)
        _deepen(search, depth)
    for search in retrievers.values():
        for retriever in search.all_retrievers() if isinstance(search, Retriever) else ():
            retriever.bind(retrievers)
    require_own_indexes(retrievers)
    for name, search in retrievers.items():
        if _is_cyclic(search, ()):
            raise UsageError(f"the system '{name}' is built on itself")
    return retrievers


def _set_version(search: Any, version: str, others: Mapping[int, str]) -> None:
    """Name the version of a retriever and of the components that have none of their own."""
    for retriever in search.all_retrievers() if isinstance(search, Retriever) else ():
        if retriever is search or (id(retriever) not in others and retriever.version is None):
            retriever.version = version


def _deepen(search: Any, depth: int) -> None:
    """Let a retriever whose depth was not set return as many documents as the measures look at."""
    import inspect

    if isinstance(search, Retriever):
        parameter = inspect.signature(type(search)).parameters.get("depth")
        if parameter is not None and parameter.default == search.depth < depth:
            search.depth = depth


def _is_cyclic(search: Any, above: tuple[int, ...]) -> bool:
    if id(search) in above:
        return True
    components = search.components() if isinstance(search, Retriever) else []
    return any(_is_cyclic(component, (*above, id(search))) for component in components)
