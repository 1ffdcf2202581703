"""`goodgain` and `python -m goodgain`: import only what the command needs."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> int:
    """Run the command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from goodgain import __version__

        print(f"goodgain {__version__}")
        return 0
    try:
        from goodgain.cli import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = _INTERRUPTED
    return _leave_at_once() if status == _INTERRUPTED else status


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
