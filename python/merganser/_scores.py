"""Scores of the clusters and points of a fitted HDBSCAN: outlier scores, persistence, exemplars, centres, validity, cuts.

What belongs to a point is returned for this process's rows, not a number (NaN) for rows that are not finite, which are in no tree;
what belongs to a cluster is the same on every rank. Over ranks the first use of each is collective, since rank 0 has the tree, and
gives the bits of one process. Arrays are kept after their first use, and are read-only.
"""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _core
from ._arrays import integer, line, number
from ._errors import InputError, UnavailableError, UsageError
from ._tree_estimator import scatter
from .hierarchies import MinimumSpanningTree, SingleLinkageTree

_MOST_WEIGHT = 1e150
"""Maximum of the sum of all weights: products with lambdas, and their sums, stay finite."""


class ClusterScores:
    """Base class of HDBSCAN with what follows from a fitted condensed tree, by the names of the package hdbscan."""

    @property
    def outlier_scores_(self) -> np.ndarray:
        """Outlier score (GLOSH) of each of this process's points, float64 from 0 (inside) to 1: how much earlier it leaves its last
        cluster than the densest point of that, relative to the density of the latter. Over ranks the first use is collective.
        Where lambdas are infinite (points at one place) the densest have 0 and the others of their clusters 1. Rows that are not
        finite have NaN. Time O(n)."""
        return self._score("outliers", lambda: _read_only(self._of_all(self._scatter(self._on_root(_core.outlier_scores)), np.nan)))

    @property
    def cluster_persistence_(self) -> np.ndarray:
        """Persistence of each cluster, float64: its stability as a share of what it would be if all its points stayed in it to the
        greatest lambda of the tree, 0 to 1; 1 where that is infinite. Of a selected root (allow_single_cluster) it may be above 1,
        since stability counts all points of it and this share those that have the label. Over ranks the first use is collective, and
        all get all."""
        return self._score("persistence", lambda: _read_only(self._find_persistence()))

    @property
    def exemplar_indices_(self) -> list[np.ndarray]:
        """Numbers (int64) of the exemplars of each cluster among all rows: of each leaf below it the points that leave last,
        ascending by leaf, then point. Over ranks the first use is collective, and all get all."""
        return list(self._score("exemplar numbers", lambda: [_read_only(numbers) for numbers in self._number_exemplars()]))

    @property
    def exemplars_(self) -> list[np.ndarray]:
        """Exemplars of each cluster, arrays (m, d), in the order of exemplar_indices_. Over ranks the first use is collective, and
        all get all. Raises an error that is a UsageError and an AttributeError for precomputed distances."""
        return list(self._score("exemplars", lambda: [_read_only(self._rows_of(numbers)) for numbers in self._finite_exemplars()]))

    @property
    def relative_validity_(self) -> float:
        """Relative validity of the clustering, -1 to 1: an approximation of validity_index() from the spanning tree's edges alone, by
        which parameters are compared for one set of points. Over ranks the first use is collective.

        It depends on which of several minimum trees there is, where mutual reachability distances are equal; here that is the one
        that comes first by (weight, low, high). 0 without clusters. Time O(n)."""
        return self._score("validity", self._find_validity)

    @property
    def minimum_spanning_tree_(self) -> MinimumSpanningTree | None:
        """Minimum spanning tree of the mutual reachability distances, with to_numpy(), to_pandas(), to_networkx() and plot(). None on
        ranks other than 0; over ranks the first use is collective."""
        found = self._score("tree", self._find_tree)
        return found

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> np.ndarray:
        """Computes the clusters of DBSCAN* at a distance: those after all merges of at most `cut_distance`.

        Collective with comm. Time O(n).

        Parameters
        ----------
        cut_distance
            Mutual reachability distance at which the dendrogram is cut. (hdbscan makes merges below it, not at it.)
        min_cluster_size
            Clusters of fewer points are noise.

        Returns
        -------
        ndarray
            Labels (int64) of this process's points, -1 for noise, in the order of the clusters' lowest points. Rows with infinite
            numbers have -2, rows with missing ones -3, as in labels_.

        Raises
        ------
        UsageError
            If a number is out of range, or the estimator was fitted to a dask array.
        """
        distance, least = number(cut_distance, "cut_distance"), integer(min_cluster_size, "min_cluster_size")
        if not distance >= 0:
            raise UsageError(f"cut_distance: {distance}; allowed: 0 and more")
        if least < 1:
            raise UsageError(f"min_cluster_size: {least}; allowed: 1 and more")
        self._check_tree()
        self.single_linkage_tree_  # makes the rows of the dendrogram; over ranks the first use is collective
        rows = self._linkage_rows
        labels = self._scatter(None if rows is None else SingleLinkageTree(rows).get_clusters(distance, least))
        return self._expanded(labels, np.zeros(len(labels)))[0]

    def weighted_cluster_centroid(self, cluster_id: int) -> np.ndarray:
        """Returns the centroid (d,) of a cluster's points, weighted by their probabilities. Collective with comm. Raises UsageError
        for a label that there is not."""
        return self._center(cluster_id, "centroid")

    def weighted_cluster_medoid(self, cluster_id: int) -> np.ndarray:
        """Returns the medoid (d,) of a cluster: its point of least sum of distances to all others, weighted by their probabilities.
        Collective with comm. Time O(m^2) for m points. Raises UsageError for a label that there is not."""
        return self._center(cluster_id, "medoid")

    def _center(self, cluster_id: int, what: str) -> np.ndarray:
        """Returns the centroid or the medoid of a cluster."""
        from ._centers import centroids, medoids

        label, count = integer(cluster_id, "cluster_id"), self._count()
        if not 0 <= label < count:
            raise UsageError(f"cluster_id: {label}; allowed: labels from 0 to below {count}")
        self._check_points()
        return (centroids if what == "centroid" else medoids)(self, [label])[0]

    def _score(self, name: str, compute: Callable[[], Any]) -> Any:
        """Returns a score of the fitted clusters, which is computed at its first use after fit()."""
        self._check_tree()
        kept = self.__dict__.get("_scores")
        if kept is None or kept[0] is not self.labels_:  # fitted anew
            kept = self._scores = (self.labels_, {})
        if name not in kept[1]:
            kept[1][name] = compute()
        return kept[1][name]

    def _check_tree(self) -> None:
        """Raises AttributeError before fit(), UnavailableError after a fit to a dask array, whose tree no process keeps."""
        self._check_fitted()
        if self._fitted_comm is None and getattr(self, "_clusters", None) is None:
            raise UnavailableError("fitted to an array of dask, of which only labels are kept; allowed: fitted to an array, or "
                                   "over comm")

    def _check_points(self) -> None:
        """Raises UnavailableError if the estimator was fitted to distances, which have no coordinates."""
        if self._rows is None:
            raise UnavailableError("fitted to distances, which have no coordinates; allowed: fitted to points")

    def _condensed(self) -> Any:
        """Returns the condensed tree of all finite rows as an object of the extension; None on ranks other than 0."""
        tree = self._clusters
        return None if tree is None else _core.make_condensed_tree(*tree)

    def _on_root(self, compute: Callable[[Any], Any]) -> Any:
        """Returns compute(condensed tree) on the process that has the tree; None on other ranks."""
        tree = self._condensed()
        return None if tree is None else compute(tree)

    def _scatter(self, values: np.ndarray | None) -> np.ndarray:
        """Scatters values of all finite rows from rank 0. Each rank returns those of its finite rows. Collective with comm."""
        if self._fitted_comm is None:
            return values
        return scatter(values, self._rows, getattr(self, "_ids", None), self._fitted_comm)

    def _gather(self, values: np.ndarray) -> np.ndarray | None:
        """Gathers values of this process's finite rows on rank 0, in the order of all; None on others. Collective with comm."""
        if self._fitted_comm is None:
            return values
        ids = getattr(self, "_ids", None)
        parts = self._fitted_comm.gather((values, ids), root=0)
        if parts is None:
            return None
        together = np.concatenate([part for part, _ in parts])
        if ids is None:
            return together
        out = np.empty_like(together)
        out[np.concatenate([some for _, some in parts]).astype(np.int64)] = together
        return out

    def _gather_weights(self, sample_weight: Any, n: int) -> np.ndarray | None:
        """Returns the weights of all finite rows on rank 0, None on others and if no rank has any. Collective with comm. Raises
        InputError on every rank for weights of another shape than the `n` rows of this process, negative or not finite, with a sum
        above 1e150, and where ranks with points have none and others have."""
        have = sample_weight is not None
        if self._fitted_comm is not None:
            known = self._fitted_comm.allgather((n, have))
            have = any(theirs for _, theirs in known)
            if have and not all(theirs for some, theirs in known if some > 0):
                raise InputError("sample_weight: on some ranks only; allowed: on all ranks or on none")
        if not have:
            return None
        given = np.zeros(n) if sample_weight is None else sample_weight
        weights = self._gather(self._of_finite(self._rows_on_all(given, lambda mine: _check_weights(mine, n))))
        total = self._share(None if weights is None else _sum(weights))
        if total == 0:
            raise InputError("sample_weight: all weights are zero; allowed: some above 0")
        if total > _MOST_WEIGHT:
            raise InputError(f"sample_weight: weights that add up to {total}; allowed: at most {_MOST_WEIGHT}")
        return weights

    def _share(self, value: Any) -> Any:
        """Broadcasts a value from rank 0. Collective with comm."""
        return value if self._fitted_comm is None else self._fitted_comm.bcast(value, root=0)

    def _count(self) -> int:
        """Returns the number of clusters over all ranks. Collective with comm."""
        self._check_tree()
        return self._share(len(self._selected))

    def _numbers(self) -> np.ndarray:
        """Returns the numbers of this process's finite rows among those of all ranks. Collective with comm."""
        ids = getattr(self, "_ids", None)
        if self._fitted_comm is None or ids is not None:
            return np.arange(len(self._rows)) if ids is None else ids.astype(np.int64)
        before = sum(self._fitted_comm.allgather(len(self._rows))[:self._fitted_comm.rank])
        return before + np.arange(len(self._rows))

    def _among_all(self, numbers: np.ndarray) -> np.ndarray:
        """Returns the numbers among all rows of rows that are given by their numbers among the finite ones. On rank 0."""
        return numbers if self._mask is None else np.flatnonzero(self._mask)[numbers]

    def _rows_of(self, numbers: np.ndarray) -> np.ndarray:
        """Returns rows of any ranks by their numbers among the finite ones, (len(numbers), d). Collective with comm."""
        self._check_points()
        if self._fitted_comm is None:
            return self._rows[numbers]
        own = self._numbers()
        order = np.argsort(own, kind="stable")
        place = np.searchsorted(own[order], numbers)
        here = np.flatnonzero((place < len(own)) & (own[order[np.minimum(place, len(own) - 1)]] == numbers)) if len(own) else (
            np.zeros(0, dtype=np.int64))
        rows = np.empty((len(numbers), self._rows.shape[1]))
        for places, theirs in self._fitted_comm.allgather((here, self._rows[order[place[here]]])):
            rows[places] = theirs
        return rows

    def _find_persistence(self) -> np.ndarray:
        """Computes cluster_persistence_. Collective with comm."""
        labels, count = self._of_finite(self.labels_), self._count()
        everyone, selected = self._gather(labels), np.asarray(self._selected, dtype=np.uint32)

        def compute(tree: Any) -> np.ndarray:
            weights = None if self._clusters.weights is None else self._clusters.weights[everyone >= 0]
            sizes = np.bincount(everyone[everyone >= 0], weights=weights, minlength=count).astype(np.float64)
            return _core.persistences(tree, selected, sizes)

        return self._share(self._on_root(compute))

    def _number_exemplars(self) -> list[np.ndarray]:
        """Computes exemplar_indices_. Collective with comm."""
        found = self._finite_exemplars()
        return self._share([self._among_all(numbers) for numbers in found])

    def _finite_exemplars(self) -> list[np.ndarray]:
        """Returns the numbers of the exemplars among the finite rows, computed at the first use. Collective with comm."""
        return self._score("finite exemplars", self._find_exemplars)

    def _find_exemplars(self) -> list[np.ndarray]:
        """Computes the numbers of the exemplars among the finite rows. Collective with comm."""
        selected = np.asarray(self._selected, dtype=np.uint32)
        begin, points = self._share(self._on_root(lambda tree: _core.exemplars(tree, selected)))
        return np.split(points.astype(np.int64), begin[1:-1].astype(np.int64)) if len(begin) > 1 else []

    def _edges(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Returns ends (m, 2), numbers among the finite rows, and weights of the spanning tree's edges; None on ranks other than 0.
        Collective with comm."""
        if self._forest is None:
            return self.__dict__.get("_saved_edges")
        return _core.gather_edges(self._forest)

    def _find_validity(self) -> float:
        """Computes relative_validity_. Collective with comm."""
        count, labels, edges = self._count(), self._gather(self._of_finite(self.labels_)), self._edges()
        return self._share(None if edges is None else _core.relative_validity(*edges, labels, count))

    def _find_tree(self) -> MinimumSpanningTree | None:
        """Computes minimum_spanning_tree_. Collective with comm."""
        edges = self._edges()
        if edges is None:
            return None
        points = None if self._fitted_comm is not None or self._rows is None else self._of_all(self._rows, np.nan)
        return MinimumSpanningTree(self._among_all(edges[0]), edges[1], points)


def _read_only(values: np.ndarray) -> np.ndarray:
    """Returns an array that is kept and given out, which can no longer be written."""
    values.flags.writeable = False
    return values


def _sum(weights: np.ndarray) -> float:
    """Returns the sum of weights, which may be infinite."""
    with np.errstate(over="ignore"):
        return float(weights.sum())


def _check_weights(given: Any, n: int) -> np.ndarray:
    """Returns the weights of n points as float64. Raises InputError for other shapes, negative weights and ones that are not finite."""
    weights = line(given, "sample_weight", np.float64, n)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise InputError(f"sample_weight: {weights[wrong][0]} at {np.flatnonzero(wrong)[0]}; allowed: finite numbers from 0")
    return weights
