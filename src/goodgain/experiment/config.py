"""Read an experiment from a TOML file."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import InputError, UsageError, keyword_hint
from goodgain.experiment.chunks import Chunked
from goodgain.experiment.experiment import Experiment
from goodgain.experiment.grid import Recipe
from goodgain.experiment.retrievers import make
from goodgain.experiment.retrievers.edges import NEIGHBOURS
from goodgain.experiment.retrievers.frameworks import as_retriever
from goodgain.experiment.services import from_environment
from goodgain.experiment.sources import PREFIXES, is_path
from goodgain.io.whole import read_toml

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

_OWN = ("retriever", "version")  # of a system, besides the parameters of its retriever
_REFERENCE = re.compile(r"[\w.]+:[\w.]+")  # module:function
# Parameters of retrievers that may refer to a function.
_FUNCTIONS = ("embed", "scorer", "prepare", "splitter", "tokenizer")
_PATHS = ("edges", "document_vectors", "query_vectors")
_FILES = ("data", "corpus", "queries", "qrels")
_REQUIRED = ("corpus", "queries", "qrels")  # unless there is `data`


class ExperimentFile(NamedTuple):
    """An experiment and its output folder."""

    experiment: Experiment
    folder: Path


def read_experiment(path: str | os.PathLike[str]) -> ExperimentFile:
    """Read an experiment from a TOML file; paths in it are relative to it.

    Its keys are the parameters of `Experiment` and `folder` (by default the name of the file without
    its suffix); `[systems.NAME]` has the retriever, a name or "module:function", its parameters, and
    perhaps a `version`. `${NAME}` in them is read from the environment and never saved.
    """
    file = Path(path)
    content = read_toml(file, "an experiment")
    home = file.parent
    names = [name for name in inspect.signature(Experiment).parameters if name != "systems"]
    for name in content:
        if name not in (*names, "systems", "folder"):
            raise UsageError(
                f"unknown key '{name}' in the experiment",
                where=str(file),
                hint=keyword_hint(name, [*names, "systems", "folder"]),
            )
    files = _files(content, file)
    systems = content.pop("systems", {})
    if not isinstance(systems, dict) or not systems:
        raise UsageError("the experiment has no systems", where=str(file),
                         hint='[systems.keyword] with retriever = "bm25"')  # fmt: skip
    folder = home / content.pop("folder", file.stem)
    if isinstance(content.get("cache"), str):
        content["cache"] = str(home / content["cache"])
    if isinstance(content.get("grid"), dict):
        content["grid"] = _resolve_grid(content["grid"], "", home, file)
    depth = content.get("depth")
    retrievers = {name: _system(name, table, depth, file) for name, table in systems.items()}
    try:
        versions = {n: str(table["version"]) for n, table in systems.items() if "version" in table}
        content.setdefault("versions", versions)
        if isinstance(content.get("tokenizer"), str) and _is_function(content["tokenizer"]):
            content["tokenizer"] = import_reference(content["tokenizer"], home)
        return ExperimentFile(Experiment(**files, systems=retrievers, **content), folder)
    except TypeError as error:
        raise UsageError(f"a setting has the wrong type: {error}", where=str(file)) from None


def _files(content: dict[str, Any], file: Path) -> dict[str, Any]:
    """Take out the data: paths that exist, or data sets of ir_datasets."""
    files = {}
    for name in _FILES:
        value = content.pop(name, None)
        if value is None and name in _REQUIRED and "data" not in files:
            raise UsageError(f"the experiment has no '{name}'", where=str(file),
                             hint=f'{name} = "path", or data = "FOLDER" for all three')  # fmt: skip
        if value is None:
            continue
        if not isinstance(value, str):
            raise UsageError(f"'{name}' must be a path", where=str(file), hint=f'{name} = "path"')
        if not is_path(value):
            files[name] = value
            continue
        if not (file.parent / value).exists():
            raise InputError(
                f"file not found: '{file.parent / value}'",
                where=str(file),
                hint=f"check the spelling; a data set of ir_datasets is written '{PREFIXES[0]}{value}'"
                if name == "data"
                else "check the spelling and the folder",
            )
        files[name] = str(file.parent / value)
    return files


def _system(name: str, table: Any, depth: int | None, file: Path) -> Any:
    where = f"{file}, [systems.{name}]"
    if not isinstance(table, dict) or not isinstance(table.get("retriever"), str):
        raise UsageError(f"the system '{name}' has no retriever", where=where,
                         hint='retriever = "bm25"')  # fmt: skip
    parameters = {key: value for key, value in table.items() if key not in _OWN}
    retriever = table["retriever"]
    try:
        if "chunk" in table:
            inner = {key: value for key, value in table.items() if key != "chunk"}
            search = _system(name, inner, depth, file)
            search = search.system(name) if isinstance(search, Recipe) else search
            return _chunked(table["chunk"], search, depth, file)
        if _REFERENCE.fullmatch(retriever):
            value = import_reference(retriever, file.parent)
            wrapped = as_retriever(value, **from_environment(parameters))
            if wrapped is not value:
                return wrapped
            if parameters or inspect.isclass(value):
                return Recipe(value, from_environment(parameters), where)
            return value
        return make(retriever, _resolve(parameters, file.parent), depth)
    except (UsageError, InputError) as error:
        raise type(error)(error.message, where=error.where or where, hint=error.hint) from None
    except TypeError as error:
        raise UsageError(
            f"the system '{name}' has an invalid parameter: {error}", where=where
        ) from None


def _chunked(settings: Any, retriever: Any, depth: int | None, file: Path) -> Chunked:
    """A system over chunks: chunk = {splitter = "tokens", size = 256, overlap = 32}."""
    if not isinstance(settings, dict):
        raise UsageError(
            f"chunk must be a table, got {settings!r}",
            hint='chunk = {splitter = "tokens", size = 256, overlap = 32}',
        )
    own = dict(settings)
    own = _resolve(own, file.parent)
    known = [n for n in inspect.signature(Chunked).parameters if n not in ("of", "parameters")]
    if not callable(own.get("splitter")):  # a function may have any parameter
        for key in own:
            if key not in known:
                raise UsageError(f"unknown key '{key}' in chunk", hint=keyword_hint(key, known))
    others = {key: own.pop(key) for key in list(own) if key not in known}
    defaults = {} if depth is None else {"depth": depth}
    return Chunked(retriever, **{**defaults, **own}, parameters=others or None)


def _is_function(text: str) -> bool:
    """Whether a text is "module:function" rather than tiktoken:ENCODING."""
    return bool(_REFERENCE.fullmatch(text)) and not text.startswith("tiktoken:")


def _resolve(parameters: Mapping[str, Any], home: Path) -> dict[str, Any]:
    """The parameters with references imported and paths relative to the experiment."""
    resolved = dict(parameters)
    for name in _FUNCTIONS:
        if isinstance(resolved.get(name), str) and _is_function(resolved[name]):
            resolved[name] = import_reference(resolved[name], home)
    for name in _PATHS:
        path = resolved.get(name)
        if isinstance(path, str) and path != NEIGHBOURS:
            if not (home / path).exists():
                raise InputError(f"file not found: '{home / path}'")
            resolved[name] = str(home / path)
    return resolved


def _resolve_grid(value: Any, name: str, home: Path, file: Path) -> Any:
    """The grid with references in its lists imported and paths relative to the experiment."""
    if isinstance(value, dict):
        return {
            key: _resolve_grid(inner, key.rpartition(".")[2], home, file)
            for key, inner in value.items()
        }
    if not isinstance(value, list):
        return value
    try:
        return [_resolve({name: each}, home)[name] for each in value]
    except (UsageError, InputError) as error:
        raise type(error)(error.message, where=f"{file}, [grid]", hint=error.hint) from None


def import_reference(reference: str, home: Path) -> Any:
    """The object that "module:name" refers to; modules in the folder of the experiment come first."""
    module, _, name = reference.partition(":")
    sys.path.insert(0, str(home.resolve()))
    try:
        value: Any = import_module(module)
        for attribute in name.split("."):
            value = getattr(value, attribute)
    except ModuleNotFoundError as error:
        raise UsageError(f"module '{error.name}' of '{reference}' not found") from None
    except AttributeError:
        raise UsageError(f"module '{module}' has no attribute '{name}'") from None
    finally:
        sys.path.remove(str(home.resolve()))
    return value
