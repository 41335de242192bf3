"""Estimators of scikit-learn's kind. They need no scikit-learn."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import number, whole
from ._dask import cluster_of, fit_on_workers, is_dask
from ._errors import InputError, UsageError
from ._estimator_base import Estimator, threads_of
from ._linkage import cut, hdbscan, linkage
from ._precomputed import growth_of_distances, tree_of_distances
from ._trees import Forest, euclidean_tree, gather_points
from .hierarchies import Clusters, CondensedClusters, SingleLinkageTree

_METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "manhattan": "manhattan",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "chebyshev": "chebyshev",
    "infinity": "chebyshev",
    "haversine": "great_circle",
}
"""scikit-learn's names of metrics, and ours."""


class _TreeEstimator(Estimator):
    """What both estimators do: the tree of X, on this process, threads of it or the ranks of a communicator."""

    def _tree(self, X: Any, min_samples: int, least: int) -> Forest:
        array = self._rows_on_all(X, self._check_rows)
        self._points = self._growth = None
        if self.metric == "precomputed":
            if self.comm is not None:
                raise UsageError("metric: 'precomputed' with comm; allowed: without, one process has all distances")
            self._check_alone(array, least)
            forest = tree_of_distances(array, min_samples, ranks=self.ranks)
            if getattr(self, "ties", None) == "sequential":
                self._growth = growth_of_distances(array, min_samples)
            return forest
        if self.comm is None:
            self._check_alone(array, least)
            if min_samples > array.shape[0]:
                raise InputError(f"min_samples: {min_samples}; allowed: at most the {array.shape[0]} points")
        search = self._search()
        self._points = array
        return euclidean_tree(array, min_samples=min_samples, **search)

    def _on_workers(self, X: Any) -> bool:
        """Whether X is an array of dask that a cluster of distributed holds; then it is clustered there."""
        client = cluster_of(X) if is_dask(X) else None
        if client is None:
            return False
        self.n_features_in_ = X.shape[1]
        self._points = self._clusters = self._linkage_rows = self._forest = None
        self.labels_, self.probabilities_ = fit_on_workers(self, X, client)
        return True

    def _search(self) -> dict[str, Any]:
        """How and where points are searched."""
        return {
            "metric": _metric(self.metric),
            "ids": getattr(self, "_ids", None),
            "comm": self.comm,
            "ranks": self.ranks,
            "threads": threads_of(self.n_jobs),
            "model": self.model,
            "most_distances": self.most_distances,
            "forecast": self.forecast,
        }


def _metric(name: Any) -> str:
    if callable(name) or not isinstance(name, str) or name not in _METRICS:
        raise UsageError(f"metric: {name!r}; allowed: {', '.join(_METRICS)}, precomputed")
    return _METRICS[name]


class HDBSCAN(_TreeEstimator):
    """Clusters of any density, and noise (HDBSCAN*), with the names and the defaults of sklearn.cluster.HDBSCAN.

    min_cluster_size           fewest points of a cluster, from 2
    min_samples                core distances are those to the min_samples-th nearest point, itself being the first, as
                               scikit-learn counts (hdbscan counts one less); None: min_cluster_size
    cluster_selection_epsilon  clusters that are born below this distance are taken with what they split from
    max_cluster_size           larger clusters are not taken; None: any size
    metric                     euclidean (l2), manhattan (l1, cityblock), chebyshev (infinity), haversine (latitude and
                               longitude in radians), or precomputed: X are the distances, (n, n)
    metric_params              None: no metric here has any
    alpha                      1.0: distances are not scaled here
    algorithm, leaf_size       names that scikit-learn knows are accepted, and change nothing: there is one search
    n_jobs                     threads in the search for neighbours; None is 1, -1 all processors
    cluster_selection_method   "eom": the clusters that together are the most stable; "leaf": those that do not split
    allow_single_cluster       all points may be one cluster
    store_centers              None, "centroid", "medoid" or "both"; not with comm
    copy                       accepted: X is only read
    ties                       how merges of one height are undone, of which there are many where min_samples is above 1:
                               "sequential", one by one in scikit-learn's order, so that labels are scikit-learn's on this
                               machine, except where exact_order_ is False; "together", as the definition has it, so that
                               labels depend neither on the numbering of the points nor on the machine
    comm                       a communicator of mpi4py: X is this rank's share, and fit() is collective
    ranks, model               ranks that are threads of this process; the model that carries messages
    most_distances, forecast   beyond 16 features, as of euclidean_tree(); each of the searches is told

    After fit(): labels_ (int64, -1 is noise) and probabilities_ of this process's points, n_features_in_,
    feature_names_in_ (of a data frame), centroids_ and medoids_ (store_centers); condensed_tree_ and single_linkage_tree_
    (None on ranks other than 0); exact_order_ (with "sequential": whether all edges of equal weight were compared, which is
    given up where more than 2^34 coordinates would be; None with "together" and on ranks other than 0).
    """

    def __init__(self, min_cluster_size=5, min_samples=None, cluster_selection_epsilon=0.0, max_cluster_size=None,
                 metric="euclidean", metric_params=None, alpha=1.0, algorithm="auto", leaf_size=40, n_jobs=None,
                 cluster_selection_method="eom", allow_single_cluster=False, store_centers=None, copy=False, *,
                 ties="sequential", comm=None, ranks=1, model="auto", most_distances=None, forecast=None):
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy
        self.ties = ties
        self.comm = comm
        self.ranks = ranks
        self.model = model
        self.most_distances = most_distances
        self.forecast = forecast

    def fit(self, X: Any, y: Any = None) -> HDBSCAN:
        """Clusters X, (n, d) or with metric="precomputed" (n, n). Collective with comm. `y` is ignored."""
        least, samples = self._check_parameters()
        if self._on_workers(X):
            return self
        forest = self._tree(X, samples, 2)
        found = hdbscan(forest, least, selection=self.cluster_selection_method,
                        epsilon=number(self.cluster_selection_epsilon, "cluster_selection_epsilon"),
                        allow_single_cluster=bool(self.allow_single_cluster),
                        max_cluster_size=0 if self.max_cluster_size is None else self.max_cluster_size, ties=self.ties,
                        points=self._order(samples))
        self.labels_ = found.labels.astype(np.int64)
        self.probabilities_ = found.probabilities
        self._clusters = None if found.tree is None else Clusters.of(found.tree)
        self._selected, self._forest, self._samples = found.selected, forest, samples
        self.exact_order_ = found.exact
        self._linkage_rows = None
        if self.store_centers is not None:
            self._find_centers()
        return self

    def _order(self, samples: int) -> Any:
        """What scikit-learn's order of equal weights follows from."""
        growth, self._growth = self._growth, None
        if self.ties != "sequential":
            return None
        return growth if self._points is None else gather_points(self._points, min_samples=samples, **self._search())

    def _check_parameters(self) -> tuple[int, int]:
        """min_cluster_size and min_samples, if all parameters are in range."""
        least = whole(self.min_cluster_size, "min_cluster_size", 2)
        samples = least if self.min_samples is None else whole(self.min_samples, "min_samples", 1)
        if self.max_cluster_size is not None:
            whole(self.max_cluster_size, "max_cluster_size", 1)
        if number(self.alpha, "alpha") != 1:
            raise UsageError(f"alpha: {self.alpha}; allowed: 1.0 (distances are not scaled here)")
        for name, allowed in (
            ("metric_params", (None, {})),
            ("algorithm", ("auto", "brute", "kd_tree", "ball_tree")),
            ("cluster_selection_method", ("eom", "leaf")),
            ("store_centers", (None, "centroid", "medoid", "both")),
            ("ties", ("together", "sequential")),
        ):
            value = getattr(self, name)
            if not any(value is a or (type(value) is type(a) and value == a) for a in allowed):
                raise UsageError(f"{name}: {value!r}; allowed: {', '.join(map(repr, allowed))}")
        if self.store_centers is not None and (self.comm is not None or self.metric == "precomputed"):
            raise UsageError(f"store_centers: {self.store_centers!r} with comm or distances; allowed: None")
        return least, samples

    @property
    def condensed_tree_(self) -> CondensedClusters | None:
        """The clusters that could be taken, as a tree: see merganser.hierarchies. None on ranks other than 0."""
        self._check_fitted()
        return None if self._clusters is None else CondensedClusters(self._clusters, self._selected)

    @property
    def single_linkage_tree_(self) -> SingleLinkageTree | None:
        """The dendrogram. None on ranks other than 0. Over ranks its first use is collective."""
        self._check_fitted()
        if self._linkage_rows is None and self._forest is not None:
            self._linkage_rows = linkage(self._forest)
            self._forest = None
        return None if self._linkage_rows is None else SingleLinkageTree(self._linkage_rows)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self.comm is None and state.get("_forest") is not None:
            state["_linkage_rows"] = linkage(self._forest)
        if "_forest" in state:
            state["_forest"] = None
        return state

    def approximate_predict(self, points: Any) -> tuple[np.ndarray, np.ndarray]:
        """Labels and strengths of new points: see merganser.approximate_predict()."""
        from ._predict import approximate_predict

        return approximate_predict(self, points)

    def _check_fitted(self) -> None:
        if not hasattr(self, "labels_"):
            raise AttributeError(f"{type(self).__name__}: not fitted; allowed: after fit()")

    def _find_centers(self) -> None:
        count = int(self.labels_.max(initial=-1)) + 1
        d = self._points.shape[1]
        if self.store_centers in ("centroid", "both"):
            self.centroids_ = np.empty((count, d))
        if self.store_centers in ("medoid", "both"):
            self.medoids_ = np.empty((count, d))
        for label in range(count):
            inside = self.labels_ == label
            points, strength = self._points[inside], self.probabilities_[inside]
            if self.store_centers in ("centroid", "both"):
                self.centroids_[label] = np.average(points, weights=strength, axis=0)
            if self.store_centers in ("medoid", "both"):
                self.medoids_[label] = points[_medoid(points, strength, _metric(self.metric))]


_BLOCK = 1 << 22
"""Most distances that are held at once."""


def _medoid(points: np.ndarray, strength: np.ndarray, metric: str) -> int:
    """The point with the least sum of distances, each times the strength of the point it leads to."""
    sums = np.empty(len(points))
    rows = max(1, _BLOCK // max(1, points.size))
    for first in range(0, len(points), rows):
        block = points[first:first + rows]
        sums[first:first + rows] = _distances(block, points, metric) @ strength
    return int(sums.argmin())


def _distances(a: np.ndarray, b: np.ndarray, metric: str) -> np.ndarray:
    if metric == "great_circle":
        half = np.sin((a[:, None] - b[None]) / 2) ** 2
        return 2 * np.arcsin(np.sqrt(half[..., 0] + np.cos(a[:, None, 0]) * np.cos(b[None, :, 0]) * half[..., 1]))
    apart = np.abs(a[:, None] - b[None])
    if metric == "manhattan":
        return apart.sum(axis=2)
    return apart.max(axis=2) if metric == "chebyshev" else np.sqrt((apart**2).sum(axis=2))


class SingleLinkage(_TreeEstimator):
    """Single linkage, as sklearn.cluster.AgglomerativeClustering(linkage="single").

    n_clusters          clusters to find; None with distance_threshold
    distance_threshold  clusters are what merges below this distance make; None with n_clusters
    metric              as HDBSCAN's
    n_jobs              threads in the search for neighbours; None is 1, -1 all processors
    comm                a communicator of mpi4py: X is this rank's share, and fit() is collective
    ranks, model        ranks that are threads of this process; the model that carries messages
    most_distances, forecast  beyond 16 features, as of euclidean_tree()

    After fit(): labels_ of this process's points (int64), numbered in the order of their lowest points, n_clusters_,
    n_leaves_, n_connected_components_, n_features_in_, feature_names_in_ (of a data frame); children_ (n - 1, 2),
    distances_ and single_linkage_tree_ (None on ranks other than 0).
    """

    def __init__(self, n_clusters=2, *, distance_threshold=None, metric="euclidean", n_jobs=None, comm=None, ranks=1,
                 model="auto", most_distances=None, forecast=None):
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.metric = metric
        self.n_jobs = n_jobs
        self.comm = comm
        self.ranks = ranks
        self.model = model
        self.most_distances = most_distances
        self.forecast = forecast

    def fit(self, X: Any, y: Any = None) -> SingleLinkage:
        """Clusters X, (n, d) or with metric="precomputed" (n, n). Collective with comm. `y` is ignored."""
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise UsageError("n_clusters, distance_threshold: both or none; allowed: one of the two, the other None")
        if self._on_workers(X):
            self.n_clusters_ = int(self.labels_.max().compute()) + 1
            return self
        if self.n_clusters is not None:
            whole(self.n_clusters, "n_clusters", 1)
        else:
            number(self.distance_threshold, "distance_threshold")
        forest = self._tree(X, 1, 2)
        rows = linkage(forest)
        labels = None if rows is None else self._cut(rows)
        self.labels_ = labels if self.comm is None else _dealt(labels, self._points, getattr(self, "_ids", None), self.comm)
        self.n_leaves_ = forest.vertices
        self.n_connected_components_ = 1
        self.n_clusters_ = 1 if labels is None else int(labels.max(initial=0)) + 1
        if self.comm is not None:
            self.n_clusters_ = self.comm.bcast(self.n_clusters_, root=0)
        self._linkage_rows = rows
        self.children_ = None if rows is None else rows[:, :2].astype(np.int64)
        self.distances_ = None if rows is None else np.ascontiguousarray(rows[:, 2])
        return self

    def _cut(self, rows: np.ndarray) -> np.ndarray:
        if self.n_clusters is None:
            below = np.nextafter(float(self.distance_threshold), -np.inf)
            return cut(rows, height=below).astype(np.int64)
        if self.n_clusters > len(rows) + 1:
            raise InputError(f"n_clusters: {self.n_clusters}; allowed: at most the {len(rows) + 1} points")
        return cut(rows, count=self.n_clusters, apart=True).astype(np.int64)

    @property
    def single_linkage_tree_(self) -> SingleLinkageTree | None:
        """The dendrogram. None on ranks other than 0."""
        if not hasattr(self, "labels_"):
            raise AttributeError("SingleLinkage: not fitted; allowed: after fit()")
        return None if self._linkage_rows is None else SingleLinkageTree(self._linkage_rows)


def _dealt(labels: np.ndarray | None, points: np.ndarray, ids: np.ndarray | None, comm: Any) -> np.ndarray:
    """Of all points' labels, which rank 0 has, those of each rank: without ids points are numbered rank after rank. Collective."""
    asked = comm.gather(len(points) if ids is None else ids, root=0)
    parts = None
    if asked is not None:
        parts = np.split(labels, np.cumsum(asked)[:-1]) if ids is None else [labels[some] for some in asked]
    return comm.scatter(parts, root=0)
