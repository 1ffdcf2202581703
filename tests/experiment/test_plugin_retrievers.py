"""Retrievers of other packages, from the entry-point group `goodgain.retrievers`."""

from __future__ import annotations

import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.errors import UsageError
from goodgain.experiment.retrievers import BM25, make, retriever_class, retriever_summaries

GROUP = "goodgain.retrievers"
SOURCE = '''
from goodgain.experiment.retrievers import Retriever


class Prefix(Retriever):
    """Documents whose text starts with the query.

    Further lines are not part of the summary.
    """

    name = "prefix"

    def __init__(self, fold=False, depth=100):
        self.fold, self.depth = fold, depth

    def build(self, documents):
        self._texts = documents

    def search(self, query, depth):
        texts = {d: t.lower() if self.fold else t for d, t in self._texts.items()}
        return [(doc, 1.0) for doc, text in texts.items() if text.startswith(query)][:depth]


class Plain:
    """A class that is not a Retriever."""

    def index(self, documents):
        self.documents = documents

    def __call__(self, query):
        return [(doc, float(text.count(query))) for doc, text in self.documents.items()]


class Uncallable:
    pass


function = len
'''
DOCUMENTS = {"d1": "river and bridge", "d2": "River of stones", "d3": "a garden"}
QUERIES = {"q1": "river", "q2": "a gar"}
QRELS = {"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 1}}


@pytest.fixture
def plugins(install_plugin):
    names = {"prefix": "Prefix", "plain": "Plain", "uncallable": "Uncallable"}
    entries = {name: f"some_retrievers:{cls}" for name, cls in names.items()}
    install_plugin({GROUP: entries}, some_retrievers=SOURCE)


@pytest.mark.usefixtures("plugins")
def test_a_plugin_is_used_by_name_in_python():
    settings = make("prefix", {"fold": True}).settings()
    assert settings.pop("code")
    assert settings == {"retriever": "prefix", "fold": True, "depth": 100}
    systems = {"prefix": "prefix", "folded": make("prefix", {"fold": True}), "plain": "plain"}
    result = gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, measures="R@10", depth=7).run()
    assert result["prefix"]["R@10"] == 0.75
    assert result["folded"]["R@10"] == 1
    assert result["plain"]["R@10"] == 1
    assert result.settings["systems"]["prefix"]["depth"] == 7
    hybrid = make("hybrid", {"of": [make("prefix", {}), make("bm25", {})]})
    hybrid.index(DOCUMENTS)
    assert hybrid("river")[0][0] == "d1"


@pytest.mark.usefixtures("plugins")
def test_a_plugin_is_used_by_name_in_an_experiment_file(tmp_path, capsys):
    (tmp_path / "corpus.csv").write_text("id,text\nd1,river\nd2,River\n")
    (tmp_path / "queries.csv").write_text("id,text\nq1,river\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 1\n")
    (tmp_path / "test.toml").write_text(
        'corpus = "corpus.csv"\nqueries = "queries.csv"\nqrels = "qrels.txt"\nmeasures = "R@10"\n'
        '[systems.folded]\nretriever = "prefix"\nfold = true\n'
    )
    assert run(["experiment", str(tmp_path / "test.toml"), "-q", "--format", "csv"]) == 0
    assert "folded,R@10,1.0," in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run(["experiment", "--help"])
    assert (
        "  prefix         Documents whose text starts with the query.\n" in capsys.readouterr().out
    )


@pytest.mark.usefixtures("plugins")
def test_parameters_and_names_are_checked():
    with pytest.raises(UsageError, match="unknown parameter 'k1' for the retriever 'prefix'"):
        make("prefix", {"k1": 1})
    with pytest.raises(UsageError, match=r"did you mean 'prefix'.*available: bm25, .*prefix"):
        make("prefx", {})
    with pytest.raises(UsageError, match="'uncallable' cannot be called"):
        make("uncallable", {})


def test_a_built_in_retriever_is_never_replaced(install_plugin):
    install_plugin({GROUP: {"bm25": "some_retrievers:Plain"}}, some_retrievers=SOURCE)
    assert retriever_class("bm25") is BM25
    with pytest.warns(UserWarning, match="plug-in 'bm25' .*'someones-package' ignored.* built in"):
        assert retriever_summaries()["bm25"] == "keyword search by BM25"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("some_retrievers:Missing", "failed to load: AttributeError"),
        ("missing_module:Retriever", "failed to load: ModuleNotFoundError"),
        ("some_retrievers:function", "it is a builtin_function_or_method, not a type"),
    ],
)
def test_a_broken_plugin_is_a_warning(install_plugin, value, reason):
    install_plugin({GROUP: {"broken": value}}, some_retrievers=SOURCE)
    with (
        pytest.warns(UserWarning, match=rf"plug-in 'broken' .*'someones-package'.*{reason}"),
        pytest.raises(UsageError, match="unknown retriever 'broken'"),
    ):
        make("broken", {})
    make("bm25", {})  # others are not affected
