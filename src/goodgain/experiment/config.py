"""An experiment written as TOML."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import InputError, UsageError
from goodgain.experiment.retrievers import make
from goodgain.experiment.retrievers.edges import NEIGHBOURS
from goodgain.experiment.run import Experiment

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

_FUNCTION = re.compile(r"[\w.]+:[\w.]+")
# Parameters of retrievers that may name a function of the user's.
_FUNCTIONS = ("embed", "scorer", "prepare")
_FILES = ("corpus", "queries", "qrels")


class Configured(NamedTuple):
    """An experiment, and the folder that keeps it."""

    experiment: Experiment
    folder: Path


def read_experiment(path: str | os.PathLike[str]) -> Configured:
    """Read an experiment from a TOML file; files in it are found beside it.

    Its keys are the parameters of `Experiment` and `folder` (by default the file's name without its
    ending); `[systems.NAME]` has the retriever, a built-in name or "module:function", and its parameters.
    """
    file = Path(path)
    content = _load(file)
    home = file.parent
    known = [name for name in inspect.signature(Experiment).parameters if name != "systems"]
    for name in content:
        if name not in (*known, "systems", "folder"):
            raise UsageError(
                f"an experiment has no '{name}'",
                where=str(file),
                hint=f"it has: {', '.join([*known, 'folder'])} and [systems.NAME]",
            )
    for name in _FILES:
        if not isinstance(content.get(name), str):
            raise UsageError(f"the experiment has no '{name}'", where=str(file),
                             hint=f'{name} = "a path beside this file"')  # fmt: skip
        if not (home / content[name]).exists():
            raise InputError(f"file not found: '{home / content[name]}'", where=str(file),
                             hint="check the spelling and the folder")  # fmt: skip
    systems = content.pop("systems", {})
    if not isinstance(systems, dict) or not systems:
        raise UsageError("the experiment has no systems", where=str(file),
                         hint='[systems.keyword] and under it retriever = "bm25"')  # fmt: skip
    folder = home / content.pop("folder", file.stem)
    files: dict[str, Any] = {name: str(home / content.pop(name)) for name in _FILES}
    depth = content.get("depth")
    built = {name: _system(name, table, depth, file) for name, table in systems.items()}
    try:
        return Configured(Experiment(**files, systems=built, **content), folder)
    except TypeError as error:
        raise UsageError(f"a setting has the wrong type: {error}", where=str(file)) from None


def _load(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        with file.open("rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise InputError(f"cannot read '{file}': {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        found = re.search(r" \(at line (\d+), column \d+\)", str(error))
        where = f"{file}:{found[1]}" if found else str(file)
        reason = str(error).replace(found[0], "") if found else str(error)
        raise InputError(f"the file is not valid TOML: {reason}", where=where) from None


def _system(name: str, table: Any, depth: int | None, file: Path) -> Any:
    where = f"{file}, [systems.{name}]"
    if not isinstance(table, dict) or not isinstance(table.get("retriever"), str):
        raise UsageError(f"the system '{name}' names no retriever", where=where,
                         hint='retriever = "bm25"')  # fmt: skip
    parameters = {key: value for key, value in table.items() if key != "retriever"}
    chosen = table["retriever"]
    try:
        if _FUNCTION.fullmatch(chosen):
            own = function(chosen, file.parent)
            return own(**parameters) if parameters or inspect.isclass(own) else own
        return make(chosen, _settled(parameters, depth, file.parent))
    except (UsageError, InputError) as error:
        raise type(error)(error.message, where=error.where or where, hint=error.hint) from None
    except TypeError as error:
        raise UsageError(
            f"the system '{name}' has a wrong parameter: {error}", where=where
        ) from None


def _settled(parameters: Mapping[str, Any], depth: int | None, home: Path) -> dict[str, Any]:
    """Functions imported, files found beside the experiment, and the common depth."""
    found = dict(parameters)
    for name in _FUNCTIONS:
        if isinstance(found.get(name), str) and _FUNCTION.fullmatch(found[name]):
            found[name] = function(found[name], home)
    edges = found.get("edges")
    if isinstance(edges, str) and edges != NEIGHBOURS:
        if not (home / edges).exists():
            raise InputError(f"file not found: '{home / edges}'")
        found["edges"] = str(home / edges)
    return found if depth is None else {"depth": depth, **found}


def function(text: str, home: Path) -> Any:
    """What "module:name" stands for; modules beside the experiment are found too."""
    module, _, name = text.partition(":")
    sys.path.insert(0, str(home.resolve()))
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        raise UsageError(f"there is no module '{error.name}' for '{text}'") from None
    except AttributeError:
        raise UsageError(f"the module '{module}' has no '{name}'") from None
    finally:
        sys.path.remove(str(home.resolve()))
    return found
