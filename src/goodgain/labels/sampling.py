"""Samples: what people should judge, drawn at random; the store keeps the probability of every draw."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from goodgain.errors import InputError, UsageError
from goodgain.labels.frames import Frame, build_frame, check_strata, pack, shares, spread_of, unpack
from goodgain.labels.result import Labels, PeopleLabels, people_gains
from goodgain.labels.store import Store, now
from goodgain.ranking.evaluator import several_runs
from goodgain.results.text import render_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goodgain.labels.frames import Pair
    from goodgain.labels.scale import Gains

Unit = Literal["pairs", "queries"]
ALLOCATIONS = {
    "proportional": "in proportion to the size of each stratum",
    "equal": "the same number from each stratum",
    "neyman": "more where an earlier sample shows that people and judge differ more",
}
_COLUMNS = ["position", "query", "doc"]


class Drawn(NamedTuple):
    """A unit that was drawn; `doc` is None for a whole query.

    `probability` is that of being in the sample, or for units drawn one by one, among those left.
    """

    query: str
    doc: str | None
    probability: float
    stratum: str
    position: int


class Stratum(NamedTuple):
    """How many units a stratum has, and how many were drawn."""

    name: str
    units: int
    drawn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What was drawn, from what, and how; `steps` are units drawn one by one (see `next_label`)."""

    name: str
    unit: str  # pairs, queries, steps (pairs, one by one), query-steps
    seed: int
    by: tuple[str, ...]
    allocation: str
    depth: int | None  # of the runs that were pooled
    runs: tuple[str, ...]
    strata: tuple[Stratum, ...]
    units: tuple[Drawn, ...]
    frame: tuple[tuple[int, str, tuple[str, ...]], ...]  # number of the stratum, query, documents

    @property
    def documents(self) -> dict[str, list[str]]:
        """Every document of every query that could be drawn."""
        documents: dict[str, list[str]] = defaultdict(list)
        for _, query, docs in self.frame:
            documents[query] += docs
        return dict(documents)

    def pairs(self) -> list[Pair]:
        """What to judge, in the order in which to judge it; a whole query is all its documents."""
        if self.unit not in ("queries", "query-steps"):
            return [(unit.query, unit.doc) for unit in self.units if unit.doc is not None]
        documents = self.documents
        pairs = []
        for unit in self.units:
            docs = documents[unit.query]
            pairs += [(unit.query, doc) for doc in shuffled(docs, f"{self.seed} {unit.query}")]
        return pairs

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row for every pair to judge, for other tools.

        Strata and probabilities stay in the store: they would give the judge's label away.
        """
        return _COLUMNS, [[i, query, doc] for i, (query, doc) in enumerate(self.pairs())]

    def render(self, format: str = "csv") -> str:  # noqa: A002
        """The list as text."""
        return render_data(format, *self.rows())

    def sentences(self) -> list[str]:
        """What was drawn, and what is out of its reach."""
        noun = "whole queries" if self.unit in ("queries", "query-steps") else "pairs"
        total = sum(s.units for s in self.strata)
        lines = [
            f"sample '{self.name}': {len(self.units):,} of {total:,} {noun}, "
            f"{len(self.pairs()):,} documents to judge (seed {self.seed})"
        ]
        if len(self.strata) > 1:
            lines += [
                f"  {s.name}: {s.drawn:,} of {s.units:,} (probability {s.drawn / s.units:.3g})"
                for s in self.strata
            ]
        if self.depth:
            lines.append(
                f"out of reach: documents below rank {self.depth} of the runs that have no label"
            )
        return lines

    def __repr__(self) -> str:
        return f"Sample('{self.name}', {len(self.units):,} {self.unit})"


def shuffled(values: Iterable[Any], seed: str) -> list[Any]:
    """The values in an order that depends on the seed alone."""
    ordered = list(values)
    random.Random(seed).shuffle(ordered)
    return ordered


def draw_sample(
    store: Store | str,
    count: int,
    *,
    name: str = "sample",
    unit: Unit = "pairs",
    by: Sequence[str] = (),
    allocation: str = "proportional",
    runs: Any = None,
    depth: int = 10,
    seed: int = 0,
    earlier: str | None = None,
    human: Any = None,
    model: str | None = None,
    prompt: str | None = None,
    setting: str | None = None,
) -> Sample:
    """Draw what people should judge, and keep it in the store with the probability of every draw.

    Units are pairs of a query and a document, or whole queries with all their documents. They come from
    the labels of the store and the top `depth` of the `runs`. `by` divides them into strata ("label",
    "rank", "system"), and `allocation` decides how many of each are drawn ("neyman" needs an `earlier`
    sample whose labels by people are in the store, or in `human`).
    """
    store = Store.of(store)
    by = tuple(by)
    _check(count, unit, allocation, earlier)
    check_strata(by, unit, runs)
    labels = optional_labels(store, model, prompt, setting)
    frame = build_frame(labels, runs, depth)
    members: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
    if unit == "queries":
        for query, stratum in frame.strata_of_queries(by).items():
            members[stratum].append((query, None))
    else:
        for pair in frame.pairs:
            members[frame.stratum_of_pair(pair, by)].append(pair)
    sizes = {stratum: len(members[stratum]) for stratum in sorted(members)}
    total = sum(sizes.values())
    if count > total:
        raise UsageError(f"cannot draw {count:,} of {total:,} {unit}")
    wanted = _wanted(sizes, allocation)
    if earlier is not None:
        spreads = _spreads(read_sample(store, earlier), frame, human_gains(store, human), sizes)
        wanted = {stratum: sizes[stratum] * spreads[stratum] for stratum in sizes}
    drawn = shares(count, sizes, wanted)
    chosen = [
        (member, drawn[stratum] / sizes[stratum], stratum)
        for stratum in sizes
        for member in shuffled(members[stratum], f"{seed} {stratum}")[: drawn[stratum]]
    ]
    units = tuple(
        Drawn(query, doc, probability, stratum, position)
        for position, ((query, doc), probability, stratum) in enumerate(shuffled(chosen, f"{seed}"))
    )
    sample = Sample(
        name=name,
        unit=unit,
        seed=seed,
        by=by,
        allocation=allocation,
        depth=depth if runs else None,
        runs=tuple(run.name for run in several_runs(runs)) if runs else (),
        strata=tuple(Stratum(s, sizes[s], drawn[s]) for s in sizes),
        units=units,
        frame=frame_rows(frame, unit, members),
    )
    write_sample(store, sample)
    return sample


def _check(count: int, unit: str, allocation: str, earlier: str | None) -> None:
    if count < 1:
        raise UsageError(f"the number to draw must be a positive integer, got {count}")
    if unit not in ("pairs", "queries"):
        raise UsageError(f"unknown unit '{unit}'", hint="pairs or queries")
    if allocation not in ALLOCATIONS:
        raise UsageError(
            f"unknown allocation '{allocation}'", hint=f"choose from: {', '.join(ALLOCATIONS)}"
        )
    if (allocation == "neyman") != (earlier is not None):
        raise UsageError(
            "allocation neyman, and no other, needs an earlier sample",
            hint="earlier='NAME' (--learn-from NAME)",
        )


def _wanted(sizes: dict[str, int], allocation: str) -> dict[str, float]:
    return (
        dict.fromkeys(sizes, 1.0)
        if allocation == "equal"
        else {s: float(n) for s, n in sizes.items()}
    )


def _spreads(sample: Sample, frame: Frame, gains: Gains, sizes: dict[str, int]) -> dict[str, float]:
    """How far people and judge differ in each stratum, by what people judged of an earlier sample."""
    errors: dict[str, list[float]] = defaultdict(list)
    for query, doc in sample.pairs():
        own, judge = gains.get(query, {}).get(doc), frame.gains.get(query, {}).get(doc)
        if own is not None:
            names = [frame.stratum_of_pair((query, doc), sample.by)]
            if sample.unit == "queries":
                names = [unit.stratum for unit in sample.units if unit.query == query]
            for stratum in names:
                errors[stratum].append(own - (judge or 0.0))
    if not errors:
        raise InputError(
            f"no pair of the sample '{sample.name}' has a label by people",
            hint="judge it first, or give the judgments with human= (--human)",
        )
    if not set(errors) & set(sizes):
        raise UsageError(
            f"the sample '{sample.name}' was not divided into the same strata",
            hint=f"it was divided by: {', '.join(sample.by) or 'nothing'}",
        )
    every = [error for own in errors.values() for error in own]
    return {stratum: spread_of(errors.get(stratum, every)) for stratum in sizes}


def frame_rows(
    frame: Frame, unit: str, members: dict[str, list[tuple[str, str | None]]]
) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """The frame with the number of the stratum of every unit."""
    rows: list[tuple[int, str, tuple[str, ...]]] = []
    for number, stratum in enumerate(sorted(members)):
        if unit == "queries":
            rows += [(number, query, frame.documents[query]) for query, _ in members[stratum]]
            continue
        docs: dict[str, list[str]] = defaultdict(list)
        for query, doc in members[stratum]:
            docs[query].append(str(doc))
        rows += [(number, query, tuple(own)) for query, own in docs.items()]
    return tuple(rows)


def optional_labels(
    store: Store, model: str | None = None, prompt: str | None = None, setting: str | None = None
) -> Labels | None:
    """The labels of the store; None if no model has labelled documents yet."""
    if not store.gain_settings() and (model, prompt, setting) == (None, None, None):
        return None
    return Labels.of(store, model=model, prompt=prompt, setting=setting)


def human_gains(store: Store, human: Any = None) -> Gains:
    """The labels of people: those passed, or else the votes in the store, by majority."""
    return PeopleLabels(store).to_dict() if human is None else people_gains(human)


def write_sample(store: Store, sample: Sample) -> None:
    """Add a sample, all or nothing; its name must be new."""
    design = {
        "unit": sample.unit,
        "by": list(sample.by),
        "allocation": sample.allocation,
        "depth": sample.depth,
        "runs": list(sample.runs),
        "strata": [list(s) for s in sample.strata],
        "frame": pack(sample.frame),
    }
    with store.transaction():
        row = {
            "name": sample.name,
            "design": json.dumps(design),
            "seed": sample.seed,
            "created": now(),
        }
        if not store.insert("samples", [row]):
            raise UsageError(
                f"the store has a sample '{sample.name}' already",
                hint="choose another name (--sample)",
            )
        add_units(store, sample.name, sample.units)


def add_units(store: Store, name: str, units: Iterable[Drawn]) -> None:
    """Add units to a sample, within one transaction."""
    with store.transaction():
        number = store.db.execute("SELECT id FROM samples WHERE name = ?", (name,)).fetchone()[0]
        store.insert("sampled", ({"sample": number, **unit._asdict()} for unit in units))


def sample_names(store: Store | str) -> list[str]:
    """The names of all samples, oldest first."""
    store = store if isinstance(store, Store) else Store(store, read_only=True)
    return [name for (name,) in store.db.execute("SELECT name FROM samples ORDER BY id")]


def read_sample(store: Store | str, name: str | None = None) -> Sample:
    """A sample of the store; `name` may be left out if it has only one."""
    store = store if isinstance(store, Store) else Store(store, read_only=True)
    names = sample_names(store)
    if name is None and len(names) == 1:
        name = names[0]
    if name is None or name not in names:
        known = (
            f"samples of the store: {', '.join(names)}"
            if names
            else "draw one: goodgain labels sample"
        )
        what = (
            f"unknown sample '{name}'"
            if name is not None
            else f"the store has {len(names)} samples"
        )
        raise UsageError(what, where=store.path, hint=known)
    number, text, seed = store.db.execute(
        "SELECT id, design, seed FROM samples WHERE name = ?", (name,)
    ).fetchone()
    design = json.loads(text)
    rows = store.db.execute(
        "SELECT query, doc, probability, stratum, position FROM sampled WHERE sample = ? "
        "ORDER BY position",
        (number,),
    )
    units = tuple(Drawn(*row) for row in rows)
    drawn = Counter(unit.stratum for unit in units)
    return Sample(
        name=name,
        unit=design["unit"],
        seed=seed,
        by=tuple(design["by"]),
        allocation=design["allocation"],
        depth=design["depth"],
        runs=tuple(design["runs"]),
        strata=tuple(Stratum(s, size, drawn[s]) for s, size, _ in design["strata"]),
        units=units,
        frame=tuple((n, query, tuple(docs)) for n, query, docs in unpack(design["frame"])),
    )
