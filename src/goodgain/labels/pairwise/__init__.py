"""Preferences between two documents, of judges or of people, and the grades that follow from them."""

from __future__ import annotations

from goodgain.labels.pairwise.comparing import compare_documents, people_choices
from goodgain.labels.pairwise.grading import Grade, PreferenceGrades, grade_preferences
from goodgain.labels.pairwise.records import Choice

__all__ = [
    "Choice",
    "Grade",
    "PreferenceGrades",
    "compare_documents",
    "grade_preferences",
    "people_choices",
]
