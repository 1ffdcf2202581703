"""Numbers in text have the bits of Python's `float`, on every way through the readers."""

from __future__ import annotations

import math
import os
import struct

from hypothesis import example, given
from hypothesis import strategies as st

from goodgain import _core

DIGITS = st.text("0123456789", max_size=22)
PLAIN = st.builds(
    "{}{}{}{}".format, st.sampled_from(["", "-", "+"]), DIGITS, st.sampled_from(["", "."]), DIGITS
)
EXPONENTS = st.builds("{}e{}".format, PLAIN, st.integers(-400, 400))
ANY = st.text("0123456789.-+eEinfa", min_size=1, max_size=20)


def is_number(text):
    """What the readers take: a decimal number that is finite, without underscores or blanks."""
    try:
        return math.isfinite(float(text)) and text.isascii()
    except ValueError:
        return False


def values_of(texts, tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("".join(f"q Q0 d{i} 1 {text} tag\n" for i, text in enumerate(texts)))
    fd = os.open(path, os.O_RDONLY)
    return _core.file_rows(fd, "run", {"kind": "trec", "skip": 0}, True)[2]


@given(st.lists(st.one_of(PLAIN, EXPONENTS), max_size=50))
@example(
    ["12.999500", "0.1", "1234567.12345678", "12345678.1", ".5", "5.", "-0", "1e-400", "00000000.1"]
)
@example(["9007199254740993", "123456789012345678", "0.000000000000001", "61882818520", "5e-324"])
def test_numbers_have_the_bits_of_python(tmp_path_factory, texts):
    texts = [text for text in texts if is_number(text)]
    values = values_of([*texts, "1"], tmp_path_factory.mktemp("numbers"))
    # Read twice: near the end of a text there is no room for eight digits at a time.
    for text, value in zip(texts, values, strict=False):
        assert struct.pack("<d", value) == struct.pack("<d", float(text)), text
        alone = values_of([text], tmp_path_factory.mktemp("alone"))
        assert struct.pack("<d", alone[0]) == struct.pack("<d", value), text


@given(ANY)
@example("6+01975E2870")
@example("1.2.3")
@example("+-1")
def test_what_is_no_number_is_refused(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("numbers")
    try:
        values = values_of([text, *["1.25"] * 3], folder)
    except _core.CoreError:
        assert not is_number(text)
    else:
        assert is_number(text)
        assert values[1:] == [1.25] * 3
