"""The command line: a thin layer over the library, one module a command.

A command module has `parser() -> ArgumentParser` and `run(args) -> int`; it is imported when its command
is used. Exit status: 0 done, 1 a gate or check failed, 2 bad input or use.
"""

from __future__ import annotations

import shlex
import sys
from importlib import import_module

# Command, in the order of `goodgain --help`: its one-line help. The module has the same name.
COMMANDS = {
    "evaluate": "measures of one or several runs",
    "compare": "the same with significance against a baseline, or from per-query scores",
    "gate": "pass or fail for CI: is a candidate no worse than the baseline?",
    "fuse": "several runs made into one",
    "explain": "where a number comes from, and why two tools differ",
    "experiment": "run retrievers, time them, compare them",
    "trace": "Good Gain of an agent's searches, per iteration and conversation",
    "dedup": "which results of a trace are the same, and why",
    "label": "gains from an LLM, kept in a store",
    "labels": "look into a store of labels, take labels out, put labels in",
    "calibrate": "how far to trust labels, against human ones",
    "report": "one HTML page of saved results, to look at and to send",
    "view": "look at a folder of saved results in a browser",
    "plot": "pictures of saved results: SVG, PNG, PDF",
    "measures": "the table of measures, or all about one of them",
    "convert": "runs, judgements and traces between formats",
    "trec-eval": "a drop-in for trec_eval",
    "demo": "five retrievers and an agent on data that ships with the package, and the page about it",
}


def run(arguments: list[str]) -> int:
    """Run a command line without the program's name; returns the exit status."""
    from goodgain.errors import GoodgainError

    if not arguments or arguments[0] in ("-h", "--help"):
        print(help_text(), end="")
        return 0 if arguments else 2
    command, *rest = arguments
    if command not in COMMANDS:
        return _unknown(command)
    module = import_module(f"goodgain.cli.{command.replace('-', '_')}")
    try:
        args = module.parser().parse_args(rest)
        args.command_line = shlex.join(["goodgain", *arguments])  # for what says how it was made
        return int(module.run(args))
    except GoodgainError as error:
        print(f"goodgain: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has gone: no more to say
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("goodgain: stopped", file=sys.stderr)
        return 130


def help_text() -> str:
    """What `goodgain --help` prints."""
    size = max(map(len, COMMANDS))
    lines = "".join(f"  {name:<{size}}  {text}\n" for name, text in COMMANDS.items())
    return (
        "usage: goodgain COMMAND ...\n\n"
        "Measure retrieval: ranked search, RAG context, and agents that search again and again.\n\n"
        f"commands:\n{lines}\n"
        "goodgain COMMAND --help tells more; goodgain --version tells the version.\n"
    )


def _unknown(command: str) -> int:
    from difflib import get_close_matches

    near = get_close_matches(command, COMMANDS, n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    print(
        f"goodgain: there is no command '{command}'\nhint: {hint}see: goodgain --help",
        file=sys.stderr,
    )
    return 2
