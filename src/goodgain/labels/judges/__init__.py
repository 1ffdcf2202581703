"""Judges: anything that can be called with a request and says how much a document is worth."""

from __future__ import annotations

from goodgain.labels.judges.anthropic import AnthropicJudge
from goodgain.labels.judges.openai import OpenAIJudge
from goodgain.labels.judges.protocol import Fatal, Judge, Price, Reply, Request, Retry

__all__ = [
    "AnthropicJudge",
    "Fatal",
    "Judge",
    "OpenAIJudge",
    "Price",
    "Reply",
    "Request",
    "Retry",
]
