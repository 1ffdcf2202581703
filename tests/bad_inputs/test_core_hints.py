"""Every error of the core that a user can meet says what to do about it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CORE = Path(__file__).resolve().parents[2] / "src" / "core"
# What only our own code can cause: options that Python sends to the core.
OWN = ("options.cpp", "bind_traces.cpp", "module.cpp: a list of gains needs a kernel")
CALLS = {"bad_input": 3, "duplicate_input": 3, "throw Error": 4}


def arguments(text: str, at: int) -> list[str]:
    """The arguments of a call, whose opening bracket is before `at`."""
    listed, depth, begin, quoted = [], 0, at, False
    while True:
        mark = text[at]
        if quoted:
            at += mark == "\\"
            quoted = mark != '"'
        elif mark == '"':
            quoted = True
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if depth < 0:
                return [*listed, text[begin:at].strip()]
        elif mark == "," and depth == 0:
            listed.append(text[begin:at].strip())
            begin = at + 1
        at += 1


def test_arguments():
    text = 'bad_input("a, b\\")" + f(x, y), {}, "hint");'
    assert arguments(text, text.index("(") + 1) == ['"a, b\\")" + f(x, y)', "{}", '"hint"']


@pytest.mark.parametrize("path", sorted(CORE.glob("*.[ch]pp")), ids=lambda path: path.name)
def test_hints(path):
    text = re.sub(r"'(\\?.)'", lambda m: "_" * len(m[0]), path.read_text())  # characters
    bare = []
    for call, number in CALLS.items():
        for match in re.finditer(rf"\b{call}\(", text):
            values = arguments(text, match.end())
            if len(values) < number and len(values) > 1 - (call == "bad_input"):
                bare.append(f"{path.name}: {values[0] if call == 'bad_input' else values[-1]}")
    bare = [each for each in bare if not any(own in each.replace('"', "") for own in OWN)]
    assert not bare, "\n".join(bare)
