"""Nuggets: short facts that an answer should contain, and how many of them it does.

>>> import goodgain as gg
>>> from goodgain.labels.nuggets import assign_nuggets, import_nuggets, nugget_scores, read_answers
>>> from goodgain.labels.nuggets import read_nuggets
>>> store = gg.Store("nuggets.db")
>>> import_nuggets(store, [
...     {"query": "q1", "text": "a hash is a number", "vital": True},
...     {"query": "q1", "text": "dicts use it", "vital": False},
... ], source="ann")
(2, 0)
>>> read_nuggets(store)["q1"][0].text
'a hash is a number'
>>> rows = [{"system": "agent", "query_id": "q1", "question": "what is a hash?", "answer": "A number."}]
>>> read_answers(rows)[0].system
'agent'
>>> scores = assign_nuggets(rows, lambda request: 2 if "number" in request.document else 0, store)
>>> scores.mean("agent", "NuggetVital"), scores.mean("agent", "NuggetAll")
(1.0, 0.5)
>>> nugget_scores(rows, store).mean("agent", "NuggetAll")  # later, from what the store has
0.5

A judge can also write the nuggets, from good documents:

>>> from goodgain.labels import Reply
>>> from goodgain.labels.nuggets import make_nuggets
>>> def writer(request):  # a model would read `request.messages()`
...     is_list = request.prompt.name == "nugget-making"
...     return Reply('{"nuggets": ["a hash is a number"]}' if is_list else '{"gain": 1}')
>>> pairs = [("q1", "d1", "what is a hash?", "A hash is a number made of a key.")]
>>> make_nuggets(pairs, writer, store, source="writer").nuggets["q1"][0].text
'a hash is a number'
"""

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
