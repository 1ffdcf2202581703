"""Labels: prompts, judges, the label store, and the runner that connects them."""

from __future__ import annotations

from goodgain.labels.answers import answer_pairs
from goodgain.labels.ensemble import Ensemble
from goodgain.labels.imports import Imported, import_labels
from goodgain.labels.judges import (
    AnthropicJudge,
    Fatal,
    Judge,
    OpenAIJudge,
    Price,
    Reply,
    Request,
    Retry,
    create_judge,
    judge_for,
    judge_names,
)
from goodgain.labels.labeller import Estimate, estimate, label
from goodgain.labels.limits import Limits
from goodgain.labels.next_label import next_pairs, settling_labels
from goodgain.labels.pairs import Pair
from goodgain.labels.people import Vote
from goodgain.labels.pooling import pool
from goodgain.labels.raw import RawPrompt
from goodgain.labels.result import Label, Labels, PeopleLabels
from goodgain.labels.sampling import Sample, draw_sample, read_sample
from goodgain.labels.store import Store
from goodgain.labels.template import Prompt
from goodgain.labels.traces import with_gains

__all__ = [
    "AnthropicJudge",
    "Ensemble",
    "Estimate",
    "Fatal",
    "Imported",
    "Judge",
    "Label",
    "Labels",
    "Limits",
    "OpenAIJudge",
    "Pair",
    "PeopleLabels",
    "Price",
    "Prompt",
    "RawPrompt",
    "Reply",
    "Request",
    "Retry",
    "Sample",
    "Store",
    "Vote",
    "answer_pairs",
    "create_judge",
    "draw_sample",
    "estimate",
    "import_labels",
    "judge_for",
    "judge_names",
    "label",
    "next_pairs",
    "pool",
    "read_sample",
    "settling_labels",
    "with_gains",
]
