"""What an answer cites: markers, links and URLs of its text, and what each provider says itself."""
# ruff: noqa: E501

import json
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.traces.citations import citations_of, text_citations

SAMPLES = Path(__file__).parent / "samples"
# A single reply that calls tools, and spans that name responses without their text.
WITHOUT_ANSWER = ("openai-chat-stream.sse", "openai-agents-spans.jsonl")


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("It rises there [1], and [2, 3].", (), [{"marker": f"[{n}]"} for n in (1, 2, 3)]),
        ("So [^4] and [^5][^6].", (), [{"marker": f"[{n}]"} for n in (4, 5, 6)]),
        ("See [d-seine].", (), []),
        ("See [d-seine].", ("d-seine",), [{"marker": "[d-seine]"}]),
        ("By [98765], in [1999] and [2024-05-01] [sic].", (), [{"marker": "[98765]"}]),
        ("By [doc 7], [Source: 8] and [id#a].", (), [{"marker": "[doc 7]"}, {"marker": "[Source: 8]"}]),
        ("【4:0†source】 and 【d1, d2】", (), [{"marker": f"【{m}】"} for m in ("4:0†source", "d1", "d2")]),
        ("a \ue200cite\ue202turn0search1\ue202turn0search4\ue201 b", (),
         [{"marker": "turn0search1"}, {"marker": "turn0search4"}]),
        ("[Seine](https://x.org/a_(b)).", (), [{"url": "https://x.org/a_(b)", "marker": "Seine"}]),
        ("Yes [[1]](https://x.org/a).", (), [{"url": "https://x.org/a", "marker": "[1]"}]),
        ("see https://x.org/a. And (https://x.org/b)!", (), [{"url": "https://x.org/a"}, {"url": "https://x.org/b"}]),
        ("one [1]\n\n[1]: https://x.org/a\n2. Title https://x.org/b", (),
         [{"url": "https://x.org/a", "marker": "[1]"}, {"url": "https://x.org/b"}]),
        ("by [text][seine]\n[seine]: https://x.org/a", (), [{"url": "https://x.org/a", "marker": "[seine]"}]),
        ("[1](note) and [] and [a b](x) 【】 [", (), []),
    ],
)  # fmt: skip
def test_citations_in_a_text(text, names, expected):
    assert text_citations(text, names) == expected


def answer_of(path):
    (trace,) = gg.read_traces(path)
    return trace.turns[-1]


def write(tmp_path, document):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(document))
    return path


def test_perplexity_numbers_its_sources(tmp_path):
    turn = answer_of(
        write(
            tmp_path,
            {
                "id": "r1",
                "model": "sonar",
                "object": "chat.completion",
                "search_results": [{"title": "A", "url": "https://x.org/a"}, {"title": "B", "url": "https://x.org/b"}],
                "citations": ["https://x.org/a", "https://x.org/b"],
                "choices": [{"index": 0, "message": {"role": "assistant", "content": "So it is [2], or so [7]."}}],
            },
        )
    )  # fmt: skip
    assert [c.to_dict() for c in turn.citations] == [
        {"url": "https://x.org/b", "title": "B", "marker": "[2]"},
        {"marker": "[7]"},  # it names nothing, and stays
    ]


def test_azure_numbers_its_documents(tmp_path):
    documents = [
        {"content": "one", "title": "A", "url": "https://x.org/a", "chunk_id": "0"},
        {"content": "two", "title": "B", "filepath": "b.pdf", "chunk_id": "0"},
    ]
    message = {
        "role": "assistant",
        "content": "Yes [doc1].",
        "context": {"citations": documents, "intent": '["q"]'},
    }
    turn = answer_of(
        write(
            tmp_path,
            {"id": "r1", "object": "extensions.chat.completion", "choices": [{"message": message}]},
        )
    )
    assert [c.to_dict() for c in turn.citations] == [
        {"url": "https://x.org/a", "title": "A", "marker": "[doc1]"}
    ]


def test_bedrock_keeps_cited_text_and_its_sources(tmp_path):
    cited = {
        "citationsContent": {
            "content": [{"text": "At Source-Seine."}],
            "citations": [
                {
                    "title": "Seine",
                    "location": {"web": {"url": "https://x.org/seine", "domain": "x.org"}},
                },
                {
                    "title": "Atlas",
                    "source": "atlas-7",
                    "location": {"documentChar": {"documentIndex": 0}},
                },
            ],
        }
    }
    messages = [
        {"role": "user", "content": [{"text": "Where?"}]},
        {"role": "assistant", "content": [{"text": "It rises "}, cited]},
    ]
    turn = answer_of(write(tmp_path, {"modelId": "m", "messages": messages}))
    assert turn.answer == "It rises \nAt Source-Seine."
    assert [(c.url, c.id, c.title) for c in turn.citations] == [
        ("https://x.org/seine", None, "Seine"),
        (None, "atlas-7", "Atlas"),
    ]


@pytest.mark.parametrize("nested", [False, True])
def test_vercel_sources_are_citations(tmp_path, nested):
    source = {"sourceType": "url", "id": "s1", "url": "https://x.org/a", "title": "A"}
    part = (
        {"type": "source", "source": source}
        if nested
        else {"type": "source-url", "sourceId": "s1", **source}
    )
    messages = [
        {"id": "m0", "role": "user", "parts": [{"type": "text", "text": "?"}]},
        {
            "id": "m1",
            "role": "assistant",
            "parts": [{"type": "step-start"}, part, {"type": "text", "text": "So."}],
        },
    ]
    turn = answer_of(write(tmp_path, messages))
    assert turn.answer == "So."
    assert [c.to_dict() for c in turn.citations] == [{"url": "https://x.org/a", "title": "A"}]


def test_langchain_keeps_annotations_and_sources_beside_the_content():
    message = {
        "content": "So it is [1].",
        "additional_kwargs": {
            "citations": ["https://x.org/a"],
            "annotations": [
                {"type": "url_citation", "url": "https://x.org/b", "start_index": 0, "end_index": 2}
            ],
        },
    }
    assert citations_of(message) == [
        {"url": "https://x.org/b", "marker": "So"},
        {"url": "https://x.org/a", "marker": "[1]"},
    ]


def test_openai_threads_have_annotations_inside_the_text():
    annotation = {
        "type": "file_citation",
        "text": "【4:0†a.pdf】",
        "file_citation": {"file_id": "file-7"},
    }
    message = {
        "content": [
            {"type": "text", "text": {"value": "So 【4:0†a.pdf】", "annotations": [annotation]}}
        ]
    }
    assert citations_of(message) == [
        {"id": "file-7", "marker": "【4:0†a.pdf】", "ids": {"doc_id": "file-7"}}
    ]


def browsecomp(tmp_path, *items, **facts):
    call = {
        "type": "tool_call",
        "tool_name": "search",
        "arguments": '{"query": "q"}',
        "output": json.dumps([{"docid": "98765", "score": 1, "snippet": "s"}]),
    }
    return write(tmp_path, {"query_id": "7", "query": "?", "result": [call, *items], **facts})


def test_browsecomp_cites_documents_by_id(tmp_path):
    text = {"type": "output_text", "output": "Exact Answer: Paris [98765] 【98765†L3】 [11111]"}
    path = browsecomp(tmp_path, text, status="completed")
    gains = gg.good_gain(path, labels={"7": {"98765": 4, "2": 4}}, answers={"7": "Paris"})
    assert gains["CitedRecall"] == 0.5
    assert gains["Answer"] == 1
    assert gains.funnel.systems[0].citations["unresolved"] == 1


def test_a_browsecomp_run_that_ended_without_a_text_has_an_empty_answer(tmp_path):
    assert answer_of(browsecomp(tmp_path, status="incomplete")).answer == ""
    assert answer_of(browsecomp(tmp_path)).answer is None
    gains = gg.good_gain(browsecomp(tmp_path, status="incomplete"), answers={"7": "Paris"})
    assert gains["Answer"] == 0


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.*")), ids=lambda p: p.name)
def test_recorded_samples_keep_answers_opens_and_citations(path):
    """Every recorded sample answers; what the agent opened and cited is there if the source has it."""
    if path.name == "manifest.json":
        return
    turns = [turn for trace in gg.read_traces(path) for turn in trace.turns]
    raw = path.read_bytes() if path.suffix == ".eval" else path.read_text(encoding="utf-8")
    assert turns
    if "retriever" not in path.name:
        assert any(turn.answer for turn in turns) != (path.name in WITHOUT_ANSWER)
    if isinstance(raw, str) and "fetch_page" in raw:
        assert any(i.opens for t in turns for i in t.iterations), "no open"


def test_an_answer_that_a_call_hands_in(tmp_path):
    react = [
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": "Thought: search.\nAction: search[Seine]"},
        {"role": "user", "content": 'Observation: [{"url": "https://x.org/seine"}]'},
        {"role": "assistant", "content": "Thought: done.\nAction: finish[Source-Seine]"},
    ]
    assert answer_of(write(tmp_path, {"messages": react})).answer == "Source-Seine"
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "final_answer", "arguments": '{"answer": "Paris"}'},
    }
    called = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    assert answer_of(write(tmp_path, {"messages": called})).answer == "Paris"


def test_real_answers_are_kept(shared_data):
    """Traces of real agents whose sources hold the answer."""
    folder = shared_data / "agent_traces"
    if not folder.exists():
        pytest.skip("no traces of real agents")
    (path,) = (folder / "fireact_hotpotqa").glob("*.json")
    runs = json.loads(path.read_text())
    answers = {t.conversation: t.turns[-1].answer for t in gg.read_traces(path)}
    gold = {name: run["gt"] for name, run in runs.items()}
    handed_in = [
        name for name, run in runs.items() if "finish[" in run["traj"][-2]["content"].lower()
    ]
    assert len(handed_in) > 300
    assert all(answers[name] is not None for name in handed_in)
    assert "" in answers.values()  # finish[]
    gains = gg.good_gain(path, answers=gold)
    right = gains.systems[0].final("Answer")
    theirs = {name: float(bool(runs[name]["em"])) for name in handed_in}
    assert sum(right[name] != theirs[name] for name in handed_in) <= 0.01 * len(handed_in)
    for name in ("google-gemini-2025-08-01", "llamaindex-2025-06-05"):
        (trace,) = gg.read_traces(folder / "langfuse_framework_traces" / f"{name}.json")
        assert "Langfuse" in trace.turns[-1].answer
    gains = gg.good_gain(folder / "provider_fixtures_vercel_ai" / "perplexity-citations.json")
    assert gains["UnsupportedCitations"] == 0
    assert gains.funnel.systems[0].citations["cited"] == 6
