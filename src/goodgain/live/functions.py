"""Decorators for plain functions: each call is captured as a search, or as an opened document."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import AsyncIterator, Iterator
from types import AsyncGeneratorType, GeneratorType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from goodgain.live.capturing import Capture, default_capture
from goodgain.live.positions import (
    current_function,
    enter_function,
    implicit_turn,
    leave_function,
    new_id,
)
from goodgain.traces.objects import type_name
from goodgain.traces.opens import DOCUMENT_NAMES
from goodgain.traces.results import Finding
from goodgain.traces.spans import Span
from goodgain.traces.values import query_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from contextvars import Token

F = TypeVar("F", bound="Callable[..., Any]")


@overload
def search_tool(function: F) -> F: ...
@overload
def search_tool(
    *, name: str | None = None, query: str | None = None, results: Any = None, capture: Any = None
) -> Callable[[F], F]: ...
@overload
def search_tool(
    function: F | None,
    *,
    name: str | None = None,
    query: str | None = None,
    results: Any = None,
    capture: Any = None,
) -> Any: ...
def search_tool(
    function: Any = None,
    *,
    name: str | None = None,
    query: str | None = None,
    results: Any = None,
    capture: Capture | None = None,
) -> Any:
    """Capture every call of a function as a search; its return value and its errors stay as they are.

    For functions, methods, coroutines and generators. `name` is the tool's name, `query` the parameter that
    holds the query, `results` a function that takes the results out of the return value. Without a capture
    (`goodgain.live.capture`) nothing is captured.

    >>> import goodgain as gg
    >>> @gg.search_tool
    ... def search(query):
    ...     return [{"url": "https://a.example/seine"}]
    ...
    >>> with gg.live.capture("traces.jsonl") as live, live.conversation("c1", user="Where?"):
    ...     results = search("seine")
    ...
    >>> [trace.conversation for trace in gg.read_traces("traces.jsonl")]
    ['c1']
    """
    options = _Options(name=name, query=query, results=results, capture=capture, said=None)
    return _decorated(function, options)


def open_tool(
    function: Any = None, *, name: str | None = None, capture: Capture | None = None
) -> Any:
    """Capture every call of a function as the opening of the document that its first argument names."""
    options = _Options(name=name, query=None, results=None, capture=capture, said="open")
    return _decorated(function, options)


class _Options:
    """What the user said about a function."""

    __slots__ = ("capture", "name", "query", "results", "said")

    def __init__(
        self,
        *,
        name: str | None,
        query: str | None,
        results: Any,
        capture: Capture | None,
        said: str | None,
    ) -> None:
        self.name, self.query, self.results = name, query, results
        self.capture, self.said = capture, said


def _decorated(function: Any, options: _Options) -> Any:
    if function is None:
        return lambda inner: _decorated(inner, options)
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_decorated(function.__func__, options))
    names = _parameter_names(function)
    tool = options.name or str(getattr(function, "__name__", type(function).__name__))

    def start(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Running | None:
        capture = options.capture or default_capture()
        if capture is None:
            return None
        try:
            arguments = {**dict(zip(names, args, strict=False)), **kwargs}
            return _Running(capture, tool, options, arguments)
        except Exception as error:
            capture.report(error)
            return None

    if inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        def stream(*args: Any, **kwargs: Any) -> Any:
            return _watched_async(function(*args, **kwargs), start(args, kwargs))

        return stream
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            running = start(args, kwargs)
            if running is None:
                return await function(*args, **kwargs)
            return await _awaited(function(*args, **kwargs), running)

        return coroutine

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        running = start(args, kwargs)
        if running is None:
            return function(*args, **kwargs)
        token = running.enter()
        try:
            value = function(*args, **kwargs)
        except BaseException as error:
            leave_function(token)
            _fail(running, error)
            raise
        leave_function(token)
        return _finish(running, value)

    return plain


def _parameter_names(function: Any) -> tuple[str, ...]:
    """The names of parameters by position; () where they cannot be known."""
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


class _Unread:
    """Stands for a return value whose results cannot be known."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class _Running:
    """A call that has not returned yet."""

    __slots__ = ("capture", "options", "span")

    def __init__(
        self, capture: Capture, tool: str, options: _Options, arguments: dict[str, Any]
    ) -> None:
        place = current_function(capture)
        if place is None:
            place = next((p for probe in capture.surroundings if (p := probe()) is not None), None)
        parent: str | None = None
        session = None
        if place is not None:
            trace, parent = place
        else:
            turn = implicit_turn(capture)
            trace, session = turn.trace, turn.name
        self.capture, self.options = capture, options
        self.span = Span(
            kind="tool" if options.said else "retriever",
            trace=trace,
            session=session,
            start=time.time_ns(),
            where="",
            id=new_id(),
            parent=parent,
            name=tool,
            said=options.said,
        )
        try:
            self.span.query = _content(options, arguments)
        except Exception as error:
            capture.report(error)

    def enter(self) -> Token[Any]:
        """What runs now, runs inside this call."""
        return enter_function(self.capture, self.span.trace, self.span.id or "")

    def finish(self, value: Any) -> None:
        self.span.end = time.time_ns()
        if self.options.said:
            self.capture.add(self.span)
            return
        try:
            if self.options.results is not None:
                value = self.options.results(value)
            elif isinstance(value, list | tuple) and any(hasattr(v, "_asdict") for v in value):
                value = [v._asdict() if hasattr(v, "_asdict") else v for v in value]
        except Exception as error:
            self.capture.report(error)
            value = _Unread(f"results that could not be taken out: {error!r}")
        if isinstance(value, _Unread):
            self.span.finding = Finding([], "unread", value.reason)
            self.capture.add(self.span)
        else:
            self.capture.add_returned(self.span, value)

    def fail(self, error: BaseException) -> None:
        self.span.end = time.time_ns()
        self.span.error = str(error) or type(error).__name__
        self.capture.add(self.span)


def _content(options: _Options, arguments: dict[str, Any]) -> Any:
    """The query of a search, or the arguments that name the document to open."""
    arguments = {k: v for k, v in arguments.items() if k not in ("self", "cls")}
    if options.said:
        is_known = any(name in arguments for name in DOCUMENT_NAMES)
        return arguments if is_known else next(iter(arguments.values()), None)
    query = arguments.get(options.query) if options.query else query_of(arguments)
    return {"query": query if isinstance(query, str) else query_of(query)}


def _finish(running: _Running | None, value: Any) -> Any:
    """Capture what a call returned; an iterator is captured when the application has consumed it."""
    if running is None:
        return value
    if isinstance(value, GeneratorType):
        return _watched(value, running)
    if isinstance(value, AsyncGeneratorType):
        return _watched_async(value, running)
    if inspect.iscoroutine(value):
        return _awaited(value, running)
    if isinstance(
        value, Iterator | AsyncIterator
    ):  # reading it here would take it from the application
        try:
            running.finish(_Unread(f"an iterator of type '{type_name(value)}'"))
        except Exception as error:
            running.capture.report(error)
        return value
    try:
        running.finish(value)
    except Exception as error:
        running.capture.report(error)
    return value


def _fail(running: _Running | None, error: BaseException) -> None:
    if running is None:
        return
    try:
        running.fail(error)
    except Exception as problem:
        running.capture.report(problem)


async def _awaited(inner: Any, running: _Running) -> Any:
    token = running.enter()
    try:
        value = await inner
    except BaseException as error:
        leave_function(token)
        _fail(running, error)
        raise
    leave_function(token)
    return _finish(running, value)


def _watched(inner: Any, running: _Running | None) -> Generator[Any, Any, Any]:
    """A generator as it was, captured when it ends or is closed."""
    values: list[Any] = []
    step, sent = inner.send, None
    while True:
        try:
            value = step(sent)
        except StopIteration as stop:
            _finish(running, values)
            return stop.value
        except BaseException as error:
            _fail(running, error)
            raise
        values.append(value)
        step = inner.send
        try:
            sent = yield value
        except GeneratorExit:
            inner.close()
            _finish(running, values)
            raise
        except BaseException as error:
            step, sent = inner.throw, error


async def _watched_async(inner: Any, running: _Running | None) -> AsyncGenerator[Any, Any]:
    values: list[Any] = []
    step, sent = inner.asend, None
    while True:
        try:
            value = await step(sent)
        except StopAsyncIteration:
            _finish(running, values)
            return
        except BaseException as error:
            _fail(running, error)
            raise
        values.append(value)
        step = inner.asend
        try:
            sent = yield value
        except GeneratorExit:
            await inner.aclose()
            _finish(running, values)
            raise
        except BaseException as error:
            step, sent = inner.athrow, error
