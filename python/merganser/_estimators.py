"""Estimators HDBSCAN and SingleLinkage with scikit-learn's interface. scikit-learn itself is not needed."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import number, whole
from ._dask import dask_client, fit_on_workers, is_dask
from ._errors import InputError, UsageError
from ._estimator_base import Estimator, num_threads
from ._linkage import cut, find_clusters, hdbscan_options, linkage
from ._precomputed import growth_from_distances, tree_from_distances
from ._trees import Forest, euclidean_tree, points_of_tree, tree_with_cores
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
"""Metrics of the library by the names that scikit-learn has for them."""


_OPTION_NAMES = {"selection": "cluster_selection_method", "epsilon": "cluster_selection_epsilon"}
"""Names that the estimator HDBSCAN has for parameters of hdbscan(), where they differ."""


class _TreeEstimator(Estimator):
    """Base class of HDBSCAN and SingleLinkage: computes the minimum spanning tree of X on this process, its threads, or the ranks
    of comm."""

    def _tree(self, X: Any, min_samples: int, least: int) -> Forest:
        """Returns the minimum spanning tree of X, at least `least` rows, by distances or, with min_samples above 1, mutual
        reachability distances. Collective with comm. Sets _points (None for precomputed distances) and _growth (for these, if
        ties="sequential")."""
        array = self._rows_on_all(X, self._check_rows)
        self._points = self._growth = None
        if self.metric == "precomputed":
            if self.comm is not None:
                raise UsageError("metric: 'precomputed' with comm; allowed: without, one process has all distances")
            self._check_alone(array, least)
            forest = tree_from_distances(array, min_samples, ranks=self.ranks)
            if getattr(self, "ties", None) == "sequential":
                self._growth = growth_from_distances(array, min_samples)
            return forest
        if self.comm is None:
            self._check_alone(array, least)
            if min_samples > array.shape[0]:
                raise InputError(f"min_samples: {min_samples}; allowed: at most the {array.shape[0]} points")
        search = self._search()
        self._points = array
        if getattr(self, "ties", None) == "sequential":
            return tree_with_cores(array, min_samples, search)
        return euclidean_tree(array, min_samples=min_samples, **search)

    def _on_workers(self, X: Any) -> bool:
        """Fits X on the workers of a dask cluster and sets labels_ and probabilities_, if X is a dask array and there is such a
        cluster; else returns False."""
        client = dask_client(X) if is_dask(X) else None
        if client is None:
            return False
        self.n_features_in_ = X.shape[1]
        self._points = self._clusters = self._linkage_rows = self._forest = None
        self.labels_, self.probabilities_ = fit_on_workers(self, X, client)
        return True

    def _search(self) -> dict[str, Any]:
        """Returns the keyword arguments of euclidean_tree() that follow from the estimator's parameters."""
        return {
            "metric": _metric(self.metric),
            "ids": getattr(self, "_ids", None),
            "comm": self.comm,
            "ranks": self.ranks,
            "threads": num_threads(self.n_jobs),
            "model": self.model,
            "most_distances": self.most_distances,
            "forecast": self.forecast,
        }


def _metric(name: Any) -> str:
    """Returns the library's name of a metric that has a name of scikit-learn's. Raises UsageError for an unknown one."""
    if callable(name) or not isinstance(name, str) or name not in _METRICS:
        raise UsageError(f"metric: {name!r}; allowed: {', '.join(_METRICS)}, precomputed")
    return _METRICS[name]


class HDBSCAN(_TreeEstimator):
    """Density-based hierarchical clustering with noise (HDBSCAN*), with the parameters and defaults of sklearn.cluster.HDBSCAN.

    Parameters
    ----------
    min_cluster_size
        Minimum number of points of a cluster, at least 2.
    min_samples
        Core distances are those to the min_samples-th nearest point, itself being the first, as scikit-learn counts (hdbscan counts
        one less); None: min_cluster_size.
    cluster_selection_epsilon
        Clusters born below this distance are merged with the cluster they split from.
    max_cluster_size
        Larger clusters are not selected; None: any size.
    metric
        euclidean (l2), manhattan (l1, cityblock), chebyshev (infinity), haversine (latitude and longitude in radians), or
        precomputed: X are the distances, (n, n).
    metric_params
        None: no metric here has any.
    alpha
        1.0: distances are not scaled here.
    algorithm, leaf_size
        Accepted as by scikit-learn, without effect: there is one search.
    n_jobs
        Threads in the search for neighbours; None is 1, -1 all processors.
    cluster_selection_method
        "eom": excess of mass, the clusters of greatest total stability; "leaf": those that do not split.
    allow_single_cluster
        The root of the tree, all points, may be selected.
    store_centers
        None, "centroid", "medoid" or "both"; not with comm.
    copy
        Accepted: X is only read.
    ties
        Order in which merges of one height are undone, of which there are many where min_samples is above 1: "sequential", one by
        one in scikit-learn's order, so that labels are scikit-learn's on this machine, except where exact_order_ is False;
        "together", as the definition has it, so that labels depend neither on the numbering of the points nor on the machine.
    comm
        Communicator of mpi4py: X is this rank's share, and fit() is collective.
    ranks, model
        Ranks that are threads of this process; the model that carries messages.
    most_distances, forecast
        Limits of every search beyond 16 features, see euclidean_tree().

    Attributes
    ----------
    labels_, probabilities_
        Cluster (int64, -1 is noise) and strength of membership of each of this process's points.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names if X was a data frame.
    centroids_, medoids_
        Centres of the clusters as store_centers requests.
    condensed_tree_, single_linkage_tree_
        Condensed tree and dendrogram; None on ranks other than 0.
    exact_order_
        With "sequential" True if all edges of equal weight were compared, which is given up where more than 2^34 coordinates would
        be; None with "together" and on ranks other than 0.
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
        """Computes the HDBSCAN* clusters of X, (n, d) or with metric="precomputed" (n, n). Collective with comm. `y` is ignored."""
        options, samples = self._check_parameters()
        if self._on_workers(X):
            return self
        forest = self._tree(X, samples, 2)
        found = find_clusters(forest, options, self._order(samples, forest))
        self.labels_ = found.labels.astype(np.int64)
        self.probabilities_ = found.probabilities
        self._clusters = None if found.tree is None else Clusters.of(found.tree)
        self._selected, self._forest, self._samples = found.selected, forest, samples
        self.exact_order_ = found.exact
        self._linkage_rows = None
        if self.store_centers is not None:
            self._find_centers()
        return self

    def _order(self, samples: int, forest: Forest) -> Any:
        """Returns the argument `points` of hdbscan(), which determines scikit-learn's order of edges of equal weight: a growth of
        precomputed distances or gathered points; None with ties="together". Collective with comm."""
        growth, self._growth = self._growth, None
        if self.ties != "sequential":
            return None
        return growth if self._points is None else points_of_tree(self._points, samples, self._search(), forest)

    def _check_parameters(self) -> tuple[_core.HdbscanOptions, int]:
        """Validates all parameters of HDBSCAN, and returns the options of hdbscan() and the effective min_samples. Raises
        UsageError."""
        # None is any size here, 0 in hdbscan().
        most = 0 if self.max_cluster_size is None else whole(self.max_cluster_size, "max_cluster_size", 1)
        options = hdbscan_options(self.min_cluster_size, self.cluster_selection_method, self.cluster_selection_epsilon,
                                  self.allow_single_cluster, most, self.ties, _OPTION_NAMES)
        samples = options.min_cluster_size if self.min_samples is None else whole(self.min_samples, "min_samples", 1)
        if number(self.alpha, "alpha") != 1:
            raise UsageError(f"alpha: {self.alpha}; allowed: 1.0 (distances are not scaled here)")
        for name, allowed in (
            ("metric_params", (None, {})),
            ("algorithm", ("auto", "brute", "kd_tree", "ball_tree")),
            ("store_centers", (None, "centroid", "medoid", "both")),
        ):
            value = getattr(self, name)
            if not any(value is a or (type(value) is type(a) and value == a) for a in allowed):
                raise UsageError(f"{name}: {value!r}; allowed: {', '.join(map(repr, allowed))}")
        if self.store_centers is not None and (self.comm is not None or self.metric == "precomputed"):
            raise UsageError(f"store_centers: {self.store_centers!r} with comm or distances; allowed: None")
        return options, samples

    @property
    def condensed_tree_(self) -> CondensedClusters | None:
        """Condensed tree of all candidate clusters, a merganser.hierarchies.CondensedClusters. None on ranks other than 0."""
        self._check_fitted()
        return None if self._clusters is None else CondensedClusters(self._clusters, self._selected)

    @property
    def single_linkage_tree_(self) -> SingleLinkageTree | None:
        """Dendrogram of single linkage of the fitted points. None on ranks other than 0. Over ranks its first use is collective."""
        self._check_fitted()
        if self._linkage_rows is None and self._forest is not None:
            self._linkage_rows = linkage(self._forest)
            self._forest = None
        return None if self._linkage_rows is None else SingleLinkageTree(self._linkage_rows)

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state for pickle: in place of the forest, which cannot be pickled, the linkage matrix (not with comm)."""
        state = self.__dict__.copy()
        if self.comm is None and state.get("_forest") is not None:
            state["_linkage_rows"] = linkage(self._forest)
        if "_forest" in state:
            state["_forest"] = None
        return state

    def approximate_predict(self, points: Any) -> tuple[np.ndarray, np.ndarray]:
        """Predicts labels and strengths of new points, (m, d), by merganser.approximate_predict(). Collective with comm."""
        from ._predict import approximate_predict

        return approximate_predict(self, points)

    def _check_fitted(self) -> None:
        """Raises AttributeError before fit()."""
        if not hasattr(self, "labels_"):
            raise AttributeError(f"{type(self).__name__}: not fitted; allowed: after fit()")

    def _find_centers(self) -> None:
        """Sets centroids_ and medoids_ of all HDBSCAN* clusters, weighted by probability, as store_centers requests. Local."""
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
"""Maximum number of coordinate differences that _medoid() holds at once."""


def _medoid(points: np.ndarray, strength: np.ndarray, metric: str) -> int:
    """Returns the index of a cluster's medoid: the point with the least sum of distances to all its points, weighted by their
    strengths of membership."""
    sums = np.empty(len(points))
    rows = max(1, _BLOCK // max(1, points.size))
    for first in range(0, len(points), rows):
        block = points[first:first + rows]
        sums[first:first + rows] = _distances(block, points, metric) @ strength
    return int(sums.argmin())


def _distances(a: np.ndarray, b: np.ndarray, metric: str) -> np.ndarray:
    """Returns the distances of all points `a` to all points `b` by a metric of the library, (len(a), len(b))."""
    if metric == "great_circle":
        half = np.sin((a[:, None] - b[None]) / 2) ** 2
        return 2 * np.arcsin(np.sqrt(half[..., 0] + np.cos(a[:, None, 0]) * np.cos(b[None, :, 0]) * half[..., 1]))
    apart = np.abs(a[:, None] - b[None])
    if metric == "manhattan":
        return apart.sum(axis=2)
    return apart.max(axis=2) if metric == "chebyshev" else np.sqrt((apart**2).sum(axis=2))


class SingleLinkage(_TreeEstimator):
    """Single-linkage clustering, as sklearn.cluster.AgglomerativeClustering(linkage="single").

    Parameters
    ----------
    n_clusters
        Number of clusters; None with distance_threshold.
    distance_threshold
        Clusters result from all merges below this distance; None with n_clusters.
    metric
        euclidean (l2), manhattan (l1, cityblock), chebyshev (infinity), haversine (latitude and longitude in radians), or
        precomputed: X are the distances, (n, n).
    n_jobs
        Threads in the search for neighbours; None is 1, -1 all processors.
    comm
        Communicator of mpi4py: X is this rank's share, and fit() is collective.
    ranks, model
        Ranks that are threads of this process; the model that carries messages.
    most_distances, forecast
        Limits of the search beyond 16 features, see euclidean_tree().

    Attributes
    ----------
    labels_
        Cluster of each of this process's points (int64), numbered in the order of their lowest points.
    n_clusters_, n_leaves_, n_connected_components_
        Numbers of clusters, of points, and of connected components (1).
    n_features_in_, feature_names_in_
        Number of columns of X, and their names if X was a data frame.
    children_, distances_, single_linkage_tree_
        Merges (n - 1, 2), their heights, and the dendrogram; None on ranks other than 0.
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
        """Computes the clusters of X, (n, d) or with metric="precomputed" (n, n). Collective with comm. `y` is ignored."""
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
        self.labels_ = (labels if self.comm is None
                        else _scatter_labels(labels, self._points, getattr(self, "_ids", None), self.comm))
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
        """Returns the labels (int64) of the clusters that n_clusters or distance_threshold selects in the rows of a linkage
        matrix."""
        if self.n_clusters is None:
            below = np.nextafter(float(self.distance_threshold), -np.inf)  # scikit-learn's threshold is exclusive, cut()'s is not
            return cut(rows, height=below).astype(np.int64)
        if self.n_clusters > len(rows) + 1:
            raise InputError(f"n_clusters: {self.n_clusters}; allowed: at most the {len(rows) + 1} points")
        return cut(rows, count=self.n_clusters, apart=True).astype(np.int64)

    @property
    def single_linkage_tree_(self) -> SingleLinkageTree | None:
        """Dendrogram of single linkage of the fitted points. None on ranks other than 0."""
        if not hasattr(self, "labels_"):
            raise AttributeError("SingleLinkage: not fitted; allowed: after fit()")
        return None if self._linkage_rows is None else SingleLinkageTree(self._linkage_rows)


def _scatter_labels(labels: np.ndarray | None, points: np.ndarray, ids: np.ndarray | None, comm: Any) -> np.ndarray:
    """Scatters the cluster labels of all points from rank 0. Collective over `comm`. Each rank returns those of its points, which
    without ids are numbered in the order of the ranks."""
    asked = comm.gather(len(points) if ids is None else ids, root=0)
    parts = None
    if asked is not None:
        parts = np.split(labels, np.cumsum(asked)[:-1]) if ids is None else [labels[some] for some in asked]
    return comm.scatter(parts, root=0)
