"""The last resort: an error that nobody foresaw is one sentence, a file with the details, and status 70."""

from __future__ import annotations

import sys

STATUS = 70  # EX_SOFTWARE: never 1, which means that a gate failed
ISSUES = "https://github.com/goodgain/goodgain/issues"


def report_crash(error: Exception, arguments: list[str]) -> int:
    """Say what happened and where the details are; returns the exit status."""
    from goodgain.errors import plain
    from goodgain.redaction import hide_secrets

    text = hide_secrets(" ".join(str(error).split()))
    sentence = f"{type(error).__name__}: {text}" if text else type(error).__name__
    print(f"goodgain: internal error: {plain(sentence)[:300]}", file=sys.stderr)
    path = _save(error, arguments)
    where = f"please report it with the file '{path}'" if path else "please report it"
    print(f"hint: this is a bug; {where}: {ISSUES}", file=sys.stderr)
    return STATUS


def _save(error: Exception, arguments: list[str]) -> str | None:
    """Write the traceback to a new file that only its owner can read; None if that fails, too."""
    import os
    import platform
    import tempfile
    import traceback

    from goodgain import __version__
    from goodgain.redaction import hide_in_urls, hide_secrets, redacted

    try:
        descriptor, path = tempfile.mkstemp(prefix="goodgain-error-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(
                f"goodgain {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
            )
            file.write(f"goodgain {' '.join(redacted(arguments))}\n\n")
            for line in "".join(traceback.format_exception(error)).splitlines(keepends=True):
                # Of the code itself only addresses are hidden, or it would say nothing any more.
                file.write(hide_in_urls(line) if line.startswith("  ") else hide_secrets(line))
    except OSError:
        return None
    return path
