"""Capture what a running agent searches, without changing it."""
