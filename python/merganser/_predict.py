"""New points among clusters that were found before."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import UsageError
from ._estimators import HDBSCAN
from ._nearest import join


def approximate_predict(clusterer: HDBSCAN, points: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels and strengths of new points, without clustering again: as hdbscan's function of that name.

    Every new point is joined to the fitted point of least mutual reachability distance, its own core distance being that to
    the min_samples-th nearest fitted point, and gets the cluster that is there at that distance. Clusters stay as they are;
    new points do not see each other.

    clusterer  a fitted HDBSCAN. With `comm` the call is collective, and `points` are this rank's, any number
    points     (m, d) numbers, d as fitted; a data frame has the columns of the fitted one, in the same order

    Gives labels (int64, -1 is noise) and strengths (float64, 0 to 1). The search is exact over all points (hdbscan looks at
    the 2 min_samples nearest, with core distances of one neighbour less). Time O(log n) per point after a tree of the fitted
    points, which is built anew at every call: give many points at once.
    """
    if not isinstance(clusterer, HDBSCAN):
        raise TypeError(f"clusterer: a {type(clusterer).__name__}; allowed: a fitted merganser.HDBSCAN")
    clusterer._check_fitted()
    if getattr(clusterer, "_points", None) is None:
        raise UsageError("clusterer: fitted to distances or to an array of dask; allowed: fitted to points")
    fresh = clusterer._rows_on_all(points, clusterer._fresh_rows)
    nearest, reach = join(clusterer._points, fresh, clusterer._samples, **clusterer._search())
    with np.errstate(divide="ignore"):
        lambdas = 1 / reach
    comm = clusterer.comm
    if comm is None:
        return _place(clusterer, nearest, lambdas)
    asked = comm.gather((nearest, lambdas), root=0)
    return comm.scatter(None if asked is None else [_place(clusterer, *one) for one in asked], root=0)


def _place(clusterer: HDBSCAN, nearest: np.ndarray, lambdas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where new points come to be in the condensed tree: joined to `nearest` at `lambdas`."""
    tree = clusterer._clusters
    label_of, last = _labels_of_clusters(tree, clusterer._selected)
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


def _labels_of_clusters(tree: Any, selected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By cluster: the label of the selected one that it is in, or -1; and the greatest lambda of that one."""
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
