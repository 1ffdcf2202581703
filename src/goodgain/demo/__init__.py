"""A collection of our own to try everything on: search in the standard library's documentation."""

from goodgain.demo.collection import (
    Judgement,
    Judgements,
    Question,
    documents,
    judgements,
    questions,
)
from goodgain.demo.experiments import Demo, agent_gains, agent_traces, experiment
from goodgain.demo.retrievers import systems

__all__ = [
    "Demo",
    "Judgement",
    "Judgements",
    "Question",
    "agent_gains",
    "agent_traces",
    "documents",
    "experiment",
    "judgements",
    "questions",
    "systems",
]
