"""The judging page in a real browser: keys, two people at once, a kill in the middle, blindness, axe."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter

import pytest
from axe_core_python.sync_playwright import Axe
from judging_client import MODEL, judge_with_model, rows, write_pairs
from playwright.sync_api import expect

from goodgain.labels import Store
from goodgain.labels.people import read_votes

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


class Command:
    """`goodgain judge` as a process, which can be killed and started again."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        self.arguments = arguments
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "goodgain", "judge", *self.arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
            env={**os.environ, "XDG_STATE_HOME": str(self.folder / "state")},
        )  # fmt: skip
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            raise AssertionError(self.process.stderr.read().decode())

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=20)


class Person:
    """A browser of its own, and every byte that the server sent to it."""

    def __init__(self, browser, url, name, *, dark=False, width=1280):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        self.page = self.context.new_page()
        self.name = name
        self.responses = []
        self.problems = []
        self.page.on("response", self._received)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.page.on(
            "request",
            lambda request: request.url.startswith(url) or self.problems.append(request.url),
        )
        self.page.goto(url)
        if name:
            self.page.get_by_label("Your name").fill(name)
            self.page.keyboard.press("Enter")
            self.page.wait_for_function("() => work.progress !== null")

    def _received(self, response):
        path, _, query = response.url.rpartition("/")[2].partition("?")
        try:
            self.responses.append((path, query, response.text()))
        except Exception as error:  # the server was killed before the end
            self.responses.append((path, query, f"{error!r}"))

    def judge(self, key):
        """Press a key, and wait until the vote is saved and the next item is there."""
        before = self.page.evaluate("work.item.key")
        self.page.keyboard.press(key)
        self.page.wait_for_function(
            "before => !work.saving && work.item?.key !== before", arg=before
        )

    def well(self):
        assert self.problems == []
        assert self.page.evaluate("window.ran") is None


def serious(page):
    report = Axe().run(page, options=RULES)
    return [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in report["violations"]]


def votes_of(folder, **options):
    with Store(folder / "labels.db", read_only=True) as store:
        return read_votes(store, **options)


@pytest.fixture
def command(tmp_path):
    """`command(pairs, ...)`: the command over a store in which a model has judged the pairs."""
    commands = []

    def begin(pairs, *arguments, labelled=True):
        write_pairs(tmp_path / "pairs.jsonl", pairs)
        if labelled:
            judge_with_model(tmp_path / "labels.db", pairs)
        commands.append(Command(tmp_path, "labels.db", "--pairs", "pairs.jsonl", *arguments))
        return commands[-1]

    yield begin
    for one in commands:
        one.stop()


@pytest.mark.slow
def test_fifty_labels_by_two_people_with_a_reload_and_a_kill(command, browser, tmp_path):
    """Nothing is lost, nothing is stored twice, and nothing unblinds."""
    judge = command(rows(10, 5))
    people = [Person(browser, judge.url, name) for name in ("Ann", "Bob")]
    chosen = []  # every vote as the person meant it
    for turn in range(50):
        person = people[turn % 2]
        page = person.page
        if turn == 17:  # reload: the same item is there again
            key = page.evaluate("work.item.key")
            page.reload()
            page.wait_for_function("key => work.item?.key === key", arg=key)
        doc, question = page.evaluate("[work.item.doc, work.item.question]")
        expect(page.locator("h2#question")).to_have_text(question)
        if turn == 30:  # kill -9, then a vote into the void
            judge.kill()
            page.keyboard.press(str(turn % 5))
            expect(page.locator("#alert")).to_contain_text("Not saved")
            expect(page.locator(".last")).not_to_contain_text(doc)
            before = len(votes_of(tmp_path))
            assert before == 30
            judge.start()
            page.wait_for_function("doc => work.item?.doc !== doc", arg=doc, timeout=20_000)
            expect(page.locator("#alert")).to_be_empty()
        elif turn == 40:  # kill, press, and reload before the server is back
            judge.kill()
            page.keyboard.press(str(turn % 5))
            expect(page.locator("#alert")).to_contain_text("Not saved")
            judge.start()
            page.reload()
            page.wait_for_function("doc => work.item && work.item.doc !== doc", arg=doc)
        else:
            person.judge(str(turn % 5))
        chosen.append((person.name, doc, turn % 5))
    for person in people:
        expect(person.page.locator("#question")).to_have_text("Nothing left to judge")
    stored = votes_of(tmp_path, history=True)
    assert Counter((v.annotator, v.doc, v.gain) for v in stored) == Counter(chosen)
    assert len({doc for _, doc, _ in chosen}) == 50
    assert all(vote.seconds is not None and vote.seconds < 60 for vote in stored)
    for person in people:
        _check_blindness(person)
        person.well()
        person.context.close()


def _check_blindness(person):
    """A model's label is only in the `last` of a response, and only about a document that has a vote."""
    names = {}
    for path, _query, text in person.responses:
        if not text.startswith("{"):
            assert MODEL not in text
            continue
        answer = json.loads(text)
        last = answer.pop("last", None)
        assert MODEL not in json.dumps(answer), path
        assert all(word not in json.dumps(answer) for word in ('"gain":3', '"models"')) or path in (
            "setup",
        )
        if answer.get("item"):
            names[answer["item"]["key"]] = answer["item"]["doc"]
            assert last is None or last["item"] != answer["item"]["key"]
        if last:
            assert [m["gain"] for m in last["models"]] == [3]
    assert len(names) >= 24


def test_notes_skips_and_undo_by_keyboard(command, browser, tmp_path):
    judge = command(rows(2, 2), "--seed", "3")
    person = Person(browser, judge.url, "Ann")
    page = person.page
    page.keyboard.press("n")
    page.keyboard.type("3 is what I think")  # digits in a note are text
    page.keyboard.press("Escape")
    assert votes_of(tmp_path) == []
    page.reload()
    expect(page.locator("#note")).to_have_value("3 is what I think")
    person.judge("4")
    expect(page.locator("#status")).to_have_text("Saved: 4.")
    expect(page.locator(".last")).to_contain_text(MODEL)
    first = page.evaluate("work.last.item")
    page.keyboard.press("u")
    page.wait_for_function("key => work.item.key === key", arg=first)
    expect(page.locator("#note")).to_have_value("3 is what I think")
    person.judge("1")
    page.keyboard.press("s")
    expect(page.get_by_role("dialog")).to_contain_text("Skip: why?")
    person.judge("2")
    history = votes_of(tmp_path, history=True)
    assert [(v.status, v.gain, v.note) for v in history if v.status != "skipped"] == [
        ("label", 4, "3 is what I think"),
        ("withdrawn", None, "3 is what I think"),
        ("label", 1, "3 is what I think"),
    ]
    (skip,) = [v for v in history if v.status == "skipped"]
    assert skip.reason == "I cannot read the document"
    page.keyboard.press("?")
    page.get_by_label("Single keys work").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("3")
    expect(page.locator("#progress")).to_contain_text("1 label by you, 1 skipped; 2 to go")
    page.get_by_role("button", name=re.compile("^3 largely")).click()
    expect(page.locator("#progress")).to_contain_text("2 labels by you")
    person.well()


def test_a_held_key_labels_one_document(command, browser, tmp_path):
    judge = command(rows(2, 3), labelled=False)
    person = Person(browser, judge.url, "Ann")
    for _ in range(5):
        person.page.keyboard.down("2")  # repeats until it is released
    expect(person.page.locator("#progress")).to_contain_text("1 label by you")
    person.page.keyboard.up("2")
    person.judge("1")
    assert sorted(v.gain for v in votes_of(tmp_path)) == [1, 2]


def test_the_clock_stops_while_the_page_is_hidden(command, browser, tmp_path):
    judge = command(rows(1, 2), labelled=False)
    person = Person(browser, judge.url, "Ann")
    page = person.page
    times = page.evaluate(
        """async () => {
            const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
            session.setup.idle = 0.2;  // instead of a minute
            clock.start("x");
            await wait(1000);
            const idle = clock.seconds();
            Object.defineProperty(document, "hidden", { value: true, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
            await wait(500);
            const hidden = clock.seconds();
            Object.defineProperty(document, "hidden", { value: false, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
            return [idle, hidden, clock.seconds()];
        }"""
    )
    assert times[0] == 0.2 and times[1] <= 0.4 and times[2] <= 0.6


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("How do I rotate keys?", "Rotate the key; the keys' rotation is not rotating it.",
         ["Rotate", "key", "keys"]),
        ("Was ist ein Schlüssel?", "Ein SCHLUSSEL, viele Schlüssel.", ["Ein", "SCHLUSSEL", "Schlüssel"]),
        ("东京的天气怎么样", "今天东京天气很好", ["东京天气"]),
        ("東京タワーの高さ", "東京タワーは高さ333メートル", ["東京タワー", "高"]),
        ("كيف يعمل القاموس", "هذا قاموس جديد", ["قاموس"]),
        ("서울 날씨", "서울의 날씨는 맑다", ["서울의", "날씨는"]),
        ("Что такое хэш", "Хэш это число", ["Хэш"]),
        ("यह क्या है", "यह एक किताब है", ["यह", "है"]),
        ("ราคาทองคำ", "วันนี้ราคาทองคำขึ้น", ["ราคาทองคำ"]),
        ("the of and", "of the people", ["of", "the"]),
        ("C# <b>", "c# <b>bold</b> & <script>", ["b", "b"]),
    ],
)  # fmt: skip
def test_the_words_of_the_question_are_marked(command, browser, question, text, marked):
    page = browser.new_page()
    judge = command(rows(1, 1), labelled=False)
    page.goto(judge.url)
    words = page.evaluate(
        "([q, t]) => [...bodyText(t, wordsOf(q)).querySelectorAll('mark')].map(m => m.textContent)",
        [question, text],
    )
    whole = page.evaluate("([q, t]) => bodyText(t, wordsOf(q)).textContent", [question, text])
    page.close()
    assert whole == text
    if question == "C# <b>":
        assert set(words) <= {"c", "b"}
    else:
        assert words == marked


HOSTILE = [
    "<script>window.ran = 1</script>",
    '"><img src=x onerror="window.ran = 2">',
    "javascript:window.ran=3",
    "${window.ran = 4} `window.ran = 5` [x](javascript:window.ran=6)",
    "evil\u202e txt.exe \u2066inside\u2069",
    "**<svg onload=window.ran=7>** `<img src=x onerror=window.ran=8>`",
    "__proto__",
]


def _with_reason(route, reason):
    """A skip with a reason of somebody's own, as a script could send it."""
    posted = route.request.post_data_json
    route.continue_(post_data=json.dumps({**posted, "reason": reason}))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_hostile_text_is_only_text(command, browser, tmp_path, dark):
    pairs = [
        {"query_id": f"q{i}", "doc_id": text, "question": text, "title": text, "text": text,
         "url": text, "narrative": text}
        for i, text in enumerate(HOSTILE)
    ]  # fmt: skip
    (tmp_path / "guide.md").write_text("# " + "\n\n- ".join(HOSTILE), encoding="utf-8")
    judge = command(pairs, "--guidelines", "guide.md", "--overlap", "1")
    name = "<img src=x onerror=window.ran=9>"
    person = Person(browser, judge.url, name, dark=dark)
    page = person.page
    page.keyboard.press("g")
    expect(page.locator("#guidelines")).to_contain_text("<svg onload=window.ran=7>")
    assert page.locator("#guidelines a").count() == 0
    for i in range(len(HOSTILE)):
        expect(page.locator(".document")).to_be_visible()
        assert page.locator(".document a").count() == 0  # none of them is a web address
        page.locator("#note").fill(HOSTILE[i])
        page.locator(f".choice[data-value='{i % 5}']").click()
        expect(page.locator("#progress")).to_contain_text(f"{i + 1} label")
    other = Person(browser, judge.url, HOSTILE[1], dark=dark)
    reason = f"{HOSTILE[1]} {HOSTILE[4]}"
    other.page.route("**/vote", lambda route: _with_reason(route, reason))
    other.page.keyboard.press("s")
    other.page.keyboard.press("1")
    last = other.page.locator(".last")
    expect(last).to_contain_text(f"skipped ({HOSTILE[1]} evil\\u202e txt.exe")
    assert "\u202e" not in last.inner_text()
    other.page.unroute("**/vote")
    for _ in HOSTILE[1:]:
        other.judge("4")
    other.page.get_by_role("button", name="Agreement").click()
    expect(other.page.locator("#main")).to_contain_text(name)
    other.page.get_by_role("button", name="Adjudicate").click()
    expect(other.page.locator("#main table")).not_to_have_count(0)
    assert serious(other.page) == []
    for one in (person, other):
        one.well()
        one.context.close()


def test_disagreements_are_settled_on_the_page(command, browser, tmp_path):
    judge = command(rows(1, 3), "--overlap", "1", labelled=False)
    for name, keys in (("Ann", "111"), ("Bob", "144")):
        person = Person(browser, judge.url, name)
        by_doc = dict(zip(("d0-0", "d0-1", "d0-2"), keys, strict=True))
        for _ in range(3):
            person.judge(by_doc[person.page.evaluate("work.item.doc")])
        person.context.close()
    page = browser.new_page()
    page.goto(judge.url)
    page.get_by_label("Your name").fill("Judge")
    page.get_by_label("I only settle").check()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#main")).to_contain_text("2 disagreements to settle.")
    assert serious(page) == []
    page.get_by_label("Settle disagreement 1").get_by_role("button", name="2").click()
    expect(page.locator("#main")).to_contain_text("1 disagreement to settle, 1 settled.")
    page.get_by_role("button", name="Judge", exact=True).click()
    expect(page.locator("#main")).to_contain_text("You adjudicate under this name")
    page.close()
    settled = [v for v in votes_of(tmp_path) if v.annotator == "adjudicated by Judge"]
    assert [v.gain for v in settled] == [2]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_view_is_accessible_and_fits(command, browser, tmp_path, dark, width):
    (tmp_path / "guide.md").write_text("# How\n\n1. Read\n2. Judge\n\n```\ncode\n```\n")
    judge = command(rows(12, 1), "--overlap", "1", "--guidelines", "guide.md")
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    for name in ("Ann", "Bob"):
        person = Person(browser, judge.url, "", dark=dark, width=width)
        page = person.page
        page.get_by_label("Your name").wait_for()
        assert serious(page) == []
        page.get_by_label("Your name").fill(name)
        page.keyboard.press("Enter")
        expect(page.locator(".document")).to_be_visible()
        assert serious(page) == [] and page.evaluate(sideways) == 0
        for i in range(12):
            person.judge(str((i + len(name) * (name == "Bob")) % 5))
        if name == "Ann":
            person.context.close()
    assert serious(page) == []  # nothing left
    page.get_by_role("button", name="Guidelines").click()
    expect(page.locator("#guidelines li").first).to_be_visible()
    assert serious(page) == [] and page.evaluate(sideways) == 0
    for view in ("Agreement", "Adjudicate"):
        page.get_by_role("button", name=view).click()
        expect(page.locator("h2#question")).to_have_text(view)
        expect(page.locator("#main table").first).to_be_visible()
        assert serious(page) == [] and page.evaluate(sideways) == 0
    page.get_by_role("button", name="Keys").click()
    assert serious(page) == []
    page.keyboard.press("Escape")
    person.well()
    person.context.close()
