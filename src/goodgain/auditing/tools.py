"""The tools whose conventions, as they are, reproduce a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.auditing.conventions import AVERAGING
from goodgain.errors import GoodgainError
from goodgain.ranking.policy import PRESETS
from goodgain.ranking.presets import convention

if TYPE_CHECKING:
    from goodgain.auditing.published import Published
    from goodgain.auditing.scoring import Scorer
    from goodgain.measures.definition import Measure

TITLES = {
    "trec_eval": "trec_eval 10", "trec_eval9": "trec_eval 9.0.8", "ir_measures": "ir_measures",
    "ranx": "ranx", "beir": "BEIR", "elasticsearch": "Elasticsearch", "default": "goodgain",
}  # fmt: skip


def matching_tools(scorer: Scorer, published: Published, matched: int) -> tuple[str, ...]:
    """The tools that reproduce as many cells as the best conventions."""
    tools = []
    for preset, title in TITLES.items():
        missing = AVERAGING["missing"] if preset.startswith("trec_eval") else (None,)
        tools += [
            f"{title} -c" if choice == "zero" else title
            for choice in missing
            if _reproduced(scorer, published, preset, choice) >= matched > 0
        ]
    return tuple(tools)


def _reproduced(scorer: Scorer, published: Published, preset: str, missing: str | None) -> int:
    """How many cells a tool reproduces; 0 where it does not have one of the measures."""
    requests: dict[str, tuple[Measure, dict[str, str], str]] = {}
    for column, measure in published.measures.items():
        try:
            rule = convention(measure, PRESETS[preset], preset)
        except GoodgainError:
            return 0
        if rule.options:
            return 0  # computed by a kernel of its own
        policy = rule.policy.to_dict()
        skip = missing or policy.pop("missing")
        policy.pop("missing", None)
        policy.pop("duplicates")
        canonical = rule.measure.with_label(f"{rule.measure.label} as {preset}")
        requests[column] = canonical, policy, skip
    scorer.prepare([(measure, policy) for measure, policy, _ in requests.values()])
    count = 0
    for (run, column), printed in published.cells.items():
        measure, policy, skip = requests[column]
        number = scorer.mean(run, measure, policy, {"missing": skip})
        count += printed.reproduces(number, "rounded")
    return count
