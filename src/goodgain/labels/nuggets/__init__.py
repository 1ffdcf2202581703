"""Nuggets: short facts that an answer should contain, and how many of them it does."""

from __future__ import annotations

from goodgain.labels.nuggets.answers import Answer, read_answers
from goodgain.labels.nuggets.assigning import assign_nuggets, nugget_scores
from goodgain.labels.nuggets.bank import Nugget, import_nuggets, read_nuggets
from goodgain.labels.nuggets.making import make_nuggets
from goodgain.labels.nuggets.scores import NuggetScores

__all__ = [
    "Answer",
    "Nugget",
    "NuggetScores",
    "assign_nuggets",
    "import_nuggets",
    "make_nuggets",
    "nugget_scores",
    "read_answers",
    "read_nuggets",
]
