"""What a reader of a Good Gain must know: what was skipped, unread, unlabelled or unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.results.text import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goodgain.agentic.settings import GainSettings
    from goodgain.agentic.system import SystemGain

_USAGE = ("tokens", "cost", "seconds")


def notes(
    facts: Mapping[str, Any], systems: tuple[SystemGain, ...], settings: GainSettings
) -> list[str]:
    """All caveats of a result, one sentence each."""
    return [
        *(str(n) for n in facts.get("notes", ())),
        *_of_input(facts),
        *_of_labels(facts, settings),
        *_of_usage(facts),
        *_of_answers(facts, systems),
        *(note for system in systems for note in _of_system(system, settings)),
    ]


def _of_input(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts.get("skipped"):
        examples = "".join(f"; {e}" for e in facts.get("skipped_examples", ())[:3])
        yield f"{facts['skipped']:,} bad conversations were skipped{examples}"
    if facts.get("unknown_conversations"):
        yield f"{facts['unknown_conversations']:,} conversations are not in the labels"
    if facts.get("ambiguous_labels"):
        yield (
            f"{facts['ambiguous_labels']:,} results match labels with different gains; the one "
            "with exactly their id or URL counts, otherwise the highest"
        )
    if facts.get("left_out"):
        yield (
            f"{facts['left_out']:,} results share keys with more than 64 others and were compared "
            "only with the 64 likeliest"
        )
    if facts.get("identical"):
        yield (
            f"{facts['identical']:,} conversations are identical to others in every character and "
            "count as repeats; was a file given twice?"
        )


def _of_labels(facts: Mapping[str, Any], settings: GainSettings) -> Iterator[str]:
    if facts.get("lent"):
        yield (
            f"{facts['lent']:,} results without a label take that of an identical result of "
            "another system or repeat"
        )
    if facts.get("conflicting"):
        yield (
            f"{facts['conflicting']:,} results have different gains in different systems or repeats; "
            "each keeps its own, and the pool the highest"
        )
    if facts.get("taken_as_zero"):
        yield f"{facts['taken_as_zero']:,} unlabelled results count as 0 (unlabelled='zero')"
    labels = facts.get("labels", 0)
    binary = facts.get("zeros", 0) + facts.get("ones", 0) == labels
    if facts.get("ones") and binary and settings.threshold > 1:
        yield (
            f"all {labels:,} labels are 0 or 1, so none reaches the threshold of "
            f"{settings.threshold:g}; for binary labels use threshold=1 (--threshold 1)"
        )


def _of_answers(facts: Mapping[str, Any], systems: tuple[SystemGain, ...]) -> Iterator[str]:
    if not facts.get("answers"):
        return
    if facts.get("unused_answers"):
        yield f"{facts['unused_answers']:,} gold answers are for conversations that are not in the traces"
    for s in systems:
        value = s.final_of_runs("Answer")
        _, upper = s.final_bounds_of_runs("Answer")
        answered = s.evidence.count("answered") > 0
        checked, open_ = upper == upper, (value != value) & (upper == upper)
        if not checked.all():
            number_of = int((~checked).sum())
            yield f"{s.name}: {number_of:,} of {len(value):,} conversations have no gold answer"
        if (open_ & ~answered).any():
            yield (
                f"{s.name}: the traces of {int((open_ & ~answered).sum()):,} conversations have no answer; "
                "Answer is undefined there, and its bounds count it as wrong and as right"
            )
        if (open_ & answered).any():
            yield (
                f"{s.name}: {int((open_ & answered).sum()):,} answers have no label of the judge; Answer is "
                "undefined there, and its bounds count it as wrong and as right"
            )


def _of_usage(facts: Mapping[str, Any]) -> Iterator[str]:
    for kind in _USAGE:
        known = {how: facts.get(f"{kind}_{how}", 0) for how in ("by_step", "by_search")}
        if facts.get(f"{kind}_in_part"):
            yield (
                f"{kind} are known only for a part of {_conversations(facts[f'{kind}_in_part'])}, "
                "where they and what depends on them are undefined"
            )
        if facts.get(f"{kind}_by_turn"):
            yield (
                f"{kind} are known only for whole turns in {_conversations(facts[f'{kind}_by_turn'])}: "
                f"Total{kind.capitalize()} has them, measures by iteration do not"
            )
        if all(known.values()):
            yield (
                f"{kind} include the agent's own steps in {_conversations(known['by_step'])}, and only "
                f"its searches in {known['by_search']:,}; do not compare the two"
            )


def _conversations(count: int) -> str:
    return f"{count:,} conversation{'s' * (count != 1)}"


def _of_system(s: SystemGain, settings: GainSettings) -> Iterator[str]:
    c = s.counts()
    if unresolved := int(s.evidence.count("unresolved").sum()):
        yield (
            f"{s.name}: {unresolved:,} markers in answers match nothing known, or several things; "
            "citation figures have bounds for them"
        )
    if s.is_repeated:
        equal = c["runs"] == s.repeats * c["conversations"]
        each = f"{s.repeats} each" if equal else f"up to {s.repeats} each"
        yield (
            f"{s.name}: {c['runs']:,} runs of {c['conversations']:,} conversations ({each}); "
            "a conversation counts once, with the mean of its runs"
        )
    if c["without_search"]:
        some = s.final("CG").values()
        unknown = sum(v != v for v in some)
        rest = (
            f"; of {unknown:,} the evidence is not known, and they are left out of gains"
            if unknown
            else ""
        )
        yield (
            f"{s.name}: {c['without_search']:,} of {c['runs']:,} conversations have no search "
            f"and count with a gain of 0{rest}"
        )
    if c["failed"]:
        yield f"{s.name}: {c['failed']:,} of {c['searches']:,} searches failed"
    if c["unread"]:
        affected = int((s.runs.counted[:, 3] > 0).sum())
        upper = "the known good results" if settings.unlabelled == "zero" else "nothing from above"
        yield (
            f"{s.name}: the results of {c['unread']:,} of {c['searches']:,} searches are unread, in "
            f"{affected:,} of {c['runs']:,} conversations; there figures are bounds, limited by {upper}, "
            "and R, UR, SRE, SRR, RAG and others that depend on the number of results are undefined"
        )
    if c["results"] and c["coverage"] == 0:
        yield f"{s.name}: no result has a label, so gains are unknown; only counts and SRR are exact"
    elif c["coverage"] < 1:
        yield (
            f"{s.name}: {number(100 * (1 - c['coverage']), 1)} % of the unique results have no label "
            "and earn nothing; [lower, upper] bounds what they could change"
        )
