"""Prediction of the clusters of new points from a fitted HDBSCAN, without clustering again."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import UsageError
from ._estimators import HDBSCAN
from ._nearest import join


def approximate_predict(clusterer: HDBSCAN, points: Any) -> tuple[np.ndarray, np.ndarray]:
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

    Returns
    -------
    labels : ndarray
        Cluster of each new point (int64), -1 for noise.
    strengths : ndarray
        Strength of membership of each new point (float64), 0 to 1.

    Raises
    ------
    UsageError
        If the estimator was fitted to distances, by a metric that compares all pairs, or to a dask array.

    Notes
    -----
    The search is exact over all points (hdbscan compares the 2 min_samples nearest, with core distances of one neighbour less).
    Time O(log n) per point after a tree of the fitted points, which is rebuilt at every call: pass many points at once.
    """
    if not isinstance(clusterer, HDBSCAN):
        raise TypeError(f"clusterer: a {type(clusterer).__name__}; allowed: a fitted merganser.HDBSCAN")
    clusterer._check_fitted()
    if getattr(clusterer, "_points", None) is None:
        raise UsageError("clusterer: fitted to distances, by a metric of all pairs, or to an array of dask; allowed: fitted "
                         "to points, by a searched metric")
    fresh = clusterer._rows_on_all(points, clusterer._fresh_rows)
    nearest, reach = join(clusterer._points, fresh, clusterer._samples, **clusterer._search())
    with np.errstate(divide="ignore"):
        lambdas = 1 / reach
    comm = clusterer.comm
    if comm is None:
        return _assign_clusters(clusterer, nearest, lambdas)
    asked = comm.gather((nearest, lambdas), root=0)
    return comm.scatter(None if asked is None else [_assign_clusters(clusterer, *one) for one in asked], root=0)


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
