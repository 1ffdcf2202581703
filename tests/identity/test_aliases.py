"""The rule file: its examples, the language it is written in, user files, and hostile URLs."""
# ruff: noqa: E501 - URLs

import random
import string
import time

import pytest

from goodgain import Identity
from goodgain.errors import InputError
from goodgain.identity.aliases import built_in
from goodgain.identity.identity import wrong_examples

RULES = [("alias", rule) for rule in built_in().aliases] + [("id", rule) for rule in built_in().ids]


def reduced(url, identity=None):
    page, parameters, _ = (identity or Identity()).core.reduce_url(url)
    return page, parameters


@pytest.mark.parametrize(("kind", "rule"), RULES, ids=[rule["name"] for _, rule in RULES])
def test_examples_of_every_rule(kind, rule):
    assert rule.get("same") or rule.get("different")
    assert not wrong_examples(Identity(), kind, rule)


@pytest.mark.parametrize(("kind", "rule"), RULES, ids=[rule["name"] for _, rule in RULES])
def test_every_rule_is_used_by_one_of_its_examples(kind, rule):
    """A rule that an earlier one hides would be dead data."""
    if kind == "id" or not any(name in rule for name in ("key", "url", "host", "path")):
        return
    urls = [url for name in ("same", "different") for pair in rule.get(name, []) for url in pair]
    names = [Identity().core.reduce_url(url)[2].split(", ") for url in urls]
    assert any(rule["name"] in used for used in names)


def test_names_are_unique():
    for rules in (built_in().aliases, built_in().ids):
        names = [rule["name"] for rule in rules]
        assert len(set(names)) == len(names)


TOML = """
[parameters]
ignore = ["trace*", "mode=print"]
select = ["lang"]

[[alias]]
name = "tickets"
hosts = ["tickets.example.com", "{region}.tickets.example.com"]
paths = ["/t/{id:digits}[/{:any}]", "/show?ticket={id:digits}"]
key = "ticket:{id}"
same = [["https://tickets.example.com/t/12/title", "https://eu.tickets.example.com/show?ticket=12"]]
different = [["https://tickets.example.com/t/12", "https://tickets.example.com/t/13"]]

[[id]]
name = "ticket"
patterns = ["#{id:digits}", "TICKET-{id:digits}"]
key = "ticket|{id}"
same = [["#12", "TICKET-12"], ["#12", "https://tickets.example.com/t/12"]]

[[profile]]
name = "ticket"
definitive = ["ticket_id"]
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.toml"

    def write(text):
        path.write_text(text)
        return path

    return write


def test_a_file_of_rules(rules):
    identity = Identity(rules(TOML))
    assert reduced("https://tickets.example.com/t/12/x?a=b", identity) == ("ticket|12", [])
    assert (
        identity.compare(
            {"url": "https://eu.tickets.example.com/show?ticket=12"}, {"id": "#12"}
        ).same
        is False
    )
    assert identity.compare({"id": "TICKET-12"}, {"id": "#12"}).same
    assert reduced("https://example.com/a?traceid=1&mode=print&mode=x", identity)[1] == [
        ("mode", "x")
    ]
    other = identity.compare(
        {"url": "https://example.com/a?lang=en"}, {"url": "https://example.com/a?lang=de"}
    )
    assert (other.verdict, other.fields) == ("different", "url parameter lang")
    assert identity.profiles != Identity().profiles
    assert identity != Identity()
    assert identity == Identity(rules(TOML))


def test_aliases_in_python():
    alias = {
        "name": "wiki",
        "hosts": ["wiki.example.com"],
        "paths": ["/{title}"],
        "key": "wiki:{title|lower}",
    }
    identity = Identity(aliases=[alias])
    comparison = identity.compare(
        {"url": "https://wiki.example.com/Home"}, {"url": "https://wiki.example.com/home"}
    )
    assert comparison.same
    assert comparison.rule == "wiki"


@pytest.mark.parametrize(
    ("pattern", "hosts"),
    [("wiki.example.com[.au]", ["wiki.example.com", "wiki.example.com.au"]),
     ("w{n:digits}.example.w", ["w1.example.w", "w22.example.w"])],
)  # fmt: skip
def test_hosts_with_optional_ends_and_equal_ends(pattern, hosts):
    alias = {"name": "wiki", "hosts": [pattern], "paths": ["/{title}"], "key": "wiki:{title|lower}"}
    identity = Identity(aliases=[alias])
    assert {reduced(f"https://{host}/Home", identity)[0] for host in hosts} == {"wiki|home"}


def test_own_rules_come_first():
    alias = {
        "name": "by list",
        "hosts": ["youtube.com"],
        "paths": ["/watch?list={id}"],
        "key": "list:{id}",
    }
    url = "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PL1"
    assert reduced(url)[0] == "youtube|dQw4w9WgXcQ"
    assert reduced(url, Identity(aliases=[alias]))[0] == "list|PL1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[alias]]\nname = "a"', "missing entry 'hosts'"),
        ('[[alias]]\nname = "a"\nhosts = "x.org"', "'hosts' must be a list of texts"),
        ('[[alias]]\nname = "a"\nhosts = ["x.org"]\nkeys = "a"', "unknown entry 'keys'"),
        (
            '[[alias]]\nname = "a"\nhosts = ["x.org"]\ncertainty = "sure"',
            "invalid certainty 'sure'",
        ),
        (
            '[[alias]]\nname = "a"\nhosts = ["x.org"]\nany_case = "yes"',
            "'any_case' must be true or false",
        ),
        (
            '[[alias]]\nname = "a"\nhosts = ["x.org"]\nsame = [["a"]]',
            "'same' must be a list of pairs",
        ),
        ('[[alias]]\nname = "a"\nhosts = ["x.org"]\npaths = ["/{a"]', "unbalanced '{' in '/{a'"),
        ('[[alias]]\nname = "a"\nhosts = ["x.org"]\npaths = ["/[a"]', "unbalanced '[' in '/[a'"),
        ('[[alias]]\nname = "a"\nhosts = ["x.org"]\npaths = ["/a]"]', "unbalanced ']' in '/a]'"),
        (
            '[[alias]]\nname = "a"\nhosts = ["x.org"]\npaths = ["/{a:letter}"]',
            "unknown class 'letter'",
        ),
        (
            '[[alias]]\nname = "a"\nhosts = ["x.org"]\npaths = ["/{a:digits x}"]',
            "invalid length 'x'",
        ),
        ('[[alias]]\nname = "a"\nhosts = ["x.org"]\nkey = "{b}"', "unknown capture 'b'"),
        (
            '[[alias]]\nname = "a"\nhosts = ["x.org"]\npaths = ["/{b}"]\nkey = "{b|upper}"',
            "unknown filter 'upper'",
        ),
        (
            '[[alias]]\nname = "a"\nhosts = ["*"]\npaths = ["/{b}"]\nkey = "{b}"',
            "a path for any host needs a literal",
        ),
        ('[[alias]]\nname = "a"\nhosts = ["*"]\nkey = "b"', "an alias for any host needs paths"),
        (
            '[[alias]]\nname = "a"\nhosts = ["{b}.{c}"]\nkey = "b"',
            "a host pattern needs literal labels",
        ),
        ('[[id]]\nname = "a"\npatterns = ["x"]', "missing entry 'key'"),
        ('[parameters]\nignored = ["x"]', "unknown entry 'ignored'"),
        (
            '[[alias]]\nname = "a"\nhosts = ["x.org"]\npaths = ["/{b}"]\nkey = "{b}"\nsame = [["http://x.org/1", "http://x.org/2"]]',
            "'http://x.org/1' and 'http://x.org/2' should be same",
        ),
    ],
)
def test_bad_rules_name_the_place(rules, text, message):
    with pytest.raises(InputError) as error:
        Identity(rules(text)).core  # noqa: B018 - compiling is what fails
    assert error.value.message.startswith(message), error.value
    assert "rules.toml" in str(error.value.where) or "alias 'a'" in str(error.value.where)


@pytest.mark.parametrize(
    ("pattern", "url", "key"),
    [
        ("/{a}", "https://x.org/b/", "x|b||"),
        ("/{a}", "https://x.org/b/c", None),
        ("/{a:any}", "https://x.org/b/c", "x|b/c||"),
        ("/{a}[/{b}]", "https://x.org/1/2", "x|1|2|"),
        ("/{a}[/{b}]", "https://x.org/1", "x|1||"),
        ("/{a}[/{b}[/{c}]]", "https://x.org/1/2/3", "x|1|2|3"),
        ("/{a=p|q}-{b:digits 2}", "https://x.org/q-12", "x|q|12|"),
        ("/{a=p|q}-{b:digits 2}", "https://x.org/q-123", None),
        ("/{p|q}{b:digits 2-3}", "https://x.org/p123", "x||123|"),
        ("/{a:digits}.{b:letters}", "https://x.org/12.ab", "x|12|ab|"),
        ("/{a:number}[v{b:digits}][.pdf]", "https://x.org/1.2v3.pdf", "x|1.2|3|"),
        ("/{a:number}[v{b:digits}][.pdf]", "https://x.org/1.2.pdf", "x|1.2||"),
        ("/{a:any}-{b:hex 4}", "https://x.org/a-b-c-00ff", "x|a-b-c|00ff|"),
        ("?p={a}&q={b}", "https://x.org/any/path?q=2&z=3&P=1", "x|1|2|"),
        ("?p={a}&q={b}", "https://x.org/any/path?q=2", None),
        ("/f#{a}/{b}", "https://x.org/f#1/2", "x|1|2|"),
        ("/", "https://x.org/", "x|||"),
        ("/a b", "https://x.org/a%20b", None),
        ("/é{a}", "https://x.org/%C3%A9x", "x|x||"),
    ],
)
def test_the_language_of_paths(pattern, url, key):
    captures = "[/{a}][/{b}][/{c}]"  # so that all three exist
    alias = {
        "name": "t",
        "hosts": ["x.org"],
        "paths": [pattern, f"/never/{captures}/never"],
        "key": "x:{a}|{b}|{c}",
    }
    page, _, used = Identity(aliases=[alias]).core.reduce_url(url)
    assert (page if used else None) == key


@pytest.mark.parametrize(
    ("host", "url", "matches"),
    [
        ("x.org", "https://x.org/", True),
        ("x.org", "https://www.x.org/", True),
        ("x.org", "https://a.x.org/", False),
        ("x.org", "https://notx.org/", False),
        ("*.x.org", "https://a.b.x.org/", True),
        ("*.x.org", "https://x.org/", False),
        ("{a}.x.org", "https://a.x.org/", True),
        ("{a}.x.org", "https://a.b.x.org/", False),
        ("x.*", "https://x.co.uk/", True),
        ("x.*", "https://a.x.com/", False),
        ("{a|b}.x.org", "https://b.x.org/", True),
        ("{a|b}.x.org", "https://c.x.org/", False),
    ],
)
def test_the_language_of_hosts(host, url, matches):
    alias = {"name": "t", "hosts": [host], "key": "x:y"}
    assert (Identity(aliases=[alias]).core.reduce_url(url)[0] == "x|y") is matches


HOSTILE = {
    "pluses": lambda n: "https://example.com/?a=" + "+" * n,
    "percent signs": lambda n: "https://example.com/" + "%" * n,
    "encoded characters": lambda n: "https://example.com/" + "%2f%28" * (n // 6),
    "combining marks": lambda n: "https://example.com/e" + "%CC%81%CC%A3" * (n // 12),
    "slashes": lambda n: "https://example.com/" + "/" * n,
    "segments": lambda n: "https://example.com/" + "amp/" * (n // 4),
    "hyphens before AMP": lambda n: "https://example.com/" + "a-" * (n // 2) + "/amp",
    "parameters": lambda n: "https://example.com/?" + "&".join(f"a{i}=1" for i in range(n // 8)),
    "one parameter": lambda n: "https://www.youtube.com/watch?" + "v=x&" * (n // 4),
    "labels": lambda n: "https://" + "a." * (n // 2) + "wikipedia.org/wiki/A",
    "semicolons": lambda n: "https://example.com/?a=" + "&amp;" * (n // 5),
    "wrappers side by side": lambda n: "https://www.google.com/url?q=" + "https://www.google.com/url?q=" * (n // 29),
    "a long DOI": lambda n: "https://dl.acm.org/doi/10.1/" + "a/" * (n // 2),
    "a long Medium slug": lambda n: "https://medium.com/" + "a-" * (n // 2) + "zz",
    "a long Notion slug": lambda n: "https://www.notion.so/" + "0-" * (n // 2),
}  # fmt: skip


def nested(depth):
    """A redirect in a redirect in a redirect."""
    from urllib.parse import quote

    url = "https://example.com/a"
    for _ in range(depth):
        url = "https://www.google.com/url?q=" + quote(url, safe="")
    return url


def seconds(results):
    identity = Identity()
    start = time.process_time()
    identity.cluster(results)
    return time.process_time() - start


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_urls_take_linear_time(name):
    make = HOSTILE[name]
    small = min(seconds([{"url": make(20_000)}] * 2) for _ in range(3))
    large = min(seconds([{"url": make(320_000)}] * 2) for _ in range(3))
    assert large < max(small, 0.002) * 16 * 3, (small, large)


def test_nested_wrappers():
    assert reduced(nested(6)) == reduced("https://example.com/a")
    deep = nested(12)  # twice as long with each level
    start = time.process_time()
    Identity().compare({"url": deep}, {"url": deep})
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "text",
    ["&amp;" * 40_000, "<" * 200_000, "<b>" * 70_000 + "</b>", "**" * 100_000, "&" * 200_000 + ";", ">" * 100_000 + "</",
     "e" + "\u0301" * 100_000, "**a " * 50_000],
    ids=["entities", "less-than", "tags", "stars", "ampersands", "greater-than", "marks", "highlights"],
)  # fmt: skip
def test_hostile_texts_take_linear_time(text):
    assert seconds([{"content": text, "url": "http://x.org", "title": text[:500]}] * 2) < 1


def test_random_rules_and_urls():
    """Patterns of any shape either do not compile or match something without harm."""
    rng = random.Random(5)
    pieces = [
        "/",
        "{a}",
        "{a:any}",
        "{b:digits 2+}",
        "[",
        "]",
        "{x|y}",
        "a",
        "-",
        "{c:hex 1-3}",
        "?q={a}",
        "#{b}",
        "{",
        "}",
    ]
    letters = string.ascii_letters + string.digits + "/-._~%?&=#+:;@!$'()*,[] é"
    compiled = 0
    for _ in range(400):
        alias = {
            "name": "r",
            "hosts": [rng.choice(["x.org", "*.x.org", "{a}.x.org"])],
            "paths": ["".join(rng.choices(pieces, k=rng.randrange(1, 9)))],
            "key": rng.choice(["k:{a|lower}", "k:v"]),
        }
        try:
            core = Identity(aliases=[alias]).core
        except InputError:
            continue
        compiled += 1
        for _ in range(20):
            url = f"https://{rng.choice(['', 'b.'])}x.org/" + "".join(
                rng.choices(letters, k=rng.randrange(40))
            )
            page, parameters, _ = core.reduce_url(url)
            assert page
            assert parameters == sorted(parameters)
            assert core.reduce_url(url)[0] == page
    assert compiled > 50
