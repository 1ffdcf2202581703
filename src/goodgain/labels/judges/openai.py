"""A judge behind any OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from goodgain.labels.judges.client import ClientJudge
from goodgain.labels.judges.protocol import Reply

if TYPE_CHECKING:
    from goodgain.labels.template import Prompt


class OpenAIJudge(ClientJudge):
    """Uses chat completions, with a JSON schema if the server supports schemas."""

    package = "openai"
    client_class = "AsyncOpenAI"
    path = "/chat/completions"
    key_name = "OPENAI_API_KEY"
    options: ClassVar = {"security": {"bearer_auth": True}, "idempotency_key": ""}  # as by default

    _structured = True
    _limit_parameter = "max_completion_tokens"

    def _body(self, prompt: Prompt, count: int, system: str, user: str) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [
                *([{"role": "system", "content": system}] if system else []),
                {"role": "user", "content": user},
            ],
            self._limit_parameter: self.max_tokens * count,
        }
        for option in ("temperature", "reasoning_effort", "seed"):
            if option in self.parameters:
                body[option] = self.parameters[option]
        schema = prompt.schema(count) if self._structured else None
        if schema is not None:
            form = {"name": "labels", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def _drop_unsupported(self, text: str, body: dict[str, Any]) -> bool:
        if "response_format" in body and ("response_format" in text or "json_schema" in text):
            self._structured = False
            return True
        if "max_completion_tokens" in body and "max_completion_tokens" in text:
            self._limit_parameter = "max_tokens"
            return True
        return False

    def _read(self, data: Any) -> Reply:
        choice = data["choices"][0]
        message = choice["message"]
        usage = data.get("usage") or {}
        tokens = (int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
        refusal = message.get("refusal")
        text = self._redact(refusal or message.get("content") or "")
        if refusal:
            return Reply(text, "refused", *tokens, detail="the model refused")
        match choice.get("finish_reason"):
            case "content_filter":
                return Reply(text, "filtered", *tokens, detail="a content filter stopped the reply")
            case "length":
                detail = f"the reply was cut off at {tokens[1]} tokens"
                return Reply(text, "truncated", *tokens, detail=detail)
        return Reply(text, "ok", *tokens)
