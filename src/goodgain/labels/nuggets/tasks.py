"""The prompts of nuggets; their labels are not gains of documents, so their settings name the task."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from goodgain.labels.ensemble import Ensemble
from goodgain.labels.judges.client import ClientJudge
from goodgain.labels.judges.registry import judge_of
from goodgain.labels.judges.replies import Verdict, loads, parsed_whole
from goodgain.labels.template import Prompt

FOLDER = Path(__file__).parent / "prompts"
_FORM = 'Reply with JSON and nothing else: {"nuggets": [a fact, another fact, ...]}.'
MAX_NUGGETS = 30
_BATCH = 10
_MAX_LENGTH = 500  # characters of a nugget; a longer one is no short fact


@dataclass(frozen=True)
class TaskPrompt(Prompt):
    """A prompt whose labels are something else than gains of documents."""

    task: str = ""


@dataclass(frozen=True)
class MakingPrompt(TaskPrompt):
    """Asks for a list of nuggets; the gain of its label is their number."""

    has_own_rule: ClassVar[bool] = True

    @property
    def takes_several(self) -> bool:
        """All documents of a call make one list."""
        return False

    def system_message(self, count: int) -> str:
        """The rubric and the form of the reply."""
        return f"{self.system}\n\n{_FORM}"

    def schema(self, count: int) -> dict[str, Any] | None:
        """The JSON schema of a list of facts."""
        facts = {"type": "array", "items": {"type": "string"}}
        return {
            "type": "object",
            "properties": {"nuggets": facts},
            "required": ["nuggets"],
            "additionalProperties": False,
        }

    def read_reply(self, text: str) -> Verdict:
        """The number of nuggets of a reply that can be read."""
        nuggets = listed_nuggets(text)
        if nuggets is None:
            return Verdict("invalid", None, "the reply is not a list of nuggets")
        return Verdict("ok", len(nuggets))


def per_call(judge: Any) -> int:
    """Nuggets per call: ten as in TREC RAG, or one for a function, which may expect one document."""
    members = [m.judge for m in judge.members] if isinstance(judge, Ensemble) else [judge]
    return _BATCH if all(isinstance(judge_of(m), ClientJudge) for m in members) else 1


def listed_nuggets(text: str) -> list[str] | None:
    """The nuggets of a reply, each once, at most 30; None if it has no such list."""
    data = parsed_whole(text)
    if isinstance(data, dict):
        data = data.get("nuggets", data.get("gain"))
    if isinstance(data, str):  # a function's list, as text
        try:
            data = loads(data)
        except ValueError:
            return None
    if not isinstance(data, list) or not all(isinstance(n, str) for n in data):
        return None
    texts = (" ".join(n.split())[:_MAX_LENGTH] for n in data)
    by_words = {text.casefold().rstrip("."): text for text in reversed([*filter(None, texts)])}
    return list(reversed(by_words.values()))[:MAX_NUGGETS]


def task_prompt(name: str) -> TaskPrompt:
    """The prompt of this name."""
    kind = MakingPrompt if name == "nugget-making" else TaskPrompt
    return read_task(FOLDER / f"{name}.txt", name, kind)


def read_task(path: Path, task: str, kind: type[TaskPrompt] = TaskPrompt) -> TaskPrompt:
    """The prompt of a file, for a task."""
    plain = Prompt.read(path)
    values = {field.name: getattr(plain, field.name) for field in fields(Prompt)}
    return kind(**values, task=task)
