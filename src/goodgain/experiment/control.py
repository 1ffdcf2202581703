"""The A/A control: the baseline against itself, as one more pair of calls among the others.

Two more calls of the baseline for the same query, each at a random place after its own, differ by nothing but
chance. A test that finds a difference between them would find one anywhere on this machine.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from goodgain.experiment.folder import Folder

    Key = tuple[str, int | None]
    Task = tuple[Key, str, int]

CALLS = (-1, -2)  # in place of the number of a repeat
PAIRS = 200  # at most, spread over the queries
FEWEST = 5  # pairs below which no test says anything
LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The difference in seconds between two calls of one system, over pairs of calls for one query each."""

    system: str
    pairs: int
    mean: float
    difference: float
    low: float
    high: float
    p: float
    test: str

    @property
    def is_quiet(self) -> bool | None:
        """Whether the system shows no difference from itself; None with too few pairs to tell."""
        return None if self.pairs < FEWEST else self.p >= LEVEL

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        return asdict(self)

    def __str__(self) -> str:
        times = f"{1000 * self.difference:+.3f} ms"
        if self.low == self.low:
            times += f" [{1000 * self.low:.3f}, {1000 * self.high:.3f}]"
        verdict = {True: "no difference", False: "a difference", None: "too few to tell"}
        return (
            f"{self.system} against itself, {self.pairs:,} pairs of calls: {times}, p {self.p:.3f}, "
            f"{verdict[self.is_quiet]}"
        )


def control_queries(queries: Sequence[str]) -> set[str]:
    """The queries of the control, spread evenly."""
    step = max(1, -(-len(queries) // PAIRS))
    return set(queries[::step])


def with_control(order: list[Task], baseline: Key, rng: random.Random) -> list[Task]:
    """The calls of one query (or the rounds of one system each) with the pair, after the baseline's own."""
    place = next(
        (i for i, (key, _, repeat) in enumerate(order) if key == baseline and not repeat), None
    )
    if place is None:
        return order
    query = order[place][1]
    rest = [*order[place + 1 :], *((baseline, query, call) for call in CALLS)]
    return order[: place + 1] + rng.sample(rest, len(rest))


def control_of(folder: Folder, test: str) -> Control | None:
    """What the control calls of the last session that made some say, by the test that compares systems."""
    import numpy as np

    from goodgain.stats.intervals import mean_interval
    from goodgain.stats.paired import run_test

    systems = folder.settings["systems"]
    records = [
        c for c in folder.calls
        if "control" in c and systems.get(c["control"], {}).get("address") == c["address"]
    ]  # fmt: skip
    if not records:
        return None
    session = records[-1]["session"]
    pairs: dict[str, dict[int, float]] = {}
    for record in records:
        if record["session"] == session and "error" not in record and "beside" not in record:
            pairs.setdefault(record["of"], {})[record["call"]] = record["seconds"]
    complete = [own for own in pairs.values() if len(own) == len(CALLS)]
    if not complete:
        return None
    first, second = CALLS
    values = np.array([own[first] - own[second] for own in complete])
    name = "t" if test == "tukey" else test
    difference, low, high, _ = mean_interval(values)
    return Control(
        system=records[-1]["control"],
        pairs=len(complete),
        mean=float(np.mean([list(own.values()) for own in complete])),
        difference=difference,
        low=low,
        high=high,
        p=run_test(name, values).p,
        test=name,
    )
