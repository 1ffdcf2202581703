"""Conversations to stop, written by hand."""

from __future__ import annotations


def step(*searches, **usage):
    return {"searches": list(searches), **usage}


def search(*gains, **more):
    """Results named by letters: ("a", 3), or ("a", None) without a label."""
    results = [{"id": n} if g is None else {"id": n, "gain": g} for n, g in gains]
    return {"query": "q", "results": results, **more}


def trace(name, *steps, system="s", **more):
    turns = [{"user": "?", "iterations": list(steps)}]
    return {"conversation": name, "system": system, "turns": turns, **more}


A, B, C, D = ("a", 4), ("b", 2), ("c", 3), ("d", 1)
ONE = trace(
    "c1", step(search(A), tokens=10), step(search(A, D), tokens=20), step(search(B), tokens=10),
    step(search(A), tokens=5), step(search(B), tokens=5),
)  # fmt: skip
TWO = trace("c2", step(search(C), tokens=50))
