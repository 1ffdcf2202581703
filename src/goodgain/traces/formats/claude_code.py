"""Claude Code transcripts: a line for each block of a message, with the messages of sub-agents among them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.chat import is_system_text
from goodgain.traces.format import TraceFormat
from goodgain.traces.usage import read_usage
from goodgain.traces.values import dicts, text_of

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

# what the program itself writes into messages of the user
_COMMAND = re.compile(
    r"\s*(?:<(?:command-|local-command|bash-|user-memory)|Caveat: The messages below)"
)
_INTERRUPTED = "[Request interrupted"


def _mismatch(document: Any) -> str:
    first = document[0] if isinstance(document, list) and document else document
    if not isinstance(first, dict) or ("sessionId" not in first and "leafUuid" not in first):
        return "no sessionId"
    if first.get("type") in ("user", "assistant", "system") and "uuid" in first:
        return ""
    known = (
        "summary",
        "file-history-snapshot",
        "queue-operation",
        "progress",
        "custom-title",
        "mode",
    )
    return "" if first.get("type") in known else "no line of type user or assistant"


@dataclass(slots=True)
class _Session:
    """A conversation as its lines come."""

    builder: Builder
    generations: dict[str, str] = field(default_factory=dict)  # the last message of each agent


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per session; sub-agents belong to the session that runs them."""
    sessions: dict[str, _Session] = {}
    before: list[tuple[str, dict[str, Any]]] = []
    for where, document in documents:
        for line in dicts(document if isinstance(document, list) else [document]):
            name = line.get("sessionId")
            if not isinstance(name, str):
                before.append((where, line))
                continue
            if name not in sessions:
                sessions[name] = _Session(Builder(name, None, context))
            _add_line(line, sessions[name], where)
    for where, _ in before:
        context.ledger.meet("event")
        context.ledger.enter("event", "read", "not of a message", where=where)
    for session in sessions.values():
        yield session.builder.build()


def _add_line(line: dict[str, Any], session: _Session, where: str) -> None:
    message = line.get("message")
    if line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        session.builder.add_item("event", where, "read", "not of a message")
        return
    session.builder.add_item("message", where)
    content = message.get("content")
    blocks = (
        [{"type": "text", "text": content}] if isinstance(content, str) else list(dicts(content))
    )
    if line["type"] == "assistant":
        _add_assistant(line, message, blocks, session, where)
    else:
        _add_user(line, blocks, session, where)


def _add_assistant(
    line: dict[str, Any],
    message: dict[str, Any],
    blocks: list[dict[str, Any]],
    session: _Session,
    where: str,
) -> None:
    builder, agent = session.builder, _agent(line)
    generation = str(message.get("id") or line.get("uuid"))
    if session.generations.get(agent) != generation:  # its other lines repeat the usage
        session.generations[agent] = generation
        spent = builder.context.spent(read_usage(message.get("usage")), message.get("model"))
        builder.start_iteration(**spent)
        if not agent:
            builder.drop_answer()
    for number, block in enumerate(blocks):
        place = f"{where} content[{number}]"
        if block.get("type") in ("tool_use", "server_tool_use"):
            if not agent:
                builder.drop_answer()
            builder.add_call(block.get("id"), block.get("name"), block.get("input"), where=place)
        elif block.get("type") == "text" and not agent:
            builder.add_answer(block.get("text"))


def _agent(line: dict[str, Any]) -> str:
    """The sub-agent that a line is of; empty for the main one."""
    return str(line.get("agentId") or "sidechain") if line.get("isSidechain") else ""


def _add_user(
    line: dict[str, Any], blocks: list[dict[str, Any]], session: _Session, where: str
) -> None:
    builder = session.builder
    outputs = [b for b in blocks if b.get("type") == "tool_result"]
    text = text_of([b for b in blocks if b.get("type") == "text"])
    for number, block in enumerate(outputs):
        _add_output(line, block, session, f"{where} content[{number}]")
    is_program = (
        line.get("isMeta")
        or line.get("isCompactSummary")
        or line.get("isSidechain")
        or is_system_text(text)
        or _COMMAND.match(text)
        or text.startswith(_INTERRUPTED)
    )
    if not outputs and text and not is_program:
        builder.start_turn(text)


def _add_output(line: dict[str, Any], block: dict[str, Any], session: _Session, where: str) -> None:
    content, result = block.get("content"), line.get("toolUseResult")
    error = text_of(content) or "error" if block.get("is_error") else None
    seconds = None
    if isinstance(result, dict) and error is None:
        pages = _search_pages(result)
        content = content if pages is None else pages
        duration = result.get("durationSeconds")
        seconds = float(duration) if isinstance(duration, int | float) else None
    call = block.get("tool_use_id")
    session.builder.add_output(call, content, where=where, error=error, seconds=seconds)


def _search_pages(result: dict[str, Any]) -> list[Any] | None:
    """The pages of a WebSearch; its text is a summary that mentions them."""
    if not isinstance(result.get("results"), list) or "query" not in result:
        return None
    return [
        page
        for group in dicts(result["results"])
        for page in (group["content"] if isinstance(group.get("content"), list) else [group])
    ]


FORMAT = TraceFormat("claude-code", "Claude Code transcripts", _mismatch, _read)
