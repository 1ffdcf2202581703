"""Strengths from paired comparisons: Bradley and Terry's model with ties and an effect of position.

Item a, shown at place z (+1 first, -1 second, 0 not known), beats b with probability proportional to
exp(s_a + z d / 2), loses with exp(s_b - z d / 2), and ties with exp((s_a + s_b) / 2 + t): Davidson's model
(1970) with the order effect d of Davidson and Beaver (1977). Groups (queries) have strengths of their own
and share d and t. The log-likelihood is concave; Newton's method uses its block structure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

OUTCOMES = ("first", "same", "second")
SHARED_PRIOR = 5.0  # standard deviation of d and t, if strengths have a prior
_ROUNDS = 200
_TOLERANCE = 1e-9
_TOO_LARGE = 30.0  # a log-odds that no data of this size supports


@dataclass(frozen=True, slots=True)
class Group:
    """The comparisons of one group: items by number, the place of the first one, and the outcome."""

    items: int
    first: tuple[int, ...]
    second: tuple[int, ...]
    place: tuple[int, ...]
    outcome: tuple[int, ...]  # number in OUTCOMES


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Strengths with their covariances by group, and the shared parameters with their standard errors."""

    strengths: list[Floats]
    covariances: list[Floats]
    position: float  # d: the log-odds that being shown first adds
    position_error: float
    ties: float  # t; minus infinity without ties
    converged: bool


class NoFiniteEstimateError(Exception):
    """Some strength would be infinite: an item wins, or loses, all its comparisons."""


def components(items: int, edges: Iterable[tuple[int, int]]) -> list[set[int]]:
    """Items that comparisons connect, largest set first."""
    parent = list(range(items))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in edges:
        parent[root(a)] = root(b)
    sets: dict[int, set[int]] = {}
    for i in range(items):
        sets.setdefault(root(i), set()).add(i)
    return sorted(sets.values(), key=lambda s: (-len(s), min(s)))


def has_finite_estimate(group: Group) -> bool:
    """Whether every item can be reached from every other by wins and ties (Ford's condition)."""
    forward: dict[int, set[int]] = {}
    backward: dict[int, set[int]] = {}
    for a, b, outcome in zip(group.first, group.second, group.outcome, strict=True):
        for winner, loser, holds in ((a, b, outcome <= 1), (b, a, outcome >= 1)):
            if holds:
                forward.setdefault(winner, set()).add(loser)
                backward.setdefault(loser, set()).add(winner)
    return all(_reached(edges) == group.items for edges in (forward, backward))


def _reached(edges: dict[int, set[int]]) -> int:
    seen, todo = {0}, [0]
    while todo:
        for other in edges.get(todo.pop(), ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return len(seen)


def fit(groups: Sequence[Group], prior: float | None) -> Fit:
    """Fit by maximum likelihood or, with `prior`, by its maximum with normal priors.

    `prior` is the standard deviation of the strengths around 0. Without it an item that wins all its
    comparisons has no finite strength, which is an error.
    """
    import numpy as np

    tied = any(1 in group.outcome for group in groups)
    placed = any(place for group in groups for place in group.place)
    if prior is None and not all(has_finite_estimate(group) for group in groups):
        raise NoFiniteEstimateError
    model = _Model(groups, prior, tied, placed)
    strengths = [np.zeros(group.items) for group in groups]
    shared = np.zeros(2)  # d, t
    value = model.value(strengths, shared)
    converged = False
    for _ in range(_ROUNDS):
        steps, shared_step = model.newton(strengths, shared)
        size = 1.0
        while True:
            tried = [s + size * step for s, step in zip(strengths, steps, strict=True)]
            tried_shared = shared + size * shared_step
            new = model.value(tried, tried_shared)
            if new >= value - 1e-12 or size < 1e-8:
                break
            size /= 2
        change = abs(new - value)
        strengths, shared, value = tried, tried_shared, new
        largest = max((float(np.abs(step).max()) for step in steps), default=0.0) * size
        if change < _TOLERANCE * (1 + abs(value)) and largest < 1e-7:
            converged = True
            break
    if prior is None and (np.abs(shared) > _TOO_LARGE).any():
        raise NoFiniteEstimateError
    covariances, shared_covariance = model.covariances(strengths, shared)
    return Fit(
        strengths,
        covariances,
        float(shared[0]),
        float(math.sqrt(shared_covariance[0, 0])) if placed else math.nan,
        float(shared[1]) if tied else -math.inf,
        converged,
    )


class _Model:
    """The penalised log-likelihood with its gradient and Hessian."""

    def __init__(
        self, groups: Sequence[Group], prior: float | None, tied: bool, placed: bool
    ) -> None:
        import numpy as np

        self.prior, self.tied, self.placed = prior, tied, placed
        self.groups = [
            tuple(np.array(column) for column in (g.first, g.second, g.place, g.outcome))
            for g in groups
        ]
        self.sizes = [g.items for g in groups]

    def _utilities(self, number: int, strengths: Floats, shared: Floats) -> Floats:
        import numpy as np

        a, b, place, _ = self.groups[number]
        tie = (
            (strengths[a] + strengths[b]) / 2 + shared[1] if self.tied else np.full(len(a), -np.inf)
        )
        half = place * shared[0] / 2
        return np.stack([strengths[a] + half, tie, strengths[b] - half], axis=1)

    def _probabilities(self, utilities: Floats) -> Floats:
        import numpy as np

        top = np.exp(utilities - utilities.max(1, keepdims=True))
        return np.asarray(top / top.sum(1, keepdims=True))

    def value(self, strengths: list[Floats], shared: Floats) -> float:
        """The log-likelihood, less the penalty of the priors."""
        import numpy as np

        total = 0.0
        for number, own in enumerate(strengths):
            utilities = self._utilities(number, own, shared)
            outcome = self.groups[number][3]
            top = utilities.max(1)
            logs = top + np.log(np.exp(utilities - top[:, None]).sum(1))
            total += float((utilities[np.arange(len(outcome)), outcome] - logs).sum())
            if self.prior is not None:
                total -= float((own**2).sum()) / (2 * self.prior**2)
        if self.prior is not None:
            total -= float((shared**2).sum()) / (2 * SHARED_PRIOR**2)
        return total

    def _derivatives(
        self, number: int, strengths: Floats, shared: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Gradient and negative Hessian of a group: own, own and shared, shared."""
        import numpy as np

        a, b, place, outcome = self.groups[number]
        size, n = self.sizes[number], len(a)
        p = self._probabilities(self._utilities(number, strengths, shared))
        # Derivatives of the three utilities by s_a, s_b, d, t.
        x = np.zeros((n, 3, 4))
        x[:, 0, 0] = x[:, 2, 1] = 1
        x[:, 1, :2] = 0.5
        x[:, 0, 2], x[:, 2, 2] = place / 2, -place / 2
        x[:, 1, 3] = 1
        mean = np.einsum("no,nof->nf", p, x)
        residual = x[np.arange(n), outcome] - mean
        weights = np.einsum("no,nof,nog->nfg", p, x, x) - mean[:, :, None] * mean[:, None, :]
        gradient, hessian = np.zeros(size), np.zeros((size, size))
        mixed = np.zeros((size, 2))
        ends = (a, b)
        for i in (0, 1):
            np.add.at(gradient, ends[i], residual[:, i])
            np.add.at(mixed, ends[i], weights[:, i, 2:])
            for j in (0, 1):
                np.add.at(hessian, (ends[i], ends[j]), weights[:, i, j])
        if self.prior is not None:
            gradient -= strengths / self.prior**2
            hessian += np.eye(size) / self.prior**2
        else:
            hessian += np.ones((size, size))  # fixes the sum of the strengths at 0
        return gradient, hessian, mixed, residual[:, 2:].sum(0), weights[:, 2:, 2:].sum(0)

    def _system(self, strengths: list[Floats], shared: Floats) -> tuple[Any, ...]:
        import numpy as np

        blocks = [self._derivatives(i, own, shared) for i, own in enumerate(strengths)]
        gradient = sum((own_block[3] for own_block in blocks), np.zeros(2))
        corner = sum((own_block[4] for own_block in blocks), np.zeros((2, 2)))
        if self.prior is not None:
            gradient = gradient - shared / SHARED_PRIOR**2
            corner = corner + np.eye(2) / SHARED_PRIOR**2
        for k, used in enumerate((self.placed, self.tied)):
            if not used:  # the parameter stays at 0
                gradient[k] = 0
                corner[k, :] = corner[:, k] = 0
                corner[k, k] = 1
                for own_block in blocks:
                    own_block[2][:, k] = 0
        return blocks, gradient, corner

    def newton(self, strengths: list[Floats], shared: Floats) -> tuple[list[Floats], Floats]:
        """One step of Newton's method; the shared parameters are eliminated first."""
        import numpy as np

        blocks, gradient, corner = self._system(strengths, shared)
        solved = [np.linalg.solve(h, np.column_stack([g, m])) for g, h, m, *_ in blocks]
        for (_, _, mixed, *_), own in zip(blocks, solved, strict=True):
            gradient = gradient - mixed.T @ own[:, 0]
            corner = corner - mixed.T @ own[:, 1:]
        step = np.linalg.solve(corner, gradient)
        return [own[:, 0] - own[:, 1:] @ step for own in solved], step

    def covariances(self, strengths: list[Floats], shared: Floats) -> tuple[list[Floats], Floats]:
        """The inverse of the negative Hessian, by group, and that of the shared parameters."""
        import numpy as np

        blocks, _, corner = self._system(strengths, shared)
        inverses = [np.linalg.inv(h) for _, h, *_ in blocks]
        solved = [inv @ m for inv, (_, _, m, *_) in zip(inverses, blocks, strict=True)]
        for (_, _, mixed, *_), own in zip(blocks, solved, strict=True):
            corner = corner - mixed.T @ own
        shared_covariance = np.linalg.inv(corner)
        covariances = []
        for inverse, own, size in zip(inverses, solved, self.sizes, strict=True):
            covariance = inverse + own @ shared_covariance @ own.T
            if self.prior is None:
                covariance = covariance - np.ones((size, size)) / size**2
            covariances.append(covariance)
        return covariances, shared_covariance


def win_shares(strengths: Floats, ties: float) -> Floats:
    """The expected share of wins of each item against the others, a tie counting half.

    `strengths[..., i]` may have leading dimensions.
    """
    import numpy as np

    s = np.asarray(strengths)
    n = s.shape[-1]
    first, second = s[..., :, None], s[..., None, :]
    top = np.maximum(first, second)
    wins, losses = np.exp(first - top), np.exp(second - top)
    same = np.exp((first + second) / 2 + ties - top) if ties > -math.inf else np.zeros_like(wins)
    shares = (wins + same / 2) / (wins + losses + same)
    return np.asarray((shares.sum(-1) - 0.5) / (n - 1)) if n > 1 else np.full(s.shape, np.nan)
