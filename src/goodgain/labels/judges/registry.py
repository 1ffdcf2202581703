"""Judges by name: the built-in ones and those of plug-ins (entry points in the group `goodgain.judges`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from goodgain.errors import UsageError
from goodgain.labels.judges.anthropic import AnthropicJudge
from goodgain.labels.judges.openai import OpenAIJudge
from goodgain.plugins import load_plugin, load_plugins, plugin_names

if TYPE_CHECKING:
    from goodgain.labels.judges.protocol import Judge

GROUP = "goodgain.judges"
BUILT_IN = {"openai": OpenAIJudge, "anthropic": AnthropicJudge}
_FACTORY = cast("type", Callable)


def judge_names() -> list[str]:
    """The names of all judges: the built-in ones, then those of plug-ins."""
    return [*BUILT_IN, *load_plugins(GROUP, BUILT_IN, _FACTORY)]


def judge_for(model: str, **settings: Any) -> Judge:
    """The built-in judge for a model.

    Models whose names start with "claude" use the Anthropic API, unless `base_url` is set; all others
    use an OpenAI-compatible one.
    """
    anthropic = model.startswith("claude") and not settings.get("base_url")
    return create_judge("anthropic" if anthropic else "openai", model=model, **settings)


def judge_of(judge: Judge | str) -> Judge:
    """The judge itself, or the one of this name, which may also be the name of a model."""
    if not isinstance(judge, str):
        if not callable(judge):
            raise UsageError(
                f"the judge is a {type(judge).__name__}, which cannot be called: {judge!r:.60}",
                hint="a judge is a function of a Request, a judge object, or the name of a model",
            )
        return judge
    by_name = judge in BUILT_IN or judge in plugin_names(GROUP)
    return create_judge(judge) if by_name else judge_for(judge)


def create_judge(name: str, **settings: Any) -> Judge:
    """Create a judge by name; a plug-in's factory is called with the settings as keywords."""
    factory = BUILT_IN.get(name) or load_plugin(GROUP, name, _FACTORY)
    if factory is None:
        failed = name in plugin_names(GROUP)
        raise UsageError(
            f"judge '{name}' could not be loaded" if failed else f"unknown judge '{name}'",
            hint=f"available judges: {', '.join(judge_names())}",
        )
    try:
        inspect.signature(factory).bind(**settings)
    except TypeError as error:
        raise UsageError(f"invalid settings for judge '{name}': {error}") from None
    judge = factory(**settings)
    if not callable(judge):
        raise UsageError(
            f"judge '{name}' is not callable",
            hint=f"its factory returned a {type(judge).__name__}; a judge is called with a Request",
        )
    return cast("Judge", judge)
