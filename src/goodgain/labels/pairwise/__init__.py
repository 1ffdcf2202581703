"""Preferences between two documents, of judges or of people, and the grades that follow from them.

>>> from goodgain.labels import Pair
>>> from goodgain.labels.pairwise import compare_documents, grade_preferences
>>> pairs = [Pair("q1", doc, "which?", text) for doc, text in (("a", "good"), ("b", "bad"), ("c", "bad"))]
>>> def judge(request):  # 2: the first is better, 1: the same, 0: the second
...     first, second = request.document.split("</document", 1)
...     return 1 + ("good" in first) - ("good" in second)
>>> grades = grade_preferences(compare_documents(pairs, judge))
>>> [grade.doc for grade in grades.grades][0]
'a'

What people said on the judging page:

>>> import goodgain as gg
>>> from goodgain.labels.pairwise import people_choices
>>> with gg.Store("labels.db") as store:
...     people_choices(store)
[]
"""

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
