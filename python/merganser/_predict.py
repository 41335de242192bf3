"""Prediction of the clusters of new points from a fitted HDBSCAN, without clustering again."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._errors import UsageError, WrongTypeError
from ._estimator_base import num_threads
from ._estimators import HDBSCAN
from ._nearest import core_distances, join


def approximate_predict(clusterer: HDBSCAN, points: Any, return_connecting_points: bool = False) -> tuple[np.ndarray, ...]:
    """Predicts labels and strengths of new points from a fitted HDBSCAN without clustering again, as hdbscan's function of that
    name.

    Every new point is joined to the fitted point of least mutual reachability distance, its own core distance being that to the
    min_samples-th nearest fitted point, and gets the label of that point's cluster at that distance. Clusters do not change; new
    points do not influence each other.

    Parameters
    ----------
    clusterer
        Fitted HDBSCAN. With `comm` the call is collective, and `points` are this rank's, any number.
    points
        (m, d) numbers, d as fitted; a data frame has the columns of the fitted one, in the same order.
    return_connecting_points
        Return the numbers of the fitted points that the new ones join, too.

    Returns
    -------
    labels : ndarray
        Cluster of each new point (int64), -1 for noise.
    strengths : ndarray
        Strength of membership of each new point (float64), 0 to 1.
    neighbours : ndarray
        With return_connecting_points: number of the fitted point that each new point joins (int64) among all fitted rows, of all
        ranks in their order; rows that are not finite count, and are never joined.

    Raises
    ------
    UsageError
        If the estimator was fitted to distances, by a metric that compares all pairs, or to a dask array.

    Notes
    -----
    The search is exact over all points (hdbscan compares the 2 min_samples nearest, with core distances of one neighbour less).
    The first call after fit() builds what queries need, in O(n log n): core distances, and a tree of the fitted points. Later ones
    take O(log n) per point. Over the ranks of a communicator, and beyond 16 features, only the core distances are kept.
    """
    joined = join_clusters(clusterer, points)[1]
    if return_connecting_points:
        return joined.labels, joined.strengths, joined.joined
    return joined.labels, joined.strengths


class Joined(NamedTuple):
    """New points of this process, joined to fitted points."""

    labels: np.ndarray
    """Cluster of each new point, -1 for noise."""
    strengths: np.ndarray
    """Strength of membership, 0 to 1."""
    joined: np.ndarray
    """Number of the fitted point of least mutual reachability distance among all rows of all ranks, finite or not."""
    lambdas: np.ndarray
    """1 / that distance."""
    scores: np.ndarray | None
    """Outlier score, up to 1; None: not asked for."""
    cluster_of: np.ndarray
    """Cluster of the condensed tree that the fitted point leaves last."""
    joined_lambdas: np.ndarray
    """Lambda at which the fitted point leaves that."""


_MOST_FEATURES = 16
"""Number of features up to which there is a tree of the fitted points to keep."""


def join_clusters(clusterer: HDBSCAN, points: Any, scores: bool = False) -> tuple[np.ndarray, Joined]:
    """Joins new points to the points of a fitted HDBSCAN. Collective with comm. Returns the converted new points, and what they join;
    outlier scores are only there with `scores`, for which a search over ranks needs the nearest points too.

    Raises TypeError for another estimator, UsageError if it was fitted to distances or to a dask array.
    """
    if not isinstance(clusterer, HDBSCAN):
        raise WrongTypeError(f"clusterer: a {type(clusterer).__name__}; allowed: a fitted merganser.HDBSCAN")
    clusterer._check_fitted()
    check_searched(clusterer)
    fresh = clusterer._rows_on_all(points, clusterer._fresh_rows)
    if _has_model(clusterer):
        return fresh, _among_all(clusterer, Joined(*prediction_model(clusterer).predict(fresh, num_threads(clusterer.n_jobs))))
    search = clusterer._search()
    found = join(clusterer._points, fitted_cores(clusterer), fresh, clusterer._samples, **search, nearest=scores)
    comm = clusterer._fitted_comm
    if comm is None:
        return fresh, _among_all(clusterer, _join_tree(clusterer, *found))
    asked = comm.gather(found, root=0)
    parts = None if asked is None else [_among_all(clusterer, _join_tree(clusterer, *one)) for one in asked]
    return fresh, comm.scatter(parts, root=0)


def prepare(clusterer: HDBSCAN) -> None:
    """Builds what predictions of a fitted HDBSCAN need, unless it is there. Collective with comm. Raises UsageError as check_searched()."""
    clusterer._check_fitted()
    check_searched(clusterer)
    (prediction_model if _has_model(clusterer) else fitted_cores)(clusterer)


def _has_model(clusterer: HDBSCAN) -> bool:
    """Returns True if new points are joined by a prediction model: not over ranks, nor with many features."""
    return clusterer._fitted_comm is None and clusterer._points.shape[1] <= _MOST_FEATURES


def _among_all(clusterer: HDBSCAN, joined: Joined) -> Joined:
    """Returns joined points with the numbers of the fitted points among all rows, not among the finite ones. Local, on the process
    that holds the tree."""
    return joined._replace(joined=clusterer._among_all(joined.joined))


def check_searched(clusterer: HDBSCAN) -> None:
    """Raises UsageError unless an HDBSCAN was fitted to points that are searched, which predictions and memberships need."""
    if getattr(clusterer, "_points", None) is None:
        raise UsageError("clusterer: fitted to distances, by a metric of all pairs, or to an array of dask; allowed: fitted "
                         "to points, by a searched metric")


def fitted_cores(clusterer: HDBSCAN) -> np.ndarray:
    """Returns the core distances of this process's fitted points, which are computed at the first call. Collective with comm."""
    return clusterer._score("cores", lambda: core_distances(clusterer._points, clusterer._samples, **clusterer._search()))


def prediction_model(clusterer: HDBSCAN) -> Any:
    """Returns the model for predictions of an HDBSCAN fitted to points in this process, built at the first call."""

    def build() -> Any:
        metric = clusterer._search()["metric"].replace("_", "-")
        selected = np.asarray(clusterer._selected, dtype=np.uint32)
        return _core.PredictionModel(clusterer._points, fitted_cores(clusterer), metric, clusterer._samples, clusterer._condensed(),
                                     selected)

    return clusterer._score("model", build)


def _join_tree(clusterer: HDBSCAN, nearest: np.ndarray, reach: np.ndarray, distance: np.ndarray) -> Joined:
    """Places new points that join fitted points in the condensed tree. Local, on the process that holds the tree."""
    tree = clusterer._clusters
    with np.errstate(divide="ignore"):
        lambdas = 1 / reach
    cluster_of, joined_lambdas = tree.cluster_of[nearest], tree.lambda_[nearest]
    if not len(distance) and len(nearest):
        return Joined(*_assign_clusters(clusterer, nearest, lambdas), nearest, lambdas, None, cluster_of, joined_lambdas)
    deepest = np.zeros(len(tree.parent))
    np.maximum.at(deepest, tree.cluster_of, tree.lambda_)
    for c in range(len(deepest) - 1, 0, -1):  # children have higher numbers
        deepest[tree.parent[c]] = max(deepest[tree.parent[c]], deepest[c], tree.birth[c])
    most, own = deepest[cluster_of], np.where(distance == 0, joined_lambdas, lambdas)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(np.isinf(most), 1.0, (most - own) / most)
    scores[(most == 0) | np.isinf(own)] = 0.0
    return Joined(*_assign_clusters(clusterer, nearest, lambdas), nearest, lambdas, scores, cluster_of, joined_lambdas)


def _assign_clusters(clusterer: HDBSCAN, nearest: np.ndarray, lambdas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns labels and strengths of new points that join the fitted points `nearest` at the given lambdas (1 / distance).

    Each starts at the cluster that its fitted point falls out of, and ascends the condensed tree while that cluster is born at a
    lambda not below its own. Local, on the process that holds the tree.
    """
    tree = clusterer._clusters
    label_of, last = _selected_ancestors(tree, clusterer._selected)
    cluster = tree.cluster_of[nearest].astype(np.int64)
    up = np.flatnonzero(tree.lambda_[nearest] > lambdas)
    while len(up):  # to the cluster that is there at this lambda
        c = cluster[up]
        rises = (c > 0) & (tree.birth[c] >= lambdas[up])
        up = up[rises]
        cluster[up] = tree.parent[cluster[up]]
    labels = label_of[cluster]
    end = last[cluster]
    with np.errstate(invalid="ignore", divide="ignore"):
        strengths = np.where((end > 0) & np.isfinite(end), np.minimum(lambdas, end) / end, 1.0)
    infinite = np.isinf(end) & np.isfinite(lambdas)
    strengths[infinite] = 0.0
    strengths[labels < 0] = 0.0
    return labels, strengths


def _selected_ancestors(tree: Any, selected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns for each cluster of a condensed tree the label of the selected cluster that contains it, or -1, and the greatest
    lambda at which points leave that one, or 0."""
    count = len(tree.parent)
    leaving = np.zeros(count)
    np.maximum.at(leaving, tree.cluster_of, tree.lambda_)
    np.maximum.at(leaving, tree.parent[1:], tree.birth[1:])
    label_of = np.full(count, -1, dtype=np.int64)
    last = np.zeros(count)
    label_of[selected] = np.arange(len(selected))
    last[selected] = leaving[selected]
    for c in range(1, count):  # parents have lower numbers
        if label_of[c] < 0:
            label_of[c], last[c] = label_of[tree.parent[c]], last[tree.parent[c]]
    return label_of, last
