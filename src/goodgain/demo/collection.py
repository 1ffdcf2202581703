"""The demo collection: questions about the standard library, with its docstrings as documents.

The documents are read from the running interpreter, so none of them ship with the package; the
questions and judgments are tab-separated tables next to this file.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import re
import warnings
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

# Modules of Python 3.11 to 3.14 that many programmers know and that import without side effects.
MODULES = """
builtins abc argparse array ast asyncio atexit base64 bdb binascii bisect bz2 calendar cmath cmd
code codecs collections collections.abc colorsys compileall concurrent.futures configparser
contextlib contextvars copy copyreg cProfile csv ctypes dataclasses datetime dbm decimal difflib
dis doctest email email.generator email.header email.message email.parser email.policy email.utils
enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc getopt
getpass gettext glob graphlib gzip hashlib heapq hmac html html.parser http http.client
http.cookiejar http.cookies http.server imaplib importlib importlib.machinery importlib.metadata
importlib.resources importlib.util inspect io ipaddress itertools json keyword linecache locale
logging logging.config logging.handlers lzma mailbox marshal math mimetypes mmap multiprocessing
multiprocessing.connection multiprocessing.managers multiprocessing.pool
multiprocessing.shared_memory ntpath numbers operator os os.path pathlib pdb pickle pkgutil
platform plistlib poplib posixpath pprint pstats pwd py_compile pydoc queue random re reprlib
runpy sched secrets select selectors shelve shlex shutil signal smtplib socket socketserver
sqlite3 ssl stat statistics string struct subprocess sys sysconfig tarfile tempfile textwrap
threading time timeit tokenize tomllib trace traceback tracemalloc types typing unicodedata
unittest unittest.mock urllib.error urllib.parse urllib.request urllib.robotparser uuid venv
warnings wave weakref webbrowser wsgiref.simple_server wsgiref.util xml.dom.minidom
xml.etree.ElementTree xml.sax xml.sax.saxutils xmlrpc.client xmlrpc.server zipapp zipfile zlib
zoneinfo
""".split()  # noqa: SIM905

MEMBERS = (property, classmethod, staticmethod)


@dataclass(frozen=True, slots=True)
class Question:
    """A programmer's question and the groups it belongs to."""

    id: str
    text: str
    type: str
    difficulty: str


class Judgment(NamedTuple):
    """How well a document answers a question (0 not at all, 4 fully), and the target it describes."""

    query: str
    doc: str
    gain: int
    target: str


class Judgments(NamedTuple):
    """The judgments of documents that this interpreter has, and how many others were left out."""

    rows: list[Judgment]
    left_out: int


def documents() -> dict[str, str]:
    """Read the docstrings of the standard library: dotted name -> name, parameters and docstring.

    A name is listed under each module that makes it public (`os.path.join` and `posixpath.join`),
    a builtin without its module (`str.split`). Names without a docstring of their own are left out.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # looking at a deprecated name warns
        public = {name: value for module in MODULES for name, value in _public(module)}
        classes = {value for value in public.values() if inspect.isclass(value)}
        texts: dict[str, str] = {}
        for name, value in public.items():
            texts[name] = _text(name, value)
            for member, raw in (
                sorted(_members(value, classes).items()) if inspect.isclass(value) else ()
            ):
                if not member.startswith("_") and (
                    inspect.isroutine(raw) or isinstance(raw, MEMBERS)
                ):
                    texts[f"{name}.{member}"] = _text(f"{name}.{member}", raw)
    return {name: text for name, text in texts.items() if text}


def questions() -> list[Question]:
    """All questions, in the order of their ids."""
    return [Question(*row) for row in _table("questions.tsv")]


def judgments(documents: Container[str]) -> Judgments:
    """The judgments of these documents; without a target, the document is its own."""
    rows = [
        Judgment(query, doc, int(gain), target or doc)
        for query, doc, gain, target in _table("judgments.tsv")
    ]
    present = [row for row in rows if row.doc in documents]
    return Judgments(present, len(rows) - len(present))


def _table(name: str) -> list[list[str]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def _public(module_name: str) -> Iterator[tuple[str, object]]:
    """A module with its classes and functions: those in `__all__`, or else those defined in it."""
    try:
        module = importlib.import_module(module_name)
    except ImportError:  # optional, or for another platform
        return
    builtin = module_name == "builtins"
    yield module_name, module
    listed = getattr(module, "__all__", None)
    for name in sorted(set(listed or vars(module))):
        value = getattr(module, name, None)
        if name.startswith("_") or not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        if (
            inspect.isclass(value)
            and value.__name__ != name
            and getattr(module, value.__name__, None) is value
        ):
            continue  # an alias of the same class
        home = getattr(value, "__module__", None) or module_name
        # a function of any private module (`hmac.compare_digest`), a class of our own private module (`_ssl`)
        private = home.startswith("_") and (
            inspect.isroutine(value) or module_name.partition(".")[0] in home
        )
        if builtin or home == module_name or private or (listed and home != "builtins"):
            yield name if builtin else f"{module_name}.{name}", value


def _members(cls: type, public: Container[type]) -> dict[str, object]:
    """The members that a class defines, and those it inherits from private bases only."""
    homes = [base for base in cls.__bases__ if base in public]
    inherited: dict[str, object] = {}
    for base in reversed(cls.__bases__):
        if base not in homes:
            inherited |= _members(base, public)
    return {
        name: value
        for name, value in inherited.items()
        if not any(hasattr(home, name) for home in homes)
    } | vars(cls)


def _text(name: str, value: object) -> str:
    """The document about one object; empty without a docstring of its own of at least two words."""
    inner = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
    doc = getattr(inner, "__doc__", None)
    own = not inspect.isclass(inner) or "__doc__" in vars(inner)
    if not own or not isinstance(doc, str) or len(doc.split()) < 2:
        return ""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", f"{name}{_parameters(inner)}\n{inspect.cleandoc(doc)}")


def _parameters(value: object) -> str:
    """The parameters except `self`, as far as they can be read without running anything."""
    plain = inspect.unwrap(value) if callable(value) else value
    plain = plain.__func__ if inspect.ismethod(plain) else plain
    if inspect.isfunction(plain):
        names, rest, keywords = inspect.getargs(plain.__code__)
        names = [name for name in names if name not in ("self", "cls")]
        starred = [f"*{rest}"] * bool(rest) + [f"**{keywords}"] * bool(keywords)
        return f"({', '.join(names + starred)})"
    signature = getattr(plain, "__text_signature__", None) or ""
    return re.sub(r"\s+", " ", re.sub(r"\$\w+(, /)?(, )?", "", signature))
