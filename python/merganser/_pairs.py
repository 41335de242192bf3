"""Minimum spanning trees of points by metrics that have no search tree: Prim's algorithm over all pairs, in one process or over the
ranks of a communicator."""
from __future__ import annotations

import time
from typing import Any, Iterator

import numpy as np

from . import _core
from ._arrays import scalar
from ._errors import InputError, UsageError, WrongTypeError
from ._forecast import search_limits
from ._metrics import Metric
from ._trees import Forest, minimum_spanning_forest

_KEPT = 1 << 30
"""Maximum number of bytes of distances that a process keeps; beyond, distances are computed again in each pass."""
_BLOCK = 1 << 21
"""Number of distances that are computed at once."""


class AllPairs:
    """Points of all ranks on each rank, with the distances between all of them and those of this rank (`mine`), by a metric that
    compares pairs. `alpha`: number by which distances are divided where they are compared with core distances.

    The metric is called with the point of lower number first. Distances are kept while they take at most 1 GiB on a process.
    """

    def __init__(self, points: np.ndarray, metric: Metric, comm: Any = None, alpha: float = 1.0):
        """Gathers the points of all ranks. Collective with comm. Memory: 8 bytes per coordinate of all points, on each rank."""
        self.comm, self.metric, self.alpha = comm, metric, alpha
        parts = [points] if comm is None else comm.allgather(points)
        columns = {part.shape[1] for part in parts if len(part)} or {points.shape[1]}
        if len(columns) > 1:
            raise InputError(f"X: {sorted(columns)} columns on ranks of comm; allowed: as many on all")
        rank = 0 if comm is None else comm.rank
        self.points = np.concatenate([part for part in parts if len(part)] or [points])
        self.axes = np.ascontiguousarray(self.points.T)
        self.n = len(self.points)
        first = sum(map(len, parts[:rank]))
        self.mine = np.arange(first, first + len(points))
        """Numbers of this rank's points."""
        self.counts = [len(part) for part in parts]
        """Number of points of each rank."""
        self.keep = 8 * self.n * len(points) <= _KEPT if comm is None else all(8 * self.n * c <= _KEPT for c in self.counts)
        self._kept: np.ndarray | None = None

    def _compute(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Returns the distances between points of numbers `rows` and `columns`, (m, n). Raises InputError for distances that are
        negative or not finite."""
        if self.metric.single is None:
            found = self.metric.between(self.axes[:, rows], self.axes[:, columns])
        else:
            found = np.empty((len(rows), len(columns)))
            for i, row in enumerate(rows):
                for j, column in enumerate(columns):
                    found[i, j] = self._call(min(row, column), max(row, column)) if row != column else 0.0
        with np.errstate(invalid="ignore"):
            fine = np.isfinite(found) & (found >= 0)
        if not fine.all():
            i, j = np.argwhere(~fine)[0]
            raise InputError(f"metric: {found[i, j]} between points {rows[i]} and {columns[j]}; allowed: finite numbers from 0")
        return found

    def _call(self, low: int, high: int) -> float:
        """Returns the user's distance of two points. Raises TypeError unless it is a number."""
        value = self.metric.single(self.points[low], self.points[high])
        if type(value) is float or type(value) is np.float64:
            return value
        try:
            return scalar(value, "metric")
        except WrongTypeError:
            raise WrongTypeError(f"metric: a {type(value).__name__} between points {low} and {high}; allowed: a number") from None

    def _blocks(self) -> Iterator[np.ndarray]:
        """Yields this rank's points in pieces whose distances to all points are computed at once."""
        step = max(1, _BLOCK // max(1, self.n))
        for first in range(0, len(self.mine), step):
            yield self.mine[first:first + step]

    def _fill(self) -> np.ndarray:
        """Returns the kept distances of all points to this rank's, (n, mine), which are computed at the first call; in one process
        each pair once."""
        if self._kept is None:
            kept = np.empty((self.n, len(self.mine)))
            for some in self._blocks():
                place = some - self.mine[0]
                if self.comm is None and self.metric.single is not None:
                    for i in some:
                        kept[i, i:] = self._compute(np.array([i]), np.arange(i, self.n))[0]
                        kept[i:, i] = kept[i, i:]
                else:
                    kept[:, place] = self._compute(some, np.arange(self.n)).T
            self._kept = kept
        return self._kept

    def row(self, point: int) -> np.ndarray:
        """Returns the distances of a point of any rank to this rank's points."""
        if self.keep:
            return self._fill()[point]
        return self._compute(np.array([point]), self.mine)[0]

    def core_distances(self, min_samples: int) -> np.ndarray:
        """Returns the core distances of all ranks' points, each the distance to the min_samples-th nearest point, itself being the
        first. Collective with comm."""
        mine = np.zeros(len(self.mine))
        error = None
        try:
            for some in self._blocks():
                place = some - self.mine[0]
                block = self._fill()[:, place] if self.keep else self._compute(some, np.arange(self.n)).T
                mine[place] = np.partition(block, min_samples - 1, axis=0)[min_samples - 1]
        except Exception as refused:  # a callable of the user may raise anything
            error = refused
        raise_on_all(self.comm, error)
        return np.concatenate([mine] if self.comm is None else self.comm.allgather(mine))

    def evaluations(self, passes: int, cores: bool) -> float:
        """Returns the number of distances that all ranks compute for core distances, if `cores`, and `passes` of Prim's
        algorithm."""
        whole, half = float(self.n) * self.n, self.n * (self.n - 1) / 2
        if self.keep:
            return half if self.comm is None and self.metric.single is not None else whole
        return passes * half + (whole if cores else 0)

    def forecast(self, distances: float, most_distances: Any, forecast: Any) -> None:
        """Measures a few distances and calls the forecast callback of the user on rank 0. Collective with comm. Raises UsageError
        on every rank for more distances than most_distances, and what the callback raises."""
        most, ask = search_limits(most_distances, forecast)
        error, seconds = None, 0.0
        try:
            seconds = self._measure()
        except Exception as refused:
            error = refused
        raise_on_all(self.comm, error)
        memory = 8.0 * self.n * (self.axes.shape[0] + 6) + (8.0 * self.n * max(self.counts) if self.keep else 0)
        ranks = len(self.counts)
        if self.comm is not None:
            seconds = max(self.comm.allgather(seconds))
        numbers = (self.n, self.axes.shape[0], distances, seconds * distances / ranks, memory)
        if distances > most:
            raise UsageError(f"most_distances: {most}; {distances:.4g} distances of {self.n} points are compared pair by pair, "
                             f"about {numbers[3]:.0f} s; allowed: that many, or fewer points")
        try:
            if self.comm is None or self.comm.rank == 0:
                ask(*numbers)
        except Exception as refused:
            error = refused
        raise_on_all(self.comm, error)

    def _measure(self) -> float:
        """Returns the time of one distance in seconds: twice the least of repeated measurements within about 10 ms, since Prim's
        algorithm has work of its own for each; 0 without points."""
        if len(self.mine) == 0 or self.n < 2:
            return 0.0
        some = self.mine[:1 if self.metric.single is not None else max(1, min(64, _BLOCK // self.n))]
        others = np.arange(self.n)[:64 if self.metric.single is not None else self.n]
        least, start = np.inf, time.perf_counter()
        while time.perf_counter() - start < 0.01 or least == np.inf:
            begin = time.perf_counter()
            self._compute(some, others)
            least = min(least, time.perf_counter() - begin)
        return 2 * least / (len(some) * len(others))


def raise_on_all(comm: Any, error: Exception | None) -> None:
    """Raises the error of this rank, or an InputError with that of another one. Collective with comm."""
    if comm is None:
        if error is not None:
            raise error
        return
    told = comm.allgather(None if error is None else f"{type(error).__name__}: {error}")
    if error is not None:
        raise error
    for rank, text in enumerate(told):
        if text is not None:
            raise InputError(f"rank {rank}: {text}")


class _Prim:
    """Prim's algorithm from point 0 over all pairs. Edges compare by (weight, lower point, higher point), or, in scikit-learn's
    order, by (weight, point outside the tree)."""

    def __init__(self, pairs: AllPairs, core: np.ndarray | None, numbered: bool):
        self.pairs, self.core, self.numbered = pairs, core, numbered
        self.open = pairs.mine.copy()
        self.best = np.full(len(self.open), np.inf)
        self.source = np.full(len(self.open), -1, dtype=np.int64)

    def run(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns ends in the tree, new points and weights of all edges, in the order in which they are found. Collective."""
        n = self.pairs.n
        sources, targets, weights = np.empty(n - 1, np.uint32), np.empty(n - 1, np.uint32), np.empty(n - 1)
        newest = 0
        for step in range(n - 1):
            weight, _, _, newest, source = self._select(newest)
            sources[step], targets[step], weights[step] = source, newest, weight
        return sources, targets, weights

    def _select(self, newest: int) -> tuple[float, int, int, int, int]:
        """Adds point `newest` to the tree, and returns the least edge of all ranks to a point outside: its key (weight and two
        points), the new point, and its source. Collective with comm."""
        error = None
        offer = (np.inf, 0, 0, -1, -1)
        try:
            offer = self._improve(newest)
        except Exception as refused:  # a callable of the user may raise anything
            error = refused
        comm = self.pairs.comm
        if comm is None:
            if error is not None:
                raise error
            return offer
        offers = comm.allgather((offer, None if error is None else f"{type(error).__name__}: {error}"))
        if error is not None:
            raise error
        for rank, (_, text) in enumerate(offers):
            if text is not None:
                raise InputError(f"rank {rank}: {text}")
        return min(one for one, _ in offers)

    def _improve(self, newest: int) -> tuple[float, int, int, int, int]:
        """Improves the least edges of this rank's points outside the tree by those to point `newest`, and returns the least."""
        stays = self.open != newest
        if not stays.all():
            self.open, self.best, self.source = self.open[stays], self.best[stays], self.source[stays]
        if len(self.open) == 0:
            return (np.inf, 0, 0, -1, -1)
        row = self.pairs.row(newest)[self.open - self.pairs.mine[0]] / self.pairs.alpha
        if self.core is not None:
            row = np.maximum(row, np.maximum(self.core[self.open], self.core[newest]))
        less = row < self.best
        if not self.numbered:
            same = np.flatnonzero(row == self.best)
            if len(same):
                less[same] = _before(self.open[same], newest, self.source[same])
        self.best[less] = row[less]
        self.source[less] = newest
        least = np.flatnonzero(self.best == self.best.min())
        if self.numbered:
            place = least[0]
            return (float(self.best[place]), int(self.open[place]), 0, int(self.open[place]), int(self.source[place]))
        low, high = np.minimum(self.open[least], self.source[least]), np.maximum(self.open[least], self.source[least])
        first = np.lexsort((high, low))[0]
        place = least[first]
        return (float(self.best[place]), int(low[first]), int(high[first]), int(self.open[place]), int(self.source[place]))


def _before(points: np.ndarray, newest: int, sources: np.ndarray) -> np.ndarray:
    """Returns for edges of one weight whether (point, newest) comes before (point, source), by lower, then higher point."""
    low, high = np.minimum(points, newest), np.maximum(points, newest)
    other_low, other_high = np.minimum(points, sources), np.maximum(points, sources)
    return (low < other_low) | ((low == other_low) & (high < other_high))


def tree_by_pairs(pairs: AllPairs, core: np.ndarray | None, *, ranks: int = 1, model: str = "auto") -> Forest:
    """Computes the minimum spanning tree of the points of all ranks, by mutual reachability distances if `core` are their core
    distances. Collective with comm. Rank 0 gets the edges, and is the one that receives labels. Time O(n^2) distances."""
    u, v, w = _Prim(pairs, core, False).run() if pairs.n > 1 else (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    comm = pairs.comm
    if comm is None:
        return minimum_spanning_forest((pairs.n, u, v, w), ranks=ranks, model=model)
    mine = slice(None) if comm.rank == 0 else slice(0, 0)
    return minimum_spanning_forest((pairs.n, u[mine], v[mine], w[mine]), comm=comm, model=model)


def growth_by_pairs(pairs: AllPairs, core: np.ndarray | None) -> Any:
    """Computes the edges of the tree in scikit-learn's order: Prim's algorithm from point 0, ties to the lowest point. For metrics
    that scikit-learn compares all pairs by, the source of each edge is the point added just before. Collective with comm."""
    sources, targets, weights = _Prim(pairs, core, True).run() if pairs.n > 1 else (np.empty(0, np.uint32),) * 2 + (np.empty(0),)
    if pairs.metric.brute:
        sources = previous(targets)
    return _core.Growth.of(np.ascontiguousarray(sources), targets, weights)


def previous(targets: np.ndarray) -> np.ndarray:
    """Returns for points in the order in which Prim's algorithm adds them, without the first (0), the one added just before."""
    return np.concatenate([np.zeros(min(1, len(targets)), dtype=np.uint32), targets[:-1]]).astype(np.uint32)
