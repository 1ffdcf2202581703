"""Gain labels: prompts, judges, the store, and the runner between them."""

from __future__ import annotations

from goodgain.labels.judges import (
    AnthropicJudge,
    Fatal,
    Judge,
    OpenAIJudge,
    Price,
    Reply,
    Request,
    Retry,
)
from goodgain.labels.labeller import Estimate, estimate, judge_for, label
from goodgain.labels.limits import Limits
from goodgain.labels.pairs import Pair, pool
from goodgain.labels.result import Label, Labels
from goodgain.labels.store import Store
from goodgain.labels.template import Prompt
from goodgain.labels.traces import with_gains

__all__ = [
    "AnthropicJudge",
    "Estimate",
    "Fatal",
    "Judge",
    "Label",
    "Labels",
    "Limits",
    "OpenAIJudge",
    "Pair",
    "Price",
    "Prompt",
    "Reply",
    "Request",
    "Retry",
    "Store",
    "estimate",
    "judge_for",
    "label",
    "pool",
    "with_gains",
]
