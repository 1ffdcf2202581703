"""What looks like damage and is legal: the kind of file, or the command line, and why."""

from __future__ import annotations

from damages import HARMLESS

# Reasons that several kinds share.
BYTES = "ids and texts may hold any bytes: they are kept as they are"
TWICE = "what is the same twice counts once"
JSON_16 = "JSON may be in UTF-16"
TEXT = "any text will do"
AFTER = "SQLite ignores what follows the last page"
NAME = "its name does not matter: by its content it is a good store"
_STORE = {
    "a deep line at the end": AFTER,
    "a line of noise at the end": AFTER,
    "a line too much": AFTER,
    "itself twice": AFTER,
    "plain text as gz": NAME,
    "plain text as bz2": NAME,
    "plain text as xz": NAME,
    "plain text as zst": NAME,
    "empty": "an empty file is a new store",
    "empty gz": "an empty file is a new store",
    "byte order mark": AFTER,
}

# By the kind of file.
LEGAL: dict[str, dict[str, str]] = {
    "qrels": {"invalid UTF-8 in the middle": BYTES},
    "labels": {"invalid UTF-8 in the middle": BYTES},
    "files": {"invalid UTF-8 in the middle": BYTES},
    "run": {"invalid UTF-8 in the middle": BYTES},
    "gains": {"invalid UTF-8 in the middle": BYTES},
    "scores": {"invalid UTF-8 in the middle": BYTES},
    "queries": {"invalid UTF-8 in the middle": BYTES},
    "documents": {"invalid UTF-8 in the middle": BYTES},
    "answers": {
        "invalid UTF-8 in the middle": BYTES,
        "every line twice": TWICE,
        "itself twice": TWICE,
        "half of it": "an empty answer is none",
    },
    "traces": {"every line twice": TWICE, "itself twice": TWICE},
    "pairs": {"every line twice": TWICE, "itself twice": TWICE},
    "rules": {"itself twice": TWICE},
    "identity": {"itself twice": TWICE},
    "history": {"every line twice": "a log of runs", "itself twice": "a log of runs"},
    "zscores": {
        "every line twice": TWICE,
        "itself twice": TWICE,
        "invalid UTF-8 in the middle": BYTES,
        "NUL in the middle": BYTES,
    },
    "log": {
        "invalid UTF-8 in the middle": BYTES,
        "every line twice": "a log counts searches",
        "itself twice": "a log counts searches",
        "CSV: NaN": "it has a query and a document, and no number is read",
        "CSV: infinity": "it has a query and a document, and no number is read",
        "TSV: words for numbers": "it has a query and a document, and no number is read",
    },
    "saved": {"UTF-16": JSON_16},
    "passport": {"UTF-16": JSON_16},
    "json": {
        "UTF-16": JSON_16,
        **{
            f"{kind}: {name}": "an object with other fields"
            for kind in ("json", "jsonl")
            for name in (
                "NUL in a text",
                "empty object",
                "lone surrogate",
                "object of lists",
                "object of null",
                "object of numbers",
            )
        },
    },
    "prompt": {"a deep line at the end": TEXT, "a line too much": TEXT, "itself twice": TEXT},
    "template": {
        "NUL in the middle": "a published prompt is sent byte for byte",
        "a deep line at the end": TEXT,
        "a line too much": TEXT,
        "every line twice": TEXT,
        "itself twice": TEXT,
    },
    "store": _STORE,
}
# By the beginning of a command line: damages, or all of them.
ANY = None
LEGAL_LINES: dict[str, tuple[set[str] | None, str]] = {
    "labels verify @": (ANY, "it reports damage, with status 1"),
    "judge labels.db --port 0 -q --pairs pairs.jsonl --guidelines @": (ANY, TEXT),
    "convert @": ({"every line twice", "itself twice"}, "a conversion keeps every row"),
    "label --model m --base-url http://127.0.0.1:9/v1 --dry-run pairs.jsonl --store @": (
        {
            "missing", "in a missing folder", "below a file", "dangling link", "link to itself",
            "name that is no UTF-8", "name too long",
        },
        "a dry run writes nothing, and a new store is created where there is none",
    ),
    "label --model m --base-url http://127.0.0.1:9/v1 --dry-run --store new.db --pool": (
        {"every line twice", "itself twice"},
        TWICE,
    ),
    "judge labels.db --port 0 -q --runs run.txt --queries @": (
        {"every line twice", "itself twice", "half of it"},
        "a query may be judged without a text",
    ),
    "view @": ({"folder"}, "an empty folder may fill while it is served"),
    "audit qrels.txt run.txt @": (
        {
            "every line twice", "itself twice", "TOML: half", "TOML: unknown", "YAML: broken",
            "YAML: aliases", "YAML: object",
        },
        "a run without a row in the table is listed, not read; what a duplicate means is a convention",
    ),
    "judge labels.db --port 0 -q --runs": ({"every line twice", "itself twice"}, TWICE),
}  # fmt: skip


def is_legal(kind: str, damage: str, line: str) -> bool:
    """Whether a command may succeed with such a file."""
    for start, (damages, _) in LEGAL_LINES.items():
        if line.startswith(start) and (damages is ANY or damage in damages):
            return True
    return damage in HARMLESS or damage in LEGAL.get(kind, {})
