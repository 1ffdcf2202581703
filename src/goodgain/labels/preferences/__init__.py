"""Preferences between two documents, of judges or of people, and the grades that follow from them."""

from __future__ import annotations

from goodgain.labels.preferences.comparing import compare_documents, read_preferences
from goodgain.labels.preferences.grading import Grade, PreferenceGrades, grade_preferences
from goodgain.labels.preferences.records import Preference

__all__ = [
    "Grade",
    "Preference",
    "PreferenceGrades",
    "compare_documents",
    "grade_preferences",
    "read_preferences",
]
