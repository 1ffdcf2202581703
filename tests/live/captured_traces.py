"""What the tests of captures search, and how they read what was captured."""

from __future__ import annotations

import goodgain as gg

PAGES = [
    {"url": "https://example.org/seine", "title": "Seine", "content": "It rises at Source-Seine."},
    {"url": "https://example.org/rivers", "title": "Rivers", "content": "The Loire is longer."},
]


def read(path, **options):
    return {t.conversation: t for t in gg.read_traces(path, **options)}


def only(path):
    (trace,) = gg.read_traces(path)
    return trace


def queries(trace):
    return [s.query for s in trace.searches()]
