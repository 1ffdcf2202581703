"""A damaged saved result is refused when it is loaded, with the place of the damage."""

from __future__ import annotations

import copy
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import goodgain as gg
from goodgain.errors import GoodgainError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GAINS = {f"q{q}": {f"d{d}": (q + d) % 4 for d in range(8)} for q in range(6)}
RUN = {q: {d: 1.0 / (1 + i) for i, d in enumerate(docs)} for q, docs in GAINS.items()}
OTHER = {q: dict(zip(docs, range(8), strict=True)) for q, docs in GAINS.items()}
TRACES = [
    {
        "conversation": f"c{i}",
        "system": system,
        "turns": [
            {
                "user": "u",
                "iterations": [
                    {
                        "searches": [
                            {"query": "q", "results": [{"id": "a", "gain": 3}, {"id": f"b{i}"}]}
                        ]
                    }
                ],
            }
        ],
    }
    for i in range(4)
    for system in ("one", "two")
]
LABELS = {q: {d: (g + 1) % 4 if d == "d1" else g for d, g in ds.items()} for q, ds in GAINS.items()}
RESULTS = {
    "evaluation": lambda: gg.evaluate(GAINS, {"a": RUN, "b": OTHER}, "nDCG@10 AP"),
    "bounds": lambda: gg.evaluate(GAINS, RUN, "P@5", unjudged="bounds"),
    "comparison": lambda: gg.compare(gg.evaluate(GAINS, {"a": RUN, "b": OTHER}, "nDCG@10 AP")),
    "good gain": lambda: gg.good_gain(TRACES),
    "calibration": lambda: gg.calibrate(LABELS, GAINS),
}
ODD = [None, True, -1, 1.5, 10**30, "x", [], {}, [None], {"a": 1}, [[[]]], float("nan"), [1] * 100]


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    members = value.items() if isinstance(value, dict) else enumerate(value[:4])
    for key, each in members if isinstance(value, dict | list) else ():
        if isinstance(each, dict | list):
            yield from places(each, (*place, key))
        else:
            yield (*place, key)


def damaged(data: Any, draw: random.Random) -> Any:
    """The data with a value removed, replaced, added or wrapped somewhere."""
    data = copy.deepcopy(data)
    *path, last = draw.choice(list(places(data)))
    holder = data
    for key in path:
        holder = holder[key]
    match draw.randrange(4):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, list):
            holder.append(draw.choice(ODD))
        case 2:
            holder[last] = [holder[last]]
        case _:
            holder[last] = draw.choice(ODD)
    return data


@pytest.mark.parametrize("kind", RESULTS)
def test_damaged_results(kind: str, tmp_path: Path) -> None:
    path, page = tmp_path / "result.json", tmp_path / "page.html"
    RESULTS[kind]().save(path)
    data = json.loads(path.read_text())
    gg.load(path).report(page)
    draw, refused = random.Random(kind), 0
    for _ in range(12):
        path.write_text(json.dumps(damaged(data, draw)))
        try:
            result = gg.load(path)
            result.to_dicts() if hasattr(result, "to_dicts") else None
            assert str(result) + result._repr_html_()
            result.report(page)
        except GoodgainError:
            refused += 1
    assert refused >= 2


def test_the_place_of_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    RESULTS["evaluation"]().save(path)
    data = json.loads(path.read_text())
    data["runs"][1]["values"]["AP"][2] = "0.5"
    path.write_text(json.dumps(data))
    with pytest.raises(GoodgainError) as error:
        gg.load(path)
    assert error.value.message == (
        "the saved evaluation is damaged: runs[1].values.AP[2] is missing or invalid"
    )
    data["runs"][1]["values"]["AP"][2:] = []
    path.write_text(json.dumps(data))
    with pytest.raises(GoodgainError, match=r"runs\[1\]\.values\.AP is missing or invalid"):
        gg.load(path)
