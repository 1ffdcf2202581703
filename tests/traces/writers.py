"""A canonical conversation for writing in every format, and shapes in which tools return results.

Each writer says what its format cannot hold. `steps_of` is the plain view that all of them share: turns of
generations, each with calls and their outputs, in a shape in which tools return results.
"""
# ruff: noqa: E501

import json
import random
from dataclasses import dataclass, field

EVERYTHING = frozenset(
    {
        "user",
        "answer",
        "queries",
        "parallel",
        "turns",
        "failed",
        "empty",
        "opens",
        "tokens",
        "url",
        "title",
        "name",
    }
)
TOKENS = 100  # of the input of every generation; the rest is output


@dataclass
class Call:
    id: str
    tool: str
    arguments: dict
    output: object = None
    error: str | None = None

    @property
    def text(self):
        return self.output if isinstance(self.output, str) else json.dumps(self.output)


@dataclass
class Step:
    calls: list = field(default_factory=list)
    tokens: int = 0


@dataclass
class Turn:
    user: str
    steps: list
    answer: str
    final: int  # tokens of the answer


# --- a random conversation ---


def conversation(seed, *, turns=3):
    """Searches with results, empty ones, failed ones, repeated pages and opened pages."""
    rng = random.Random(seed)
    pages = [
        {
            "url": f"https://example.org/{seed}/page-{n}",
            "title": f"Page {n} of {seed}",
            "content": f"This is the text of page {n}, about the subject number {n * 7 + seed} and no other subject.",
        }
        for n in range(8)
    ]

    def search(number):
        found = {"query": f"question {seed} {number}", "tool": "web_search"}
        kind = rng.random()
        if kind < 0.15:
            return {**found, "error": "HTTP 503: the service is not available", "results": []}
        size = 0 if kind < 0.3 else rng.randint(1, 4)
        return {**found, "results": [dict(p) for p in rng.sample(pages, size)]}

    count, listed = 0, []
    for number in range(rng.randint(1, turns)):
        iterations = []
        for _ in range(rng.randint(1, 4)):
            searches = []
            for _ in range(rng.randint(1, 3)):
                count += 1
                searches.append(search(count))
            opens = (
                [{"url": rng.choice(pages)["url"], "tool": "fetch_page"}]
                if rng.random() < 0.3
                else []
            )
            usage = {"tokens": TOKENS + rng.randint(1, 50)}
            iterations.append(
                {"searches": searches, **({"opens": opens} if opens else {}), **usage}
            )
        listed.append(
            {
                "user": f"What about {seed}, part {number}?",
                "iterations": iterations,
                "answer": f"Answer {number} to {seed}.",
            }
        )
    return {"conversation": f"conv-{seed}", "turns": listed}


def steps_of(trace, shape):
    """Turns as generations with calls."""
    turns, count = [], 0
    for turn in trace["turns"]:
        steps = []
        for iteration in turn["iterations"]:
            step = Step(tokens=iteration.get("tokens", 0))
            for search in iteration["searches"]:
                count += 1
                call = Call(f"call_{count}", search["tool"], {"query": search["query"]})
                call.error = search.get("error")
                call.output = None if call.error else shape(search["results"])
                step.calls.append(call)
            for page in iteration.get("opens", ()):
                count += 1
                step.calls.append(
                    Call(
                        f"call_{count}",
                        page["tool"],
                        {"url": page["url"]},
                        "The text of the page, in full.",
                    )
                )
            steps.append(step)
        turns.append(Turn(turn["user"], steps, turn["answer"], TOKENS + 1))
    return turns


def usage_of(tokens, first="input_tokens", second="output_tokens"):
    return {first: TOKENS, second: tokens - TOKENS}


# --- shapes of results ---


def as_list(pages):
    return pages


def as_json(pages):
    return json.dumps(pages)


def as_envelope(pages):
    return {"query": "x", "results": pages, "total": len(pages)}


def as_nested(pages):
    return {
        "status": "ok",
        "data": {
            "web": {
                "items": [
                    {"link": p["url"], "name": p["title"], "snippet": p["content"]} for p in pages
                ]
            }
        },
    }


def as_documents(pages):
    return [
        {"page_content": p["content"], "metadata": {"source": p["url"], "title": p["title"]}}
        for p in pages
    ]


def as_blocks(pages):
    """MCP: text that holds JSON."""
    return [{"type": "text", "text": json.dumps({"results": pages})}]


def as_labels(pages):
    return (
        "\n\n".join(f"Title: {p['title']}\nURL: {p['url']}\nContent: {p['content']}" for p in pages)
        or "No results found."
    )


def as_tags(pages):
    return (
        "\n".join(
            f"<document><source>{p['url']}</source><title>{p['title']}</title><content>{p['content']}</content></document>"
            for p in pages
        )
        or "No results found."
    )


def as_lines(pages):
    return "\n".join(json.dumps(p) for p in pages) or "No results found."


def as_numbers(pages):
    return (
        "\n\n".join(
            f"{n}. [{p['title']}]({p['url']})\n{p['content']}" for n, p in enumerate(pages, 1)
        )
        or "No results found."
    )


SHAPES = (
    as_list,
    as_json,
    as_envelope,
    as_nested,
    as_documents,
    as_blocks,
    as_labels,
    as_tags,
    as_lines,
    as_numbers,
)
