"""Fail if ten lines of code occur twice in src: python scripts/duplicates.py [--lines N] [PATH ...].

Compares Python, C++ and JavaScript line by line, as tokens, in two ways:

- same words: the lines are equal, whatever their spacing and comments;
- other names: the lines are equal once names are replaced one for one, and strings and numbers are ignored.

Not counted as code:

- blank lines, comments, docstrings, imports, and lines that hold only literals and punctuation;
- declarations in the body of a module or class: constants, fields, `__all__`, entries of a table.

Lists of like entries resemble each other without repeating any logic, so "other names" also ignores

- calls that declare: their result is not used and their arguments are constants (`parser.add_argument(...)`);
- stretches of ten lines with fewer than five different shapes (`self.a = a`, `case`).

Exit status: 0 nothing occurs twice, 1 something does (each pair of places is printed).
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from itertools import combinations
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
LINES = 10
SHAPES = 5  # fewer different lines than this among ten are a table
SKIPPED_FOLDERS = {"vendor", "__pycache__"}

NAME, STRING, NUMBER = "name", "string", "number"  # what other names or values may stand for


class Token(NamedTuple):
    """A word of the source: its kind (NAME, STRING, NUMBER, or "" for what must stay) and its text."""

    kind: str
    text: str


class Line(NamedTuple):
    """A line of code and its number; without tokens, a declaration, which no run may cross."""

    number: int
    tokens: tuple[Token, ...]
    declares: bool = False  # part of a call that declares


class Place(NamedTuple):
    """Where a window starts: the index of a file and of a code line in it."""

    file: int
    line: int


class Run(NamedTuple):
    """Two places that share `length` code lines."""

    first: Place
    second: Place
    length: int
    same_words: bool


# --- Python ---


def python_lines(text: str) -> Iterator[Line]:
    """The code lines of a Python file."""
    ignored, tables, calls = _python_statements(ast.parse(text))
    tokens: dict[int, list[Token]] = defaultdict(list)
    depth = 0  # inside f-strings, which are tokens of their own from Python 3.12 on
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind.endswith("STRING_START"):
            depth += 1
            if depth == 1:
                tokens[token.start[0]].append(Token(STRING, token.string))
        elif kind.endswith("STRING_END"):
            depth -= 1
        elif depth:
            continue
        elif kind == "STRING":
            tokens[token.start[0]].append(Token(STRING, token.string))
        elif kind == "NUMBER":
            tokens[token.start[0]].append(Token(NUMBER, token.string))
        elif kind == "NAME":
            fixed = iskeyword(token.string)
            tokens[token.start[0]].append(Token("" if fixed else NAME, token.string))
        elif kind == "OP":
            tokens[token.start[0]].append(Token("", token.string))
    for number, words in sorted(tokens.items()):
        if number in tables:
            yield Line(number, ())
        elif number not in ignored:
            yield Line(number, tuple(words), number in calls)


def _python_statements(tree: ast.Module) -> tuple[set[int], set[int], set[int]]:
    """The lines of imports and docstrings, of declarations, and of calls that declare."""
    ignored: set[int] = set()
    tables: set[int] = set()
    calls: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            ignored |= _extent(node)
        elif isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Constant):
                ignored |= _extent(node)
            elif _is_declaring_call(node.value):
                calls |= _extent(node)
        if isinstance(node, ast.Module | ast.ClassDef):
            for statement in node.body:
                if _declares(statement):
                    tables |= _extent(statement)
    return ignored, tables - ignored, calls


def _declares(statement: ast.stmt) -> bool:
    """True for a statement that computes nothing: no comprehension, lambda or conditional in it."""
    logic = (ast.comprehension, ast.Lambda, ast.IfExp, ast.BoolOp, ast.Await, ast.Yield)
    return isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr) and not any(
        isinstance(node, logic) for node in ast.walk(statement)
    )


def _is_declaring_call(value: ast.expr) -> bool:
    """True for a call with nothing but constants, names and displays of them as arguments."""
    plain = (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict, ast.expr_context)
    if not isinstance(value, ast.Call) or not value.keywords:
        return False
    arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
    return all(isinstance(node, plain) for argument in arguments for node in ast.walk(argument))


def _extent(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


# --- C++ and JavaScript ---

CURLY = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<string> R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"
                | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | `(?:\\.|[^`\\])*` )
    | (?P<number> \.?\d(?:'?[\w.]|(?<=[eEpP])[+-])* )
    | (?P<name> [A-Za-z_$][\w$]* )
    | (?P<directive> ^[ \t]*\#(?:[^\n\\]|\\.|\\\n)* )
    | (?P<space> \s+ )
    | (?P<sign> <=>|->|::|<<|>>|&&|\|\||[-+*/%&|^=!<>]=|=>|\+\+|--|. )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
CURLY_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
    alignas auto await bool break case catch char class const constexpr consteval constinit continue
    decltype default delete do double else enum explicit export extends extern false final float for
    friend function goto if import in inline instanceof int let long mutable namespace new noexcept
    null nullptr of operator override private protected public return short signed sizeof static
    static_cast reinterpret_cast const_cast struct switch template this throw true try typedef
    typename typeof undefined union unsigned using var virtual void volatile while yield
        """,
    )
)
CURLY_IMPORTS = {"using", "import", "namespace", "export"}


def curly_lines(text: str) -> Iterator[Line]:
    """The code lines of a C++ or JavaScript file."""
    tokens: dict[int, list[Token]] = defaultdict(list)
    number = 1
    for match in CURLY.finditer(text):
        kind, word = match.lastgroup or "", match[0]
        if kind == "name" and word in CURLY_KEYWORDS:
            tokens[number].append(Token("", word))
        elif kind in (NAME, STRING, NUMBER):
            tokens[number].append(Token(kind, word))
        elif kind == "sign":
            tokens[number].append(Token("", word))
        number += word.count("\n")
    for line, words in sorted(tokens.items()):
        if words[0].text not in CURLY_IMPORTS:
            yield Line(line, tuple(words))


READERS: dict[str, Callable[[str], Iterator[Line]]] = {
    ".py": python_lines,
    ".cpp": curly_lines,
    ".hpp": curly_lines,
    ".js": curly_lines,
}


# --- comparing ---


def code(text: str, suffix: str) -> list[Line]:
    """The lines of a file that count, in order."""
    lines = READERS[suffix](text)
    return [
        line
        for line in lines
        if not line.tokens or any(t.kind == NAME or t.text.isalpha() for t in line.tokens)
    ]


def shape(tokens: Iterable[Token]) -> tuple[str, ...]:
    """Tokens with names numbered by first use and values left out: equal where only names differ."""
    numbers: dict[str, int] = {}
    return tuple(
        f"{NAME}{numbers.setdefault(t.text, len(numbers))}" if t.kind == NAME else t.kind or t.text
        for t in tokens
    )


def windows(lines: list[Line], length: int) -> Iterator[tuple[int, list[Line]]]:
    """Every stretch of `length` code lines that no table interrupts, with its start."""
    for start in range(len(lines) - length + 1):
        window = lines[start : start + length]
        if all(line.tokens for line in window):
            yield start, window


def find(files: list[list[Line]], length: int = LINES) -> list[Run]:
    """Every pair of places that share at least `length` lines, each as long as it goes."""
    words: dict[object, list[Place]] = defaultdict(list)
    shapes: dict[object, list[Place]] = defaultdict(list)
    for index, lines in enumerate(files):
        for start, window in windows(lines, length):
            place = Place(index, start)
            words[tuple(line.tokens for line in window)].append(place)
            if _has_logic(window):
                shapes[shape(t for line in window for t in (*line.tokens, Token("", "\n")))].append(
                    place
                )
    same = _pairs(words, length)
    return [
        *_longest(same, length, same_words=True),
        *_longest(_pairs(shapes, length) - same, length, same_words=False),
    ]


def _has_logic(window: list[Line]) -> bool:
    """False where the lines are a list of like entries."""
    if any(line.declares for line in window):
        return False
    return len({shape(line.tokens) for line in window}) >= min(SHAPES, len(window))


def _pairs(groups: dict[object, list[Place]], length: int) -> set[tuple[Place, Place]]:
    return {
        (a, b)
        for places in groups.values()
        for a, b in combinations(places, 2)
        if a.file != b.file or b.line - a.line >= length
    }


def _longest(pairs: set[tuple[Place, Place]], length: int, *, same_words: bool) -> Iterator[Run]:
    """Windows that follow one another in both places, as one run."""
    for a, b in sorted(pairs):
        if (Place(a.file, a.line - 1), Place(b.file, b.line - 1)) in pairs:
            continue
        more = 1
        while (Place(a.file, a.line + more), Place(b.file, b.line + more)) in pairs:
            more += 1
        yield Run(a, b, length + more - 1, same_words)


def sources(paths: list[Path]) -> list[Path]:
    """Every file below the paths that can be compared."""
    files = [p for path in paths for p in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    return [p for p in files if p.suffix in READERS and not SKIPPED_FOLDERS & set(p.parts)]


def main(arguments: list[str] | None = None) -> int:
    """Print every pair of places; 1 if there is one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="default: src")
    parser.add_argument("--lines", type=int, default=LINES, help="shared lines that make a pair")
    options = parser.parse_args(arguments)
    paths = sources(options.paths or [ROOT / "src"])
    files = [code(path.read_text(encoding="utf-8"), path.suffix) for path in paths]
    runs = find(files, options.lines)

    def where(place: Place, length: int) -> str:
        path, lines = paths[place.file], files[place.file]
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        return f"{name}:{lines[place.line].number}-{lines[place.line + length - 1].number}"

    for run in sorted(runs, key=lambda run: -run.length):
        how = "same words" if run.same_words else "other names"
        first, second = (where(place, run.length) for place in (run.first, run.second))
        print(f"{first} = {second} ({run.length} lines, {how})")
    print(f"{len(runs) or 'no'} duplicates of {options.lines} lines in {len(paths)} files")
    return 1 if runs else 0


if __name__ == "__main__":
    sys.exit(main())
