"""The command line: a thin layer over the library, one module per command.

A command module has `parser() -> ArgumentParser` and `run(args) -> int`; it is imported when its command
is used. Exit status: 0 success, 1 a gate or check failed, 2 invalid input or usage.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain.errors import GoodgainError

# What people want: the commands for it, each with its one-line help. The module has the command's name.
GROUPS = {
    "measure": {
        "evaluate": "measure runs against judgments",
        "explain": "show where a number comes from, or why two tools differ",
    },
    "compare": {
        "compare": "test runs against a baseline for significant differences",
        "gate": "pass or fail in CI: is a candidate no worse than the baseline?",
        "check": "regression tests for a search, from a golden set",
    },
    "agents": {
        "trace": "measure an agent's searches, iteration by iteration (Good Gain)",
        "live": "record the searches of a running agent",
        "dedup": "show which results of a trace are duplicates, and why",
    },
    "labels": {
        "label": "label documents with an LLM and store the labels",
        "labels": "show, sample, verify, import or export labels of a store",
        "judge": "label documents, or compare two systems, on a local web page",
        "calibrate": "check an LLM's labels against human labels",
    },
    "experiments": {
        "experiment": "run, time and compare retrievers",
        "optimise": "find the best setting under a latency or cost budget",
        "fuse": "fuse runs into one, and tune the fusion",
        "demo": "compare five retrievers and an agent on built-in data",
    },
    "look": {
        "report": "write an HTML report of saved results",
        "view": "browse a folder of saved results",
        "plot": "draw saved results as SVG, PNG or PDF",
    },
    "tools": {
        "measures": "list the measures, or describe one in full",
        "convert": "convert runs, judgments and traces between formats",
        "trec-eval": "a drop-in replacement for trec_eval",
        "sql": "print measures as one SQL query for a database",
        "doctor": "check judgments, runs or traces for problems",
        "selftest": "recompute your own numbers from definitions and with other tools",
        "audit": "find the conventions that reproduce a published table",
    },
}
# Options and arguments that name files to write.
OUTPUTS = (
    "output", "save", "report", "summary", "junit", "unjudged", "ledger", "passport", "labelled_traces",
)  # fmt: skip
COMMANDS = {name: text for commands in GROUPS.values() for name, text in commands.items()}


def run(arguments: list[str]) -> int:
    """Run a command line without the program's name; returns the exit status."""
    from goodgain.errors import GoodgainError

    if not arguments or arguments[0] in ("-h", "--help"):
        print(help_text(), end="")
        return 0 if arguments else 2
    command, *rest = arguments
    if command not in COMMANDS:
        return _unknown(command)
    try:
        from importlib import import_module

        module = import_module(f"goodgain.cli.{command.replace('-', '_')}")
        args = module.parser().parse_args(rest)
        args.arguments = arguments
        _refuse_overwriting(args)
        return _run_on_screen(module, args)
    except GoodgainError as error:
        return _stopped(error, command) or _refuse(error, command)
    except BrokenPipeError:  # no success: a gate may have failed, which nobody reads
        raise
    except KeyboardInterrupt as error:
        return _stopped(error, command)
    except MemoryError:
        print("goodgain: out of memory", file=sys.stderr)
        return 2
    except OSError as error:  # no bug: the system refuses
        from goodgain.errors import InputError
        from goodgain.io.files import os_error

        if isinstance(error.filename, str):
            return _refuse(os_error(error, error.filename), command)
        hint = "check space, permissions and limits of the system"
        return _refuse(InputError(f"system error: {error.strerror or error}", hint=hint), command)
    except Exception as error:
        if status := _stopped(error, command):
            return status
        if isinstance(error, UnicodeEncodeError) and not _is_utf8(sys.stdout):
            return _refuse(_unwritable(error), command)
        from goodgain.cli.crash import report_crash

        return report_crash(error, arguments)


def _stopped(error: BaseException | None, command: str) -> int:
    """The status of what began as Ctrl-C or without a thread; 0 if it did not.

    Code in between may turn whatever fails into an error of its own.
    """
    from goodgain.threads import NoThreadsError, lacks_threads

    for _ in range(20):
        if error is None:
            return 0
        if lacks_threads(error):
            return _refuse(NoThreadsError(), command)
        if isinstance(error, KeyboardInterrupt):
            print("goodgain: interrupted", file=sys.stderr)
            return 130
        error = error.__cause__ or error.__context__
    return 0


def _refuse(error: GoodgainError, command: str) -> int:
    from goodgain.cli.parser import print_error

    print_error(error, command)
    return 2


def _is_utf8(stream: Any) -> bool:
    return str(getattr(stream, "encoding", "")).lower().replace("-", "") == "utf8"


def _unwritable(error: UnicodeEncodeError) -> GoodgainError:
    from goodgain.errors import InputError

    character = error.object[error.start : error.start + 1]
    return InputError(
        f"cannot write {character!a} to standard output, whose encoding is {sys.stdout.encoding}",
        hint="set PYTHONIOENCODING=utf-8, or write to a file with -o FILE",
    )


def _run_on_screen(module: Any, args: Any) -> int:
    """Run a command; its tables fit the terminal, if that is where they go."""
    from goodgain.results import screen

    to_file = getattr(args, "output", None) not in (None, "-")
    token = screen.use(screen.Screen() if to_file else screen.of_stream())
    try:
        if limits := getattr(args, "limits", None):
            from goodgain.io.limits import Limits

            with Limits.parse(limits):
                return int(module.run(args))
        return int(module.run(args))
    finally:
        screen.leave(token)


def _refuse_overwriting(args: Any) -> None:
    """Refuse to write to a file that is also read, or twice: a mistyped name must not cost a file."""
    outputs = {
        name: value
        for name, value in vars(args).items()
        if name in OUTPUTS and isinstance(value, str) and value != "-"
    }
    if outputs:
        from goodgain.cli.overwriting import refuse_overwriting

        inputs = {k: v for k, v in vars(args).items() if k not in (*outputs, "arguments")}
        refuse_overwriting(list(outputs.values()), inputs)


def help_text() -> str:
    """What `goodgain --help` prints."""
    size = max(map(len, COMMANDS))
    lines = []
    for group, commands in GROUPS.items():
        lines.append(f"{group}:")
        lines += [f"  {name:<{size}}  {text}" for name, text in commands.items()]
        lines.append("")
    return (
        "usage: goodgain COMMAND ...\n\n"
        "Measure retrieval: ranked search, RAG context, and multi-step (agentic) search.\n\n"
        + "\n".join(lines)
        + "\nSee also: goodgain COMMAND --help, goodgain --version\n"
    )


def _unknown(command: str) -> int:
    from difflib import get_close_matches

    kind = "option" if command.startswith("-") else "command"
    near = get_close_matches(command, [*COMMANDS, "--help", "--version"], n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    print(
        f"goodgain: unknown {kind} '{command}'\nhint: {hint}see: goodgain --help", file=sys.stderr
    )
    return 2
