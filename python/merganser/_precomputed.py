"""Trees of distances that the caller has found."""
from __future__ import annotations

import numpy as np

from ._errors import InputError
from ._trees import Forest, minimum_spanning_forest


def tree_of_distances(distances: np.ndarray, min_samples: int, *, ranks: int = 1) -> Forest:
    """The tree of mutual reachability distances (min_samples above 1) or of distances, (n, n), symmetric, 0 or more.

    Memory: 24 bytes per pair of points beside the distances. Of equal weights the one between lower points comes first.
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
