"""Chats with tool calls: what the formats of messages share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.calls import CallRecord
from goodgain.traces.messages import Message, parse_message
from goodgain.traces.threads import Item, Piece, key_of, threads
from goodgain.traces.usage import read_usage
from goodgain.traces.values import decode_json, dicts, first_of

if TYPE_CHECKING:
    from goodgain.traces.builder import Builder
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.S)
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*(?:</tool_response>|\Z)", re.S)
_ACTION = re.compile(r"^Action(?: \d+)?:[ \t]*(?P<tool>\w+)\[(?P<query>[^\n]*)", re.M)
_SYSTEM_TEXT = re.compile(r"<(system[-_]reminder|system|environment_details)>.*?</\1>", re.S)
_OBSERVATION = re.compile(r"^Observation(?: \d+)?:\s*")
_SUBMITS = ("finish", "finalanswer", "submit", "submitanswer", "submitfinalanswer")


def messages_of(document: Any) -> list[Any] | None:
    """The messages of a chat; None if there is no list of them."""
    messages = document
    if isinstance(document, dict):
        messages = first_of(document, "messages", "traj")
        for name in ("values", "request"):  # a LangGraph state; a logged request
            if messages is None and isinstance(document.get(name), dict):
                messages = document[name].get("messages")
    if not isinstance(messages, list) or not messages:
        return None
    return messages if any(isinstance(m, dict) for m in messages) else None


def read_chats(documents: Documents, context: Context) -> Conversations:
    """One conversation per document, or per thread of documents that continue one another."""
    for thread in threads(documents, _piece, context):
        builder = thread.builder(context)
        add_items(thread.items, builder)
        yield builder.build()


def _piece(where: str, document: Any) -> Piece:
    """The messages of a request, and of its response where the line has it."""
    facts = document if isinstance(document, dict) else {}
    request = facts["request"] if isinstance(facts.get("request"), dict) else {}
    messages = messages_of(document) or []
    items = [Item(value=m, where=f"{where} messages[{n}]") for n, m in enumerate(messages)]
    items += reply_items(facts, where)
    system = facts["system"] if isinstance(facts.get("system"), str) and not request else None
    name = next((facts[n] for n in ("id", "query_id") if isinstance(facts.get(n), str | int)), None)
    return Piece(
        where=where,
        items=items,
        key=key_of(document),
        name=None if name is None else str(name),
        of=system or "",
        system=system,
    )


def reply_items(facts: dict[str, Any], where: str) -> list[Item]:
    """The messages of a chat completion, which is the document or its response."""
    items = []
    for holder in (facts, facts.get("response")):
        if not isinstance(holder, dict):
            continue
        for number, choice in enumerate(dicts(holder.get("choices"))):
            if isinstance(choice.get("message"), dict) and not number:
                usage = read_usage(holder.get("usage"))
                place = f"{where} choices[0]"
                items.append(
                    Item(
                        value=choice["message"], where=place, usage=usage, model=holder.get("model")
                    )
                )
    return items


def add_messages(messages: Any, builder: Builder, where: str) -> None:
    """Add the turns, calls and answers of a chat to a conversation."""
    listed = messages if isinstance(messages, list) else []
    add_items(
        [Item(value=m, where=f"{where} messages[{n}]") for n, m in enumerate(listed)], builder
    )


def add_items(items: list[Item], builder: Builder) -> None:
    """Add the turns, calls and answers of messages to a conversation."""
    chat = _Chat(builder)
    for item in items:
        if isinstance(item.value, dict):
            builder.add_item("message", item.where)
            chat.add(parse_message(item.value), item)
        else:
            builder.add_item("message", item.where, "unusable", "not an object")


class _Chat:
    """A chat as it unfolds: calls without an id are answered in order, or by the tool's name."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.pending: list[CallRecord] = []
        self.generation: str | None = None  # the id of the last message of the model

    def add(self, message: Message, item: Item) -> None:
        if message.role == "user":
            self._add_user(message, item.where)
        elif message.role == "assistant":
            self._add_assistant(message, item)
        elif message.role == "tool":
            self._add_outputs(message, item.where)

    def _add_user(self, message: Message, where: str) -> None:
        if message.outputs:
            self._add_outputs(message, where)
        elif not self._add_responses(message.text, where) and not is_system_text(message.text):
            self.builder.start_turn(message.text)

    def _add_assistant(self, message: Message, item: Item) -> None:
        is_same = message.id is not None and message.id == self.generation  # a stream in pieces
        self.generation = message.id
        usage = item.usage or message.usage
        spent = self.builder.context.spent(usage, item.model or message.model)
        if is_same:
            self.builder.update_iteration(**spent)
        else:
            self.builder.start_iteration(**spent)
            self.builder.drop_answer()
        for call in message.calls:
            record = self.builder.add_call(
                call.id, call.name, call.arguments, where=item.where + call.where
            )
            if call.id is None:
                self.pending.append(record)
        tagged = _tagged_calls(message.text)
        self.pending += [
            self.builder.add_call(None, name, query, where=item.where) for name, query in tagged
        ]
        if message.calls or tagged:
            self.builder.drop_answer()
            named = [*((c.name, c.arguments) for c in message.calls), *tagged]
            answer = next((a for n in named if (a := _submitted(*n)) is not None), None)
            if answer == "":
                self.builder.end_without_answer()
            self.builder.add_answer(answer)
        self._add_outputs(message, item.where)
        if (
            not message.calls and not tagged and "<tool_call>" not in message.text
        ) or message.outputs:
            self.builder.add_answer(message.text, message.citations)

    def _add_outputs(self, message: Message, where: str) -> None:
        for output in message.outputs:
            call: CallRecord | str | None = output.call
            if call is None:
                same = [r for r in self.pending if r.tool == message.tool] or self.pending
                call = same[0] if same else None
            if isinstance(call, CallRecord) and call in self.pending:
                self.pending.remove(call)
            self.builder.add_output(
                call, output.value, where=where + output.where, error=output.error
            )

    def _add_responses(self, text: str, where: str) -> bool:
        """Add the outputs in tags of a user's message; whether it holds any.

        Without a call before it, such a message is a prompt that explains the tags.
        """
        if not self.pending:
            return False
        responses = _RESPONSE.findall(text)
        observation = _OBSERVATION.match(text)
        if responses:
            for number, response in enumerate(responses):
                record = self.pending[number] if number < len(self.pending) else None
                self.builder.add_output(record, response, where=where)
        elif observation:
            self.builder.add_output(self.pending[-1], text[observation.end() :], where=where)
        else:
            return False
        self.pending = []
        return True


def is_system_text(text: str) -> bool:
    """Whether a message of the user holds only what the agent's program adds for the model."""
    return bool(text) and not _SYSTEM_TEXT.sub("", text).strip()


def _submitted(tool: Any, arguments: Any) -> str | None:
    """The answer that a call hands in, as finish[...] of ReAct and `final_answer` of agents do."""
    if re.sub(r"[\W_]", "", str(tool).casefold()) not in _SUBMITS:
        return None
    value = decode_json(arguments)
    if isinstance(value, dict):
        value = first_of(value, "answer", "final_answer", "result", "response", "text", "input")
    return str(value) if isinstance(value, str | int | float) else None


def _tagged_calls(text: str) -> list[tuple[Any, Any]]:
    """(tool, arguments) of the calls in tags, or of the ReAct action, in an assistant's text.

    Of several actions in one text only the first is run: the model imagined what came between.
    """
    calls: list[tuple[Any, Any]] = []
    for tag in _CALL.findall(text):
        inner = decode_json(tag)
        call = inner if isinstance(inner, dict) else {}
        calls.append((call.get("name"), call.get("arguments")))
    action = None if calls else _ACTION.search(text)
    if action is not None:
        query, bracket, _ = action["query"].rpartition("]")
        calls.append((action["tool"], query if bracket else action["query"]))
    return calls
