"""A judge behind the Anthropic API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.labels.judges.client import ClientJudge, text_of
from goodgain.labels.judges.protocol import Reply

if TYPE_CHECKING:
    from goodgain.labels.template import Prompt


class AnthropicJudge(ClientJudge):
    """Uses messages, with a JSON schema if the server supports schemas."""

    package = "anthropic"
    client_class = "AsyncAnthropic"
    path = "/v1/messages"
    key_name = "ANTHROPIC_API_KEY"
    url_name = "ANTHROPIC_BASE_URL"
    default_url = "https://api.anthropic.com"

    input_tokens = (
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    )
    output_tokens = ("output_tokens",)

    _structured = True

    def _body(self, prompt: Prompt, count: int, system: str, user: str) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "system": system,
            "messages": [{"role": "user", "content": user}],
            "max_tokens": self.max_tokens * count,
        }
        if "temperature" in self.parameters:
            body["temperature"] = self.parameters["temperature"]
        if self._structured:
            schema = prompt.schema(count)
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return body

    def _drop_unsupported(self, text: str, body: dict[str, Any]) -> bool:
        names = ("output_config", "output_format", "json_schema", "structured")
        if "output_config" in body and any(name in text for name in names):
            self._structured = False
            return True
        return False

    def _read(self, data: Any) -> Reply:
        text = text_of(data["content"])
        match data.get("stop_reason"):
            case "refusal":
                return Reply(text, "refused", detail="the model refused")
            case "max_tokens" | "model_context_window_exceeded" as reason:
                return Reply(text, "truncated", detail=f"the reply was cut off ({reason})")
        return Reply(text)
