"""Tokenizers: how long a text is, and where its tokens lie.

`words` is the default and needs no package: a token is a run of letters and digits with their combining
marks, one ideograph or kana, one letter of a script without spaces (Thai, Lao, Khmer, Burmese), or one other
character that is no white space. A model's own tokenizer gives what its context would really hold.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Offsets = Sequence[tuple[int, int]]

DEFAULT = "words"
NAMES = ("words", "characters", "tiktoken")
_ENCODING = "o200k_base"  # of tiktoken, unless a name follows its colon
_ASCII = re.compile(r"\w+|[^\w\s]", re.ASCII)
# Scripts written without spaces: each character is a token.
_UNSPACED = (
    "\u0e01-\u0e2e\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u1000-\u102a\u1780-\u17b3"
    "\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9d\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)


class Tokenizer:
    """A tokenizer of any origin; `offsets` is None where only the number of tokens is known."""

    def __init__(
        self, name: str, count: Callable[[str], int], offsets: Callable[[str], Offsets] | None
    ) -> None:
        self.name = name
        self._count = count
        self._offsets = offsets

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        return self._count(text)

    def offsets(self, text: str) -> Offsets:
        """(start, end) of each token in characters."""
        if self._offsets is None:
            raise UsageError(
                f"the tokenizer '{self.name}' does not say where tokens lie",
                hint="return (start, end) pairs or the tokens' texts",
            )
        return self._offsets(text)


def tokenizer_of(value: Any) -> Tokenizer:
    """A tokenizer from its name, an object of tiktoken, tokenizers or transformers, or a function.

    A function returns the number of tokens, their (start, end) offsets, their texts, or their ids.
    """
    if value is None or isinstance(value, str):
        return _named(value or DEFAULT)
    if isinstance(value, Tokenizer):
        return value
    if hasattr(value, "decode_with_offsets"):
        return _tiktoken(value)
    if getattr(value, "is_fast", False) and callable(value):  # transformers
        return _from_function(
            lambda text: value(text, add_special_tokens=False, return_offsets_mapping=True)[
                "offset_mapping"
            ],
            type(value).__name__,
        )
    if hasattr(value, "encode") and not callable(value):  # tokenizers, sentencepiece
        return _from_function(lambda text: _encoded(value, text), type(value).__name__)
    if callable(value):
        return _from_function(value, getattr(value, "__name__", type(value).__name__))
    raise UsageError(
        f"{value!r:.80} is not a tokenizer",
        hint=f"a function of a text, an object with encode, or a name: {', '.join(NAMES)}",
    )


def _named(name: str) -> Tokenizer:
    kind, _, encoding = name.partition(":")
    if kind == "words" and not encoding:
        return Tokenizer(name, lambda text: len(_words(text).findall(text)),
                         lambda text: [match.span() for match in _words(text).finditer(text)])  # fmt: skip
    if kind == "characters" and not encoding:
        return Tokenizer(name, len, lambda text: [(i, i + 1) for i in range(len(text))])
    if kind == "tiktoken":
        try:
            import tiktoken  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            raise MissingExtraError(
                "the tokenizer 'tiktoken' needs the package tiktoken", hint="pip install tiktoken"
            ) from None
        try:
            return _tiktoken(tiktoken.get_encoding(encoding or _ENCODING))
        except Exception as error:  # an unknown encoding, or no network to fetch it
            raise UsageError(
                f"cannot load the tiktoken encoding '{encoding or _ENCODING}': {error}"
            ) from None
    raise UsageError(
        f"unknown tokenizer '{name}'",
        hint=f"available: {', '.join(NAMES)} (tiktoken:ENCODING for another encoding)",
    )


def _words(text: str) -> re.Pattern[str]:
    return _ASCII if text.isascii() else _any_script()


@lru_cache(maxsize=1)
def _any_script() -> re.Pattern[str]:
    """The rule of `words`; combining marks, which are no letters, belong to the character before them."""
    import unicodedata

    marks = [c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M"]
    joined = "".join(marks) + "\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef"
    words = f"(?:(?![{_UNSPACED}])[\\w{joined}])+"
    return re.compile(f"[{_UNSPACED}][{joined}]*|{words}|[^\\w\\s][{joined}]*")


def _tiktoken(encoding: Any) -> Tokenizer:
    def ids(text: str) -> Any:
        return encoding.encode(text, disallowed_special=())

    def offsets(text: str) -> Offsets:
        _, starts = encoding.decode_with_offsets(ids(text))
        return list(zip(starts, [*starts[1:], len(text)], strict=True))

    return Tokenizer(str(encoding.name), lambda text: len(ids(text)), offsets)


def _encoded(value: Any, text: str) -> Any:
    try:
        encoded = value.encode(text, add_special_tokens=False)
    except TypeError:
        encoded = value.encode(text)
    return getattr(encoded, "offsets", encoded)


def _from_function(function: Callable[[str], Any], name: str) -> Tokenizer:
    def count(text: str) -> int:
        answer = function(text)
        if isinstance(answer, bool) or not (isinstance(answer, int) or hasattr(answer, "__len__")):
            raise _bad_answer(name, answer)
        number = answer if isinstance(answer, int) else len(answer)
        if number < 0:
            raise _bad_answer(name, answer)
        return number

    def offsets(text: str) -> Offsets:
        answer = function(text)
        tokens = [] if isinstance(answer, int) and not answer else answer
        if isinstance(tokens, int) or not hasattr(tokens, "__iter__"):
            raise UsageError(
                f"the tokenizer '{name}' does not say where tokens lie",
                hint="return (start, end) pairs or the tokens' texts",
            )
        return _located(list(tokens), text, name)

    return Tokenizer(name, count, offsets)


def _located(tokens: list[Any], text: str, name: str) -> Offsets:
    """Tokens as offsets: pairs as they are, texts where they follow one another."""
    pairs: list[tuple[int, int]] = []
    place = 0
    for token in tokens:
        if isinstance(token, str):
            start = text.find(token, place)
            if start < 0:
                raise InputError(
                    f"the token {token!r} of the tokenizer '{name}' is not in the text after character "
                    f"{place}",
                    hint="return (start, end) pairs instead",
                )
            pairs.append((start, start + len(token)))
            place = start + len(token)
            continue
        try:
            start, end = token
        except (TypeError, ValueError):
            raise UsageError(
                f"the tokenizer '{name}' does not say where tokens lie",
                hint="return (start, end) pairs or the tokens' texts",
            ) from None
        if not 0 <= start <= end <= len(text):
            raise UsageError(f"the tokenizer '{name}' returned the offsets {start} to {end} for a text of "
                             f"{len(text)} characters")  # fmt: skip
        pairs.append((int(start), int(end)))
    return pairs


def _bad_answer(name: str, answer: Any) -> UsageError:
    return UsageError(
        f"the tokenizer '{name}' returned {answer!r:.60}",
        hint="return a number, (start, end) pairs, texts or ids",
    )


class TokenCounts:
    """How many tokens of its documents an interval holds: those that begin in it."""

    def __init__(self, tokenizer: Tokenizer, texts: Mapping[str, str]) -> None:
        self._tokenizer = tokenizer
        self._texts = texts
        self._starts: dict[str, list[int]] = {}

    def between(self, doc: str, start: int, end: int) -> int:
        """The tokens of a document that begin between two offsets."""
        if doc not in self._starts:
            offsets = self._tokenizer.offsets(self._texts.get(doc, ""))
            self._starts[doc] = sorted(first for first, _ in offsets)
        starts = self._starts[doc]
        return bisect_left(starts, end) - bisect_left(starts, start)
