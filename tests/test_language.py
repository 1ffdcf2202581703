"""One word for one thing: names in the code, the spelling of "judgment", and the pages that explain both."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "goodgain"
# A participle says how a thing came about, not what it is; the others say nothing at all.
FORBIDDEN = {
    "found", "told", "kept", "asked", "given", "made", "shown", "material", "parts", "together",
}  # fmt: skip
TERMS = (
    "query", "document", "run", "system", "judgment", "gain", "grade", "label", "conversation", "turn",
    "iteration", "search", "result",
)  # fmt: skip
OTHERS = {"connection_made"}  # methods that a base class of the standard library names
MODULES = sorted(PACKAGE.rglob("*.py"))
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
JS_NAME = re.compile(r"\b(?:const|let|var|function|class)\s+([A-Za-z_$][\w$]*)")


def forbidden(name: str) -> bool:
    """True if one of the words of a name, in snake_case or CamelCase, is forbidden."""
    words = "_".join(WORD.findall(name)).lower().replace("not_found", "missing")
    return name not in OTHERS and not FORBIDDEN.isdisjoint(words.split("_"))


def bound_names(tree: ast.AST) -> list[tuple[int, str]]:
    """Every name that a module binds, with its line: functions, classes, parameters, variables, fields."""
    names: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.append((node.lineno, node.name))
            case ast.arg():
                names.append((node.lineno, node.arg))
            case ast.Name(ctx=ast.Store()):
                names.append((node.lineno, node.id))
            case ast.Attribute(ctx=ast.Store()):
                names.append((node.lineno, node.attr))
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                names.append((node.lineno, name))
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names.append((node.lineno, name))
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                names += [(node.lineno, alias.asname) for alias in imported if alias.asname]
    return names


def texts(*folders: Path) -> list[Path]:
    """Every text file that people write, in or below some folders."""
    endings = {
        ".py",
        ".pyi",
        ".cpp",
        ".hpp",
        ".js",
        ".css",
        ".html",
        ".sql",
        ".txt",
        ".md",
        ".toml",
    }
    files = [p for folder in folders for p in folder.rglob("*") if p.suffix in endings]
    return sorted(p for p in files if "vendor" not in p.parts)


def test_the_check_sees_every_kind_of_name():
    text = """
import os as parts
class MaterialList:
    def found_rows(self, asked, *made, **told):
        self.kept = [shown for shown in asked]
        (given, x), together_ = made, 1
        with open(x) as (y, parts_list): pass
        x.parts, fine = path.parts, partsong = 1, 2
        try: pass
        except OSError as found: pass
"""
    names = {name for _, name in bound_names(ast.parse(text)) if forbidden(name)}
    assert names == {
        "parts", "MaterialList", "found_rows", "asked", "made", "told", "kept", "shown", "given",
        "together_", "parts_list", "found",
    }  # fmt: skip
    assert not any(
        map(forbidden, ("foundation", "partsong", "Unkept", "NotFound", "file_not_found"))
    )


def test_python_names_say_what_a_thing_holds_or_does():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in MODULES
        for line, name in bound_names(ast.parse(path.read_text(encoding="utf-8")))
        if forbidden(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_folders_and_assets_are_named_so_too():
    names = [
        p.stem for p in PACKAGE.rglob("*") if "vendor" not in p.parts and "." not in p.name[:1]
    ]
    assert [name for name in names if forbidden(name)] == []


def test_script_names_say_what_a_thing_holds_or_does():
    wrong = []
    for path in texts(PACKAGE):
        if path.suffix == ".js":
            names = JS_NAME.findall(path.read_text(encoding="utf-8"))
            wrong += [f"{path.relative_to(ROOT)}: {name}" for name in names if forbidden(name)]
    assert wrong == []


CITED: tuple[str, ...] = ()  # titles of papers that spell it "judgement"
# Modules that read the other spelling in users' files: as a column name, and as a key saved by version 0.1.
READERS = (
    "src/goodgain/experiment/folder.py",
    "src/goodgain/io/columns.py",
    "src/goodgain/labels/tools.py",
    "src/goodgain/reports/sections/provenance.py",
)


def test_judgment_has_one_spelling():
    wrong = []
    for path in [*texts(SOURCE, ROOT / "docs"), *sorted(ROOT.glob("*.md")), ROOT / "Makefile"]:
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        for title in CITED:
            text = text.replace(title, "")
        if name in READERS:
            text = re.sub('"judgements?"', '""', text)
        lines = enumerate(text.splitlines(), 1)
        wrong += [f"{name}:{n}: {line}" for n, line in lines if "judgement" in line.lower()]
    assert not wrong, "\n".join(wrong)


def test_the_glossary_has_every_term_and_every_forbidden_word():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert [term for term in TERMS if f"| **{term}** |" not in text] == []
    assert [word for word in sorted(FORBIDDEN) if f"`{word}`" not in text] == []


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md", "CONTRIBUTING.md"])
def test_the_glossary_is_linked(page):
    assert "glossary.md" in (ROOT / page).read_text(encoding="utf-8")


def test_the_architecture_page_names_every_package():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = [p.parent.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("__init__.py")]
    modules = [p.stem for p in PACKAGE.glob("*.py") if not p.stem.startswith("__")]
    names = [name for name in (*packages, *modules) if name != "."]
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


def test_the_architecture_page_names_every_file_of_the_core():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    names = {p.stem for p in (SOURCE / "core").glob("*.[ch]pp")}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []
