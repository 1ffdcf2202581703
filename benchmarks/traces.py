"""Good Gain over many conversations from JSON lines, and a conversation in which all share one title.

`python benchmarks/traces.py CONVERSATIONS` makes a file of traces, `... title RESULTS` one conversation whose
results differ only in their text.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import data
import table
from measure import HERE, Timing, command, spawn
from subject import Bar, Context, Section, Subject

FOLDER = HERE / ".data" / "traces-v1"
CONVERSATIONS = 20_000
SEARCHES = 5
RESULTS = 10
TEXT = 1_000
REPEATED = 0.3
ONE_TITLE = (1_250, 2_500, 5_000)
SLACK = 1.25
WANTED_RATE = 100_000
WANTED_MB = 300


def run(context: Context) -> Section:
    """Time `goodgain trace` on parts of the file, and on conversations that share one title."""
    most = CONVERSATIONS // 8 if context.quick else CONVERSATIONS
    found: list[tuple[str, int, Timing]] = []
    for conversations in (most // 4, most // 2, most):
        file = path(str(conversations))
        data.warm(file)
        timing = command(_argv(file), context.repeats(3))
        found.append(
            (f"{conversations:,} conversations", conversations * SEARCHES * RESULTS, timing)
        )
    titles = [(n, command(_argv(path("title", str(n))), context.repeats(3))) for n in ONE_TITLE]
    start = command([*_program(), "--version"], 3).best
    rows = [*found, *((f"one title, {n:,} results", n, t) for n, t in titles)]
    return Section(
        columns=["input", "results", "best", "median", "results a second", "peak"],
        rows=[
            [
                name,
                f"{n:,}",
                table.seconds(t.best),
                table.seconds(t.median),
                f"{n / t.best:,.0f}",
                table.megabytes(t.peak_mb),
            ]
            for name, n, t in rows
        ],
        text=(
            f"`goodgain trace` from canonical JSON lines: {SEARCHES} searches of {RESULTS} results "
            f"a conversation, {TEXT:,} characters of text a result, {REPEATED:.0%} of them duplicates. "
            "The start of the program is included."
        ),
        bars=_bars(found, titles, start),
    )


def _bars(
    found: list[tuple[str, int, Timing]], titles: list[tuple[int, Timing]], start: float
) -> list[Bar]:
    (_, few, least), (_, many, most) = found[0], found[-1]
    rate = many / most.best
    growth = (most.best - start) / (least.best - start)
    shared = (titles[-1][1].best - start) / (titles[0][1].best - start)
    times = titles[-1][0] / titles[0][0]
    return [
        Bar("traces: results a second", f">= {WANTED_RATE:,}", f"{rate:,.0f}", rate >= WANTED_RATE),
        Bar(
            "traces: peak memory",
            f"< {WANTED_MB} MB",
            table.megabytes(most.peak_mb),
            most.peak_mb < WANTED_MB,
        ),
        Bar(
            f"traces: {many // few} times the results take",
            f"<= {many / few * SLACK:g}x the time",
            f"{growth:.3g}x",
            growth <= many / few * SLACK,
        ),
        Bar(
            f"traces: {times:g} times the results of one title take",
            f"<= {times * SLACK:g}x the time",
            f"{shared:.3g}x",
            shared <= times * SLACK,
        ),
    ]


def _program() -> list[str]:
    return [sys.executable, "-m", "goodgain"]


def _argv(file: Path) -> list[str]:
    return [*_program(), "trace", str(file), "--quiet"]


def path(*arguments: str) -> Path:
    """The file of these arguments, made where it is missing."""
    target = FOLDER / f"{'-'.join(arguments)}.jsonl"
    if not target.exists():
        print(f"making {target.name}", file=sys.stderr)
        spawn([sys.executable, __file__, *arguments])
    return target


def _text(rng: random.Random) -> str:
    """Words enough that a stretch of a thousand characters hardly comes twice."""
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(5_000)]
    return " ".join(rng.choices(words, k=400_000))


def conversations(count: int) -> Iterator[dict[str, Any]]:
    """Conversations in which three results of ten were seen before."""
    rng = random.Random("traces")
    text = _text(rng)
    for number in range(count):
        seen: list[dict[str, Any]] = []
        iterations = []
        for _ in range(SEARCHES):
            results = []
            for _ in range(RESULTS):
                if seen and rng.random() < REPEATED * 1.02:  # nothing can repeat at first
                    results.append(rng.choice(seen))
                    continue
                at = rng.randrange(len(text) - TEXT)
                seen.append(
                    {
                        "id": f"r{rng.randrange(10**9)}",
                        "url": f"https://www.site{rng.randrange(1000)}.example/p/{rng.randrange(10**9)}?utm_source=a",
                        "title": text[at : at + 60],
                        "content": text[at : at + TEXT],
                        "gain": rng.randrange(5),
                    }
                )
                results.append(seen[-1])
            search = {
                "query": text[at : at + 30],
                "latency": 0.2,
                "tokens": 900,
                "results": results,
            }
            iterations.append({"searches": [search]})
        yield {
            "conversation": f"c{number}",
            "system": "agent",
            "turns": [{"user": "?", "iterations": iterations}],
        }


def one_title(count: int) -> dict[str, Any]:
    """One conversation; its results have the same title and texts of their own."""
    rng = random.Random("title")
    text = _text(rng)
    title = "The same title for every single result of this one conversation"
    places = [rng.randrange(len(text) - TEXT) for _ in range(count)]
    results = [
        {"id": f"r{i}", "title": title, "content": text[at : at + TEXT], "gain": 2}
        for i, at in enumerate(places)
    ]
    searches = [{"query": str(i), "results": results[i : i + 50]} for i in range(0, count, 50)]
    return {"conversation": "c", "turns": [{"iterations": [{"searches": [s]} for s in searches]}]}


def _make(arguments: list[str]) -> None:
    target = FOLDER / f"{'-'.join(arguments)}.jsonl"
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    made = (
        [one_title(int(arguments[1]))]
        if arguments[0] == "title"
        else conversations(int(arguments[0]))
    )
    with partial.open("w") as file:
        for each in made:
            file.write(json.dumps(each) + "\n")
    partial.replace(target)


SUBJECT = Subject("traces", "Good Gain over traces", 60, run)

if __name__ == "__main__":
    _make(sys.argv[1:])
