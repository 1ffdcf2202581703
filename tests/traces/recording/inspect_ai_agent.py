"""inspect_ai: logs of an evaluation, as an archive (.eval) and as JSON."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

os.environ["INSPECT_DISPLAY"] = "none"

import json

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolCall, ToolError, tool
from plan import ANSWER, QUESTION, STEPS, USAGE, SearchFailedError, Tools, save, versions

LOG = Tools()


@tool
def web_search():
    async def execute(query: str) -> str:
        """Search the web for pages about a query.

        Args:
            query: what to search for
        """
        try:
            return json.dumps(LOG.web_search(query))
        except SearchFailedError as error:
            raise ToolError(str(error)) from error

    return execute


@tool
def fetch_page():
    async def execute(url: str) -> str:
        """Open a web page and return its text.

        Args:
            url: the address
        """
        return LOG.fetch_page(url)

    return execute


@tool
def calculator():
    async def execute(expression: str) -> str:
        """Compute an arithmetic expression.

        Args:
            expression: what to compute
        """
        return LOG.calculator(expression)

    return execute


def outputs():
    for calls in [*STEPS, []]:
        message = ChatMessageAssistant(
            content="" if calls else ANSWER,
            tool_calls=[ToolCall(id=i, function=n, arguments=a) for i, n, a in calls] or None,
        )
        reason = "tool_calls" if calls else "stop"
        usage = ModelUsage(
            input_tokens=USAGE["input"], output_tokens=USAGE["output"], total_tokens=120
        )
        choice = ChatCompletionChoice(message=message, stop_reason=reason)
        yield ModelOutput(model="mockllm/model", choices=[choice], usage=usage)


def main():
    facts = {"format": "inspect", "packages": versions("inspect-ai"), "iterations": [2, 1, 1]}
    for form in ("eval", "json"):
        LOG.log.clear()
        task = Task(
            dataset=[Sample(id="seine", input=QUESTION)],
            solver=[use_tools(web_search(), fetch_page(), calculator()), generate()],
        )
        with tempfile.TemporaryDirectory() as folder:
            model = get_model("mockllm/model", custom_outputs=list(outputs()))
            evaluate(task, model=model, log_dir=folder, log_format=form)
            (path,) = Path(folder).glob(f"*.{form}")
            save(f"inspect-log.{form}", path.read_bytes(), LOG.counts(), **facts)


main()
