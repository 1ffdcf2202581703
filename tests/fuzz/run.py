"""A target of the Python readers under Atheris: tests/fuzz/run.py TARGET [libFuzzer's flags and folders]."""

from __future__ import annotations

import random
import sys

import atheris


def main() -> None:
    """Fuzz the target that the first argument names."""
    import targets

    run = targets.TARGETS[sys.argv.pop(1)]
    run(b"")  # imports what it needs, which takes longer than an input may

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        return (
            targets.mutated(data, rng, most) if rng.random() < 0.7 else atheris.Mutate(data, most)
        )

    atheris.Setup(sys.argv, run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    with atheris.instrument_imports(include=["goodgain"]):  # to the end: most imports are late
        main()
