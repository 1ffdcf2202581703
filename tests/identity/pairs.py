"""Named pairs of results with the verdict they must get, and the step that decides it.

DUP, DIF and UND say duplicate, different, undecided; the number is the step.
"""
# ruff: noqa: E501

LONG = "The quick brown fox jumps over the lazy dog while seven wizards watch from the hill beyond the river."
OTHER = "Completely other words stand in this text, which is also long enough to make a key of its own here."
LONG_TITLE = "A title that is long enough to be a key of its own, well above fifty characters"
T1, T2 = "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z"
T1_ZONED, T1_NEXT_WEEK, T2_NEXT_WEEK = (
    "2026-03-02T12:00:00+02:00",
    "2026-03-09T10:00:00Z",
    "2026-03-09T11:00:00Z",
)
DUP, DIF, UND = "duplicate", "different", "undecided"


def url(address, **more):
    return {"url": address, **more}


def web(**more):
    return {"type": "web", **more}


def file(ids=None, **fields):
    top = {k: fields.pop(k) for k in ("title", "snippet", "content", "url", "id") if k in fields}
    return {"type": "file", "ids": ids or {}, "fields": fields, **top}


def email(ids=None, **fields):
    return {**file(ids, **fields), "type": "email"}


def event(ids=None, **fields):
    return {**file(ids, **fields), "type": "event"}


def message(ids=None, **fields):
    return {**file(ids, **fields), "type": "message"}


def person(ids=None, **fields):
    return {**file(ids, **fields), "type": "person"}


def external(ids=None, **fields):
    return {**file(ids, **fields), "type": "external"}


def transcript(ids=None, **fields):
    return {**file(ids, **fields), "type": "transcript"}


A = "https://example.com/a"
# name: (one, other, verdict, step)
PAIRS = {
    # --- the generic id: weak ---
    "same bare id and nothing else": ({"id": "d1"}, {"id": "d1"}, DUP, 4),
    "bare ids without case": ({"id": "Doc-1"}, {"id": "doc-1"}, DUP, 4),
    "other bare id and nothing else": ({"id": "d1"}, {"id": "d2"}, UND, 4),
    "same bare id, other text": ({"id": "d1", "content": LONG}, {"id": "d1", "content": OTHER}, DIF, 3),
    "other bare id, same text": ({"id": "d1", "content": LONG}, {"id": "d2", "content": LONG}, DUP, 3),
    "other bare id, same url": (url(A, id="1"), url(A, id="2"), DUP, 2),
    "same bare id, other url": (url(A, id="1"), url("https://example.com/b", id="1"), DIF, 2),
    "same bare id and title": ({"id": "1", "title": "Notes"}, {"id": "1", "title": "Notes"}, DUP, 3),
    "same bare id, other title": ({"id": "1", "title": "Notes"}, {"id": "1", "title": "Plan"}, DIF, 3),
    "same bare id and title of a web page": (web(id="1", title="N"), web(id="1", title="N"), UND, 3),
    "bare id beside domain ids is no identity": (
        {"id": "1", "ids": {"file_id": "f"}}, {"id": "1", "ids": {"message_id": "m"}}, UND, 4),
    "nothing at all": ({}, {}, UND, 4),
    # --- citation markers ---
    "citation marker turn0search1": ({"id": "turn0search1"}, {"id": "turn0search1"}, UND, 4),
    "citation marker turn12news3": ({"id": "turn12news3"}, {"id": "turn12news3"}, UND, 4),
    "citation marker in brackets": ({"id": "[3]"}, {"id": "[3]"}, UND, 4),
    "citation marker of a source": ({"id": "【4†source】"}, {"id": "【4†source】"}, UND, 4),
    "citation marker among ids": ({"ids": {"ref": "turn1search2"}}, {"ids": {"ref": "turn1search2"}}, UND, 4),
    "a word like a marker is an id": ({"id": "turnip"}, {"id": "turnip"}, DUP, 4),
    "marker does not hide the url": (url(A, id="turn0search1"), url(A, id="turn3search0"), DUP, 2),
    # --- URLs: the same page ---
    "same url": (url(A), url(A), DUP, 2),
    "http and https": (url("http://example.com/a"), url(A), DUP, 2),
    "www.": (url("https://www.example.com/a"), url(A), DUP, 2),
    "trailing slash": (url(A + "/"), url(A), DUP, 2),
    "host alone, with and without slash": (url("https://example.com"), url("https://example.com/"), DUP, 2),
    "fragment": (url(A + "#part"), url(A), DUP, 2),
    "case of the host": (url("https://EXAMPLE.com/a"), url(A), DUP, 2),
    "default port of https": (url("https://example.com:443/a"), url(A), DUP, 2),
    "default port of http": (url("http://example.com:80/a"), url(A), DUP, 2),
    "without a scheme": (url("example.com/a"), url(A), DUP, 2),
    "scheme left to the page": (url("//example.com/a"), url(A), DUP, 2),
    "percent-encoded letter": (url("https://example.com/%61"), url(A), DUP, 2),
    "case of percent-encoding": (url("https://example.com/%c3%a9"), url("https://example.com/%C3%A9"), DUP, 2),
    "letters beyond ASCII, encoded or not": (url("https://example.com/é"), url("https://example.com/%C3%A9"), DUP, 2),
    "blank, encoded or not": (url("https://example.com/a b"), url("https://example.com/a%20b"), DUP, 2),
    "tilde, encoded or not": (url("https://example.com/%7Eann"), url("https://example.com/~ann"), DUP, 2),
    "dots in the path": (url("https://example.com/x/../a"), url(A), DUP, 2),
    "international host": (url("https://bücher.example/"), url("https://xn--bcher-kva.example/"), DUP, 2),
    "blanks around": (url("  https://example.com/a "), url(A), DUP, 2),
    "utm_source": (url(A + "?utm_source=x"), url(A), DUP, 2),
    "two campaigns": (url(A + "?utm_campaign=x"), url(A + "?utm_campaign=y&utm_medium=z"), DUP, 2),
    "utm in capitals": (url(A + "?UTM_Source=x"), url(A), DUP, 2),
    "gclid": (url(A + "?gclid=123"), url(A), DUP, 2),
    "fbclid beside a selector": (url(A + "?id=1&fbclid=9"), url(A + "?id=1"), DUP, 2),
    "srsltid": (url(A + "?srsltid=1"), url(A + "?srsltid=2"), DUP, 2),
    "mailing ids": (url(A + "?mc_cid=1&mc_eid=2"), url(A), DUP, 2),
    "matomo": (url(A + "?mtm_kwd=1&pk_source=2"), url(A), DUP, 2),
    "view switch": (url(A + "?web=1"), url(A), DUP, 2),
    "action and token": (url(A + "?action=edit&token=abc"), url(A + "?token=def"), DUP, 2),
    "order of parameters": (url(A + "?b=2&a=1"), url(A + "?a=1&b=2"), DUP, 2),
    "plus and %20 in a value": (url(A + "?q=a+b"), url(A + "?q=a%20b"), DUP, 2),
    "empty query": (url(A + "?"), url(A), DUP, 2),
    "same url, other text": (url(A, content=LONG), url(A, content=OTHER), DUP, 2),
    "same url, other type": (url(A, type="web"), url(A, type="file"), DUP, 2),
    # --- URLs: other pages ---
    "other host": (url("https://example.org/a"), url(A), DIF, 2),
    "other subdomain": (url("https://blog.example.com/a"), url(A), DIF, 2),
    "other path": (url("https://example.com/b"), url(A), DIF, 2),
    "case of the path": (url("https://example.com/A"), url(A), DIF, 2),
    "other port": (url("https://example.com:8443/a"), url(A), DIF, 2),
    "ftp is another place": (url("ftp://example.com/a"), url(A), DIF, 2),
    "other url, same text": (url(A, content=LONG), url("https://example.com/b", content=LONG), DIF, 2),
    "?id=1 and ?id=2": (url(A + "?id=1"), url(A + "?id=2"), DIF, 2),
    "?id=1 and none": (url(A + "?id=1"), url(A), DIF, 2),
    "?ID=1 and ?ID=2": (url(A + "?ID=1"), url(A + "?ID=2"), DIF, 2),
    "two videos": (url("https://video.example/watch?v=a"), url("https://video.example/watch?v=b"), DIF, 2),
    "two pages of a list": (url(A + "?page=1"), url(A + "?page=2"), DIF, 2),
    "two posts": (url(A + "?p=7"), url(A + "?p=8"), DIF, 2),
    "two searches": (url(A + "?q=x"), url(A + "?q=y"), DIF, 2),
    "two versions": (url(A + "?version=1"), url(A + "?version=2"), DIF, 2),
    "two items": (url(A + "?itemid=1"), url(A + "?itemid=2"), DIF, 2),
    "selector differs beside utm": (url(A + "?id=1&utm_x=1"), url(A + "?id=2&utm_x=1"), DIF, 2),
    "two routes of an application": (url("https://app.example/#/one"), url("https://app.example/#/two"), DIF, 2),
    "hash-bang routes": (url("https://app.example/#!one"), url("https://app.example/#!two"), DIF, 2),
    "same route": (url("https://app.example/#/one"), url("http://app.example/#/one/"), DUP, 2),
    # --- URLs: unknown parameters, the text decides ---
    "unknown parameter, no text": (url(A + "?ref=1"), url(A + "?ref=2"), UND, 3),
    "unknown parameter, same text": (url(A + "?ref=1", content=LONG), url(A, content=LONG), DUP, 3),
    "unknown parameter, other text": (url(A + "?ref=1", content=LONG), url(A, content=OTHER), DIF, 3),
    "source is not ignored": (url(A + "?source=1"), url(A + "?source=2"), UND, 3),
    # --- text ---
    "same content": ({"content": LONG}, {"content": LONG}, DUP, 3),
    "same snippet": ({"snippet": LONG}, {"snippet": LONG}, DUP, 3),
    "case and white space": ({"content": LONG}, {"content": "  " + LONG.upper().replace(" ", " \n\t ")}, DUP, 3),
    "unicode case": ({"content": "STRASSE " + LONG}, {"content": "straße " + LONG}, DUP, 3),
    "no-break space": ({"content": LONG}, {"content": LONG.replace(" ", " ")}, DUP, 3),
    "other content": ({"content": LONG}, {"content": OTHER}, DIF, 3),
    "same start, other end": ({"content": LONG * 8 + "x"}, {"content": LONG * 8 + "y"}, DIF, 3),
    "same snippet, other content": ({"snippet": LONG, "content": LONG}, {"snippet": LONG, "content": OTHER}, DIF, 3),
    "same content, other title": ({"title": "A", "content": LONG}, {"title": "B", "content": LONG}, DIF, 3),
    "title alone": ({"title": LONG_TITLE}, {"title": LONG_TITLE}, UND, 3),
    "title and author": (
        {"title": "T", "fields": {"author": "Ann"}}, {"title": "T", "fields": {"author": "ann"}}, DUP, 3),
    "same title, other author": (
        {"title": LONG_TITLE, "fields": {"author": "Ann"}}, {"title": LONG_TITLE, "fields": {"author": "Bob"}}, DIF, 3),
    "title of web pages alone": (web(title=LONG_TITLE), web(title=LONG_TITLE), UND, 3),
    "content of web pages": (web(content=LONG), web(content=LONG), DUP, 3),
    "only snippet here, only content there": ({"snippet": LONG}, {"content": LONG}, UND, 4),
    # --- text that was cut short ---
    "prefix alone": ({"snippet": LONG}, {"snippet": LONG[:80]}, UND, 3),
    "prefix and title": ({"title": "T", "snippet": LONG}, {"title": "T", "snippet": LONG[:80]}, DUP, 3),
    "prefix with dots": ({"title": "T", "snippet": LONG}, {"title": "T", "snippet": LONG[:80] + "..."}, DUP, 3),
    "prefix with an ellipsis": ({"title": "T", "snippet": LONG}, {"title": "T", "snippet": LONG[:80] + " …"}, DUP, 3),
    "prefix and other title": ({"title": "T", "snippet": LONG}, {"title": "U", "snippet": LONG[:80]}, DIF, 3),
    "a few words are no evidence": ({"title": "T", "snippet": LONG}, {"title": "T", "snippet": "The quick"}, UND, 3),
    "prefix and title of web pages": (web(title="T", content=LONG), web(title="T", content=LONG[:70]), DUP, 3),
    "prefix of web pages alone": (web(content=LONG), web(content=LONG[:70]), UND, 3),
    # --- types ---
    "other type, same text": ({"type": "web", "content": LONG}, {"type": "file", "content": LONG}, DIF, 3),
    "names of one type": ({"type": "webpage", "content": LONG}, {"type": "Web", "content": LONG}, DUP, 3),
    "type on one side only": ({"type": "web", "content": LONG}, {"content": LONG}, DUP, 3),
    "two unknown types": ({"type": "foo", "content": LONG}, {"type": "bar", "content": LONG}, DIF, 3),
    "one unknown type": ({"type": "foo", "content": LONG}, {"type": "FOO", "content": LONG}, DUP, 3),
    # --- files ---
    "file id": (file({"file_id": "f1"}), file({"file_id": "F1"}), DUP, 1),
    "other file id, same text": (file({"file_id": "f1"}, content=LONG), file({"file_id": "f2"}, content=LONG), DIF, 1),
    "file id same, unique id other": (
        file({"file_id": "f", "unique_id": "1"}), file({"file_id": "f", "unique_id": "2"}), DIF, 1),
    "file id same, url other": (file({"file_id": "f"}, url=A), file({"file_id": "f"}, url=A + "/b"), DUP, 1),
    "site alone": (file({"site_id": "s"}), file({"site_id": "s"}), UND, 3),
    "site same, text same": (file({"site_id": "s"}, content=LONG), file({"site_id": "s"}, content=LONG), DUP, 3),
    "site other, text same": (file({"site_id": "s"}, content=LONG), file({"site_id": "t"}, content=LONG), DIF, 1),
    "file name and two more": (
        file(file_name="a.doc", author="Ann", file_type="doc"), file(filename="A.doc", author="ann", file_type="DOC"),
        DUP, 3),
    "file name and one more": (file(file_name="a.doc", author="Ann"), file(file_name="a.doc", author="Ann"), UND, 3),
    "file name same, author other": (
        file(file_name="a.doc", author="Ann", file_type="doc", modified=T1),
        file(file_name="a.doc", author="Bob", file_type="doc", modified=T1), DIF, 3),
    "file modified at another time": (file(content=LONG, modified=T1), file(content=LONG, modified=T2), DIF, 3),
    "file modified in another zone's words": (
        file(content=LONG, modified=T1), file(content=LONG, modified=T1_ZONED), DUP, 3),
    "a date and a time on it": (
        file(content=LONG, modified="2026-03-02"), file(content=LONG, modified=T1), DUP, 3),
    "a date and a time on another day": (
        file(content=LONG, modified="2026-03-03"), file(content=LONG, modified=T1), DIF, 3),
    # --- emails ---
    "message id": (email({"message_id": "<1@x>"}), email({"message_id": "<1@X>"}), DUP, 1),
    "email url": (email({"email_url": "https://m/1"}), email({"email_url": "https://m/2"}), DIF, 1),
    "received and sender": (
        email(received=T1, **{"from": "Ann <ann@x.org>"}), email(received=T1_ZONED, sender="ANN@x.org"), DUP, 3),
    "received alone": (email(received=T1), email(received=T1), UND, 3),
    "received at another time": (email(received=T1, subject="Hi"), email(received=T2, subject="Hi"), DIF, 3),
    "subject, text and sender": (
        email(subject="Hi", content=LONG, **{"from": "a@x"}), email(title="hi", content=LONG, **{"from": "a@x"}),
        DUP, 3),
    "subject, sender and recipient": (
        email(subject="Hi", to="b@x", **{"from": "a@x"}), email(subject="Hi", to="b@x", **{"from": "a@x"}), DUP, 3),
    "subject and sender": (
        email(subject="Hi", **{"from": "a@x"}), email(subject="Hi", **{"from": "a@x"}), UND, 3),
    "recipients in another order": (
        email(received=T1, to="a@x; b@x"), email(received=T1, to="B@x, A@x"), DUP, 3),
    "another recipient": (email(received=T1, to="a@x"), email(received=T1, to="c@x"), DIF, 3),
    # --- events ---
    "event id": (event({"event_id": "e1"}), event({"event_id": "e1"}), DUP, 1),
    "recurring event, other day": (
        event({"original_id": "s"}, title="Standup", start=T1, end=T2),
        event({"original_id": "s"}, title="Standup", start=T1_NEXT_WEEK, end=T2_NEXT_WEEK), DIF, 3),
    "recurring event, same day": (
        event({"original_id": "s"}, title="Standup", start=T1, end=T2),
        event({"original_id": "s"}, title="Daily", start=T1_ZONED, end=T2), DUP, 3),
    "event without times": (
        event({"original_id": "s"}, title="Standup"), event({"original_id": "s"}, title="Standup"), UND, 3),
    "event of another series": (
        event({"original_id": "s"}, start=T1, end=T2), event({"original_id": "t"}, start=T1, end=T2), DIF, 1),
    "event by organiser and title": (
        event(start=T1, end=T2, organizer_email="a@x", title="Plan"),
        event(start=T1, end=T2, organizer="A@x", title="plan"), DUP, 3),
    "event by another organiser": (
        event(start=T1, end=T2, organizer_email="a@x", title="Plan"),
        event(start=T1, end=T2, organizer_email="b@x", title="Plan"), DIF, 3),
    "event by title and text": (
        event(start=T1, end=T2, title="Plan", content=LONG), event(start=T1, end=T2, title="Plan", content=LONG), DUP, 3),
    "event times and title alone": (
        event(start=T1, end=T2, title="Plan"), event(start=T1, end=T2, title="Plan"), UND, 3),
    "invitees never count": (
        event({"original_id": "s"}, start=T1, end=T2, invitees="a"),
        event({"original_id": "s"}, start=T1, end=T2, invitees="b"), DUP, 3),
    # --- messages ---
    "item id": (message({"item_id": "i"}), message({"item_id": "i"}), DUP, 1),
    "channel alone": (message({"channel_id": "c"}), message({"channel_id": "c"}), UND, 3),
    "message by text, title and sender": (
        message(content=LONG, title="T", **{"from": "a"}), message(content=LONG, title="T", **{"from": "A"}), DUP, 3),
    "message by text alone": (message(content=LONG), message(content=LONG), UND, 3),
    "message by text and two people": (
        message(content=LONG, to="b", **{"from": "a"}), message(content=LONG, to="b", **{"from": "a"}), DUP, 3),
    "message of another sender": (
        message(content=LONG, title="T", **{"from": "a"}), message(content=LONG, title="T", **{"from": "b"}), DIF, 3),
    # --- people ---
    "person by address": (person({"email": "ann@x.org"}), person({"email": "Ann@X.org"}), DUP, 1),
    "person by name and two more": (
        person(name="Ann Lee", department="R&D", company="X"), person(title="ann lee", department="r&d", company="x"),
        DUP, 3),
    "person by name and one more": (
        person(name="Ann Lee", company="X"), person(name="Ann Lee", company="X"), UND, 3),
    "person of another department": (
        person(name="Ann Lee", department="R", company="X"), person(name="Ann Lee", department="S", company="X"),
        DIF, 3),
    # --- external ---
    "artifact id": (external({"artifact_id": "a"}), external({"artifact_id": "a"}), DUP, 1),
    "plugin other, text same": (
        external({"plugin_id": "p"}, content=LONG), external({"plugin_id": "q"}, content=LONG), DIF, 1),
    "plugin same, text same": (
        external({"plugin_id": "p"}, content=LONG), external({"plugin_id": "p"}, content=LONG), DUP, 3),
    "plugin type other": (
        external(plugin_type="a", content=LONG), external(plugin_type="b", content=LONG), DIF, 3),
    # --- transcripts ---
    "transcript by title and start": (
        transcript(title="Plan", start=T1), transcript(title="Plan", start=T1_ZONED), DUP, 3),
    "transcript by title alone": (transcript(title="Plan"), transcript(title="Plan"), UND, 3),
    "transcript of another time": (
        transcript(title="Plan", start=T1), transcript(title="Plan", start=T1_NEXT_WEEK), DIF, 3),
    # --- ids of no profile ---
    "unknown id is the item's own": ({"ids": {"sku": "1"}}, {"ids": {"sku": "1"}}, DUP, 1),
    "unknown id differs": ({"ids": {"sku": "1"}, "content": LONG}, {"ids": {"sku": "2"}, "content": LONG}, DIF, 1),
    "id of a file without a type": ({"ids": {"file_id": "1"}}, {"ids": {"file_id": "1"}}, DUP, 1),
    "site of a file without a type": ({"ids": {"site_id": "1"}}, {"ids": {"site_id": "1"}}, UND, 3),
    "ids of different names": ({"ids": {"a": "1"}}, {"ids": {"b": "1"}}, UND, 4),
}  # fmt: skip

CHUNK = {"doc_id": "d", "chunk_id": "1"}
# name: (one, other, (verdict, step) of documents, (verdict, step) of passages)
UNITS = {
    "two chunks of a document": (
        {"ids": CHUNK, "content": LONG}, {"ids": {"doc_id": "d", "chunk_id": "2"}, "content": OTHER},
        (DUP, 1), (DIF, 1)),
    "one chunk twice": ({"ids": CHUNK}, {"ids": CHUNK}, (DUP, 1), (DUP, 1)),
    "chunks without a document, other text": (
        {"ids": {"chunk_id": "1"}, "content": LONG}, {"ids": {"chunk_id": "2"}, "content": OTHER}, (DIF, 3), (DIF, 1)),
    "chunk id alone": ({"ids": {"chunk_id": "1"}}, {"ids": {"chunk_id": "1"}}, (DUP, 4), (DUP, 1)),
    "same document, same text, no chunk id": (
        {"ids": {"doc_id": "d"}, "content": LONG}, {"ids": {"doc_id": "d"}, "content": LONG}, (DUP, 1), (DUP, 3)),
    "same document, other text, no chunk id": (
        {"ids": {"doc_id": "d"}, "content": LONG}, {"ids": {"doc_id": "d"}, "content": OTHER}, (DUP, 1), (DIF, 3)),
    "same document and nothing else": (
        {"ids": {"doc_id": "d"}}, {"ids": {"doc_id": "d"}}, (DUP, 1), (UND, 3)),
    "other document, same text": (
        {"ids": {"doc_id": "d"}, "content": LONG}, {"ids": {"doc_id": "e"}, "content": LONG}, (DIF, 1), (DIF, 1)),
    "one page, two passages": (url(A, content=LONG), url(A, content=OTHER), (DUP, 2), (DIF, 3)),
    "one page, one passage": (url(A, content=LONG), url(A, content=LONG), (DUP, 2), (DUP, 3)),
    "one page, no text": (url(A), url(A), (DUP, 2), (DUP, 2)),
    "one page, a passage cut short": (url(A, content=LONG), url(A, content=LONG[:80]), (DUP, 2), (DUP, 3)),
}  # fmt: skip
