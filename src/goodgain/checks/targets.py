"""Targets: the search that is checked, behind HTTP, MCP, a command, a Python function or a run file."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from goodgain.checks.matching import Answer
from goodgain.errors import InputError, UsageError, keyword_hint
from goodgain.experiment.services import JsonService, value_at

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = ("http", "mcp", "command", "python", "experiment", "run")


class Target(Protocol):
    """A search to check. Calls come from several threads only where `concurrency` says so."""

    def search(self, query: str, depth: int) -> list[Answer]:
        """The results, best first; an exception is a failed call."""
        ...

    def describe(self) -> dict[str, Any]:
        """What the baseline records of it, without secrets."""
        ...

    def close(self) -> None:
        """End connections and processes."""
        ...


def make_target(spec: Any, home: Path, timeout: float = 30.0) -> Target:
    """The target of a specification: an object with one of the kinds, or a text as `--target` takes it."""
    if isinstance(spec, str):
        spec = parse_spec(spec)
    if callable(spec):
        return Function(spec)
    if not isinstance(spec, dict):
        raise UsageError(f"invalid target {spec!r:.60}", hint=_hint())
    kinds = [kind for kind in KINDS if kind in spec]
    if len(kinds) != 1:
        raise UsageError(
            f"a target needs exactly one of {', '.join(KINDS)}, got {', '.join(map(str, spec)) or 'nothing'}",
            hint=_hint(),
        )
    options = {key: value for key, value in spec.items() if key != kinds[0]}
    timeout = float(options.pop("timeout", timeout))
    options.pop("version", None)
    return _make(kinds[0], spec[kinds[0]], options, home, timeout)


def _make(kind: str, value: Any, options: dict[str, Any], home: Path, timeout: float) -> Target:
    allowed = {
        "http": ("method", "body", "headers", "results"),
        "mcp": ("tool", "arguments", "headers", "env", "results"),
        "command": ("results",),
        "python": (),
        "experiment": ("system",),
        "run": (),
    }[kind]
    for name in options:
        if name not in allowed:
            raise UsageError(
                f"unknown setting '{name}' for the target '{kind}'",
                hint=keyword_hint(name, [*allowed, "timeout", "version"]),
            )
    match kind:
        case "http":
            return HttpTarget(value, timeout=timeout, **options)
        case "mcp":
            from goodgain.checks.mcp_target import McpTarget

            return McpTarget(value, timeout=timeout, home=home, **options)
        case "command":
            return Command(value, home=home, timeout=timeout, **options)
        case "python":
            from goodgain.experiment.config import import_reference

            return Function(import_reference(value, home), value)
        case "experiment":
            return _from_experiment(home / value, options.get("system"))
    return RunFile(str(home / value))


def parse_spec(text: str) -> dict[str, Any]:
    """What `--target` takes: a URL with {query}, `mcp:COMMAND` or `mcp:URL` with `#TOOL`, `command:...`,
    `module:function`, or a run file.
    """  # noqa: D205
    kind, colon, rest = text.partition(":")
    if kind in ("http", "https"):
        return {"http": text}
    if kind in KINDS and colon:
        if kind == "mcp":
            server, _, tool = rest.rpartition("#") if "#" in rest else (rest, "", "")
            return {"mcp": server, **({"tool": tool} if tool else {})}
        return {kind: rest}
    if re.fullmatch(r"[\w.]+:[\w.]+", text):
        return {"python": text}
    if Path(text).exists():
        return {"run": str(Path(text).resolve())}
    raise UsageError(f"invalid target '{text}'", hint=_hint())


def _hint() -> str:
    return (
        '"https://host/search?q={query}", "mcp:python server.py#search", "command:mysearch {query}", '
        '"module:function", or a run file'
    )


class HttpTarget:
    """A JSON endpoint; `results` is the path of the list, where it cannot be recognised."""

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        method: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        results: str | None = None,
    ) -> None:
        self._service = JsonService(url, body=body, headers=headers, method=method, timeout=timeout)
        self._settings = {"http": url, "method": method, "body": body, "results": results}

    def search(self, query: str, depth: int) -> list[Answer]:
        """Query the endpoint."""
        return answers_of(self._service.call(query, depth), self._settings["results"])[:depth]

    def describe(self) -> dict[str, Any]:
        """The URL and what is sent, with variables unresolved and no headers."""
        return describe_settings(self._settings)

    def close(self) -> None:
        """Close the connections."""
        self._service.close()


class Function:
    """A Python function of a query, or of a query and a depth; its answer may have any usual shape."""

    def __init__(self, function: Any, name: str = "") -> None:
        import inspect

        if not callable(function):
            raise UsageError(f"the target {name!r} cannot be called")
        self._function = function
        self._name = name or getattr(function, "__qualname__", type(function).__qualname__)
        try:
            count = len(
                [p for p in inspect.signature(function).parameters.values()
                 if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
            )  # fmt: skip
        except (TypeError, ValueError):
            count = 1
        self._takes_depth = count >= 2

    def search(self, query: str, depth: int) -> list[Answer]:
        """Call it."""
        import inspect

        answer = self._function(query, depth) if self._takes_depth else self._function(query)
        if inspect.isawaitable(answer):
            import asyncio

            answer = asyncio.run(_awaited(answer))
        return answers_of(answer)[:depth]

    def describe(self) -> dict[str, Any]:
        """Its name."""
        return {"python": self._name}

    def close(self) -> None:
        """Nothing to end."""


async def _awaited(value: Any) -> Any:
    return await value


class Command:
    """A command line; `{query}` and `{depth}` are replaced in its words, and its output is read."""

    def __init__(
        self, command: Any, *, home: Path, timeout: float, results: str | None = None
    ) -> None:
        self._words = (
            shlex.split(command) if isinstance(command, str) else [str(c) for c in command]
        )
        if not any("{query}" in word for word in self._words):
            raise UsageError(
                "the command contains no {query}", hint='command: "mysearch --json {query}"'
            )
        self._home, self._timeout, self._results = home, timeout, results

    def search(self, query: str, depth: int) -> list[Answer]:
        """Run it."""
        import subprocess

        words = [w.replace("{query}", query).replace("{depth}", str(depth)) for w in self._words]
        try:
            done = subprocess.run(
                words, cwd=self._home, capture_output=True, timeout=self._timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"no answer within {self._timeout:g} s") from None
        except OSError as error:
            raise InputError(f"cannot run '{words[0]}': {error.strerror}") from None
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise InputError(f"exit status {done.returncode}: {lines[-1] if lines else ''}"[:300])
        return answers_of(done.stdout.decode("utf-8", "replace"), self._results)[:depth]

    def describe(self) -> dict[str, Any]:
        """The command."""
        return {"command": shlex.join(self._words)}

    def close(self) -> None:
        """Nothing to end."""


class RunFile:
    """A run that was made elsewhere: queries are matched by the id of the case, or by its text."""

    def __init__(self, path: str) -> None:
        from goodgain.data.run import Run

        self._path = path
        self._rankings = Run.of(path).to_dict()

    def search(self, query: str, depth: int) -> list[Answer]:
        """The ranking of a query; one that the run lacks has no results."""
        scores = self._rankings.get(query, {})
        best = sorted(scores.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
        return [Answer(key=doc, names=(doc,)) for doc, _ in best[:depth]]

    def knows(self, query: str) -> bool:
        """Whether the run has this query."""
        return query in self._rankings

    def describe(self) -> dict[str, Any]:
        """The file's name."""
        return {"run": Path(self._path).name}

    def close(self) -> None:
        """Nothing to end."""


def _from_experiment(path: Path, system: str | None) -> Target:
    """One system of an experiment file, indexed."""
    from goodgain.experiment.config import read_experiment

    experiment, _ = read_experiment(path)
    systems = experiment.systems
    name = system or (next(iter(systems)) if len(systems) == 1 else None)
    if name not in systems:
        raise UsageError(
            f"unknown system '{system}'" if system else "the experiment has several systems",
            where=str(path),
            hint=f"system: one of {', '.join(systems)}",
        )
    retriever = systems[name]
    for search in systems.values():  # a hybrid calls others
        if hasattr(search, "index"):
            search.index(experiment.documents)
    return Function(retriever, f"{path.name}:{name}")


# --- answers ---


def answers_of(output: Any, path: str | None = None) -> list[Answer]:
    """The results in an output of any usual shape; `path` names the list ("hits.hits") where it must.

    An output from which no results can be read is an error, not an empty list.
    """
    from goodgain.traces.results import find_results

    if path:
        output = value_at(_decoded(output), path)
        if output is None:
            raise InputError(f"the response has nothing at '{path}'")
    output = _plain_objects(output)
    if isinstance(output, list) and all(isinstance(item, str) for item in output):
        return [Answer(key=item, names=(item,)) for item in output]  # a search that returns ids
    finding = find_results(output)
    if finding.account in ("unread", "failed"):
        raise InputError(f"cannot read results from the response: {finding.reason}")
    return [Answer.of(result) for result in finding.results]


def _plain_objects(output: Any) -> Any:
    """(id, score) pairs and framework objects as dictionaries; an iterator as a list."""
    if hasattr(output, "__next__"):
        output = list(output)
    if (
        isinstance(output, dict)
        and output
        and all(isinstance(v, int | float) for v in output.values())
    ):
        ranked = sorted(output.items(), key=lambda pair: -pair[1])
        return [{"id": str(doc), "score": score} for doc, score in ranked]
    if isinstance(output, list | tuple):
        return [_plain_object(item) for item in output]
    return output


def _plain_object(item: Any) -> Any:
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], int | float):
        first = _plain_object(item[0])
        return {**first, "score": item[1]} if isinstance(first, dict) else {"id": str(first)}
    if isinstance(item, str | dict | list) or item is None:
        return item
    for method in ("model_dump", "to_dict", "dict"):
        convert = getattr(item, method, None)
        if callable(convert):
            return convert()
    return vars(item) if hasattr(item, "__dict__") else str(item)


def _decoded(output: Any) -> Any:
    if isinstance(output, str):
        try:
            return json.loads(output)
        except (ValueError, RecursionError):
            raise InputError(f"the response is not JSON: {output[:80]!r}") from None
    return output


def describe_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings for the record: `${NAME}` stays as written, and accounts in URLs are left out."""
    from goodgain.experiment.retrievers.base import to_json

    return {key: to_json(value) for key, value in settings.items() if value}
