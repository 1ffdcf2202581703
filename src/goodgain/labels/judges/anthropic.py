"""A judge behind the Anthropic API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
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

    def _check_options(self) -> None:
        super()._check_options()
        if "seed" in self.parameters:
            raise UsageError("the Anthropic API has no seed", hint="leave out seed= (--model-seed)")

    def _body(self, prompt: Prompt, count: int, system: str, user: str) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": user}],
            "max_tokens": self.max_tokens * count,
        }
        if system:
            body["system"] = system
        if "temperature" in self.parameters:
            body["temperature"] = self.parameters["temperature"]
        output: dict[str, Any] = {}
        schema = prompt.schema(count) if self._structured else None
        if schema is not None:
            output["format"] = {"type": "json_schema", "schema": schema}
        if "reasoning_effort" in self.parameters:
            output["effort"] = self.parameters["reasoning_effort"]
        if output:
            body["output_config"] = output
        return body

    def _drop_unsupported(self, text: str, body: dict[str, Any]) -> bool:
        names = ("output_config", "output_format", "json_schema", "structured")
        structured = "format" in body.get("output_config", {})
        if structured and any(name in text for name in names):
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
