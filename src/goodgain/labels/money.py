"""Money: what every call has cost, and a budget that holds for all processes of one store."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from goodgain.labels.claims import Claims
    from goodgain.labels.limits import Stop
    from goodgain.labels.store import Store

_UNSETTLED_ROWS = 5_000  # a server may show rows of other processes later than those after them
_POLL = 0.3  # seconds between looks at what other processes have spent


class Spending(NamedTuple):
    """The cost of one paid call; `estimated` if the server did not report its tokens."""

    tokens_in: int
    tokens_out: int
    cost: float | None
    estimated: bool
    reserved: float  # what was set aside for it


class Budget:
    """A limit on the cost of a store.

    A run takes money out of the budget before it spends it, enough for several calls, and states in the
    store how much it still has; what all runs have and what was spent never exceed the limit.
    """

    def __init__(
        self,
        limit: float | None,
        store: Store,
        claims: Claims,
        *,
        calls: int,
        stop: Stop,
    ) -> None:
        self._limit = limit
        self._store = store
        self._claims = claims
        self._calls = calls
        self._stop = stop
        self._available = 0.0  # taken out of the budget and not yet spent
        self._reserved: list[float] = []  # of that, for calls in flight
        self._settled = asyncio.Event()
        self._summed = 0  # the last row of `spending` that is in `_sum`
        self._sum = 0.0

    async def reserve(self, amount: float) -> bool:
        """Set money aside for a call; False if the budget has no more, or the run has stopped."""
        while self._limit is not None and sum(self._reserved) + amount > self._available:
            others = self._take(amount)
            if others is None:
                break
            if self._stop or not (self._reserved or others):
                return False
            self._settled.clear()
            await (self._settled.wait() if self._reserved else self._stop.sleep(_POLL))
        if self._stop:
            return False
        if self._limit is not None:
            self._reserved.append(amount)
        return True

    def _take(self, amount: float) -> float | None:
        """Take out money for at least one call; otherwise return what other processes may still spend."""
        assert self._limit is not None
        needed = sum(self._reserved) + amount
        with self._claims.locked():
            others = self._claims.reserved_by_others()
            room = self._limit - self._spent() - others - self._claims.reserved_by_batches()
            if room < needed:
                return others
            self._available = min(room, needed + amount * (self._calls - 1))
            self._claims.reserve(self._available)
        return None

    def _spent(self) -> float:
        """The cost of the store; rows that cannot change any more are summed once."""
        cost, last = self._store.cost_after(self._summed)
        if last > self._summed + 4 * _UNSETTLED_ROWS:
            tail, _ = self._store.cost_after(last - _UNSETTLED_ROWS)
            self._sum += cost - tail
            self._summed = last - _UNSETTLED_ROWS
            return self._sum + tail
        return self._sum + cost

    def cancel(self, amount: float) -> None:
        """Return what was set aside for a call that cost nothing."""
        if self._limit is not None:
            self._reserved.remove(amount)
            self._settled.set()

    def settle(self, spending: list[Spending]) -> None:
        """Replace what was set aside by the actual costs, within the transaction that stores them."""
        if self._limit is None or not spending:
            return
        for each in spending:
            self._reserved.remove(each.reserved)
            self._available = max(0.0, self._available - (each.cost or 0.0))
        self._claims.reserve(self._available)
        self._settled.set()
