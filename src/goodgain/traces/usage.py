"""Tokens and cost as providers and platforms report them, and prices where they report no cost."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.traces.values import decode_json

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

# What each is called, in snake case, the usual name first.
_TOTAL = ("total_tokens", "total", "total_token_count", "total_count")
_INPUT = (
    "input_tokens", "prompt_tokens", "input", "prompt", "prompt_token_count", "input_token_count",
    "request_tokens", "prompt_eval_count",
)  # fmt: skip
_OUTPUT = (
    "output_tokens", "completion_tokens", "output", "completion", "candidates_token_count",
    "output_token_count", "response_tokens", "eval_count",
)  # fmt: skip
_OUTSIDE_INPUT = ("cache_read_input_tokens", "cache_creation_input_tokens")  # Anthropic's
_OUTSIDE_OUTPUT = ("thoughts_token_count", "tool_use_prompt_token_count")  # Gemini's
_COST = (
    "total_cost", "cost", "calculated_total_cost", "estimated_cost", "cost_usd", "total_cost_usd",
)  # fmt: skip
_COSTS = (("input_cost", "output_cost"), ("prompt_cost", "completion_cost"), ("input", "output"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one generation used: tokens, of them those of the input and the output, and its cost."""

    tokens: float | None = None
    input: float | None = None
    output: float | None = None
    cached: float = 0  # of the input
    cost: float | None = None

    def __bool__(self) -> bool:
        return self.tokens is not None or self.cost is not None


def read_usage(*sources: Any) -> Usage:
    """The usage in these objects, which may hold it under any of the usual names; the first wins."""
    tokens: Usage | None = None
    cost: float | None = None
    for source in sources:
        if not source:
            continue
        fields = _fields(source)
        if tokens is None and (counted := _tokens(fields)).tokens is not None:
            tokens = counted
        if cost is None:
            cost = _cost(fields)
    if tokens is None:
        return Usage(cost=cost)
    return Usage(
        tokens=tokens.tokens,
        input=tokens.input,
        output=tokens.output,
        cached=tokens.cached,
        cost=cost,
    )


def _fields(source: Any) -> dict[str, Any]:
    source = decode_json(source)
    return {_snake(str(k)): v for k, v in source.items()} if isinstance(source, dict) else {}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace(".", "_").replace("-", "_").lower()


def _number(value: Any) -> float | None:
    """A number of tokens or money; anything else, and what is below zero, is unknown."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if not math.isfinite(number) or number < 0 or number > 1e15:
        return None
    return int(number) if number.is_integer() else number


def _first(fields: Mapping[str, Any], names: Iterable[str]) -> float | None:
    return next((n for name in names if (n := _number(fields.get(name))) is not None), None)


def _tokens(fields: Mapping[str, Any]) -> Usage:
    prompt, completion = _first(fields, _INPUT), _first(fields, _OUTPUT)
    total = _first(fields, _TOTAL)
    beside = [_number(fields.get(name)) or 0 for name in _OUTSIDE_INPUT]
    after = sum(_number(fields.get(name)) or 0 for name in _OUTSIDE_OUTPUT)
    if prompt is not None and total is None:
        prompt += sum(beside)
    if completion is not None:
        completion += after if total is None or total >= (prompt or 0) + completion + after else 0
    if total is None and (prompt is not None or completion is not None):
        total = (prompt or 0) + (completion or 0)
    cached = beside[0] or _cached(fields)
    return Usage(tokens=total, input=prompt, output=completion, cached=min(cached, prompt or 0))


def _cached(fields: Mapping[str, Any]) -> float:
    """The part of the input that was read from a cache, where it is a detail of the input."""
    names = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
    for name in names:
        number = _first(_fields(fields.get(name)), ("cached_tokens", "cache_read"))
        if number is not None:
            return number
    names = ("cached_content_token_count", "prompt_details_cache_read", "cache_read_input_tokens")
    return _first(fields, (*names, "input_cached_tokens", "cached_input_tokens")) or 0


def _cost(fields: Mapping[str, Any]) -> float | None:
    for name in _COST:
        value = decode_json(fields.get(name))
        if isinstance(value, dict):
            inner = _fields(value)
            number = _first(inner, ("total", *_COST))
            if number is None:
                number = _sum_of_costs(inner)
        else:
            number = _number(value)
        if number is not None:
            return number
    return _sum_of_costs({k: v for k, v in fields.items() if k.endswith("_cost")})


def _sum_of_costs(fields: Mapping[str, Any]) -> float | None:
    for pair in _COSTS:
        numbers = [_number(fields.get(name)) for name in pair]
        if any(n is not None for n in numbers):
            return sum(n or 0 for n in numbers)
    return None


# --- prices ---

_BUILT_IN = Path(__file__).with_name("prices.toml")
_DATED = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest|v\d+(?::\d+)?)$")
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Of a model, for a million tokens."""

    input: float
    output: float
    cached: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of models, from a table that a user can replace."""

    name: str
    date: str
    models: Mapping[str, Price]

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> Prices:
        """The prices of a TOML file, or the built-in ones, which are few and of a stated date."""
        from goodgain.io.whole import read_toml

        file = Path(path) if path is not None else _BUILT_IN
        table = read_toml(file, "a table of prices")
        models = table.get("models")
        if not isinstance(models, dict):
            raise InputError("a table of prices needs [models]", where=str(file), hint=_HINT)
        return cls(
            name="the built-in prices" if path is None else str(file),
            date=str(table.get("date", "")),
            models={
                name.casefold(): _price(name, price, str(file)) for name, price in models.items()
            },
        )

    def price_of(self, model: Any) -> Price | None:
        """The price of a model: its name may have a provider before it and a date after it."""
        if not isinstance(model, str) or not model:
            return None
        name = model.casefold().rpartition("/")[2]
        while name not in self.models and _DATED.search(name):
            name = _DATED.sub("", name)
        return self.models.get(name)

    def cost_of(self, usage: Usage, model: Any) -> float | None:
        """The cost of a generation; None where its tokens or the model's price are not known."""
        price = self.price_of(model)
        if price is None or usage.input is None or usage.output is None:
            return None
        fresh = (usage.input - usage.cached) * price.input + usage.cached * price.cached
        return round((fresh + usage.output * price.output) / _MILLION, 12)


@lru_cache(maxsize=1)
def built_in_prices() -> Prices:
    """The table that is shipped."""
    return Prices.load()


_HINT = (
    'one line a model: "gpt-4o" = { input = 2.5, cached = 1.25, output = 10 }, for a million tokens'
)


def _price(name: str, price: Any, where: str) -> Price:
    numbers = {k: _number(v) for k, v in price.items()} if isinstance(price, dict) else {}
    unknown = sorted(set(numbers) - {"input", "output", "cached"})
    prompt, completion = numbers.get("input"), numbers.get("output")
    if prompt is None or completion is None or unknown or None in numbers.values():
        raise InputError(f"invalid price of '{name}'", where=where, hint=_HINT)
    cached = numbers.get("cached", prompt)
    return Price(input=prompt, output=completion, cached=prompt if cached is None else cached)
