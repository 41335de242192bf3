"""Centroids and medoids of clusters, on one process or over ranks with the same bits."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _core
from ._metrics import Metric
from ._team import open_team

_BLOCK = 1 << 22
"""Maximum number of coordinate differences that _sums_of_distances() holds at once."""


def centroids(fitted: Any, labels: Sequence[int]) -> np.ndarray:
    """Computes the centroids (len(labels), d) of clusters of a fitted HDBSCAN, weighted by probability.

    Sums are exact before they are rounded once, so that the result does not depend on the order of points and ranks. Collective with
    comm.
    """
    place = np.full(max([*labels, int(fitted.labels_.max(initial=-1))], default=-1) + 2, -1, dtype=np.int64)
    place[np.asarray(labels, dtype=np.int64)] = np.arange(len(labels))  # the last entry stays -1: noise, label -1
    team = open_team(fitted._fitted_comm, 1, fitted._at_fit.model)
    inside, strength = fitted._of_finite(fitted.labels_), fitted._of_finite(fitted.probabilities_)
    sums, weights = _core.weighted_sums(team, fitted._rows, place[inside], strength, len(labels))
    return sums / weights[:, None]


def medoids(fitted: Any, labels: Sequence[int]) -> np.ndarray:
    """Computes the medoids (len(labels), d) of clusters of a fitted HDBSCAN, weighted by probability; of equal sums that of the lowest
    point. Collective with comm: every rank gets all points of one cluster at a time, and computes the sums of a share of them."""
    comm, metric = fitted._fitted_comm, fitted._fitted_metric()
    numbers = fitted._numbers()
    all_labels, strengths = fitted._of_finite(fitted.labels_), fitted._of_finite(fitted.probabilities_)
    out = np.empty((len(labels), fitted._rows.shape[1]))
    for row, label in enumerate(labels):
        inside = np.flatnonzero(all_labels == label)
        points, strength = fitted._rows[inside], strengths[inside]
        if comm is None:
            out[row] = points[int(_sums_of_distances(points, points, strength, metric).argmin())]
            continue
        parts = comm.allgather((numbers[inside], points, strength))
        order = np.argsort(np.concatenate([part[0] for part in parts]), kind="stable")
        points, strength = (np.concatenate([part[i] for part in parts])[order] for i in (1, 2))
        share = slice(len(points) * comm.rank // comm.size, len(points) * (comm.rank + 1) // comm.size)
        sums = np.concatenate(comm.allgather(_sums_of_distances(points[share], points, strength, metric)))
        out[row] = points[int(sums.argmin())]
    return out


def _sums_of_distances(some: np.ndarray, points: np.ndarray, strength: np.ndarray, metric: Metric) -> np.ndarray:
    """Returns for each of `some` points the sum of its distances to all `points`, weighted by their strengths of membership. The bits
    of a sum do not depend on which other sums are computed."""
    sums = np.empty(len(some))
    rows = max(1, _BLOCK // max(1, points.size))
    for first in range(0, len(some), rows):
        sums[first:first + rows] = (metric.distances(some[first:first + rows], points) * strength).sum(axis=1)
    return sums
