"""Clusters, the audit, user-defined profiles, and the normal form."""

import random
import sys
import time
import unicodedata
from pathlib import Path

import pytest

from goodgain import Identity
from goodgain._core import normal_form, without_markup
from goodgain.errors import InputError, UsageError
from goodgain.identity import Profile
from goodgain.identity.profiles import PROFILES

ROOT = Path(__file__).resolve().parents[2]

LONG = "The quick brown fox jumps over the lazy dog while seven wizards watch from the hill beyond the river."


INVISIBLE = "\u00ad\u034f\u061c\u180e\ufeff\ue000\ue001" + "".join(
    map(
        chr,
        (
            *range(0x200B, 0x2010),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2070),
            *range(0xFE00, 0xFE10),
        ),
    )
)
PLAIN = {
    **{ord(c): "" for c in INVISIBLE},
    **{ord(c): "'" for c in "‘’‚‛′ʼ＇"},
    **{ord(c): '"' for c in "“”„‟″＂"},
    **{ord(c): "-" for c in "‐‑‒–—―−﹘﹣－"},
    ord("…"): "...",
}


# The core's tables are the same on every Python; a newer one knows characters that they leave as they are.
TABLES = ROOT / "src" / "core" / "text_tables.inc"
IS_SAME_UNICODE = f"Unicode {unicodedata.unidata_version} " in TABLES.read_text(encoding="utf-8")


def reference(text):
    """The normal form by Python's own tables."""
    text = unicodedata.normalize("NFC", text).translate(PLAIN).casefold()
    return " ".join(unicodedata.normalize("NFC", text).split())


def is_right(text, expected):
    form = normal_form(text)
    return form == expected or (not IS_SAME_UNICODE and form == text)


def test_normal_form_is_that_of_python():
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            text = f"a{chr(code)}b"
            assert is_right(text, reference(text)), hex(code)


def test_composed_and_decomposed_texts_have_one_normal_form():
    for code in range(0x80, sys.maxunicode + 1):
        text = chr(code)
        if not 0xD800 <= code < 0xE000 and unicodedata.normalize("NFD", text) != text:
            expected = reference(f"a {text}b")
            for form in ("NFC", "NFD"):
                assert is_right(unicodedata.normalize(form, f"a {text}b"), expected), hex(code)


def test_normal_form_of_long_texts():
    rng = random.Random(1)
    alphabet = [
        "a",
        "B",
        " ",
        "  ",
        "\t",
        "\n",
        "ß",
        "İ",
        "é",
        "\u3000",
        "漢",
        "🙂",
        "ﬃ",
        "Z",
        "9",
        "-",
        "\x7f",
        "\x01",
        "\u0301",
        "\u0323",
        "\u1100",
        "\u1161",
        "\u11a8",
        "’",
        "\u200b",
        "Ά",
        "ﬁ",
    ]
    for _ in range(3_000):
        text = "".join(rng.choices(alphabet, k=rng.randrange(70)))
        assert normal_form(text) == reference(text), repr(text)


def test_normal_form_of_invalid_unicode():
    assert (
        Identity().compare({"content": LONG + "\ud800"[:0]}, {"content": LONG}).verdict
        == "duplicate"
    )


def test_clusters_name_the_first_of_each():
    clusters = Identity().cluster([{"id": "a"}, {"id": "b"}, {"id": "a"}, {"id": "c"}, {"id": "b"}])
    assert clusters.first == (0, 1, 0, 3, 1)
    assert clusters.groups() == [[0, 2], [1, 4], [3]]
    assert repr(clusters) == "Clusters(5 results, 3 unique)"


def test_a_chain_joins_through_its_middle():
    a = {"url": "https://x.org/a", "content": LONG}
    b = {"content": LONG}
    c = {"url": "https://x.org/b", "content": LONG}
    assert Identity().cluster([a, b]).first == (0, 0)
    clusters = Identity().cluster([a, b, c])  # c is like b, but it is not a
    assert clusters.first == (0, 0, 2)
    assert [d.contradicted for d in clusters.decisions if d.result == 2] == [False, True]
    bridge = {"url": "https://x.org/a", "snippet": LONG}
    assert Identity().cluster([a, bridge, {"snippet": LONG}]).first == (0, 0, 0)


def test_audit_of_merges_and_rejections():
    clusters = Identity().cluster(
        [
            {"url": "https://x.org/a?id=1"},
            {"url": "http://www.x.org/a?id=1#top"},
            {"url": "https://x.org/a?id=2"},
        ]
    )
    decisions = [
        (d.result, d.other, d.key, d.verdict, d.step, d.fields, d.merged)
        for d in clusters.decisions
    ]
    assert decisions == [
        (1, 0, "url", "duplicate", 2, "url", True),
        (2, 0, "url", "different", 2, "url parameter id", False),
    ]  # the second says nothing that the first does not, so nothing is compared with it


def test_profiles_of_the_design():
    names = {p.name for p in PROFILES}
    assert names >= {
        "generic",
        "web",
        "passage",
        "file",
        "email",
        "event",
        "message",
        "person",
        "external",
    }


def test_profiles_from_python_and_toml(tmp_path):
    table = {
        "name": "ticket",
        "definitive": ["ticket_id"],
        "fields": ["title", {"name": "queue"}],
        "rules": ["title + queue"],
    }
    path = tmp_path / "profiles.toml"
    path.write_text(
        '[[profile]]\nname = "ticket"\ndefinitive = ["ticket_id"]\nfields = ["title", {name = "queue"}]\n'
        'rules = ["title + queue"]\n'
    )
    one = {"type": "ticket", "title": "Down", "fields": {"queue": "A"}}
    for identity in (Identity([table]), Identity(path), Identity(str(path))):
        assert identity.compare(one, one).verdict == "duplicate"
        assert identity.compare(one, {**one, "fields": {"queue": "B"}}).verdict == "different"
        assert (
            identity.compare(
                {**one, "ids": {"ticket_id": "1"}}, {**one, "ids": {"ticket_id": "2"}}
            ).step
            == 1
        )
    assert Identity().compare(one, one).verdict == "undecided"


def test_profile_based_on_another():
    profile = {"name": "wiki", "like": "web", "rules": ["title"]}
    assert (
        Identity([profile])
        .compare({"type": "wiki", "title": "A"}, {"type": "wiki", "title": "a"})
        .same
    )


def test_a_profile_replaces_a_built_in_one():
    strict = Profile("generic")
    assert Identity([strict]).compare({"content": LONG}, {"content": LONG}).verdict == "undecided"


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ({"like": "web"}, "the profile has no name"),
        ({"name": "x", "like": "nothing"}, "unknown profile 'nothing'"),
        ({"name": "x", "rule": []}, "unknown profile entry 'rule'"),
        (
            {"name": "x", "rules": ["title + colour"]},
            "unknown field 'colour' in rule 'title + colour'",
        ),
        (
            {"name": "x", "fields": [{"name": "a", "kind": "number"}]},
            "invalid kind of field 'number'",
        ),
        ({"name": "x", "fields": [3]}, "invalid field 3"),
        (
            {"name": "x", "fields": [{"name": "title", "kind": "time"}]},
            "conflicting kinds text and time for field 'title'",
        ),
    ],
)
def test_bad_profiles(profile, message):
    with pytest.raises(InputError) as error:
        Identity([profile])
    assert error.value.message.startswith(message)


def test_invalid_profile_files(tmp_path):
    path = tmp_path / "p.toml"
    with pytest.raises(InputError, match="file not found"):
        Identity(path)
    path.write_text("[[profile]")
    with pytest.raises(InputError, match="invalid TOML"):
        Identity(path)
    path.write_text("a = 1")
    with pytest.raises(InputError, match="unknown table 'a'"):
        Identity(path)
    path.write_text("")
    with pytest.raises(InputError, match=r"no \[\[profile\]\] or \[\[alias\]\] table"):
        Identity(path)


def test_bad_unit():
    with pytest.raises(UsageError, match="invalid unit='page'"):
        Identity(unit="page")


def test_bad_results_name_the_field():
    with pytest.raises(InputError, match=r"field 'results\[1\].title' must be text, got a number"):
        Identity().cluster([{}, {"title": 3}])


@pytest.mark.slow
def test_many_results_of_one_title_stay_linear():
    title = "The same title for every single result of this one conversation"
    rng = random.Random(2)

    def seconds(count):
        texts = [f"{rng.random()} {LONG} {i}" for i in range(count)]
        results = [{"title": title, "content": t} for t in (*texts, *texts[: count // 5])]
        start = time.process_time()  # what else the machine does is not counted
        first, _ = Identity().core.cluster(__import__("json").dumps(results).encode(), 4)
        assert len(set(first)) == count  # every repeated text is found among thousands of one title
        return time.process_time() - start

    seconds(500)
    small, large = min(seconds(1_000) for _ in range(3)), min(seconds(4_000) for _ in range(3))
    assert large < small * 4 * 2.5  # quadratic would be sixteen times


def brute_force(results, identity):
    """Compare every earlier result; the first verified one that its cluster's first does not contradict."""
    first = []
    for n, result in enumerate(results):
        cluster = n
        for m in range(n):
            if identity.compare(results[m], result).same:
                head = first[m]
                if head == m or identity.compare(results[head], result).verdict != "different":
                    cluster = head
                    break
        first.append(cluster)
    return tuple(first)


def test_clusters_agree_with_all_pairs():
    rng = random.Random(3)
    texts = [LONG, LONG[:80], LONG.upper(), LONG + " more", "short", "short text", LONG[:55]]
    urls = ["https://x.org/a", "http://www.x.org/a/", "https://x.org/a?id=1", "https://x.org/b"]
    identity = Identity()
    for _ in range(150):
        results = []
        for _ in range(rng.randrange(2, 12)):
            r = {}
            if rng.random() < 0.4:
                r["id"] = rng.choice("ab")
            if rng.random() < 0.4:
                r["url"] = rng.choice(urls)
            for name in ("title", "snippet", "content"):
                if rng.random() < 0.4:
                    r[name] = rng.choice(texts)
            if rng.random() < 0.3:
                r["type"] = rng.choice(["web", "file", "email"])
            if rng.random() < 0.3:
                r["fields"] = {
                    "author": rng.choice(["Ann", "Bob"]),
                    "received": rng.choice(["2026-01-01", "2026-01-02"]),
                }
            if rng.random() < 0.3:
                r["ids"] = {rng.choice(["file_id", "site_id"]): rng.choice("12")}
            results.append(r)
        assert identity.cluster(results).first == brute_force(results, identity)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("plain", "plain"),
        ("a &amp; b", "a & b"),
        ("a &amp;amp; b", "a & b"),
        ("&#39;x&#x27;", "'x'"),
        ("&eacute;&hellip;", "é…"),
        ("AT&T; and R&D", "AT&T; and R&D"),
        ("&nosuch; &#0; &#xD800;", "&nosuch; &#0; &#xD800;"),
        ("<em>a</em>b", "ab"),
        ('<span class="x">a</span> <B>b</B>', "a b"),
        ("a<br>b<br/>c", "a b c"),
        ("<p>a</p><p>b</p>", " a  b "),
        ("&lt;mark&gt;a&lt;/mark&gt;", "a"),
        ("the <b> element", "the <b> element"),
        ("if a < b and c > d", "if a < b and c > d"),
        ("x <a href='y'>z</a>", "x <a href='y'>z</a>"),
        ("**a** b", "a b"),
        ("**a**b", "ab"),
        ("2**8 = 256", "2**8 = 256"),
        ("a ** b ** c", "a ** b ** c"),
        ("***a***", "***a***"),
        ("**cut", "cut"),
        ("", ""),
    ],
)
def test_text_without_markup(text, plain):
    assert without_markup(text) == plain


MAIL = "https://mail.example.com/"
ONE, TWO = "The numbers of the third quarter are attached.", "Shall we go to the new place today?"


def page(title=None, text=None, **more):
    return {"url": MAIL, "title": title, "snippet": text, **more}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (page("Budget", ONE), page("Lunch", TWO), False),
        (page("Budget", ONE), page("Budget", TWO), True),
        (page("Budget", ONE), page("Lunch", ONE), True),
        (page("Budget", ONE), page("Lunch"), True),
        (page("Budget", ONE), page(None, TWO), True),
        (page("Budget", ONE), page("Budget - Mail", TWO), True),
        (page("Budget - Mail", ONE), page("Lunch - Mail", TWO), False),
        (page("Mail: Budget", ONE), page("Mail: Lunch", TWO), False),
        (page("Example mail | Budget", ONE), page("Example mail | Lunch", TWO), False),
        (page("Mail", ONE), page("Lunch - Mail", TWO), False),
        (page("Budget of the year ...", ONE), page("Budget of the year 2026", TWO), True),
        (page("Budget", ONE), page("Lunch", None, content=f"Hello. {ONE} Regards"), True),
        (page("Budget", content=ONE), page("Lunch", content=TWO), False),
        (
            page("Re: Budget", type="email", fields={"from": "a@x.org"}),
            page("Lunch", type="email", fields={"from": "b@x.org"}),
            False,
        ),
        (
            page("Standup", type="event", fields={"start": "2026-03-02T09:00Z"}),
            page("Standup", type="event", fields={"start": "2026-03-03T09:00Z"}),
            False,
        ),
        (
            page("Plan", type="file", fields={"modified": "2026-03-02T09:00Z"}),
            page("Plan (2)", type="file", fields={"modified": "2026-03-03T09:00Z"}),
            True,
        ),
    ],
)
def test_equal_urls_do_not_override_different_title_and_text(one, other, same):
    for a, b in ((one, other), (other, one)):
        comparison = Identity().compare(a, b)
        assert comparison.same is same, comparison
        assert comparison.step == (2 if same else 3)


def test_clusters_of_aliases_agree_with_all_pairs():
    rng = random.Random(4)
    urls = [
        "https://youtu.be/dQw4w9WgXcQ", "https://www.youtube.com/watch?v=dQw4w9WgXcQ", "https://m.x.org/a-b",
        "https://x.org/a-b", "https://x.org/a-b/amp", "https://x.org/#inbox/A", "https://x.org/#inbox/B", "https://x.org/",
        "https://x.org/?view=1", "https://web.archive.org/web/2020/https://x.org/a-b",
    ]  # fmt: skip
    titles = ["Budget", "Lunch", "Budget - X", None]
    texts = [LONG, LONG[:60], f"<b>{LONG}</b>", ONE, TWO, None]
    identity = Identity()
    for _ in range(200):
        results = [
            {
                "url": rng.choice([*urls, None]),
                "title": rng.choice(titles),
                "snippet": rng.choice(texts),
                "type": rng.choice(["web", None]),
            }
            for _ in range(rng.randrange(2, 12))
        ]
        assert identity.cluster(results).first == brute_force(results, identity)
