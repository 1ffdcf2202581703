"""A grid of experiments: 3 models x 3 chunk sizes x 5 weights, compared with its distinct stages alone."""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import table
from measure import worker
from subject import Context, Section, Subject, at_most, ratio

BAR = 1.5
DOCUMENTS, QUICK_DOCUMENTS, QUERIES = 1_000, 100, 50
WORDS_PER_DOCUMENT = 300
SIZES = (64, 128, 256)  # tokens of a chunk
MODELS = (96, 192, 384)  # dimensions
ALPHAS = (0.1, 0.3, 0.5, 0.7, 0.9)
LAYERS = 12  # of a model: what an embedding costs


def run(context: Context) -> Section:
    """The grid, its stages one by one, and the grid again with a cache."""
    documents = QUICK_DOCUMENTS if context.quick else DOCUMENTS
    found = worker("grid", documents)
    distinct = sum(found["stages"].values())
    over = ratio(found["grid"], distinct)
    rows = [
        [f"stage: {name}", table.seconds(value), "-"] for name, value in found["stages"].items()
    ]
    rows += [
        ["all distinct stages", table.seconds(distinct), "1x"],
        ["the grid", table.seconds(found["grid"]), table.times(over)],
        ["its measures, tests and files", table.seconds(found["measuring"]), "-"],
        ["the grid in another folder, same cache", table.seconds(found["again"]),
         table.times(ratio(found["again"], distinct))],
        ["the grid without sharing searches", table.seconds(found["whole"]),
         table.times(ratio(found["whole"], distinct))],
    ]  # fmt: skip
    return Section(
        columns=["what", "time", "times the distinct stages"],
        rows=rows,
        text=f"{documents:,} documents of {WORDS_PER_DOCUMENT} words, {QUERIES} queries, "
        f"{found['systems']} systems: {len(MODELS)} models x {len(SIZES)} chunk sizes x "
        f"{len(ALPHAS)} weights of a hybrid, and its components; {found['reused'][0]:,} of "
        f"{found['reused'][1]:,} stages reused. The grid's time is that of indexing and of all calls, "
        "with warm-up and control calls; its measures and tests come on top and do not depend on stages.",
        bars=[
            at_most(
                "grid: 3 models x 3 chunk sizes x 5 weights over its distinct stages", BAR, over
            )
        ],
        problems=found["problems"],
    )


class Model:
    """An embedding with the arithmetic of a small network; documents and queries cost alike."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def __call__(self, texts: list[str]) -> Any:
        import numpy as np

        generator = np.random.default_rng(self.dimensions)
        layers = generator.standard_normal((LAYERS, self.dimensions, self.dimensions))
        rows = np.zeros((len(texts), self.dimensions))
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[hash_of(word) % self.dimensions] += 1
        for layer in layers / self.dimensions**0.5:
            rows = np.tanh(rows @ layer) + rows
        return rows


def hash_of(word: str) -> int:
    """The same number in every process."""
    from zlib import crc32

    return crc32(word.encode())


def _data(count: int) -> tuple[dict[str, str], dict[str, str], dict[str, dict[str, int]]]:
    chooser = random.Random(7)
    words = [f"w{i}" for i in range(5_000)]
    weights = [1 / (i + 1) for i in range(len(words))]
    documents = {
        f"d{i}": " ".join(chooser.choices(words, weights, k=WORDS_PER_DOCUMENT))
        for i in range(count)
    }
    queries, qrels = {}, {}
    for i in range(QUERIES):
        doc = chooser.choice(list(documents))
        queries[f"q{i}"] = " ".join(chooser.sample(documents[doc].split(), 8))
        qrels[f"q{i}"] = {doc: 1}
    return documents, queries, qrels


def _experiment(data: Any, **settings: Any) -> Any:
    import goodgain as gg
    from goodgain.experiment.chunks import Chunked
    from goodgain.experiment.retrievers import BM25, KNN, Hybrid

    systems = {
        "keyword": Chunked(BM25(), "tokens", size=SIZES[0], overlap=0),
        "knn": Chunked(KNN(Model(0)), "tokens", size=SIZES[0], overlap=0),
        "hybrid": Hybrid(["keyword", "knn"], method="wsum"),
    }
    models = [Model(dimensions) for dimensions in MODELS]
    grid = {"chunk.size": list(SIZES), "embed": models, "alpha": list(ALPHAS)}
    return gg.Experiment(*data, systems, grid=grid, measures="nDCG@10 Recall@20", **settings)


def _timed(action: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    value = action()
    return time.perf_counter() - start, value


def _session(experiment: Any, folder: Path) -> None:
    """Index the documents and make all calls."""
    from goodgain.experiment.folder import Folder
    from goodgain.experiment.session import Session

    calls = Folder(folder)
    try:
        calls.begin(experiment.settings())
        Session(experiment, calls, experiment.stages(folder), progress=False).run()
    finally:
        calls.close()


def _stages(data: Any) -> dict[str, float]:
    """Every distinct stage once, without an experiment around it."""
    from goodgain.experiment.chunks import Chunked
    from goodgain.experiment.retrievers import BM25, KNN
    from goodgain.experiment.stages import Stages
    from goodgain.fusion import fuse

    documents, queries, _ = data
    stages = Stages()  # in memory
    seconds = {"chunk, embed, index": 0.0, "search": 0.0, "fuse": 0.0}
    for size in SIZES:
        rankings = []
        for inner in (BM25(), *(KNN(Model(dimensions)) for dimensions in MODELS)):
            system = Chunked(inner, "tokens", size=size, overlap=0)
            for retriever in system.all_retrievers():
                retriever.stages = stages
            spent, _ = _timed(lambda system=system: system.index(documents))
            seconds["chunk, embed, index"] += spent
            spent, lists = _timed(
                lambda system=system: [system.search(text, 100) for text in queries.values()]
            )
            seconds["search"] += spent
            rankings.append(lists)
        keyword, *others = rankings
        for nearest in others:
            for alpha in ALPHAS:
                for a, b in zip(keyword, nearest, strict=True):
                    runs = [{"q": dict(a)}, {"q": dict(b)}]
                    spent, _ = _timed(
                        lambda runs=runs, alpha=alpha: fuse(
                            runs, "wsum", weights=(1 - alpha, alpha), depth=100, threads=1
                        ).to_dict()
                    )
                    seconds["fuse"] += spent
    return seconds


def _measure(count: int) -> dict[str, Any]:
    data = _data(count)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        grid, _ = _timed(lambda: _session(_experiment(data, cache=place / "cache"), place / "a"))
        reused = json.loads((place / "a" / "stages.json").read_text())
        again, _ = _timed(lambda: _session(_experiment(data, cache=place / "cache"), place / "b"))
        whole, _ = _timed(lambda: _session(_experiment(data, searches="whole"), place / "c"))
        measuring, result = _timed(
            lambda: _experiment(data).run(place / "a")
        )  # all calls are there
        second, third = _experiment(data).run(place / "b"), _experiment(data).run(place / "c")
        problems = [
            f"the {what} has other scores than the first run"
            for what, other in (("run with a cache", second), ("run without sharing", third))
            if any(
                other.scores[name]["nDCG@10"] != result.scores[name]["nDCG@10"]
                for name in result.systems
            )
        ]
        return {
            "grid": grid,
            "again": again,
            "whole": whole,
            "measuring": measuring,
            "stages": _stages(data),
            "systems": len(result.systems),
            "reused": [sum(reused[name].values()) for name in ("reused", "used")],
            "problems": problems,
        }


SUBJECT = Subject("grid", "A grid of experiments", 75, run)

if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]))))
