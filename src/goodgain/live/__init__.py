"""Live capture: what a running agent searches for, opens and answers, written as it happens.

>>> import goodgain as gg
>>> live = gg.live.capture("traces.jsonl", system="support")
>>> @gg.live.search_tool
... def search(query):
...     return [{"id": "keys.md", "title": "Rotating keys"}]
>>> @gg.live.open_tool
... def read(id):
...     return "Signing keys should be replaced every ninety days."
>>> with live.conversation("c1", user="How do I rotate keys?") as turn:
...     text = read(search("rotate keys")[0]["id"])
...     turn.answer("Every ninety days [keys.md].")
>>> live.close()
>>> (trace,) = gg.read_traces("traces.jsonl")
>>> trace, sum(len(iteration.opens) for iteration in trace.turns[0].iterations)
(Trace('c1', 1 turns, 1 searches, 1 results), 1)
"""

from goodgain.live.capturing import Capture, capture
from goodgain.live.functions import open_tool, search_tool

__all__ = ["Capture", "capture", "open_tool", "search_tool"]
