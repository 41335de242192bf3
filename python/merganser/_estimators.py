"""Estimators HDBSCAN and SingleLinkage with scikit-learn's interface. scikit-learn itself is not needed."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import number, whole
from ._errors import InputError, UnavailableError, UsageError
from ._keywords import check_algorithm, warn_without_effect
from ._linkage import cut, find_clusters, hdbscan_options, linkage
from ._scores import ClusterScores
from ._tree_estimator import TreeEstimator, scatter
from .hierarchies import Clusters, CondensedClusters, SingleLinkageTree, linkage_with_other_rows, with_other_rows

_OPTION_NAMES = {"selection": "cluster_selection_method", "epsilon": "cluster_selection_epsilon",
                 "epsilon_max": "cluster_selection_epsilon_max", "persistence": "cluster_selection_persistence"}
"""Names that the estimator HDBSCAN has for parameters of hdbscan(), where they differ."""


class HDBSCAN(ClusterScores, TreeEstimator):
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
        euclidean (l2), manhattan (l1, cityblock), chebyshev (infinity), haversine (latitude and longitude in radians), cosine,
        correlation, minkowski (p), seuclidean (V), mahalanobis (V or VI) and hamming, by a search; jaccard, dice,
        rogerstanimoto, russellrao, sokalmichener, sokalsneath, yule (of bits: what is not 0), braycurtis, canberra, minkowski
        with another p than 1, 2 and infinity, and a callable of two rows, by comparing all pairs; or precomputed: X are the
        distances, (n, n), dense or sparse. See packages/graph/docs/metrics.md.
    metric_params
        Parameters of the metric: w (a weight per column; euclidean, manhattan, minkowski), p, V, VI; of sparse distances
        max_distance.
    alpha
        Number from 0.001 to 1000 by which distances, but not core distances, are divided: max(d(p, q) / alpha, core(p), core(q)), as
        in hdbscan (by Prim's algorithm) and in scikit-learn where it does not compare all pairs (else core distances are divided too).
    algorithm, leaf_size
        Accepted as by scikit-learn, without effect: there is one search. As there, search trees take no metric but theirs.
    n_jobs
        Threads in the construction of trees, in searches and in the order of equal edges; None is 1, -1 all processors.
    cluster_selection_method
        "eom": excess of mass, the clusters of greatest total stability; "leaf": those that do not split.
    allow_single_cluster
        The root of the tree, all points, may be selected.
    store_centers
        None, "centroid", "medoid" or "both"; over ranks every rank gets all centres.
    copy
        Accepted: X is only read. fit() keeps a copy of it, 8 d bytes per point, for scores, predictions and memberships.
    cluster_selection_persistence
        Clusters that live for less than this difference of lambda (1 / distance) are merged with their sibling before clusters are
        selected; from the lowest splits up, as in hdbscan.
    ties
        Order in which merges of one height are undone, of which there are many where min_samples is above 1: "sequential", one by
        one in scikit-learn's order, so that labels are scikit-learn's on this machine, except where exact_order_ is False;
        "together", as the definition has it, so that labels depend neither on the numbering of the points nor on the machine.
    comm
        Communicator of mpi4py: X is this rank's share, and fit() is collective.
    ranks, model
        Ranks that are threads of this process; the model that carries messages.
    most_distances, forecast
        Limits of every search that compares all pairs, as beyond 16 features, see euclidean_tree().
    cluster_selection_epsilon_max
        With "eom", clusters born above this distance are not selected; None: any.
    p
        Exponent of metric="minkowski"; None: 2.
    prediction_data, gen_min_span_tree, core_dist_n_jobs, approx_min_span_tree, match_reference_implementation, memory
        Parameters of hdbscan, without effect: fit() warns of those that are not None.

    Attributes
    ----------
    labels_, probabilities_
        Cluster (int64, -1 is noise) and strength of membership of each of this process's points. Rows with infinite numbers have
        label -2 and probability 0, rows with missing ones (NaN) -3 and NaN: they are in no tree.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names if X was a data frame.
    centroids_, medoids_
        Centres of the clusters as store_centers requests.
    condensed_tree_, single_linkage_tree_, minimum_spanning_tree_
        Condensed tree, dendrogram and spanning tree; None on ranks other than 0.
    outlier_scores_, cluster_persistence_, exemplars_, exemplar_indices_, relative_validity_
        Scores of points and clusters, with the names and values of the package hdbscan.
    exact_order_
        With "sequential" True if all edges of equal weight were compared, which is given up where more than 2^34 coordinates would
        be; None with "together" and on ranks other than 0.
    """

    def __init__(self, min_cluster_size=5, min_samples=None, cluster_selection_epsilon=0.0, max_cluster_size=None,
                 metric="euclidean", metric_params=None, alpha=1.0, algorithm="auto", leaf_size=40, n_jobs=None,
                 cluster_selection_method="eom", allow_single_cluster=False, store_centers=None, copy=False, *,
                 cluster_selection_persistence=0.0, ties="sequential", comm=None, ranks=1, model="auto", most_distances=None,
                 forecast=None, cluster_selection_epsilon_max=None, p=None, prediction_data=None, gen_min_span_tree=None,
                 core_dist_n_jobs=None, approx_min_span_tree=None, match_reference_implementation=None, memory=None):
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
        self.cluster_selection_persistence = cluster_selection_persistence
        self.ties = ties
        self.comm = comm
        self.ranks = ranks
        self.model = model
        self.most_distances = most_distances
        self.forecast = forecast
        self.cluster_selection_epsilon_max = cluster_selection_epsilon_max
        self.p = p
        self.prediction_data = prediction_data
        self.gen_min_span_tree = gen_min_span_tree
        self.core_dist_n_jobs = core_dist_n_jobs
        self.approx_min_span_tree = approx_min_span_tree
        self.match_reference_implementation = match_reference_implementation
        self.memory = memory

    _labels_others = True
    _keeps_rows = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> HDBSCAN:
        """Computes the HDBSCAN* clusters of X, (n, d) or with metric="precomputed" (n, n). Collective with comm. `y` is ignored.

        `sample_weight`: number of points that each of this process's points counts as in min_cluster_size, max_cluster_size and
        stabilities, from 0, together at most 1e150; not in core distances, which go by the min_samples-th nearest row (in
        fast_hdbscan they go by weight too).
        """
        options, samples = self._check_parameters()
        warn_without_effect(self)
        if self._on_workers(X, sample_weight):
            return self
        forest = self._tree(X, samples, 2)
        weights = self._gather_weights(sample_weight, self._count_of_rows())
        found = find_clusters(forest, options, self._order(samples, forest), weights)
        labels, strengths = found.labels.astype(np.int64), found.probabilities
        if self._scattered:
            labels, strengths = (scatter(values, self._rows, None, self.comm) for values in (labels, strengths))
        self._copy_borrowed_rows()
        self._clusters = None if found.tree is None else Clusters.of(found.tree)
        self._selected, self._forest, self._samples = found.selected, forest, samples
        self.exact_order_ = found.exact
        self._linkage_rows, self._linkage_made, self._mask = None, False, self._mask_of_all()
        self.labels_, self.probabilities_ = self._expanded(labels, strengths)  # from here on it is fitted
        if self.store_centers is not None:
            self._find_centers()
        return self

    def _check_parameters(self) -> tuple[_core.HdbscanOptions, int]:
        """Validates all parameters of HDBSCAN, and returns the options of hdbscan() and the effective min_samples. Raises
        UsageError."""
        # None is any size here, 0 in hdbscan().
        most = 0 if self.max_cluster_size is None else whole(self.max_cluster_size, "max_cluster_size", 1)
        options = hdbscan_options(self.min_cluster_size, self.cluster_selection_method, self.cluster_selection_epsilon,
                                  self.allow_single_cluster, most, self.ties, _OPTION_NAMES,
                                  epsilon_max=np.inf if self.cluster_selection_epsilon_max is None
                                  else self.cluster_selection_epsilon_max, persistence=self.cluster_selection_persistence)
        samples = options.min_cluster_size if self.min_samples is None else whole(self.min_samples, "min_samples", 1)
        self._alpha()
        check_algorithm(self.algorithm, self.metric)
        self._metric()
        whole(self.leaf_size, "leaf_size", 1)
        centers = (None, "centroid", "medoid", "both")
        if self.store_centers is not None and (not isinstance(self.store_centers, str) or self.store_centers not in centers):
            raise UsageError(f"store_centers: {self.store_centers!r}; allowed: {', '.join(map(repr, centers))}")
        if self.store_centers is not None and isinstance(self.metric, str) and self.metric == "precomputed":
            raise UsageError(f"store_centers: {self.store_centers!r} with distances "
                             "(Cannot store centers when using a precomputed distance matrix.); allowed: None")
        return options, samples

    @property
    def condensed_tree_(self) -> CondensedClusters | None:
        """Condensed tree of all candidate clusters, a merganser.hierarchies.CondensedClusters. None on ranks other than 0."""
        self._check_fitted()
        return None if self._clusters is None else CondensedClusters(with_other_rows(self._clusters, self._mask), self._selected)

    @property
    def single_linkage_tree_(self) -> SingleLinkageTree | None:
        """Dendrogram of single linkage of the fitted points. None on ranks other than 0. Over ranks its first use is collective."""
        self._check_fitted()
        if self._linkage_rows is None and self._forest is not None and not self._linkage_made:  # ranks other than 0 get None
            self._linkage_rows, self._linkage_made = linkage(self._forest), True
        if self._linkage_rows is None:
            return None
        return SingleLinkageTree(linkage_with_other_rows(self._linkage_rows, self._mask))

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state for pickle: in place of the forest, which cannot be pickled, the linkage matrix (not with comm)."""
        state = self.__dict__.copy()
        state.pop("_scores", None)  # computed again at their first use
        if self._fitted_comm is None and state.get("_forest") is not None:
            state["_linkage_rows"] = linkage(self._forest)
            state["_saved_edges"] = self._edges()
        if "_forest" in state:
            state["_forest"] = None
        return state

    def approximate_predict(self, points: Any) -> tuple[np.ndarray, np.ndarray]:
        """Predicts labels and strengths of new points, (m, d), by merganser.approximate_predict(). Collective with comm."""
        from ._predict import approximate_predict

        return approximate_predict(self, points)

    def generate_prediction_data(self) -> None:
        """Builds what predictions need, as hdbscan's method of that name; without it the first prediction does. Collective with comm.
        Raises UsageError as approximate_predict() does."""
        from ._predict import prepare

        prepare(self)

    def _check_fitted(self) -> None:
        """Raises UnavailableError before fit()."""
        if not hasattr(self, "labels_"):
            raise UnavailableError(f"{type(self).__name__}: not fitted; allowed: after fit()")

    def _find_centers(self) -> None:
        """Sets centroids_ and medoids_ of all HDBSCAN* clusters, weighted by probability, as store_centers requests. Collective with
        comm: every rank gets all."""
        from ._centers import centroids, medoids

        labels = range(self._count())
        if self.store_centers in ("centroid", "both"):
            self.centroids_ = centroids(self, labels)
        if self.store_centers in ("medoid", "both"):
            self.medoids_ = medoids(self, labels)


class SingleLinkage(TreeEstimator):
    """Single-linkage clustering, as sklearn.cluster.AgglomerativeClustering(linkage="single").

    Parameters
    ----------
    n_clusters
        Number of clusters; None with distance_threshold.
    distance_threshold
        Clusters result from all merges below this distance; None with n_clusters.
    metric, metric_params, p
        Metric with its parameters, as of HDBSCAN. precomputed: X are the distances, (n, n), dense, or sparse, where pairs that are
        not stored are not connected.
    n_jobs
        Threads in the construction of trees, in searches and in the order of equal edges; None is 1, -1 all processors.
    comm
        Communicator of mpi4py: X is this rank's share, and fit() is collective.
    ranks, model
        Ranks that are threads of this process; the model that carries messages.
    most_distances, forecast
        Limits of a search that compares all pairs, as beyond 16 features, see euclidean_tree().

    Attributes
    ----------
    labels_
        Cluster of each of this process's points (int64), numbered in the order of their lowest points.
    n_clusters_, n_leaves_, n_connected_components_
        Numbers of clusters, of points, and of connected components (1 but for sparse distances).
    n_features_in_, feature_names_in_
        Number of columns of X, and their names if X was a data frame.
    children_, distances_, single_linkage_tree_
        Merges (n - 1, 2), their heights, and the dendrogram; None on ranks other than 0.
    """

    def __init__(self, n_clusters=2, *, distance_threshold=None, metric="euclidean", metric_params=None, p=None,
                 n_jobs=None, comm=None, ranks=1, model="auto", most_distances=None, forecast=None):
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.metric = metric
        self.metric_params = metric_params
        self.p = p
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
                        else scatter(labels, self._rows, getattr(self, "_ids", None), self.comm))
        self.n_leaves_ = forest.vertices
        self.n_connected_components_ = forest.components
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
            raise UnavailableError("SingleLinkage: not fitted; allowed: after fit()")
        return None if self._linkage_rows is None else SingleLinkageTree(self._linkage_rows)
