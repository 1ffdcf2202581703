"""The shape of the package: import order, import cost, public names, commands with help."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import goodgain
from goodgain.cli import COMMANDS, run

PACKAGE = Path(goodgain.__file__).parent
# Data flows one way: each stage imports only from the stages before it.
STAGES = (
    "stats",
    "io",
    "results",
    "data",
    "spans",
    "traces",
    "live",
    "identity",
    "measures",
    "ranking",
    "sql",
    "agentic",
    "comparison",
    "fusion",
    "labels",
    "compat",
    "verification",
    "auditing",
    "engines",
    "spark",
    "experiment",
    "checks",
    "serving",
    "reports",
    "judging",
    "cli",
)
FREE = {
    "cores",
    "fingerprint",
    "redaction",
    "errors",
    "plugins",
    "names",
    "records",
    "threads",
    "_core",
    "_build",
    "",
}  # anyone may import these; "" is goodgain itself
# The way back: every result can be turned into a page, and every saved file into a result, by functions that
# import later stages when they are called.
BACK = {
    "results": {"reports", "ranking", "agentic", "comparison", "experiment", "labels", "checks"}
}
ANYTHING = {"demo", "pytest_plugin", "__main__", "__init__"}
HEAVY = {
    "numpy",
    "scipy",
    "pyarrow",
    "pandas",
    "polars",
    "jinja2",
    "openai",
    "pyspark",
    "argparse",
    "altair",
    "vl_convert",
}


def modules():
    return sorted(p.relative_to(PACKAGE) for p in PACKAGE.rglob("*.py"))


def imported(path: Path) -> set[tuple[str, int]]:
    """Every goodgain module that a file imports, anywhere in it, with the line."""
    names = set()
    package = ("goodgain", *path.parent.parts)
    for node in ast.walk(ast.parse((PACKAGE / path).read_text())):
        if isinstance(node, ast.Import):
            names |= {(alias.name, node.lineno) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join(
                    (*package[: len(package) - node.level + 1], *([base] if base else []))
                )
            names |= {(f"{base}.{alias.name}", node.lineno) for alias in node.names}
            names.add((base, node.lineno))
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", ""))
            in ("import_module", "__import__")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            names.add((node.args[0].value, node.lineno))
    return {(name, line) for name, line in names if name.split(".")[0] == "goodgain"}


def stage(name: str) -> str:
    """The stage that a module belongs to: goodgain.io.files belongs to `io`."""
    path = name.split(".")[1:]
    stages = {p.stem for p in PACKAGE.iterdir()}
    return path[0] if path and path[0] in stages else ""


def forbidden_imports(path: Path) -> list[str]:
    """Every import of a later stage in a module, with its line."""
    own = path.parts[0].removesuffix(".py")
    if own in ANYTHING:
        return []
    allowed = FREE | {own} | BACK.get(own, set())
    if own in STAGES:
        allowed |= set(STAGES[: STAGES.index(own)])
        allowed |= {"demo"} if own == "cli" else set()
    else:
        assert own in FREE, f"{own} is neither a stage nor free: add it to the order"
    names = imported(path)
    wrong = [f"{path}:{line} imports {name}" for name, line in names if stage(name) not in allowed]
    # A name imported from goodgain itself may be a stage in disguise: goodgain.evaluate.
    wrong += [
        f"{path}:{line} imports {name} through goodgain"
        for name, line in names
        if name.count(".") == 1 and name.split(".")[1] in goodgain._PUBLIC
    ]
    return wrong


def test_imports_go_one_way():
    wrong = [text for path in modules() for text in forbidden_imports(path)]
    assert not wrong, "\n".join(wrong)


def test_the_check_sees_imports_everywhere():
    names = {name for name, _ in imported(Path("data/run.py"))}
    assert "goodgain.io.sources" in names  # at the top
    assert "goodgain.io.files" in names  # inside a function
    assert "goodgain._core.Scores" in names  # under TYPE_CHECKING


def test_the_architecture_page_has_the_stages_in_this_order():
    text = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = re.findall(r"^\| `(\w+)` \|", text.partition("## The core")[0], re.MULTILINE)
    assert tuple(packages) == tuple(stage for stage in STAGES if stage != "spark")


def test_names_of_test_modules_are_unique():
    """Without packages in tests/, pytest imports each by its bare name."""
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert {name for name in names if names.count(name) > 1} == set()


def loaded_by(*arguments: str) -> set[str]:
    code = (
        "import sys, json; import runpy; "
        + arguments[0]
        + "; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import goodgain",
        "sys.argv = ['goodgain', '--version']; import goodgain.__main__ as m; m.main()",
    ],
    ids=["import goodgain", "goodgain --version"],
)
def test_nothing_heavy_is_imported(code):
    before = loaded_by("pass")
    heavy = {name.split(".")[0] for name in loaded_by(code) - before} & HEAVY
    assert heavy == set()
    assert "goodgain._core" not in loaded_by(code)


@pytest.mark.parametrize(
    "code",
    [
        "import goodgain; goodgain.evaluate({'q': {'a': 1}}, {'q': {'a': 1.0}}, 'nDCG@10')['nDCG@10']",
        "import goodgain; goodgain.dcg([3, 2, 1]); goodgain.nrdcgl(['a'], {'a': 1})",
    ],
    ids=["evaluate", "lists"],
)
def test_evaluating_needs_nothing_heavy(code):
    assert {name.split(".")[0] for name in loaded_by(code)} & HEAVY == set()


# --- what is public ---


def test_exported_names_are_locked():
    assert goodgain.__all__ == [
        "GSB", "Calibration", "CheckResult", "Comparison", "Evaluation", "Evaluator", "Experiment",
        "ExperimentResult",
        "Gate", "GoodGain", "GoodgainError", "Identity", "Judge", "Labels",
        "Limits", "Measure", "Policy", "Power",
        "Qrels", "Run", "RunScores", "StopRule", "Stopping", "Store", "Trace", "__version__",
        "audit", "calibrate", "cg",
        "check", "compare",
        "convert", "dcg", "evaluate", "explain", "fuse", "gate", "good_gain", "gsb", "gsb_counts",
        "gsb_differences", "gsb_labels", "label", "load", "ndcg", "nrdcgl", "parse", "pnrdcgl", "pool",
        "power", "rdcgl", "read_traces", "record", "register", "report", "search_tool", "selftest",
        "stopping", "tune",
    ]  # fmt: skip
    assert dir(goodgain) == sorted(goodgain.__all__)
    assert set(goodgain._PUBLIC) == set(goodgain.__all__) - {"__version__"}


@pytest.mark.parametrize("name", sorted(goodgain.__all__))
def test_exported_names_exist(name):
    value = getattr(goodgain, name)
    assert name == "__version__" or value.__doc__


def test_unknown_names():
    for name in ("nothing", "_private", "ndgc"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(goodgain, name)
    assert goodgain.measures.__name__ == "goodgain.measures"


def test_version_matches_the_project():
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text()
    assert f'version = "{goodgain.__version__}"' in text


def test_typed():
    assert (PACKAGE / "py.typed").exists()


# --- the command line ---


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    try:
        status = run([command, "--help"])
    except SystemExit as stopped:
        status = stopped.code
    out = capsys.readouterr().out
    assert status == 0
    assert out.startswith(f"usage: goodgain {command}")
    assert COMMANDS[command].strip()


def test_help_lists_every_command(capsys):
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out and text in out for name, text in COMMANDS.items())
    assert run([]) == 2


def test_every_command_module_is_listed():
    shared = {
        "__init__",
        "conversations",
        "crash",
        "judges",
        "label_samples",
        "label_tasks",
        "options",
        "output",
        "overwriting",
        "parser",
        "redaction",
        "runs",
    }
    files = {p.stem for p in (PACKAGE / "cli").glob("*.py")} - shared
    assert {name.replace("_", "-") for name in files} == set(COMMANDS)
