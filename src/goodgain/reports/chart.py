"""A chart: a Vega-Lite specification with its data, the same data as a table, and images of it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.cores import available_cores
from goodgain.errors import MissingExtraError, UsageError
from goodgain.reports import theme
from goodgain.threads import require_threads

if TYPE_CHECKING:
    from types import ModuleType

FORMATS = ("svg", "png", "pdf", "json")
SCALE = 2  # of PNG, for high-density screens
_FITTED = {
    "type": "fit-x",
    "contains": "padding",
}  # the width is that of the image, not of the plot area


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A description, a specification without colours (see `theme`), and the data as a table.

    Every specification is a single view, so that its width can be set.
    """

    key: str  # unique on a page; used in file names
    title: str
    description: str
    spec: dict[str, Any]
    columns: list[str]
    rows: list[list[Any]]

    def themed(self, dark: bool = False, width: int | None = None) -> dict[str, Any]:
        """The complete specification, with title and colours, for any Vega-Lite renderer."""
        palette = theme.DARK if dark else theme.LIGHT
        room = width or theme.WIDTH
        spec = self.spec if width is None else fitted_legends(self.spec, width)
        return {
            **spec,
            "title": {
                "text": _lines(self.title, room // 9),
                "subtitle": _lines(self.description, room // 6),
            },
            "description": self.description,
            "config": theme.config(palette, room),
            **({} if width is None else {"width": width, "autosize": _FITTED}),
        }

    def svg(self, dark: bool = False, width: int | None = None) -> str:
        """The chart as SVG, drawn without a browser."""
        return str(_renderer().vegalite_to_svg(self.themed(dark, width), allowed_base_urls=[]))

    def png(self, dark: bool = False, width: int | None = None, scale: float = SCALE) -> bytes:
        """The chart as PNG, with `scale` pixels per unit of the chart."""
        spec = self.themed(dark, width)
        return bytes(_renderer().vegalite_to_png(spec, scale=scale, allowed_base_urls=[]))

    def pdf(self, dark: bool = False, width: int | None = None) -> bytes:
        """The chart as a PDF page of the same size, with text as text."""
        return bytes(_renderer().vegalite_to_pdf(self.themed(dark, width), allowed_base_urls=[]))

    def json(self, dark: bool = False, width: int | None = None) -> str:
        """The themed specification as JSON text."""
        import json

        return json.dumps(self.themed(dark, width), ensure_ascii=False, indent=1) + "\n"

    def save(
        self, path: str | os.PathLike[str], *, dark: bool = False, width: int | None = None
    ) -> None:
        """Write an image, or the specification, in the format of the file's extension, atomically."""
        from goodgain.io.atomic import write_files

        image = getattr(self, image_format(path))(dark, width)
        data = image.encode() if isinstance(image, str) else image
        write_files({os.fspath(path): data})

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """For notebooks: the specification, and images for those that cannot render it."""
        import base64

        return {
            "application/vnd.vegalite.v6+json": self.themed(),
            "image/png": base64.b64encode(self.png()).decode(),
            "text/html": self._repr_html_(),
            "text/plain": repr(self),
        }

    def _repr_html_(self) -> str:
        """An inert image with the description as alternative text."""
        import base64
        from html import escape

        data = base64.b64encode(self.svg().encode()).decode()
        return f'<img alt="{escape(self.description)}" src="data:image/svg+xml;base64,{data}">'

    def __repr__(self) -> str:
        return f"Chart({self.key}: {self.title}; {len(self.rows):,} rows)"


def image_format(path: str | os.PathLike[str]) -> str:
    """The image format of a file name's extension."""
    extension = Path(path).suffix.removeprefix(".").lower()
    if extension not in FORMATS:
        raise UsageError(
            f"unsupported image format: '{os.fspath(path)}'",
            hint=f"supported extensions: {', '.join('.' + f for f in FORMATS)}",
        )
    return extension


_COLUMNS = re.compile(
    r"max\(1, floor\(width / (\d+)\)\)"
)  # of a legend, as charts/frame.py has them
_ROOM = 0.62  # of a chart's width: what its axis leaves for the legend


def fitted_legends(spec: Any, width: int) -> Any:
    """A specification whose legends have a fixed number of columns.

    The width of a fitted chart shrinks once its axis is drawn; a legend that then breaks into another row
    would be cut off.
    """
    if isinstance(spec, list):
        return [fitted_legends(item, width) for item in spec]
    if not isinstance(spec, dict):
        return spec
    if match := _COLUMNS.fullmatch(str(spec.get("expr", ""))):
        return max(1, int(_ROOM * width / int(match[1])))
    return {
        key: value if key == "data" else fitted_legends(value, width) for key, value in spec.items()
    }


def _lines(text: str, limit: int) -> list[str]:
    """Text wrapped to fit above a chart; Vega does not wrap lines itself."""
    import textwrap

    return textwrap.wrap(text, limit)


def _renderer() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError.for_package(
            "vl-convert-python", "plot", "drawing an image"
        ) from None
    _require_threads()
    return vl_convert


@cache
def _require_threads() -> None:
    """The renderer's JavaScript engine and its scheduler start a thread for each core, and abort without."""
    require_threads(2 * available_cores() + 4)
