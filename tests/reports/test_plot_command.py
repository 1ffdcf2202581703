"""`goodgain plot`: pictures of what was saved, several results merged, and what it refuses."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
import sample_results

import goodgain as gg
from goodgain.cli import run
from goodgain.reports.charts import KINDS, plot


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    sample_results.evaluation().save(folder / "scores.json")
    sample_results.comparison().save(folder / "compared.json")
    sample_results.good_gain().save(folder / "gain.json")
    sample_results.calibration().save(folder / "calibration.json")
    sample_results.experiment(folder / "experiment")
    sample_results.labels(folder / "labels.db")
    return folder


def drawn(saved, tmp_path, kind: str, *arguments: str) -> dict:
    out = tmp_path / "out.json"
    assert run(["plot", kind, *arguments, "-o", str(out), "-q"]) == 0
    return json.loads(out.read_text())


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("leaderboard", "scores.json"), ("differences", "scores.json"), ("histogram", "scores.json"),
        ("trade-off", "scores.json"), ("effects", "compared.json"), ("groups", "compared.json"),
        ("gain", "gain.json"), ("marginal", "gain.json"), ("efficiency", "gain.json"),
        ("budget", "gain.json"), ("confusion", "calibration.json"), ("reliability", "calibration.json"),
        ("corrected", "calibration.json"), ("effects", "experiment"), ("leaderboard", "experiment"),
        ("differences", "experiment"), ("trade-off", "experiment"), ("labels", "labels.db"),
    ],
)  # fmt: skip
def test_every_kind_of_saved_result(saved, tmp_path, kind, name):
    spec = drawn(saved, tmp_path, kind, str(saved / name))
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/v6")
    assert spec["title"]["text"]


def test_it_is_the_chart_of_the_library(saved, tmp_path):
    spec = drawn(saved, tmp_path, "differences", str(saved / "scores.json"), "--measures", "RR",
                 "--system", "hybrid", "--baseline", "dense", "--dark", "--width", "480")  # fmt: skip
    chart = sample_results.evaluation().plot(
        "differences", measure="RR", system="hybrid", baseline="dense"
    )
    assert spec == chart.themed(dark=True, width=480)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_formats_by_the_ending(saved, tmp_path, ending, capsys):
    out = tmp_path / f"x.{ending}"
    assert run(["plot", "gain", str(saved / "gain.json"), "-o", str(out)]) == 0
    start = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[ending]
    assert out.read_bytes().startswith(start)
    assert capsys.readouterr().err == f"wrote {out}: CG@i by iteration\n"


def test_evaluations_are_merged(saved, tmp_path):
    qrels, runs = sample_results.collection()
    paths = []
    for name, measures in (("dense", "AP nDCG@10"), ("hybrid", "RR AP")):
        gg.evaluate(qrels, {name: runs[name]}, measures).save(tmp_path / f"{name}.json")
        paths.append(str(tmp_path / f"{name}.json"))
    spec = drawn(saved, tmp_path, "differences", *paths)
    expected = gg.evaluate(qrels, {n: runs[n] for n in ("dense", "hybrid")}, "AP").plot(
        "differences"
    )
    assert spec == expected.themed()
    twice = drawn(saved, tmp_path, "leaderboard", paths[0], paths[0])
    assert {v["system"] for v in twice["data"]["values"]} == {"dense", "dense#2"}


def test_good_gains_are_merged(saved, tmp_path):
    one, two = (sample_results.good_gain((name,)) for name in ("x", "y"))
    one.save(tmp_path / "1.json")
    two.save(tmp_path / "2.json")
    spec = drawn(saved, tmp_path, "gain", str(tmp_path / "1.json"), str(tmp_path / "2.json"))
    assert spec == sample_results.good_gain(("x", "y")).plot().themed()


def test_help_lists_every_kind(capsys):
    with pytest.raises(SystemExit):
        run(["plot", "--help"])
    out = capsys.readouterr().out
    assert all(f"  {kind.name} " in out and kind.text in out for kind in KINDS.values())


def test_refusals(saved, tmp_path, capsys):
    def error(*arguments: str) -> str:
        assert run(["plot", *arguments]) == 2
        return capsys.readouterr().err

    scores, gain = str(saved / "scores.json"), str(saved / "gain.json")
    out = ["-o", str(tmp_path / "x.svg")]
    assert "unknown chart 'pie'" in error("pie", scores, *out)
    assert "chart 'gain' is not available for an Evaluation" in error("gain", scores, *out)
    assert "unknown option 'system' for chart 'gain'" in error("gain", gain, "--system", "x", *out)
    assert "unsupported image format: 'x.gif'" in error("gain", gain, "-o", "x.gif")
    assert "file not found" in error("gain", str(tmp_path / "none.json"), *out)
    assert "--width must be between 100 and 10,000, got 5" in error(
        "gain", gain, "--width", "5", *out
    )
    both = error("gain", scores, gain, *out)
    assert "cannot merge results of different kinds: Evaluation, GoodGain" in both
    strict = gg.good_gain([sample_results.trace("x", 1)], threshold=3)
    strict.save(tmp_path / "strict.json")
    assert "the Good Gains have different settings" in error(
        "gain", gain, str(tmp_path / "strict.json"), *out
    )
    sample_results.evaluation(ties="average").save(tmp_path / "other.json")
    assert "different policies" in error("leaderboard", scores, str(tmp_path / "other.json"), *out)
    assert "a saved comparison has no per-query scores" in error(
        "differences", str(saved / "compared.json"), *out
    )
    assert "unknown budget 'beer'" in error("budget", gain, "--budget", "beer", *out)
    assert not (tmp_path / "x.svg").exists()


def test_what_is_written_is_svg(saved, tmp_path):
    out = tmp_path / "x.svg"
    run(["plot", "effects", str(saved / "compared.json"), "-o", str(out), "-q"])
    assert ElementTree.fromstring(out.read_text()).tag.endswith("svg")
    assert plot(gg.Comparison.load(saved / "compared.json"), "effects").svg() == out.read_text()
