"""A judge behind any OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from goodgain.labels.judges.client import ClientJudge, text_of
from goodgain.labels.judges.protocol import Reply, Retry

if TYPE_CHECKING:
    from goodgain.labels.template import Prompt


# Why a reply ended, by the names of several services.
_CUT = ("length", "max_tokens", "max_output_tokens", "model_length")
_FILTERED = (
    "content_filter", "content_filtered", "safety", "recitation", "blocklist", "prohibited_content", "spii",
    "sensitive", "guardrail_intervened",
)  # fmt: skip
_BROKEN = ("error", "network_error", "insufficient_system_resource", "abort", "timeout")


class OpenAIJudge(ClientJudge):
    """Uses chat completions, with a JSON schema if the server supports schemas."""

    package = "openai"
    client_class = "AsyncOpenAI"
    path = "/chat/completions"
    key_name = "OPENAI_API_KEY"
    url_name = "OPENAI_BASE_URL"
    default_url = "https://api.openai.com/v1"
    input_tokens = ("prompt_tokens",)
    output_tokens = ("completion_tokens",)
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
        refusal = text_of(message.get("refusal"))
        if refusal:
            return Reply(refusal, "refused", detail="the model refused")
        text = text_of(message.get("content"))
        reason = str(choice.get("finish_reason") or "").lower()
        if reason in _FILTERED:
            return Reply(text, "filtered", detail="a content filter stopped the reply")
        if reason in _CUT:
            return Reply(text, "truncated", detail=f"the reply was cut off ({reason})")
        if reason in _BROKEN:
            raise Retry(f"the server broke off the reply ({reason})", paid=True)
        if not text and (message.get("reasoning_content") or message.get("reasoning")):
            return Reply("", "invalid", detail="the reply has reasoning but no answer")
        return Reply(text)
