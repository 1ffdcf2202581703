"""Search-R1: transcripts with <search>, <information> and <answer> tags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.format import TraceFormat

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_SEARCH = re.compile(
    r"<search>(?P<query>.*?)</search>\s*(?:<information>(?P<output>.*?)</information>)?", re.S
)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.S)
_QUESTION = re.compile(r"Question:\s*(.*?)\s*(?:<\|im_end\|>|\n|$)", re.S)
_INSTRUCTIONS = re.compile(r"^.*?by <search> query </search>.*?(?=Question:)", re.S)
_TEXT_NAMES = ("response", "output", "text", "trajectory", "completion", "sequence")


def _mismatch(document: Any) -> str:
    text = _transcript(document)
    if text is None:
        return "no transcript text"
    return (
        ""
        if "<search>" in text and ("<information>" in text or "<answer>" in text)
        else "no <search> and <information>"
    )


def _transcript(document: Any) -> str | None:
    if isinstance(document, str):
        return document
    if not isinstance(document, dict):
        return None
    texts = (document.get(name) for name in _TEXT_NAMES)
    return next((text for text in texts if isinstance(text, str) and "<" in text), None)


def _read(documents: Documents, context: Context) -> Conversations:
    """One iteration per pair of <search> and <information>, without the tags in the prompt."""
    for where, document in documents:
        text = _transcript(document) or ""
        facts = document if isinstance(document, dict) else {}
        chats = re.split(r"(?=<\|im_start\|>system)", text) if "<|im_start|>" in text else [text]
        chats = [chat for chat in chats if "<search>" in chat or "<answer>" in chat]
        for number, chat in enumerate(chats, 1):
            prompt, marker, reply = chat.partition("<|im_start|>assistant")
            if not marker:
                prompt, reply = "", _INSTRUCTIONS.sub("", chat)
            default = where if len(chats) == 1 else f"{where}/{number}"
            name = facts.get("id", facts.get("query_id", default))
            builder = Builder(name, facts.get("model"), context)
            builder.add_item("message", default)
            question = _QUESTION.search(prompt or reply)
            builder.start_turn(facts.get("question") or (question[1] if question else None))
            for number, pair in enumerate(_SEARCH.finditer(reply), 1):
                builder.start_iteration()
                place = f"{default} search {number}"
                record = builder.add_call(None, "search", pair["query"].strip(), where=place)
                if pair["output"] is not None:
                    builder.add_output(record, pair["output"], where=place)
            answer = _ANSWER.search(reply)
            builder.add_answer(answer[1].strip() if answer else None)
            yield builder.build()


FORMAT = TraceFormat("search-r1", "Search-R1 transcripts", _mismatch, _read)
