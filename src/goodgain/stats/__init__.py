"""Comparison: paired tests, corrections, groups, seeds, GSB, the gate, and run fusion."""

from __future__ import annotations
