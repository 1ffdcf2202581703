"""Which labels of a store: a model's, an annotator's, or those of all people by a rule."""

from pathlib import Path

import pytest

import goodgain as gg
from goodgain.errors import GoodgainError
from goodgain.labels import Labels, PeopleLabels, Store, Vote, label
from goodgain.labels.result import gains_of, judgments_of, labels_of, stored_labels


def votes(store: Store) -> None:
    for annotator, gains in (("ann", (0, 4)), ("bob", (1, 4)), ("cyd", (4, 2))):
        for i, gain in enumerate(gains):
            store.add_votes([Vote(annotator=annotator, query="q", doc=f"d{i}", gain=gain)])


@pytest.fixture
def both(tmp_path: Path) -> Path:
    path = tmp_path / "both.db"
    label([("q", f"d{i}", "why?", f"text {i}") for i in range(3)], judge_of("m"), path)
    with Store(path) as store:
        votes(store)
    return path


def judge_of(name: str) -> object:
    class Judge:
        model = name
        parameters: dict[str, object] = {"temperature": 0}  # noqa: RUF012

        def __call__(self, request: object) -> int:
            return 3

    return Judge()


@pytest.mark.parametrize("read", [judgments_of, gains_of, stored_labels, gg.load])
def test_a_store_with_both_lists_the_choices(both: Path, read: object) -> None:
    with pytest.raises(GoodgainError) as error:
        read(str(both))  # type: ignore[operator]
    assert "labels of models (m) and of people (ann, bob, cyd)" in str(error.value)
    assert "--people" in str(error.value)
    assert "#annotator=ann" in str(error.value)


@pytest.mark.parametrize(
    ("choice", "gains"),
    [
        ("#people", {"d0": 0, "d1": 4}),
        ("#people=mean", {"d0": 5 / 3, "d1": 10 / 3}),
        ("#people=median", {"d0": 1, "d1": 4}),
        ("#annotator=cyd", {"d0": 4, "d1": 2}),
        ("#model=m", {"d0": 3, "d1": 3, "d2": 3}),
    ],
)
def test_a_path_may_say_which_labels(
    both: Path, choice: str, gains: dict[str, float], tmp_path: Path
) -> None:
    for read in (judgments_of, gains_of, gg.load, gg.Qrels.of):
        labels = read(f"{both}{choice}")
        own = labels if isinstance(labels, dict) else labels.to_dict()
        assert own == {"q": pytest.approx(gains)}
    run = tmp_path / "run.txt"
    run.write_text("q Q0 d0 1 2 r\nq Q0 d1 2 1 r\n")
    value = gg.evaluate(f"{both}{choice}", str(run), ["CG"])["CG"]
    assert value == pytest.approx(gains["d0"] + gains["d1"])


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("#persons", "invalid choice of labels '#persons'"),
        ("#annotator=", "invalid choice of labels"),
        ("#annotator=eve", "no votes of 'eve'"),
        ("#people=mode", "unknown aggregation method for votes: 'mode'"),
        ("#model=n", "no labels of model 'n'"),
    ],
)
def test_a_wrong_choice_is_refused(both: Path, choice: str, message: str) -> None:
    with pytest.raises(GoodgainError, match=message):
        judgments_of(f"{both}{choice}")


def test_a_store_with_votes_only_needs_no_choice(tmp_path: Path) -> None:
    with Store(tmp_path / "people.db") as store:
        votes(store)
    labels = labels_of(tmp_path / "people.db")
    assert isinstance(labels, PeopleLabels)
    assert repr(labels) == "PeopleLabels(people by majority; 2 ok)"
    assert labels.to_qrels().name == "labels of people by majority"
    assert [(each.replicates, each.spread) for each in labels] == [(3, 4), (3, 2)]


def test_calibrate_takes_people_and_the_model_from_one_store(both: Path) -> None:
    calibration = gg.calibrate(both, both)
    assert (calibration.pairs, calibration.not_labelled) == (2, 0)


def test_votes_on_different_scales_are_not_aggregated(tmp_path: Path) -> None:
    store = Store()
    for annotator, high in (("ann", 1), ("bob", 4)):
        store.add_votes([Vote(annotator=annotator, query="q", doc="d", gain=1, low=0, high=high)])
    with pytest.raises(GoodgainError, match=r"different scales .* 0 to 1 \(ann\), 0 to 4 \(bob\)"):
        judgments_of(store)
    assert labels_of(store, annotator="bob").to_dict() == {"q": {"d": 1}}


def test_two_settings_of_one_model_are_told_apart_by_their_digest(tmp_path: Path) -> None:
    pairs = [("q", "d", "why?", "text")]
    for temperature in (0, 1):
        judge = judge_of("m")
        judge.parameters = {"temperature": temperature}  # type: ignore[attr-defined]
        label(pairs, judge, tmp_path / "l.db")
    with pytest.raises(GoodgainError, match="2 settings") as error:
        Labels.of(tmp_path / "l.db", model="m")
    with Store(tmp_path / "l.db", read_only=True) as store:
        digests = [setting.digest for _, setting in store.settings()]
    assert all(digest[:8] in str(error.value) for digest in digests)
    chosen = Labels.of(tmp_path / "l.db", setting=digests[1][:8])
    assert chosen.setting.parameters == {"temperature": 1}
    assert f"#setting={digests[0][:8]}" in str(error.value)
    chosen = stored_labels(f"{tmp_path / 'l.db'}#setting={digests[1][:8]}")
    assert isinstance(chosen, Labels)
    assert chosen.setting.parameters == {"temperature": 1}
