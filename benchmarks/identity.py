"""Identity: precision and recall over real-world pairs, and one conversation of 200,000 results.

`python benchmarks/identity.py pairs` compares the pairs, `... KIND RESULTS` makes a conversation.
"""

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data
import table
from measure import HERE, Timing, command, spawn, worker
from subject import Bar, Context, Section, Subject

FOLDER = HERE / ".data" / "identity-v1"
RESULTS = 200_000
WANTED_RECALL = 0.95
WANTED_MB = 500
SLACK = 1.25
SEARCH = 100  # results of one


def run(context: Context) -> Section:
    """Compare the pairs, then time conversations of a quarter of the results and of all of them."""
    pairs = worker("identity", "pairs")
    most = RESULTS // 8 if context.quick else RESULTS
    timings: dict[str, tuple[Timing, Timing]] = {}
    for kind in KINDS:
        few, many = (path(kind, str(n)) for n in (most // 4, most))
        data.warm(many)
        timings[kind] = (
            command(_argv(few), context.repeats(3)),
            command(_argv(many), context.repeats(3)),
        )
    start = command([*_program(), "--version"], 3).best
    return Section(
        columns=["input", "results", "best", "results a second", "peak"],
        rows=[
            ["aliases", f"{pairs['aliases']:,} pairs", "", f"recall {pairs['recall']:.3f}", ""],
            [
                "lookalikes",
                f"{pairs['lookalikes']:,} pairs",
                "",
                f"precision {pairs['precision']:.3f}",
                "",
            ],
            *(
                [
                    f"one conversation: {kind}",
                    f"{most:,}",
                    table.seconds(many.best),
                    f"{most / many.best:,.0f}",
                    table.megabytes(many.peak_mb),
                ]
                for kind, (_, many) in timings.items()
            ),
        ],
        text=(
            "The pairs of `tests/identity/web_pairs.py`: aliases are one document, lookalikes two. Precision "
            "is the share of merged pairs that are aliases, recall the share of aliases that are merged. "
            "Conversations are read by `goodgain trace`; the start of the program is included."
        ),
        bars=[
            Bar("identity: false merges", "0", str(pairs["false"]), pairs["false"] == 0),
            Bar(
                "identity: recall",
                f">= {WANTED_RECALL:g}",
                f"{pairs['recall']:.3f}",
                pairs["recall"] >= WANTED_RECALL,
            ),
            *(bar for kind, pair in timings.items() for bar in _bars(kind, *pair, start)),
        ],
        notes=[f"Not merged: {name}." for name in pairs["missed"]],
    )


def _bars(kind: str, few: Timing, many: Timing, start: float) -> list[Bar]:
    growth = (many.best - start) / (few.best - start)
    return [
        Bar(
            f"identity: peak memory, {kind}",
            f"< {WANTED_MB} MB",
            table.megabytes(many.peak_mb),
            many.peak_mb < WANTED_MB,
        ),
        Bar(
            f"identity: 4 times the results, {kind}, take",
            f"<= {4 * SLACK:g}x the time",
            f"{growth:.3g}x",
            growth <= 4 * SLACK,
        ),
    ]


def _program() -> list[str]:
    return [sys.executable, "-m", "goodgain"]


def _argv(file: Path) -> list[str]:
    return [*_program(), "trace", str(file), "--quiet"]


def path(kind: str, count: str) -> Path:
    """The conversation of so many results, made where it is missing."""
    target = FOLDER / f"{kind.replace(' ', '-')}-{count}.jsonl"
    if not target.exists():
        print(f"making {target.name}", file=sys.stderr)
        target.parent.mkdir(parents=True, exist_ok=True)
        spawn([sys.executable, __file__, kind, count, str(target)])
    return target


# --- in processes of their own ---


def _pairs() -> dict[str, Any]:
    sys.path.insert(0, str(HERE.parent / "tests" / "identity"))
    from web_pairs import ALIASES, LOOKALIKES

    from goodgain import Identity

    identity = Identity()

    def merged(pair: tuple[Any, Any]) -> bool:
        return len(identity.cluster({"url": r} if isinstance(r, str) else r for r in pair)) == 1

    missed = [name for name, pair in ALIASES.items() if not merged(pair)]
    false = [name for name, pair in LOOKALIKES.items() if merged(pair)]
    right = len(ALIASES) - len(missed)
    return {
        "aliases": len(ALIASES),
        "lookalikes": len(LOOKALIKES),
        "missed": missed,
        "false": len(false),
        "recall": right / len(ALIASES),
        "precision": right / (right + len(false)),
    }


def _web(rng: random.Random, text: str, count: int) -> dict[str, Any]:
    at = rng.randrange(len(text) - 400)
    return {
        "id": f"r{rng.randrange(10**9)}",
        "url": f"https://www.site{rng.randrange(1000)}.example/p/{rng.randrange(count)}?utm_source=a",
        "title": text[at : at + 60],
        "snippet": text[at : at + 300],
        "gain": rng.randrange(5),
    }


def _application(rng: random.Random, text: str, _: int) -> dict[str, Any]:
    at = rng.randrange(len(text) - 300)
    return {
        "url": "https://mail.example.com/",
        "title": text[at : at + 40],
        "snippet": text[at : at + 200],
    }


def _aliases(rng: random.Random, _: str, count: int) -> dict[str, Any]:
    n = rng.randrange(count // 2)
    forms = (
        f"https://youtu.be/{n:011d}",
        f"https://www.youtube.com/watch?v={n:011d}&t=1",
        f"https://arxiv.org/pdf/{n:04d}.00001v2",
        f"https://raw.githubusercontent.com/a/b/main/{n}.py",
        f"https://eur03.safelinks.protection.outlook.com/?url=https%3A%2F%2Fexample.com%2F{n}&data=1",
        f"https://example.com/{'+' * 30}{'%28' * 10}{n}",
    )
    return {"url": rng.choice(forms), "gain": 2}


KINDS: dict[str, Callable[[random.Random, str, int], dict[str, Any]]] = {
    "web pages": _web,
    "one URL for all": _application,
    "aliases": _aliases,
}


def _make(kind: str, count: int, target: Path) -> None:
    rng = random.Random(kind)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(5_000)]
    text = " ".join(rng.choices(words, k=200_000))
    results = [KINDS[kind](rng, text, count) for _ in range(count)]
    iterations = [
        {"searches": [{"query": str(i), "results": results[i : i + SEARCH]}]}
        for i in range(0, count, SEARCH)
    ]
    partial = target.with_suffix(".partial")
    partial.write_text(
        json.dumps({"conversation": "c", "turns": [{"iterations": iterations}]}) + "\n"
    )
    partial.replace(target)


SUBJECT = Subject("identity", "Identity", 61, run)

if __name__ == "__main__":
    if sys.argv[1] == "pairs":
        print(json.dumps(_pairs()))
    else:
        _make(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
