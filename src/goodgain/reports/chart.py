"""A chart: a Vega-Lite specification with the data it shows, the same data as a table, and its pictures."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import MissingExtraError, UsageError
from goodgain.reports import theme

if TYPE_CHECKING:
    from types import ModuleType

FORMATS = ("svg", "png", "pdf", "json")
SCALE = 2  # of PNG: sharp on today's screens
_FITTED = {
    "type": "fit-x",
    "contains": "padding",
}  # the width is that of the picture, not of the axes


@dataclass(frozen=True, slots=True)
class Chart:
    """What is shown, in words, as a specification without colours (`theme` has them), and as a table.

    Every specification is one view, so that whoever shows it may set its width.
    """

    key: str  # names it among others: on a page, in file names
    title: str
    description: str
    spec: dict[str, Any]
    columns: list[str]
    rows: list[list[Any]]

    def themed(self, dark: bool = False, width: int | None = None) -> dict[str, Any]:
        """The specification in colours, with its title: what any Vega-Lite renders."""
        palette = theme.DARK if dark else theme.LIGHT
        room = width or theme.WIDTH
        return {
            **self.spec,
            "title": {
                "text": _lines(self.title, room // 9),
                "subtitle": _lines(self.description, room // 6),
            },
            "description": self.description,
            "config": theme.config(palette, room),
            **({} if width is None else {"width": width, "autosize": _FITTED}),
        }

    def svg(self, dark: bool = False, width: int | None = None) -> str:
        """As SVG, without a browser."""
        return str(_renderer().vegalite_to_svg(self.themed(dark, width), allowed_base_urls=[]))

    def png(self, dark: bool = False, width: int | None = None, scale: float = SCALE) -> bytes:
        """As PNG, `scale` pixels for each of the chart's units."""
        spec = self.themed(dark, width)
        return bytes(_renderer().vegalite_to_png(spec, scale=scale, allowed_base_urls=[]))

    def pdf(self, dark: bool = False, width: int | None = None) -> bytes:
        """As a PDF page of the chart's size, letters as letters."""
        return bytes(_renderer().vegalite_to_pdf(self.themed(dark, width), allowed_base_urls=[]))

    def json(self, dark: bool = False, width: int | None = None) -> str:
        """The themed specification as text."""
        import json

        return json.dumps(self.themed(dark, width), ensure_ascii=False, indent=1) + "\n"

    def save(
        self, path: str | os.PathLike[str], *, dark: bool = False, width: int | None = None
    ) -> None:
        """Write a picture, or the specification, by the file's name; whole or not at all."""
        from goodgain.io.atomic import write_files

        picture = getattr(self, picture_format(path))(dark, width)
        data = picture.encode() if isinstance(picture, str) else picture
        write_files({os.fspath(path): data})

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """For notebooks: the specification where they can draw it, a picture for the others."""
        import base64

        return {
            "application/vnd.vegalite.v6+json": self.themed(),
            "image/png": base64.b64encode(self.png()).decode(),
            "text/html": self._repr_html_(),
            "text/plain": repr(self),
        }

    def _repr_html_(self) -> str:
        """A picture that cannot run anything, with the description for those who do not see it."""
        import base64
        from html import escape

        data = base64.b64encode(self.svg().encode()).decode()
        return f'<img alt="{escape(self.description)}" src="data:image/svg+xml;base64,{data}">'

    def __repr__(self) -> str:
        return f"Chart({self.key}: {self.title}; {len(self.rows):,} rows)"


def picture_format(path: str | os.PathLike[str]) -> str:
    """The format that a file's name asks for."""
    found = Path(path).suffix.removeprefix(".").lower()
    if found not in FORMATS:
        raise UsageError(
            f"'{os.fspath(path)}' is no name of a picture",
            hint=f"let it end in {', '.join('.' + f for f in FORMATS)}",
        )
    return found


def _lines(text: str, longest: int) -> list[str]:
    """A text in lines that fit above a picture; Vega does not break lines itself."""
    import textwrap

    return textwrap.wrap(text, longest)


def _renderer() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError.for_package(
            "vl-convert-python", "plot", "drawing a picture"
        ) from None
    return vl_convert
