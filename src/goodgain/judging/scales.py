"""The grades that people choose from, with their descriptions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goodgain.errors import UsageError
from goodgain.labels.template import BUILT_IN, DEFAULT, Prompt

if TYPE_CHECKING:
    from goodgain.labels.store import Store

_GRADE = re.compile(r"^(\d+)[ \t]+(\S.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_MOST = 11  # grades on the page


def grades(prompt: str | None, store: Store) -> list[tuple[float, str]]:
    """The grades of a prompt, or of the labels in the store, with what the prompt says about each."""
    if prompt is not None:
        return _described(Prompt.of(prompt))
    settings = [own for _, own in store.gain_settings() if own.prompt != "import"]
    scales = {(setting.low, setting.high) for setting in settings}
    if len(scales) > 1:
        names = ", ".join(f"{low}-{high}" for low, high in sorted(scales))
        raise UsageError(
            f"the labels of the store have several scales: {names}",
            hint="choose one with --prompt, a built-in prompt or a file",
        )
    known = {version.version: version for version in map(Prompt.of, BUILT_IN)}
    for setting in settings:
        if setting.prompt in known:
            return _described(known[setting.prompt])
    if scales:
        ((low, high),) = scales
        default = Prompt.of(DEFAULT)
        if (low, high) != (default.low, default.high):
            return _checked([(float(gain), "") for gain in range(low, high + 1)])
    return _described(Prompt.of(DEFAULT))


def _described(prompt: Prompt) -> list[tuple[float, str]]:
    texts = {int(m[1]): " ".join(m[2].split()) for m in _GRADE.finditer(prompt.system)}
    return _checked([
        (float(gain), texts.get(gain, "")) for gain in range(prompt.low, prompt.high + 1)
    ])  # fmt: skip


def _checked(scale: list[tuple[float, str]]) -> list[tuple[float, str]]:
    if len(scale) > _MOST:
        raise UsageError(
            f"a scale of {len(scale)} grades does not fit on the page",
            hint=f"use a prompt with at most {_MOST} grades",
        )
    return scale
