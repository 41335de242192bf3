"""Minimum spanning trees of precomputed distances: of all pairs, some of which may be infinite, or of those that a sparse matrix
stores."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _core
from ._arrays import nearly_equal, number
from ._errors import InputError
from ._pairs import previous
from ._trees import Forest, minimum_spanning_forest

_UNEQUAL = ("X: The precomputed distance matrix has values that are not symmetric; allowed: the same both ways (of a matrix "
            "with one triangle: X + X.T)")


def check_square(X: Any) -> None:
    """Raises InputError unless distances X are an (n, n) matrix."""
    if X.ndim != 2 or X.shape[0] != X.shape[1]:
        raise InputError(f"X: The precomputed distance matrix has shape {X.shape}; allowed: (n, n)")


def check_distances(distances: np.ndarray, min_samples: int) -> None:
    """Raises InputError unless distances are an (n, n) matrix, symmetric, not negative and no NaN, of at least min_samples
    points."""
    if np.isnan(distances).any():
        raise InputError("X: contains NaN (np.nan values found in precomputed-dense); allowed: numbers, infinity for no distance")
    check_square(distances)
    n = len(distances)
    if min_samples > n:
        raise InputError(f"min_samples: {min_samples}; allowed: at most the {n} points")
    if (distances < 0).any():
        raise InputError(f"X: a distance of {distances.min()}; allowed: 0 and more")
    if not nearly_equal(distances, distances.T):
        raise InputError(_UNEQUAL)


def tree_from_distances(distances: np.ndarray, min_samples: int, *, ranks: int = 1, alpha: float = 1.0) -> Forest:
    """Computes the minimum spanning tree of a matrix of distances, (n, n), symmetric and not negative; with min_samples above 1
    of the mutual reachability distances that follow from them, divided by alpha where they are compared with core distances. Infinite
    ones are edges of infinite weight.

    Edges compare by (weight, lower point, higher point). Memory: 24 bytes per pair of points. Raises InputError.
    """
    check_distances(distances, min_samples)
    n = len(distances)
    u, v = np.triu_indices(n, 1)
    weights = distances[u, v] / alpha
    if min_samples > 1:
        core = np.partition(distances, min_samples - 1, axis=1)[:, min_samples - 1]
        weights = np.maximum(weights, np.maximum(core[u], core[v]))
    return minimum_spanning_forest((n, u, v, weights), ranks=ranks)


def warn_if_infinite(forest: Forest) -> None:
    """Issues a UserWarning, in scikit-learn's words, if a spanning tree has edges of infinite weight."""
    infinite = np.count_nonzero(np.isinf(forest.weights))
    if infinite:
        warnings.warn(f"The minimum spanning tree contains edge weights with value infinity ({infinite} of {len(forest)}). "
                      "Potentially, you are missing too many distances in the initial distance matrix for the given neighborhood "
                      "size.", UserWarning, stacklevel=4)


def growth_from_distances(distances: np.ndarray, min_samples: int, alpha: float = 1.0) -> Any:
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
        row = distances[newest, left] / alpha
        if core is not None:
            row = np.maximum(row, np.maximum(core[newest], core[left]))
        least = np.minimum(least[keep], row)
        place = int(np.argmin(least))
        newest = left[place]
        targets[i], weights[i] = newest, least[place]
    return _core.Growth.of(previous(targets), targets, weights)


def sparse_distances(X: Any) -> Any:
    """Returns sparse distances as a CSR matrix of float64, entries that repeat added up. Raises InputError unless they are (n, n),
    symmetric, not negative and no NaN."""
    check_square(X)
    if X.dtype.kind not in "fiub":
        raise InputError(f"X: a sparse matrix of {X.dtype}; allowed: real numbers")
    matrix = X.tocsr().astype(np.float64)
    matrix.sum_duplicates()
    data = matrix.data
    if np.isnan(data).any() or (data < 0).any():
        what = "NaN" if np.isnan(data).any() else f"a distance of {data.min()}"
        raise InputError(f"X: contains {what}; allowed: distances from 0; pairs without are not stored")
    other = matrix.T.tocsr()
    other.sort_indices()
    if not (np.array_equal(matrix.indptr, other.indptr) and np.array_equal(matrix.indices, other.indices)
            and nearly_equal(data, other.data)):
        raise InputError(_UNEQUAL)
    return matrix


class SparseTree:
    """Minimum spanning forest of the pairs that a sparse matrix of distances stores, by mutual reachability distances."""

    def __init__(self, X: Any, min_samples: int, parameters: dict[str, Any] | None, ranks: int, alpha: float):
        """Computes the forest. A core distance is the min_samples-th least entry of a row, as in scikit-learn: a point is its own
        first neighbour only if its 0 is stored. Raises InputError for rows with fewer entries, and for several components.

        metric_params={"max_distance": D}: rows with fewer entries have infinite core distances, infinite reachabilities are D, and
        components are joined at infinity.
        """
        self.matrix, self.ranks = sparse_distances(X), ranks
        self.n = self.matrix.shape[0]
        self.limit = number((parameters or {}).get("max_distance", 0.0), "max_distance")
        if min_samples > self.n:
            raise InputError(f"min_samples: {min_samples}; allowed: at most the {self.n} points")
        self.matrix.data = self._reach(min_samples, alpha)
        u = np.repeat(np.arange(self.n), np.diff(self.matrix.indptr))
        v = self.matrix.indices.astype(np.int64)
        once = u < v
        edges = (u[once], v[once], self.matrix.data[once])
        found = minimum_spanning_forest((self.n, *edges), ranks=ranks)
        self.components = found.components
        if self.components > 1 and not self.limit > 0:
            raise InputError(f"X: a sparse distance matrix of {self.components} connected components (HDBSCAN cannot be performed "
                             "on a disconnected graph); allowed: one, or metric_params={'max_distance': numpy.inf}, which joins them "
                             "at infinity")
        self.forest = found if self.components == 1 else self._joined(found)

    def _reach(self, min_samples: int, alpha: float) -> np.ndarray:
        """Returns the mutual reachability distances of the stored pairs, whose distances are divided by alpha."""
        counts = np.diff(self.matrix.indptr)
        data = self.matrix.data
        core = np.full(self.n, np.inf)
        few = np.flatnonzero(counts < min_samples)
        if len(few) and not self.limit > 0:
            raise InputError(f"X: There exists points with fewer than {min_samples} neighbors: row {few[0]} stores "
                             f"{counts[few[0]]} distances; allowed: {min_samples} (min_samples) and more, or "
                             "metric_params={'max_distance': ...}")
        for i in np.flatnonzero(counts >= min_samples):
            row = data[self.matrix.indptr[i]:self.matrix.indptr[i + 1]]
            core[i] = np.partition(row, min_samples - 1)[min_samples - 1]
        data = data / alpha
        reach = np.maximum(data, np.maximum(np.repeat(core, counts), core[self.matrix.indices]))
        return np.where(np.isfinite(reach), reach, self.limit) if self.limit > 0 else np.where(np.isfinite(reach), reach, data)

    def _joined(self, found: Forest) -> Forest:
        """Returns the spanning tree that joins the components of a forest at infinity, by their lowest points."""
        from ._linkage import cut, linkage

        labels = cut(linkage(found), height=np.finfo(np.float64).max)
        lowest = np.unique(labels, return_index=True)[1]
        edges = found.edges
        u, v = np.concatenate([edges[:, 0], np.zeros(len(lowest) - 1, np.int64)]), np.concatenate([edges[:, 1], lowest[1:]])
        w = np.concatenate([found.weights, np.full(len(lowest) - 1, np.inf)])
        return minimum_spanning_forest((self.n, u, v, w), ranks=self.ranks)

    def growth(self) -> Any:
        """Returns the edges of the tree in scikit-learn's order, that of SciPy's spanning tree by row and column. Where that drops
        edges of length 0, or components were joined, it is the forest's own order, and not exact."""
        from scipy.sparse import csgraph

        tree = csgraph.minimum_spanning_tree(self.matrix)
        rows, columns = tree.nonzero()
        if self.components > 1 or len(rows) != self.n - 1:
            low, high = (np.ascontiguousarray(side, dtype=np.uint32) for side in self.forest.edges.T)
            return _core.Growth.of(low, high, self.forest.weights, exact=False)
        return _core.Growth.of(rows.astype(np.uint32), columns.astype(np.uint32), np.ascontiguousarray(tree.data))
