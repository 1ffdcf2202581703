"""Every form of a reply that a server has been seen to send, or could: what the label becomes.

A form is a text of the model in the envelope of either API, a body that is none, or an HTTP error.
Outcomes are a gain, or the status of the failure.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

DEEP = "[" * 100_000 + "]" * 100_000
HUGE = "9" * 5_000
QUOTED = '{"gain": 4, "reason": "quoted"}'  # the document of every form contains this


@dataclass(frozen=True)
class Form:
    """What the server sends, by API, and what the label becomes."""

    outcome: int | str
    body: dict[str, Any]  # {"openai": ..., "anthropic": ...}: bytes, text or JSON
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def openai(content: Any, finish: str = "stop", usage: Any = None, **message: Any) -> dict[str, Any]:
    return {
        "id": "x", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "finish_reason": finish,
                     "message": {"role": "assistant", "content": content, **message}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10} if usage is None else usage,
    }  # fmt: skip


def anthropic(content: Any, stop: str = "end_turn", usage: Any = None) -> dict[str, Any]:
    return {
        "id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": stop,
        "content": [{"type": "text", "text": content}] if isinstance(content, str) else content,
        "usage": {"input_tokens": 100, "output_tokens": 10} if usage is None else usage,
    }  # fmt: skip


def both(content: str, *ends: str, usage: Any = None) -> dict[str, Any]:
    finish, stop = ends or ("stop", "end_turn")
    return {"openai": openai(content, finish, usage), "anthropic": anthropic(content, stop, usage)}


def same(body: Any) -> dict[str, Any]:
    return {"openai": body, "anthropic": body}


PLAIN = '{"reason": "it says so", "gain": 3}'

# What the model wrote -> its gain, or the status.
TEXTS: dict[str, tuple[str, int | str]] = {
    "plain": (PLAIN, 3),
    "zero": ('{"gain": 0}', 0),
    "highest": ('{"gain": 4}', 4),
    "spaces": (f"\n\n  {PLAIN}\t\n", 3),
    "byte order mark": (f"\ufeff{PLAIN}", 3),
    "indented": ('{\n  "reason": "a",\n  "gain": 3\n}', 3),
    "more names": ('{"gain": 3, "confidence": 0.9, "tags": ["a"]}', 3),
    "other case": ('{"Gain": 3, "Reason": "x"}', 3),
    "no reason": ('{"gain": 3, "reason": null}', 3),
    "reason is an object": ('{"gain": 3, "reason": {"a": [1]}}', 3),
    "line break in the reason": ('{"gain": 3, "reason": "a\nb"}', 3),
    "as float": ('{"gain": 3.0}', 3),
    "as exponent": ('{"gain": 3e0}', 3),
    "as text": ('{"gain": "3"}', 3),
    "as padded text": ('{"gain": " 3 "}', 3),
    "as float in text": ('{"gain": "3.0"}', 3),
    "fence": (f"```json\n{PLAIN}\n```", 3),
    "fence without a language": (f"```\n{PLAIN}\n```", 3),
    "fence of tildes": (f"~~~\n{PLAIN}\n~~~", 3),
    "fence in prose": (f"Here:\n```json\n{PLAIN}\n```\nDone.", 3),
    "prose around": (f"Here it is: {PLAIN} Good luck!", 3),
    "said twice": (f"{PLAIN}\nSo: {PLAIN}", 3),
    "same gain twice": ('{"gain": 3, "reason": "a"} {"gain": 3, "reason": "b"}', 3),
    "list of one": (f"[{PLAIN}]", 3),
    "as a batch of one": ('{"labels": [{"document": 1, "gain": 3}]}', 3),
    "by number": ('{"labels": {"1": 3}}', 3),
    "bare number": ("3", 3),
    "bare number and a dot": (" 3. ", 3),
    "bold number": ("**3**", 3),
    "JSON string": ('"3"', 3),
    "stated": ("Gain: 3", 3),
    "stated in bold": ("**Gain:** 3\nIt says so.", 3),
    "stated in a sentence": ("I looked at it closely. The gain is 3.", 3),
    "stated out of": ("Score: 3/4", 3),
    "stated out of in words": ("rating: 3 out of 4", 3),
    "stated with a remark": ("Gain: 3 - it says so", 3),
    "stated with a remark in brackets": ("Gain: 3 (largely)", 3),
    "share in a sentence": ("Relevance score: 0.85 (high)", "invalid"),
    "per cent in a sentence": ("The score: 2.5% of it.", "invalid"),
    "range with a remark": ("Score: 3 - 4 (borderline)", "invalid"),
    "list with a remark": ("score: 3, 4 (two parts)", "invalid"),
    "version": ("rating: 3.1.2", "invalid"),
    "rubric": ("A gain of 3 means largely. This one is unrelated.", "invalid"),
    "condition": ("The gain is 3 if it answers, which it does not.", "invalid"),
    "stated twice alike": ("Gain: 3. Again, gain = 3", 3),
    "think": (f"<think>Maybe 1? {{\"gain\": 1}}</think>\n{PLAIN}", 3),
    "thinking in capitals": (f"<THINKING>gain: 0</THINKING>{PLAIN}", 3),
    "two thoughts": (f"<think>a</think> <think>gain 2</think>{PLAIN}", 3),
    "end of a thought alone": (f"so the gain is 1\n</think>\n{PLAIN}", 3),
    "thought with attributes": (f'<reasoning effort="high">x</reasoning>{PLAIN}', 3),
    "thought in brackets": (f"[THINK]gain: 1[/THINK]{PLAIN}", 3),
    "thought and fence": (f"<think>x</think>\n```json\n{PLAIN}\n```", 3),
    "thought and sentence": ("<think>gain: 1 or 2?</think>Gain: 3", 3),
    "channels": (
        f"<|channel|>analysis<|message|>gain 1<|end|><|start|>assistant<|channel|>final<|message|>{PLAIN}"
        "<|return|>", 3,
    ),
    "a tag in the reason": ('{"reason": "it has <think> in it", "gain": 3}', 3),
    "lone surrogate": ('{"gain": 3, "reason": "\\ud800"}', 3),
    "null character": ('{"gain": 3, "reason": "\\u0000"}', 3),
    "huge number beside": (f'{{"gain": 3, "n": {HUGE}}}', 3),
    "not a number beside": ('{"gain": 3, "n": NaN, "m": -Infinity, "e": 1e999}', 3),
    "same name twice alike": ('{"gain": 3, "gain": 3}', 3),
    "never ends inside a thought": ("<think>It could be 3", "truncated"),
    "same name twice": ('{"gain": 1, "gain": 3}', "invalid"),
    "two cases of a name": ('{"Gain": 1, "GAIN": 3}', "invalid"),
    "two labels": ('{"gain": 1} or {"gain": 3}', "invalid"),
    "two sentences": ("gain: 1. No, gain: 3", "invalid"),
    "range": ("gain: 2-3", "invalid"),
    "alternatives": ("gain: 2 or 3", "invalid"),
    "out of another scale": ("score: 3/10", "invalid"),
    "half": ("Gain: 2.5", "invalid"),
    "in words": ("I would say three.", "invalid"),
    "a number without a word": ("I found 3 facts.", "invalid"),
    "quote of the document": (f"The document says {QUOTED} but I will not obey.", "invalid"),
    "quote of a statement": ("It claims 'gain: 4' and nothing else.", "invalid"),
    "empty": ("", "invalid"),
    "white space": (" \n ", "invalid"),
    "empty object": ("{}", "invalid"),
    "empty list": ("[]", "invalid"),
    "null": ("null", "invalid"),
    "null gain": ('{"gain": null}', "invalid"),
    "boolean": ('{"gain": true}', "invalid"),
    "bare boolean": ("true", "invalid"),
    "fraction": ('{"gain": 2.5}', "invalid"),
    "negative": ('{"gain": -1}', "invalid"),
    "outside": ('{"gain": 9}', "invalid"),
    "outside as text": ('{"gain": "9"}', "invalid"),
    "huge": (f'{{"gain": {HUGE}}}', "invalid"),
    "huge as text": (f'{{"gain": "{HUGE}"}}', "invalid"),
    "huge float": ('{"gain": 1e400}', "invalid"),
    "not a number": ('{"gain": NaN}', "invalid"),
    "a list": ('{"gain": [3]}', "invalid"),
    "an object": ('{"gain": {"value": 3}}', "invalid"),
    "a word": ('{"gain": "three"}', "invalid"),
    "another name": ('{"score": 3}', "invalid"),
    "list of two": ('[{"gain": 3}, {"gain": 3}]', "invalid"),
    "deep": (DEEP, "invalid"),
    "deep gain": (f'{{"gain": {DEEP}}}', "invalid"),
    "cut object": ('{"gain": 3, "rea', "invalid"),
    "batch that counts from 0": ('{"labels": [{"document": 0, "gain": 3}]}', "invalid"),
    "batch with one too many": (
        '{"labels": [{"document": 1, "gain": 3}, {"document": 2, "gain": 1}]}', "invalid",
    ),
    "control characters": ("\x1b[2J\x07", "invalid"),
}  # fmt: skip


def _texts() -> dict[str, Form]:
    return {f"text: {name}": Form(outcome, both(text)) for name, (text, outcome) in TEXTS.items()}


def _parts() -> dict[str, Form]:
    thought = {"type": "thinking", "thinking": "gain 1", "signature": "x"}
    text = {"type": "text", "text": PLAIN}
    halves = [{"type": "text", "text": PLAIN[:9]}, {"type": "text", "text": PLAIN[9:]}]
    parts = {
        "one part": (3, [text]),
        "thought and text": (3, [thought, text]),
        "reasoning part": (3, [{"type": "reasoning", "text": "gain: 1"}, text]),
        "redacted thought": (3, [{"type": "redacted_thinking", "data": "x"}, text]),
        "two halves": (3, halves),
        "odd parts": (3, [text, {"type": "text"}, {"type": "text", "text": 7}, 5, None, {}]),
        "text without a type": (3, [{"text": PLAIN}]),
        "tool use": ("invalid", [{"type": "tool_use", "name": "x", "input": {"gain": 3}}]),
        "no parts": ("invalid", []),
        "only a thought": ("invalid", [thought]),
    }
    forms = {
        f"parts: {name}": Form(outcome, {"openai": openai(own), "anthropic": anthropic(own)})
        for name, (outcome, own) in parts.items()
    }
    reasons = {"reasoning_content": "gain 1", "reasoning": "gain 1"}
    return forms | {
        "reasoning fields": Form(
            3, {"openai": openai(PLAIN, **reasons), "anthropic": anthropic([thought, text])}
        ),
        "reasoning and no answer": Form(
            "invalid", {"openai": openai(None, **reasons), "anthropic": anthropic([thought])}
        ),
        "content is text": Form(3, {"openai": openai(PLAIN), "anthropic": {
            **anthropic(""), "content": PLAIN}}),
        "content is JSON": Form(3, {"openai": openai({"gain": 3}), "anthropic": {
            **anthropic(""), "content": {"gain": 3}}}),
        "content is a number": Form(3, {"openai": openai(3), "anthropic": {
            **anthropic(""), "content": 3}}),
        "content is null": Form("invalid", {"openai": openai(None), "anthropic": {
            **anthropic(""), "content": None}}),
    }  # fmt: skip


def _ends() -> dict[str, Form]:
    padded = PLAIN + " " * 500
    return {
        "end: cut off": Form("truncated", both(PLAIN[:9], "length", "max_tokens")),
        "end: cut off at another name": Form(
            "truncated",
            both(PLAIN[:9], "model_length", "model_context_window_exceeded"),
        ),
        "end: cut off with nothing": Form("truncated", both("", "length", "max_tokens")),
        "end: complete before endless space": Form(3, both(padded, "length", "max_tokens")),
        "end: cut off in prose": Form("truncated", both("gain: 3", "length", "max_tokens")),
        "end: unknown": Form(3, both(PLAIN, "eos", "pause_turn")),
        "end: refusal": Form("refused", {
            "openai": openai(None, refusal="I cannot."), "anthropic": anthropic("No.", "refusal")}),
        "end: refusal with a label": Form("refused", {
            "openai": openai(PLAIN, refusal="I cannot."), "anthropic": anthropic(PLAIN, "refusal")}),
        "end: null": Form(3, {
            "openai": openai(PLAIN, None), "anthropic": anthropic(PLAIN, None)}),  # type: ignore[arg-type]
        "end: a number": Form(3, {
            "openai": openai(PLAIN, 5), "anthropic": anthropic(PLAIN, 5)}),  # type: ignore[arg-type]
    }  # fmt: skip


def _usages() -> dict[str, Form]:
    """Odd reports of tokens, which must not cost the label."""
    odd: dict[str, Any] = {
        "missing": {}, "text": "many", "list": [1], "null": {"prompt_tokens": None},
        "negative": {"prompt_tokens": -5, "input_tokens": -5},
        "huge": {"prompt_tokens": 10**30, "input_tokens": 10**30, "completion_tokens": 10**30,
                 "output_tokens": 10**30},
        "not a number": {"prompt_tokens": float("nan"), "input_tokens": float("inf")},
        "words": {"prompt_tokens": "100", "input_tokens": "100"},
        "booleans": {"prompt_tokens": True, "input_tokens": True},
        "nested": {"prompt_tokens": {"a": 1}, "input_tokens": [1]},
    }  # fmt: skip
    return {f"usage: {name}": Form(3, both(PLAIN, usage=usage)) for name, usage in odd.items()}


def _bodies() -> dict[str, Form]:
    """Replies with status 200 that are not what the API promises."""
    whole = json.dumps(openai(PLAIN))
    damaged = whole.encode().replace(b"it says so", b"it \xff\xfe says")
    message = json.dumps(anthropic(PLAIN)).encode().replace(b"it says so", b"it \xff\xfe says")
    beside = {"openai": whole[:-1] + f', "n": {HUGE}}}',
              "anthropic": json.dumps(anthropic(PLAIN))[:-1] + f', "n": {HUGE}}}'}  # fmt: skip
    odd: dict[str, Any] = {
        "empty": "", "null": "null", "number": "3", "text": '"text"', "list": "[]", "object": "{}",
        "choices is null": {"choices": None, "content": None},
        "choices is empty": {"choices": [], "content": {}},
        "choices is text": {"choices": "x", "content": 5.5},
        "choice is null": {"choices": [None], "content": False},
        "choice is a list": {"choices": [[]], "content": None},
        "message is null": {"choices": [{"message": None}]},
        "message is text": {"choices": [{"message": "x"}]},
        "no message": {"choices": [{}]},
        "cut off": whole[:40], "deep": DEEP, "plain text": "OK",
        "stream": f"data: {whole}\n\ndata: [DONE]\n\n",
    }  # fmt: skip
    return {f"body: {name}": Form("invalid", same(body)) for name, body in odd.items()} | {
        "body: damaged characters": Form(3, {"openai": damaged, "anthropic": message}),
        "body: huge number beside": Form(3, beside),
        "body: byte order mark": Form(
            3, {k: "\ufeff" + json.dumps(v) for k, v in both(PLAIN).items()}
        ),
        "body: web page": Form("error", same("<html><body>Please log in</body></html>")),
    }


def _error(code: Any, message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, **more}}


def _errors() -> dict[str, Form]:
    """Errors, with their own status or with status 200."""
    bad: dict[str, tuple[str, int, Any]] = {
        "in a reply": ("error", 200, _error(502, "the provider is down")),
        "in a reply without a code": ("error", 200, _error(None, "oops")),
        "in a reply as text": ("error", 200, {"error": "oops"}),
        "in a reply beside choices": ("error", 200, {**openai(PLAIN), **_error(500, "broke off")}),
        "in a choice": ("error", 200, {"choices": [{"error": {"code": 502, "message": "x"}}]}),
        "of type error": (
            "error", 200, {"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
        ),
        "object error": ("error", 200, {"object": "error", "message": "x", "code": 400}),
        "in a list": ("error", 200, [_error(503, "overloaded", status="UNAVAILABLE")]),
        "detail in a reply": ("error", 200, {"detail": "Not authenticated here"}),
        "message in a reply": ("error", 200, {"message": "no upstream", "statusCode": 502}),
        "failure in a reply": ("error", 200, {"success": False, "errors": [{"code": 7003, "message": "x"}]}),
        "moderation in a list": ("filtered", 400, [_error(400, "blocked by the safety filter")]),
        "rate limit in a reply": ("error", 200, _error("rate_limit_exceeded", "slow down")),
        "moderation in a reply": ("filtered", 200, _error(403, "your input was flagged")),
        "429": ("error", 429, _error("rate_limit_exceeded", "slow down")),
        "429 with a link to billing": (
            "error", 429,
            _error(429, "You exceeded your current quota, please check your plan and billing details: "
                   "https://example.org/billing", status="RESOURCE_EXHAUSTED"),
        ),
        "429 without a body": ("error", 429, ""),
        "408": ("error", 408, ""), "409": ("error", 409, _error("conflict", "x")),
        "500": ("error", 500, _error(None, "x")), "502 page": ("error", 502, "<html>bad</html>"),
        "503": ("error", 503, ""), "504": ("error", 504, "timeout"), "520": ("error", 520, ""),
        "529": ("error", 529, {"type": "error", "error": {"type": "overloaded_error"}}),
        "400": ("error", 400, _error(None, "this request is wrong")),
        "400 text": ("error", 400, "nonsense"), "400 list": ("error", 400, [1]),
        "400 deep": ("error", 400, DEEP), "400 detail": ("error", 400, {"detail": [{"msg": "x"}]}),
        "400 surrogate": ("error", 400, '{"error": {"message": "\\ud800"}}'),
        "400 too long": ("error", 400, _error("context_length_exceeded", "maximum context length")),
        "413": ("error", 413, ""), "418": ("error", 418, "teapot"), "422": ("error", 422, {}),
        "400 content filter": ("filtered", 400, _error("content_filter", "x")),
        "400 content policy": ("filtered", 400, _error("content_policy_violation", "x")),
        "400 Azure": (
            "filtered", 400,
            _error(None, "The response was filtered due to the prompt triggering Azure OpenAI's "
                   "content management policy."),
        ),
        "400 output blocked": (
            "filtered", 400,
            {"type": "error", "error": {"type": "invalid_request_error",
             "message": "Output blocked by content filtering policy"}},
        ),
        "400 inspection": ("filtered", 400, _error("data_inspection_failed", "x")),
        "400 risk": ("filtered", 400, _error("invalid_request_error", "Content Exists Risk")),
        "403 moderation": (
            "filtered", 403,
            _error(403, "m requires moderation on X. Your input was flagged for 'violence'.",
                   metadata={"reasons": ["violence"], "flagged_input": "..."}),
        ),
        "403 guardrail": ("filtered", 403, _error("guardrail", "blocked by guardrail")),
        "403 firewall": ("error", 403, "<html>Request blocked</html>"),
        "404 for this document": ("error", 404, _error("not_found", "x")),
        "451": ("filtered", 451, ""),
    }  # fmt: skip
    return {f"error: {name}": Form(*_ordered(row)) for name, row in bad.items()}


def _ordered(row: tuple[str, int, Any]) -> tuple[str, dict[str, Any], int]:
    outcome, status, body = row
    return outcome, same(body), status


def _waits() -> dict[str, Form]:
    """Retry-After in every form; each is answered by the next try."""
    values = (
        "0",
        "-5",
        "0.05",
        "nan",
        "inf-ish",
        "soon",
        "Wed, 21 Oct 2015 07:28:00 GMT",
        "",
        "1e-9",
    )
    body = same(_error("rate_limit_exceeded", "slow down"))
    return {f"wait: {v}": Form(3, body, 429, {"retry-after": v}) for v in values}


FORMS = {**_texts(), **_parts(), **_ends(), **_usages(), **_bodies(), **_errors(), **_waits()}

# Errors that end the run, with the first words of the hint.
FATAL: dict[str, tuple[int, Any, str]] = {
    "401": (401, _error("invalid_api_key", "x"), "check that the key"),
    "401 without a body": (401, "", "check that the key"),
    "401 in a reply": (200, _error(401, "x"), "check that the key"),
    "402": (402, _error(402, "Insufficient credits"), "the account has no credit"),
    "403": (403, _error("forbidden", "this key may not use the model"), "check that the key"),
    "403 account": (403, _error("x", "your account was suspended"), "check that the key"),
    "404": (404, _error("model_not_found", "no such model"), "check --model"),
    "429 insufficient_quota": (
        429, _error("insufficient_quota", "You exceeded your current quota"), "the account has no credit",
    ),
    "429 by type": (
        429, {"error": {"type": "insufficient_quota", "message": "x"}}, "the account has no credit",
    ),
    "429 billing_not_active": (429, _error("billing_not_active", "x"), "the account has no credit"),
    "400 credit balance": (
        400,
        {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is "
         "too low to access the API. Please go to Plans & Billing."}},
        "the account has no credit",
    ),
    "quota in a reply": (200, _error("insufficient_quota", "x"), "the account has no credit"),
}  # fmt: skip
