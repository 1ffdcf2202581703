"""Judges: anything that can be called with a request and returns a gain."""

from __future__ import annotations

from goodgain.labels.judges.anthropic import AnthropicJudge
from goodgain.labels.judges.openai import OpenAIJudge
from goodgain.labels.judges.protocol import Fatal, Judge, Price, Reply, Request, Retry
from goodgain.labels.judges.registry import create_judge, judge_for, judge_names

__all__ = [
    "AnthropicJudge",
    "Fatal",
    "Judge",
    "OpenAIJudge",
    "Price",
    "Reply",
    "Request",
    "Retry",
    "create_judge",
    "judge_for",
    "judge_names",
]
