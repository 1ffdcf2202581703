"""The page over HTTP: static files, and the requests of its scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError
from goodgain.judging.desk import Desk, RefusalError
from goodgain.judging.labels_desk import LabelsDesk
from goodgain.reports.page import asset, palette_text
from goodgain.serving import LOOPBACK, LocalServer, NotFoundError, Response, json_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.serving import Request

_ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = ("dom.js", "text.js", "requests.js", "item.js", "review.js", "judge.js")
SHELL = {
    "": "text/html",
    "judge.css": "text/css",
    **dict.fromkeys(_SCRIPTS, "text/javascript"),
}


class JudgingServer(LocalServer):
    """Serves one desk to its annotators until `shutdown`."""

    accepts_posts = True
    open_paths = frozenset(SHELL)  # they hold no data: the page asks for the password

    def __init__(
        self,
        desk: Desk,
        port: int = 0,
        *,
        host: str = LOOPBACK,
        secret: str | None = None,
        password: str | None = None,
    ) -> None:
        self.desk = desk
        super().__init__(port, host=host, secret=secret, password=password)

    def answer(self, request: Request) -> Response:
        """A file of the page, or what the desk says."""
        if request.path in SHELL:
            return Response(SHELL[request.path], _shell(request.path).encode())
        try:
            return json_response(self._ask_again(request))
        except RefusalError as refusal:
            return json_response({"error": str(refusal)}, refusal.status)
        except GoodgainError as error:  # the store cannot be read or written: the page tries again
            return json_response({"error": error.message}, 503)

    def _ask_again(self, request: Request) -> dict[str, Any]:
        """Ask once more over a new connection if the old one is lost: every request is stored once."""
        try:
            return self._ask(request)
        except RefusalError:
            raise
        except GoodgainError:
            if not self.desk.reconnect():
                raise
            return self._ask(request)

    def _ask(self, request: Request) -> dict[str, Any]:
        if request.posted is not None:
            return self._posted(request.path)(request.posted)
        name = request.query.get("annotator", [""])[0]
        if request.path == "setup":
            return self.desk.setup()
        if request.path == "work":
            return self.desk.work(name, request.query.get("item", [""])[0])
        if request.path == "agreement":
            return self.desk.agreement(name)
        if request.path == "disagreements" and isinstance(self.desk, LabelsDesk):
            return self.desk.disagreements(name)
        raise NotFoundError

    def _posted(self, path: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
        if path == "start":
            return lambda posted: self.desk.start(posted.get("annotator"), posted.get("role"))
        if path == "vote":
            return self.desk.vote
        if path == "undo":
            return self.desk.undo
        if path == "adjudicate" and isinstance(self.desk, LabelsDesk):
            return self.desk.adjudicate
        raise NotFoundError


def _shell(path: str) -> str:
    if path == "dom.js":
        return asset("dom.js")
    text = (_ASSETS / (path or "judge.html")).read_text(encoding="utf-8")
    return palette_text() + text if path == "judge.css" else text
