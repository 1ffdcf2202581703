"""What a reader must know of numbers that rest on the labels of a judge: who it is, and its passport."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


def judges_of(inputs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The judges behind the inputs of a result, each once."""
    listed = (dict(facts["judge"]) for facts in inputs if facts.get("judge"))
    return list({str(judge["setting"]): judge for judge in listed}.values())


def judge_notes(inputs: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence for each judge behind the inputs of a result."""
    return [f"judged by {judge_sentence(judge)}" for judge in judges_of(inputs)]


def different_judges(inputs: Iterable[Mapping[str, Any]]) -> list[str]:
    """A warning if systems are compared that different judges judged."""
    judges = judges_of(inputs)
    if len(judges) < 2:
        return []
    names = ", ".join(str(judge["model"]) for judge in judges)
    return [
        f"the systems are judged by {len(judges)} different judges ({names}): differences may "
        "come from the judges"
    ]


def judge_sentence(judge: Mapping[str, Any]) -> str:
    """Who judged, and how far to trust it; a judge without a passport is marked as such."""
    passport = judge.get("passport")
    if passport is None:
        return (
            f"{judge['model']} without a passport: how far its labels agree with people is unknown "
            "(goodgain calibrate --passport)"
        )
    pieces = []
    figure = passport.get("agreement")
    if figure and figure["value"] == figure["value"] and figure["value"] is not None:
        low, high = figure["low"], figure["high"]
        interval = f" [{low:.2f}, {high:.2f}]" if low is not None and low == low else ""
        pieces.append(
            f"{figure['name']} with people {figure['value']:.2f}{interval} on {figure['n']:,} pairs"
        )
    else:
        pieces.append("agreement with people undefined")
    for good, text in ((False, "decoys resisted"), (True, "known answers recognised")):
        own = [c for c in passport["canaries"] if c["good"] is good]
        total = sum(c["labelled"] for c in own)
        if total:
            pieces.append(f"{sum(c['right'] for c in own)} of {total} {text}")
    if passport.get("drift"):
        pieces.append(passport["drift"])
    return f"{judge['model']}, passport of {passport['created'][:10]}: {', '.join(pieces)}"
