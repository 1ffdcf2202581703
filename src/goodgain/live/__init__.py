"""Live capture: what a running agent searches for, opens and answers, written as it happens."""

from goodgain.live.capturing import Capture, capture
from goodgain.live.functions import open_tool, search_tool

__all__ = ["Capture", "capture", "open_tool", "search_tool"]
