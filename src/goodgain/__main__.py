"""`goodgain` and `python -m goodgain`: import only what the command needs."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from goodgain import __version__

        print(f"goodgain {__version__}")
        return 0
    from goodgain.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
