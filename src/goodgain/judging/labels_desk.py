"""Labels of documents: blind votes, the model's label after them, and adjudication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from goodgain.judging import agreement
from goodgain.judging.desk import (
    ROLES,
    Desk,
    RefusalError,
    request_id,
    seconds_of,
    text_field,
)
from goodgain.labels.ensemble import gain_of_replies
from goodgain.labels.people import ADJUDICATED_BY, ADJUDICATION, REVISED, Vote
from goodgain.labels.result import current_replicates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.judging.ballots import Ballot
    from goodgain.judging.items import Item
    from goodgain.labels.store import Store

PAGE = "page"  # the source of a vote; followed by the id of the request


class LabelsDesk(Desk):
    """People give documents gains. `blind` never shows a model's label, not even after the vote."""

    mode = "labels"
    table = "votes"

    def __init__(
        self,
        store: Store,
        items: Sequence[Item],
        grades: Sequence[tuple[float, str]],
        *,
        blind: bool = False,
        **options: Any,
    ) -> None:
        self.grades = list(grades)
        self.low, self.high = self.grades[0][0], self.grades[-1][0]
        self.blind = blind
        super().__init__(store, items, scale=(self.low, self.high), **options)
        self._settings = store.gain_settings()

    def setup(self) -> dict[str, Any]:
        """The page's setup with the scale."""
        grades = [{"gain": gain, "text": text} for gain, text in self.grades]
        return {**super().setup(), "grades": grades}

    def _item(self, key: str) -> Item:
        return cast("Item", self.items[key])

    def _item_name(self, key: str) -> str:
        item = self._item(key)
        return f"{item.question[:80]} · {(item.title or item.doc)[:80]}"

    def _gain(self, posted: dict[str, Any]) -> float:
        gain = posted.get("choice")
        grades = [grade for grade, _ in self.grades]
        if isinstance(gain, bool) or not isinstance(gain, int | float) or gain not in grades:
            raise RefusalError(f"'{gain}' is not on the scale", 400)
        return float(gain)

    def _store(self, annotator: str, key: str, request: str, posted: dict[str, Any]) -> None:
        skipped = posted.get("choice") is None
        reason = text_field(posted, "reason", 1000)
        if skipped and not reason.strip():
            raise RefusalError("a skip needs a reason", 400)
        revised = (annotator, key) in self.ballots.labelled
        self._add(
            key,
            annotator=annotator,
            status="skipped" if skipped else "label",
            gain=None if skipped else self._gain(posted),
            reason=reason if skipped else "",
            note=text_field(posted, "note"),
            seconds=seconds_of(posted),
            source=f"{REVISED if revised else PAGE} {request}",
        )

    def _add(self, key: str, **fields: Any) -> None:
        item = self._item(key)
        vote = Vote(
            query=item.query,
            doc=item.doc,
            question=item.question,
            document=item.document,
            low=self.low,
            high=self.high,
            **fields,
        )
        self.store.add_votes([vote])

    def _withdraw(self, ballot: Ballot, request: str) -> None:
        self._add(
            ballot.key,
            annotator=ballot.annotator,
            status="withdrawn",
            note=ballot.note,
            source=f"{PAGE} {request}",
        )

    def _revealed(self, ballot: Ballot) -> dict[str, Any]:
        """The models' labels, once the annotator has given one; a skip shows nothing."""
        if self.blind or ballot.status != "label":
            return {"models": []}
        item = self._item(ballot.key)
        models = []
        for number, setting in self._settings:
            rows = self.store.db.execute(
                "SELECT a.replicate, a.document, a.question, r.gain FROM asked a LEFT JOIN replies r "
                "ON r.key = a.key AND r.status = 'ok' WHERE a.setting = ? AND a.query = ? AND a.doc = ? "
                "ORDER BY a.created, a.id",
                (number, item.query, item.doc),
            ).fetchall()
            if rows:
                gains = {n: gain for n, (_, gain) in current_replicates(rows).items()}
                gain = gain_of_replies(gains, setting)
                models.append({"model": setting.model, "gain": gain})
        return {"models": models}

    # --- agreement and adjudication ---

    def _labels(self, key: str) -> dict[str, Ballot]:
        """The labels of an item that people gave on their own."""
        return {
            name: ballot
            for name, ballot in self.ballots.of(key).items()
            if ballot.status == "label" and not ballot.is_adjudicated
        }

    def _settled(self, key: str) -> Ballot | None:
        own = (b for b in self.ballots.of(key).values() if b.is_adjudicated)
        return max(own, key=lambda ballot: ballot.order, default=None)

    def agreement(self, name: Any) -> dict[str, Any]:
        """Kappa and alpha over the items that several people have labelled."""
        with self.lock:
            self.ballots.refresh()
            self._require(name, *ROLES)
            gains = {
                (self.items[key].query, key): {n: float(b.choice) for n, b in own.items()}
                for key in self.items
                if (own := self._labels(key))
            }
            several = sum(len(own) > 1 for own in gains.values())
            differ = sum(len(set(own.values())) > 1 for own in gains.values())
            if several:
                sentence = (
                    f"{several:,} of {len(gains):,} labelled items have labels of several people; "
                    f"they differ on {differ:,}."
                )
            else:
                sentence = (
                    f"{len(gains):,} of {len(self.items):,} items are labelled, none of them by two "
                    "people: start goodgain judge with --overlap 0.2 to let everyone judge a fifth."
                )
            if self.ballots.other_scales:
                sentence += (
                    f" {self.ballots.other_scales:,} votes on another scale than "
                    f"{self.low:g} to {self.high:g} are not counted."
                )
            return {
                "sentence": sentence,
                "figures": agreement.figures(gains),
                "people": [p for p in self.people() if not p["name"].startswith(ADJUDICATED_BY)],
                "gsb": "",
            }

    def disagreements(self, name: Any) -> dict[str, Any]:
        """Items on which labels differ, with the labels; annotators see those that they have labelled."""
        with self.lock:
            self.ballots.refresh()
            annotator = self._require(name, *ROLES)
            sees_all = self.role(annotator) == "adjudicator"
            items, hidden, settled = [], 0, 0
            for key in self.items:
                own = self._labels(key)
                if len({ballot.choice for ballot in own.values()}) < 2:
                    continue
                if self._settled(key):
                    settled += 1
                elif not (sees_all or annotator in own):
                    hidden += 1
                else:
                    items.append({**self._item(key).to_dict(), "votes": self._votes(key)})
            return {"items": items, "hidden": hidden, "settled": settled}

    def _votes(self, key: str) -> list[dict[str, Any]]:
        return [
            {
                "annotator": name,
                "status": ballot.status,
                "gain": ballot.choice,
                "reason": ballot.reason,
                "note": ballot.note,
            }
            for name, ballot in sorted(self.ballots.of(key).items())
            if not ballot.is_adjudicated
        ]

    def adjudicate(self, posted: dict[str, Any]) -> dict[str, Any]:
        """Settle a disagreement: a vote of its own kind, beside those of the annotators."""
        with self.lock:
            self.ballots.refresh()
            annotator = self._require(posted.get("annotator"), *ROLES)
            request = request_id(posted)
            key = self._key(posted)
            if request not in self.ballots.ids:
                own = self._labels(key)
                if self.role(annotator) != "adjudicator" and annotator not in own:
                    raise RefusalError("judge this item yourself before you settle it")
                if len({ballot.choice for ballot in own.values()}) < 2:
                    raise RefusalError("there is no disagreement on this item")
                gain = self._gain(posted)
                self._add(
                    key,
                    annotator=ADJUDICATED_BY + annotator,
                    gain=gain,
                    note=text_field(posted, "note"),
                    seconds=seconds_of(posted),
                    source=f"{ADJUDICATION} {request}",
                )
                self.ballots.refresh()
            settled = self._settled(key)
            return {"message": f"Saved: settled as {settled.choice:g}." if settled else "Saved."}
