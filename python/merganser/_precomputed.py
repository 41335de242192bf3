"""Minimum spanning trees of precomputed distance matrices."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._errors import InputError
from ._trees import Forest, minimum_spanning_forest


def tree_from_distances(distances: np.ndarray, min_samples: int, *, ranks: int = 1) -> Forest:
    """Computes the minimum spanning tree of a matrix of distances, (n, n), symmetric and not negative; with min_samples above 1
    of the mutual reachability distances that follow from them.

    Edges compare by (weight, lower point, higher point). Memory: 24 bytes per pair of points. Raises InputError.
    """
    n, columns = distances.shape
    if n != columns:
        raise InputError(f"X: distances of shape {distances.shape}; allowed: (n, n)")
    if min_samples > n:
        raise InputError(f"min_samples: {min_samples}; allowed: at most the {n} points")
    if (distances < 0).any():
        raise InputError(f"X: a distance of {distances.min()}; allowed: 0 and more")
    if not np.allclose(distances, distances.T):
        raise InputError("X: distances that are not symmetric; allowed: the same both ways")
    u, v = np.triu_indices(n, 1)
    weights = distances[u, v]
    if min_samples > 1:
        core = np.partition(distances, min_samples - 1, axis=1)[:, min_samples - 1]
        weights = np.maximum(weights, np.maximum(core[u], core[v]))
    return minimum_spanning_forest((n, u, v, weights), ranks=ranks)


def growth_from_distances(distances: np.ndarray, min_samples: int) -> Any:
    """Computes the edges of the tree of (n, n) mutual reachability distances in scikit-learn's order for precomputed distances.

    That is Prim's algorithm from point 0, with ties to the lowest point; as in scikit-learn, the source of each edge is the
    point added just before, which need not be an end of the edge in the tree. Time O(n^2); memory 8 bytes per pair if
    min_samples is above 1.
    """
    n = len(distances)
    core = np.partition(distances, min_samples - 1, axis=0)[min_samples - 1] if min_samples > 1 else None
    targets, weights = np.empty(n - 1, dtype=np.uint32), np.empty(n - 1)
    left, least = np.arange(n, dtype=np.uint32), np.full(n, np.inf)
    newest = 0
    for i in range(n - 1):
        keep = left != newest
        left = left[keep]
        row = distances[newest, left]
        if core is not None:
            row = np.maximum(row, np.maximum(core[newest], core[left]))
        least = np.minimum(least[keep], row)
        place = int(np.argmin(least))
        newest = left[place]
        targets[i], weights[i] = newest, least[place]
    sources = np.concatenate([np.zeros(1, dtype=np.uint32), targets[:-1]]) if n > 1 else targets
    return _core.Growth.of(sources, targets, weights)
