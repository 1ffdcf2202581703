"""A small collection to try goodgain on: search in the documentation of the standard library."""

from goodgain.demo.collection import (
    Judgment,
    Judgments,
    Question,
    documents,
    judgments,
    questions,
)
from goodgain.demo.experiments import Demo, agent_gains, agent_traces, experiment
from goodgain.demo.retrievers import systems

__all__ = [
    "Demo",
    "Judgment",
    "Judgments",
    "Question",
    "agent_gains",
    "agent_traces",
    "documents",
    "experiment",
    "judgments",
    "questions",
    "systems",
]
