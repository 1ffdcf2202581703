"""The core compiles everywhere: what only some systems or compilers have stands behind a condition."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

CORE = Path(__file__).resolve().parents[2] / "src" / "core"
SOURCES = sorted([*CORE.glob("*.cpp"), *CORE.glob("*.hpp")])

# Files that speak to the operating system; docs/reliability.md names them.
SYSTEM_FILES = {"bind_json.cpp", "file.cpp"}
SYSTEM_HEADERS = re.compile(r"#include <(?:fcntl|io|unistd|windows|dlfcn|pthread|sys/\w+)\.h>")

# Words that GCC and clang know, and the conditions under which they may stand.
EXTENSIONS = re.compile(r"__builtin_\w+|__attribute__|__extension__|__int128|__restrict__|__asm__")
CONDITIONS = re.compile(r"__GNUC__|__SIZEOF_INT128__|GOODGAIN_X86")


def lines_with_conditions(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Every line of code with the conditions that it depends on; comments are left out."""
    open_conditions: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        code = line.partition("//")[0].strip()
        if match := re.match(r"#\s*(?:if|ifdef|ifndef)\b(.*)", code):
            open_conditions.append(match[1])
        elif match := re.match(r"#\s*(?:else|elif)\b(.*)", code):
            open_conditions[-1] = match[1]
        elif re.match(r"#\s*endif\b", code):
            open_conditions.pop()
        else:
            yield number, code, list(open_conditions)


def unguarded(text: str) -> list[str]:
    """Extensions that no condition about the compiler guards."""
    return [
        f"{number}: {code}"
        for number, code, conditions in lines_with_conditions(text)
        if EXTENSIONS.search(code) and not any(map(CONDITIONS.search, conditions))
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_extensions_of_compilers_are_guarded(path):
    assert unguarded(path.read_text(encoding="utf-8")) == []


def test_the_check_sees_what_is_not_guarded():
    text = """
#if defined(__GNUC__)
__builtin_prefetch(p);
#else
__builtin_trap();
#endif
void f() __attribute__((cold));  // __attribute__ in words
"""
    assert unguarded(text) == ["5: __builtin_trap();", "7: void f() __attribute__((cold));"]


def test_headers_of_systems_stay_where_the_documentation_says():
    users = {path.name for path in SOURCES if SYSTEM_HEADERS.search(path.read_text("utf-8"))}
    assert users == SYSTEM_FILES
    page = (CORE.parents[1] / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert all(f"`src/core/{name}`" in page for name in users)


def test_the_processor_is_not_asked_through_the_compiler():
    """zig and clang-cl link no library with __cpu_model, which __builtin_cpu_supports reads."""
    asking = [p.name for p in SOURCES if re.search(r"__builtin_cpu_\w+\(", p.read_text("utf-8"))]
    assert asking == []


# What the stable ABI hides, which wheels for Python 3.12 and later use: the insides of objects and of types.
INSIDES = re.compile(
    r"->(?:tp|ob|nb|sq|mp|bf)_\w+|\bPy(?:List|Tuple|Dict|Set)_GET_\w+|\bPyFloat_AS_DOUBLE|\bPyBytes_AS_STRING|"
    r"\bPyUnicode_(?:DATA|KIND|READ|IS_\w+|GET_LENGTH|AsUTF8\()|\b_Py[A-Z]\w*\("
)


def test_the_stable_abi_is_enough():
    """But for one file, which does without where the ABI is stable."""
    users = [p.name for p in SOURCES if INSIDES.search(p.read_text("utf-8"))]
    assert users == ["plain_dicts.cpp"]
    assert "#if defined(Py_LIMITED_API)" in (CORE / users[0]).read_text("utf-8")
    assert INSIDES.search("Py_TYPE(value)->tp_name")
