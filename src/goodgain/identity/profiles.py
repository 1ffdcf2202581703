"""When two results of a type are the same: the rules as data.

A profile says which ids name the item itself, which only its container, which fields are compared and how,
and which of them must agree where no id or URL decides. Users add their own in the same terms, in TOML or
Python.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal["text", "id", "people", "time"]
Unit = Literal["document", "passage"]

# A requirement: at least this many of these fields agree. A rule: all of its requirements.
Requirement = tuple[int, tuple[str, ...]]
Rule = tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """One value that is compared; `also` are other names for it in users' data."""

    name: str
    kind: Kind = "text"
    also: tuple[str, ...] = ()
    rejects: bool = True  # whether a difference means that the results differ


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules of one type of result."""

    name: str
    _: KW_ONLY
    types: tuple[str, ...] = ()  # other names of the type
    definitive: tuple[str, ...] = ()
    container: tuple[str, ...] = ()
    hint: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    rules: tuple[Rule, ...] = field(default=())

    def for_core(self, unit: Unit) -> dict[str, Any]:
        """Options for the native core; `unit` decides what the ids of documents and passages mean."""
        documents, passages = unit == "document", unit == "passage"
        shared = {
            "definitive": _DOCUMENT_IDS if documents else _PASSAGE_IDS,
            "container": _DOCUMENT_IDS if passages else (),
            "hint": _PASSAGE_IDS if documents else (),
        }
        named = {*self.definitive, *self.container, *self.hint}
        ids = {
            role: [*getattr(self, role), *(i for i in more if i not in named)]
            for role, more in shared.items()
        }
        fields = [
            {
                "name": f.name,
                "kind": f.kind,
                "rejects": f.rejects,
                "may_be_cut": f.name in ("snippet", "content"),
                "sources": [f.name, *f.also],
            }
            for f in self.fields
        ]
        rules = [[(count, list(of)) for count, of in rule] for rule in self.rules]
        types = [self.name, *self.types]
        return {"name": self.name, "types": types, **ids, "fields": fields, "rules": rules}


# Ids of the document that a passage belongs to, and of the passage; `unit` gives them their roles.
_DOCUMENT_IDS = ("doc_id", "document_id", "parent_id")
_PASSAGE_IDS = ("passage_id", "chunk_id", "node_id")

TITLE, SNIPPET, CONTENT = Field("title"), Field("snippet"), Field("content")
_TEXTS = (TITLE, SNIPPET, CONTENT)
_TEXT = ("snippet", "content")
_EQUAL_TEXT: Rule = ((1, _TEXT),)
_AUTHOR = Field("author", also=("authors", "created_by", "creator"))
_FROM = Field("from", "people", ("sender", "from_address"))
_TO = Field("to", "people", ("recipients", "to_addresses"))
_SUBJECT = Field("title", also=("subject",))
_START = Field("start", "time", ("start_time", "starts", "start_date"))
_END = Field("end", "time", ("end_time", "ends", "end_date"))

PROFILES: tuple[Profile, ...] = (
    Profile(
        "generic",
        fields=(*_TEXTS, _AUTHOR, Field("id", "id")),
        rules=(_EQUAL_TEXT, ((1, ("title",)), (1, (*_TEXT, "author", "id")))),
    ),
    Profile(
        "web",
        types=("webpage", "web page", "page", "url", "news"),
        fields=_TEXTS,
        rules=(_EQUAL_TEXT,),
    ),
    Profile("passage", types=("chunk", "node", "text"), fields=_TEXTS, rules=(_EQUAL_TEXT,)),
    Profile(
        "file",
        types=("document", "doc", "attachment", "driveitem"),
        definitive=("file_id", "unique_id"),
        container=("site_id", "web_id", "list_id"),
        fields=(
            Field("file_name", also=("filename", "name")),
            Field("file_type", also=("filetype", "extension", "mime_type")),
            _AUTHOR,
            Field("modified_by", also=("last_modified_by", "editor")),
            Field("modified", "time", ("last_modified", "modified_at", "modified_time")),
            *_TEXTS,
        ),
        rules=(
            _EQUAL_TEXT,
            ((1, ("file_name",)), (2, ("file_type", "author", "modified_by", "modified", "title"))),
        ),
    ),
    Profile(
        "email",
        types=("mail",),
        definitive=("email_url", "message_id"),
        fields=(
            Field("received", "time", ("date", "received_at", "received_time")),
            _FROM,
            _TO,
            _SUBJECT,
            SNIPPET,
            CONTENT,
        ),
        rules=(
            ((1, ("received",)), (1, ("from", "to", "title", *_TEXT))),
            ((1, ("title",)), (1, _TEXT), (1, ("from", "to"))),
            ((1, ("title", *_TEXT)), (1, ("from",)), (1, ("to",))),
        ),
    ),
    Profile(
        "event",
        types=("calendar", "meeting", "calendar event"),
        definitive=("event_id",),
        container=("original_id",),
        fields=(
            _START,
            _END,
            Field("organizer_email", "people", ("organizer",)),
            Field("title", also=("subject",), rejects=False),
            Field("snippet", rejects=False),
            Field("content", rejects=False),
        ),
        rules=(
            ((1, ("start",)), (1, ("end",)), (1, ("original_id",))),
            ((1, ("start",)), (1, ("end",)), (1, ("organizer_email",)), (1, ("title", *_TEXT))),
            ((1, ("start",)), (1, ("end",)), (1, ("title",)), (1, _TEXT)),
        ),
    ),
    Profile(
        "message",
        types=("chat", "chat message"),
        definitive=("item_id",),
        container=("channel_id",),
        fields=(
            _FROM,
            _TO,
            Field("participants", "people", ("members",)),
            _SUBJECT,
            SNIPPET,
            CONTENT,
        ),
        rules=(
            ((1, _TEXT), (1, ("title",)), (1, ("from", "to", "participants"))),
            ((1, (*_TEXT, "title")), (2, ("from", "to", "participants"))),
        ),
    ),
    Profile(
        "person",
        types=("people", "contact"),
        definitive=("email", "alias", "upn"),
        fields=(
            Field("title", also=("name", "display_name", "full_name")),
            Field("department"),
            Field("company", also=("organization",)),
            Field("office", also=("office_location",)),
        ),
        rules=(((1, ("title",)), (2, ("department", "company", "office"))),),
    ),
    Profile(
        "external",
        types=("connector", "plugin"),
        definitive=("artifact_id",),
        container=("plugin_id",),
        fields=(Field("plugin_id", "id"), Field("plugin_type", also=("connector_type",)), *_TEXTS),
        rules=(_EQUAL_TEXT,),
    ),
    Profile(
        "transcript",
        types=("recording",),
        definitive=("event_id",),
        fields=(_START, _END, *_TEXTS),
        rules=(_EQUAL_TEXT, ((1, ("title",)), (1, ("start", "end")))),
    ),
)


def combined(own: Iterable[Profile | Mapping[str, Any]]) -> tuple[Profile, ...]:
    """The built-in profiles and the user's, which replace built-in ones of the same name."""
    profiles = {p.name: p for p in PROFILES}
    for item in own:
        profile = item if isinstance(item, Profile) else profile_from(item)
        profiles[profile.name] = profile
    kinds: dict[str, str] = {}
    for profile in profiles.values():
        for f in profile.fields:
            if kinds.setdefault(f.name, f.kind) != f.kind:
                raise InputError(
                    f"conflicting kinds {kinds[f.name]} and {f.kind} for field '{f.name}'",
                    hint="rename one of the two fields",
                )
    return tuple(profiles.values())


_ENTRIES = {"name", "like", "types", "definitive", "container", "hint", "fields", "rules"}


def profile_from(table: Mapping[str, Any], where: str = "") -> Profile:
    """A profile from a TOML table or a dictionary.

    `rules` is a list of texts such as "file_name + 2 of author, modified" or "snippet | content".
    `like` names a built-in profile that supplies the entries which this one lacks.
    """
    for unknown in sorted(set(table) - _ENTRIES):
        raise InputError(
            f"unknown profile entry '{unknown}'",
            where=where,
            hint=f"one of: {', '.join(sorted(_ENTRIES))}",
        )
    if not isinstance(table.get("name"), str):
        raise InputError("the profile has no name", where=where)
    base = Profile(str(table["name"]), fields=_TEXTS, rules=(_EQUAL_TEXT,))
    if "like" in table:
        like = next((p for p in PROFILES if p.name == table["like"]), None)
        if like is None:
            names = ", ".join(p.name for p in PROFILES)
            raise InputError(
                f"unknown profile '{table['like']}'", where=where, hint=f"one of: {names}"
            )
        base = replace(like, name=str(table["name"]), types=())
    entries: dict[str, Any] = {
        key: tuple(str(v).casefold() if key == "types" else str(v) for v in table[key])
        for key in ("types", "definitive", "container", "hint")
        if key in table
    }
    if "fields" in table:
        entries["fields"] = tuple(_field(f, where) for f in table["fields"])
    if "rules" in table:
        fields = {f.name for f in entries.get("fields", base.fields)} | {"id", "url"}
        fields |= {*entries.get("container", base.container)}
        entries["rules"] = tuple(_rule(r, fields, where) for r in table["rules"])
    return replace(base, **entries)


def _field(entry: Any, where: str) -> Field:
    if isinstance(entry, str):
        return Field(entry)
    try:
        values = dict(entry)
        if "also" in values:
            values["also"] = tuple(values["also"])
        if values.get("kind", "text") not in ("text", "id", "people", "time"):
            raise InputError(
                f"invalid kind of field '{values['kind']}'",
                where=where,
                hint="one of: text, id, people, time",
            )
        return Field(**values)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"invalid field {entry!r}",
            where=where,
            hint='expected a name, or {name = "...", kind = "time"}',
        ) from None


def _rule(text: str, names: set[str], where: str) -> Rule:
    """A rule from text such as "title + 2 of author, modified" or "snippet | content"."""
    requirements: list[Requirement] = []
    for requirement in str(text).split("+"):
        count, of, rest = requirement.strip().partition(" of ")
        has_count = bool(of) and count.isdigit()
        listed = (rest if has_count else requirement).replace("|", ",").split(",")
        fields = tuple(f.strip() for f in listed if f.strip())
        for unknown in (f for f in fields if f not in names):
            raise InputError(
                f"unknown field '{unknown}' in rule '{text}'",
                where=where,
                hint=f"fields of the profile: {', '.join(sorted(names))}",
            )
        requirements.append((int(count) if has_count else 1, fields))
    return tuple(requirements)
