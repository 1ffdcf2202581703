"""Pieces of text: tokens, chunks and judged spans, by offsets into their documents."""

from goodgain.spans.pieces import Piece

__all__ = ["Piece"]
