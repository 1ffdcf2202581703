"""The passport of a judge: one file that says who judged, how, when, and how far it agrees with people.

Reports find it beside the store (any `*.passport.json` in its folder) by the digest of the setting.

>>> import goodgain as gg
>>> from goodgain.labels.passport import make_passport
>>> human = {f"q{i}": {f"d{j}": (i + j) % 4 for j in range(4)} for i in range(8)}
>>> pairs = [(q, d, f"what is {q}?", str(gain)) for q, own in human.items() for d, gain in own.items()]
>>> labels = gg.label(pairs, lambda request: int(request.document), "judged.db", name="mine")
>>> passport = make_passport(human, labels, gg.calibrate(human, labels))
>>> passport.model, passport.pairs
('mine', 32)
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from goodgain.errors import InputError
from goodgain.labels.canaries import KNOWN_GOOD
from goodgain.labels.drift import Canary, DriftTest, JudgedPair, changed_fields, drift_tests
from goodgain.labels.examples import example_pairs
from goodgain.labels.result import Labels, gains_of
from goodgain.results.judges import judge_sentence
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import render

if TYPE_CHECKING:
    import os

    from goodgain.labels.calibration import Calibration
    from goodgain.labels.store import Setting, Store

SUFFIX = ".passport.json"
MAIN_FIGURE = "quadratic kappa"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The comparison with an earlier passport."""

    against: str  # when that was written
    changes: tuple[tuple[str, str, str], ...]  # what of the judge differs: name, then, now
    shared: int  # pairs that both have
    relabelled: int  # of these, how many the judge labels differently
    people_changed: int  # of these, how many people label differently
    tests: tuple[DriftTest, ...]
    alpha: float

    @property
    def changed(self) -> tuple[DriftTest, ...]:
        """The figures that have changed."""
        return tuple(t for t in self.tests if t.changed(self.alpha))

    def sentence(self) -> str:
        """The verdict in one sentence."""
        date = self.against[:10]
        changed = ", ".join(name for name, *_ in self.changes)
        changes = f" (changed: {changed})" if changed else ""
        if self.changed:
            what = "; ".join(f"{t.name} {t.before:.3g} to {t.after:.3g}" for t in self.changed)
            return f"drift against {date}{changes}: {what}"
        if not any(t.p == t.p for t in self.tests):
            return f"too few pairs to test for drift against {date}{changes}"
        main = next((t for t in self.tests if t.name == MAIN_FIGURE), None)
        interval = ""
        if main is not None and main.low == main.low:
            interval = f"; {main.name} changed by {main.low:+.3g} to {main.high:+.3g}"
        return f"no drift shown against {date}{changes}{interval}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passport(SavedAsJson):
    """Who judged, with which prompt and server, when, and how far it agrees with people."""

    KIND: ClassVar[str] = "passport"
    FORMAT: ClassVar[int] = 1
    setting: str  # digest of prompt, model and parameters, by which reports find it
    model: str
    server: str
    prompt: str
    prompt_text: dict[str, Any] | None  # None if the store does not have it
    parameters: dict[str, Any]
    scale: tuple[float, float]
    created: str
    version: str  # of goodgain
    labelled: tuple[str, str]  # when the first and the last label were given
    threshold: float
    confidence: float
    pairs: int
    failed: int
    figures: tuple[dict[str, Any], ...]  # agreement with people: name, value, low, high, n
    canaries: tuple[Canary, ...]
    judged: tuple[JudgedPair, ...]  # what a later passport is compared with
    drift: Drift | None = None

    def judge(self) -> dict[str, Any]:
        """What may change between two passports."""
        return {
            "model": self.model, "server": self.server, "prompt": self.prompt, "scale": self.scale,
            **{f"parameter {k}": v for k, v in self.parameters.items()},
        }  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """What results and reports record of it."""
        main = next((f for f in self.figures if f["name"] == MAIN_FIGURE), None)
        return {
            "created": self.created,
            "agreement": main,
            "pairs": self.pairs,
            "failed": self.failed,
            "canaries": [c._asdict() for c in self.canaries],
            "drift": None if self.drift is None else self.drift.sentence(),
            "drifted": bool(self.drift and self.drift.changed),
        }

    def compared(self, earlier: Passport, seed: int = 0) -> Passport:
        """The passport with the test of what has changed since an earlier one."""
        if (earlier.scale, earlier.threshold) != (self.scale, self.threshold):
            raise InputError(
                f"the earlier passport has scale {earlier.scale} and threshold {earlier.threshold:g}, "
                f"this one {self.scale} and {self.threshold:g}",
                hint="only figures of one scale and threshold can be compared",
            )
        old = {(p.query, p.doc): p for p in earlier.judged}
        shared = [p for p in self.judged if (p.query, p.doc) in old]
        return replace(
            self,
            drift=Drift(
                against=earlier.created,
                changes=tuple(changed_fields(earlier.judge(), self.judge())),
                shared=len(shared),
                relabelled=sum(p.judge != old[p.query, p.doc].judge for p in shared),
                people_changed=sum(p.human != old[p.query, p.doc].human for p in shared),
                tests=tuple(
                    drift_tests(
                        earlier.judged,
                        self.judged,
                        (earlier.canaries, self.canaries),
                        threshold=self.threshold,
                        confidence=self.confidence,
                        seed=seed,
                    )
                ),
                alpha=1 - self.confidence,
            ),
        )

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The judge, the canaries and the drift as text."""
        tables = [render(format, ["passport", ""], self._facts())]
        if self.drift is not None and self.drift.tests:
            tests = [list(asdict(t).values()) for t in self.drift.tests]
            header = ["drift", "before", "after", "difference", "low", "high", "p", "n"]
            tables.append(render(format, header, tests))
        return "\n".join(tables)

    def _facts(self) -> list[list[Any]]:
        rows: list[list[Any]] = [
            ["judge", self.model], ["server", self.server or "the provider's"],
            ["prompt", self.prompt], ["labelled", " to ".join(t[:10] for t in self.labelled if t)],
            ["agreement", judge_sentence({"model": self.model, "passport": self.summary()})],
        ]  # fmt: skip
        for canary in self.canaries:
            low, high = wilson(canary.right, canary.labelled, self.confidence)
            what = "good" if canary.good else "not good"
            rows.append([
                f"canary {canary.kind}",
                f"{canary.right} of {canary.labelled} labelled {what} ({low:.2f} to {high:.2f})",
            ])  # fmt: skip
        if self.drift is not None:
            rows.append(["drift", self.drift.sentence()])
            rows += [[f"changed {n}", f"{a} -> {b}"] for n, a, b in self.drift.changes]
        return rows

    def to_dict(self) -> dict[str, Any]:
        """The passport as plain data; docs/judges.md describes the fields."""
        data = {name: getattr(self, name) for name in self.__slots__ if name != "drift"}
        data["canaries"] = [c._asdict() for c in self.canaries]
        data["judged"] = [list(p) for p in self.judged]
        data["drift"] = None if self.drift is None else asdict(self.drift)
        plain = _plain({"goodgain": self.KIND, "format": self.FORMAT, **data})
        return dict(plain)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """A passport from what `to_dict` returned."""
        names = [
            name for name in cls.__slots__ if name not in ("canaries", "judged", "drift", "figures")
        ]
        values = {name: data[name] for name in names}
        for name in ("scale", "labelled"):
            values[name] = tuple(values[name])
        drift = data["drift"]
        return cls(
            **values,
            figures=tuple(_numbers(f) for f in data["figures"]),
            canaries=tuple(Canary(**c) for c in data["canaries"]),
            judged=tuple(JudgedPair(*p) for p in data["judged"]),
            drift=None
            if drift is None
            else Drift(
                **{
                    **drift,
                    "changes": tuple(tuple(c) for c in drift["changes"]),
                    "tests": tuple(DriftTest(**_numbers(t)) for t in drift["tests"]),
                }
            ),
        )


def make_passport(
    human: Any, labels: Any, calibration: Calibration, *, earlier: Passport | None = None
) -> Passport:
    """The passport of the judge behind `labels`, from its calibration against `human`."""
    from goodgain import __version__
    from goodgain.labels.store import now

    own = Labels.of(labels)
    setting = own.setting
    truth, gains = gains_of(human, prefer="people"), own.to_dict()
    examples = example_pairs(setting)
    judged = tuple(
        JudgedPair(query, doc, float(gain), float(gains[query][doc]))
        for query, docs in truth.items()
        for doc, gain in docs.items()
        if doc in gains.get(query, {}) and (query, doc) not in examples
    )
    passport = Passport(
        setting=setting.digest,
        model=setting.model,
        server=str(setting.parameters.get("base_url") or setting.parameters.get("server") or ""),
        prompt=setting.prompt,
        prompt_text=_prompt_text(own.store, setting),
        parameters=setting.parameters,
        scale=(float(setting.low), float(setting.high)),
        created=now(),
        version=__version__,
        labelled=_period(own),
        threshold=calibration.threshold,
        confidence=calibration.confidence,
        pairs=len(judged),
        failed=calibration.failed,
        figures=tuple(asdict(f) for f in calibration.figures),
        canaries=tuple(
            Canary(kind, kind in KNOWN_GOOD, count, good if kind in KNOWN_GOOD else count - good)
            for kind, count, good in calibration.canaries
        ),
        judged=judged,
    )
    return passport if earlier is None else passport.compared(earlier)


def find_passport(store: Store, setting: Setting) -> tuple[Passport, str] | None:
    """The newest passport of a judge beside its store, with its path."""
    path = Path(store.path)
    folder = path.parent if path.is_file() else Path()
    newest: tuple[Passport, str] | None = None
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            passport = Passport.load(file)
        except InputError:
            continue  # not a passport, or damaged: then there is none
        if passport.setting != setting.digest:
            continue
        if newest is None or passport.created > newest[0].created:
            newest = passport, file.name
    return newest


def judge_facts(labels: Labels) -> dict[str, Any] | None:
    """What results record about the judge behind their judgments; None for imported judgments."""
    setting = labels.setting
    if setting.prompt == "import":
        return None
    match = find_passport(labels.store, setting)
    return {
        "model": setting.model,
        "prompt": setting.prompt,
        "setting": setting.digest,
        "passport": None if match is None else {"file": match[1], **match[0].summary()},
    }


def wilson(right: int, total: int, confidence: float) -> tuple[float, float]:
    """The Wilson interval of a share."""
    from statistics import NormalDist

    if not total:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, spread = right / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    reach = z * math.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _prompt_text(store: Store, setting: Setting) -> dict[str, Any] | None:
    row = store.db.execute(
        "SELECT text FROM prompts WHERE version = ?", (setting.prompt,)
    ).fetchone()
    return dict(json.loads(row[0])) if row else None


def _period(labels: Labels) -> tuple[str, str]:
    number = labels.store.find_setting(labels.setting)
    row = labels.store.db.execute(
        "SELECT min(r.created), max(r.created) FROM replies r JOIN asked a ON a.key = r.key "
        "WHERE a.setting = ?",
        (number,),
    ).fetchone()
    return str(row[0] or ""), str(row[1] or "")


def load_passport(path: str | os.PathLike[str]) -> Passport:
    """A passport from its file."""
    return Passport.load(path)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _numbers(saved: dict[str, Any]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in saved.items()}
