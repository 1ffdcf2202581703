"""`goodgain` and `python -m goodgain`: import only what the command needs."""

from __future__ import annotations

import sys

_INTERRUPTED = 130
_READER_GONE = 141  # as the shell has it for a program that SIGPIPE ended


def main() -> int:
    """Run the command line."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _replace_closed_streams()
    status = 0
    try:
        status = _run()
        sys.stdout.flush()  # what fails here would otherwise fail too late to be said
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except OSError as error:
        if status == 0:  # otherwise it has been said what went wrong
            status = _of_output(error)
        _leave_output()
    return _leave_at_once() if status == _INTERRUPTED else status


def _run() -> int:
    if sys.argv[1:] in (["--version"], ["-V"]):
        from goodgain import __version__

        print(f"goodgain {__version__}")
        return 0
    from goodgain.cli import run

    try:
        return run(sys.argv[1:])
    except SystemExit as leaving:  # of argparse, after --help
        return leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 2


def _of_output(error: OSError) -> int:
    """The status of a result that could not be written, with the reason on standard error if that works."""
    from contextlib import suppress

    if isinstance(error, BrokenPipeError):
        return _READER_GONE
    with suppress(OSError, ValueError):
        sys.stderr.write(f"goodgain: cannot write the output: {error.strerror or error}\n")
        sys.stderr.flush()
    return 2


def _leave_output() -> None:
    """Drop what could not be written: at its end, Python would try again, and change the status."""
    import os
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
            continue
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _replace_closed_streams() -> None:
    """Let no file that is opened later take the place of a stream that the caller has closed.

    Reading finds nothing and writing the result fails; messages, which print() would write to standard
    output, are dropped.
    """
    import os

    modes = (os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)
    for number, (stream, mode) in enumerate(
        zip((sys.stdin, sys.stdout, sys.stderr), modes, strict=True)
    ):
        if stream is not None:
            continue
        opened = os.open(os.devnull, mode)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _leave_at_once() -> int:
    """End without waiting for threads: a search under way may take as long as it likes."""
    import atexit
    import os
    from contextlib import suppress

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
