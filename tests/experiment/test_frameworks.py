"""Objects of LangChain, LlamaIndex and Haystack as systems, as they are."""

from __future__ import annotations

import json

import numpy as np
import pytest

import goodgain as gg
from goodgain.cli import run as run_command
from goodgain.errors import GoodgainError, InputError, UsageError
from goodgain.experiment.queries import QueryText
from goodgain.experiment.retrievers import make
from goodgain.experiment.retrievers.frameworks import Framework

pytestmark = pytest.mark.slow  # importing frameworks takes seconds
PACKAGES = {"langchain": "langchain_core", "llama": "llama_index.core", "haystack": "haystack"}


@pytest.fixture(autouse=True)
def _package(request):
    """A test needs the framework whose name is in its own."""
    for name, module in PACKAGES.items():
        if name in request.node.name:
            pytest.importorskip(module)


RNG = np.random.default_rng(9)
TEXTS = {f"d{i}": f"text {i}" for i in range(30)}
VECTORS = {text: (RNG.normal(size=5) * RNG.uniform(0.3, 3)).tolist() for text in TEXTS.values()}
TARGET = RNG.normal(size=5).tolist()


def vector(text):
    return VECTORS.get(text, TARGET)


def by_cosine(depth=10):
    def cosine(doc):
        v, t = np.array(vector(TEXTS[doc])), np.array(TARGET)
        return float(v @ t / np.linalg.norm(v) / np.linalg.norm(t))

    return sorted(TEXTS, key=lambda doc: -cosine(doc))[:depth]


def checked(search, **options):
    """The ids that an experiment keeps of the answers of a system, and its warnings."""
    result = gg.Experiment(
        TEXTS, {"q": "query"}, {"q": {by_cosine()[0]: 1}}, {"mine": search}, measures="RR", warmup=0,
        **options,
    ).run()  # fmt: skip
    assert not result.failures, result.failures
    return list(result.runs["mine"][0].to_dict()["q"]), result


# --- LangChain ---


@pytest.fixture(scope="module")
def langchain_store():
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    class Known(Embeddings):
        def embed_documents(self, texts):
            return [vector(text) for text in texts]

        def embed_query(self, text):
            return TARGET

    store = InMemoryVectorStore(Known())
    documents = [
        Document(page_content=t, metadata={"source": d, "page": 3}) for d, t in TEXTS.items()
    ]
    store.add_documents(documents)  # it makes ids of its own, which no judgment knows
    return store


def test_a_langchain_retriever(langchain_store):
    ids, result = checked(langchain_store.as_retriever(search_kwargs={"k": 7}))
    assert ids == by_cosine(7)
    assert result["RR"] == 1
    assert not result.runs["mine"][0].has_scores


def test_a_langchain_vector_store_returns_as_many_as_measures_need(langchain_store):
    ids, _ = checked(langchain_store, depth=12)
    assert ids == by_cosine(12)


def test_a_langchain_chain(langchain_store):
    from langchain_core.runnables import RunnableLambda

    chain = langchain_store.as_retriever(search_kwargs={"k": 5}) | RunnableLambda(
        lambda docs: docs[::-1]
    )
    assert Framework(chain).retriever is chain
    ids, _ = checked(chain)
    assert ids == by_cosine(5)[::-1]


def test_the_place_of_the_id_of_langchain_can_be_named(langchain_store):
    retriever = langchain_store.as_retriever(search_kwargs={"k": 4})
    ids, result = checked(Framework(retriever, id="id"))
    assert all(len(name) == 36 for name in ids)
    assert any("4 of 4 results are not in the corpus, such as" in w for w in result.warnings())
    ours = Framework(retriever, id="metadata.name")
    ours.index(TEXTS)
    with pytest.raises(InputError, match=r"a result has no id at 'metadata\.name'"):
        ours("query")


def test_a_langchain_retriever_of_ones_own_class():
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Mine(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(page_content="", id=name) for name in ("d3", "d1")]

    assert checked(Mine())[0] == ["d3", "d1"]


# --- LlamaIndex ---


@pytest.fixture(scope="module")
def llama_model():
    pytest.importorskip("llama_index.core")
    from llama_index.core.embeddings import BaseEmbedding

    class Known(BaseEmbedding):
        def _get_text_embedding(self, text):
            return vector(text)

        def _get_query_embedding(self, query):
            return TARGET

        async def _aget_query_embedding(self, query):
            return TARGET

    return Known()


def test_a_llama_index_retriever_of_documents(llama_model):
    from llama_index.core import Document, VectorStoreIndex

    index = VectorStoreIndex.from_documents(
        [Document(text=text, doc_id=name) for name, text in TEXTS.items()], embed_model=llama_model
    )
    ids, result = checked(index.as_retriever(similarity_top_k=6))
    assert ids == by_cosine(6)  # of the documents; nodes have ids of their own
    assert result.runs["mine"][0].has_scores
    assert checked(index, depth=9)[0] == by_cosine(9)


def test_a_llama_index_retriever_of_nodes(llama_model):
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode

    nodes = [TextNode(text=text, id_=name) for name, text in TEXTS.items()]
    index = VectorStoreIndex(nodes, embed_model=llama_model)
    assert checked(index.as_retriever(similarity_top_k=6))[0] == by_cosine(6)


def test_distances_of_llama_index_do_not_turn_its_order_round():
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Near(BaseRetriever):
        def _retrieve(self, query_bundle):
            return [
                NodeWithScore(node=TextNode(id_=f"d{i}", text=""), score=0.1 * i) for i in range(4)
            ]

    ids, result = checked(Near())
    assert ids == ["d0", "d1", "d2", "d3"]
    assert not result.runs["mine"][0].has_scores


# --- Haystack ---


@pytest.fixture(scope="module")
def haystack_store():
    pytest.importorskip("haystack")
    from haystack import Document
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents([
        Document(id=name, content=f"{text} river", embedding=vector(text),
                 meta={"language": "en" if i % 2 else "de"})
        for i, (name, text) in enumerate(TEXTS.items())
    ])  # fmt: skip
    return store


def test_a_haystack_retriever_takes_depth_and_filters(haystack_store):
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever

    ours = Framework(InMemoryBM25Retriever(haystack_store), depth=20)
    ours.index(TEXTS)
    assert len(ours("river")) == 20
    filtered = ours(QueryText("river", {"language": ["de"]}))
    assert {int(name[1:]) % 2 for name, _ in filtered} == {0}
    scores = [score for _, score in ours("river 7")]
    assert scores == sorted(scores, reverse=True)


def test_a_haystack_pipeline(haystack_store):
    from haystack import Pipeline, component
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever

    @component
    class Embedder:
        @component.output_types(embedding=list[float])
        def run(self, text: str):
            return {"embedding": TARGET}

    near = InMemoryEmbeddingRetriever(haystack_store, top_k=8)
    pipeline = Pipeline()
    pipeline.add_component("embedder", Embedder())
    pipeline.add_component("retriever", near)
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    assert checked(pipeline)[0] == by_cosine(8)
    alone = Framework(near)
    with pytest.raises(InputError, match="takes no 'query' but query_embedding"):
        alone.search("query", 5)


# --- in files, and errors ---


def test_a_langchain_retriever_in_a_file(tmp_path, capsys):
    (tmp_path / "frame.py").write_text(
        "from langchain_core.documents import Document\n"
        "from langchain_core.retrievers import BaseRetriever\n"
        "class Mine(BaseRetriever):\n"
        "    names: list\n"
        "    def _get_relevant_documents(self, query, *, run_manager):\n"
        "        return [Document(page_content='', id='x', metadata={'key': n}) for n in self.names]\n"
        "retriever = Mine(names=['d2', 'd1'])\n"
    )
    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps({"id": k, "text": t}) + "\n" for k, t in TEXTS.items())
    )
    (tmp_path / "queries.tsv").write_text("id\ttext\nq1\ttext 2\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d2 1\n")
    (tmp_path / "frame.toml").write_text(
        'corpus = "corpus.jsonl"\nqueries = "queries.tsv"\nqrels = "qrels.txt"\nmeasures = "RR"\n'
        '[systems.mine]\nretriever = "frame:retriever"\nid = "metadata.key"\nversion = "1"\n'
    )
    assert run_command(["experiment", str(tmp_path / "frame.toml"), "-q"]) == 0
    assert "mine" in capsys.readouterr().out
    assert gg.ExperimentResult.open(tmp_path / "frame")["RR"] == 1
    settings = json.loads((tmp_path / "frame" / "experiment.json").read_text())["systems"]["mine"]
    assert settings["retriever"] == "frame:Mine"


def test_the_state_of_a_langchain_object_is_not_taken_for_known(tmp_path, langchain_store):
    systems = {"mine": langchain_store}
    options = {"measures": "RR", "warmup": 0}
    for _ in range(2):
        result = gg.Experiment(TEXTS, {"q": "x"}, {"q": {"d1": 1}}, systems, **options).run(
            tmp_path
        )
    assert any("the state of a InMemoryVectorStore is not read" in w for w in result.warnings())
    named = {**options, "versions": {"mine": "1"}}
    for _ in range(2):
        result = gg.Experiment(TEXTS, {"q": "x"}, {"q": {"d1": 1}}, systems, **named).run(tmp_path)
    assert not any("made again" in w for w in result.warnings())


def test_objects_that_are_no_retrievers():
    with pytest.raises(UsageError, match="'mine' has type object and cannot be called"):
        gg.Experiment(TEXTS, {"q": "x"}, {"q": {"d1": 1}}, {"mine": object()})
    with pytest.raises(GoodgainError, match="an object of type int is not a LangChain"):
        make("framework", {"retriever": 3})
