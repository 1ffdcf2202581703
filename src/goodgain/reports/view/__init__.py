"""`goodgain view`: the pages of a folder of saved results, served to one reader on this machine."""

from goodgain.reports.view.library import Library
from goodgain.reports.view.server import Viewer

__all__ = ["Library", "Viewer"]
