"""Soft memberships of points in the clusters of a fitted HDBSCAN, and outlier scores of new points."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import whole
from ._errors import UsageError, WrongTypeError
from ._estimator_base import num_threads
from ._estimators import HDBSCAN
from ._predict import check_searched, join_clusters


def all_points_membership_vectors(clusterer: HDBSCAN, *, top_k: int | None = None) -> Any:
    """Computes the probability of each fitted point to belong to each cluster, as hdbscan's function of that name.

    Parameters
    ----------
    clusterer
        HDBSCAN fitted to points. With `comm` the call is collective, and the result is of this rank's points.
    top_k
        Compute only the `top_k` greatest memberships of each point, so that memory does not grow with the number of clusters.

    Returns
    -------
    ndarray
        Memberships (n, clusters), float64. With top_k a tuple of labels (n, k), int32, and memberships (n, k), float64, in descending
        order, equal ones by label; k is the lesser of top_k and the number of clusters. Rows that are not finite have memberships
        NaN, and labels -1.

    Raises
    ------
    UsageError
        If the estimator was fitted to distances, by a metric that compares all pairs, or to a dask array, or top_k is below 1.

    Notes
    -----
    A membership is the product of nearness to the cluster's exemplars (1 / distance) and depth in the tree, as a share of the sum over
    all clusters, times the probability of being in some cluster. Values are hdbscan's; where it has no number, because lambdas of
    points at one place are infinite, such points are in their cluster with probability 1. Without clusters the result has no column
    (hdbscan's is one-dimensional). Time O(n exemplars); memory 8 bytes per point and cluster, with top_k 12 per point and k.
    """
    tables = _tables(clusterer)
    tree = clusterer._clusters
    cluster_of = clusterer._scatter(None if tree is None else tree.cluster_of)
    lambdas = clusterer._scatter(None if tree is None else tree.lambda_)
    found = _memberships(clusterer, tables, clusterer._points, cluster_of, lambdas, False, top_k)
    if top_k is None:
        return clusterer._of_all(found, np.nan)
    return clusterer._of_all(found[0], -1), clusterer._of_all(found[1], np.nan)


def membership_vector(clusterer: HDBSCAN, points_to_predict: Any, *, top_k: int | None = None) -> Any:
    """Computes the probability of each new point to belong to each cluster, as hdbscan's function of that name.

    Each new point is joined to a fitted point as approximate_predict() does; its depth in the tree is then that of this point, at most
    to the lambda of the joint.

    Parameters
    ----------
    clusterer
        HDBSCAN fitted to points. With `comm` the call is collective, and `points_to_predict` are this rank's, any number.
    points_to_predict
        (m, d) numbers, d as fitted.
    top_k
        Compute only the `top_k` greatest memberships of each point.

    Returns
    -------
    ndarray
        Memberships (m, clusters), float64, or with top_k labels and memberships, as all_points_membership_vectors() returns them.

    Raises
    ------
    UsageError
        If the estimator was fitted to distances, by a metric that compares all pairs, or to a dask array, or top_k is below 1.

    Notes
    -----
    The formula is hdbscan's and not that of all_points_membership_vectors(). Its values differ from hdbscan's by the rounding of
    lambda to 32 bits there, and where hdbscan joins another point: it looks at the 2 min_samples nearest alone, with core distances of
    one neighbour less. Time O(exemplars) per point after the search.
    """
    tables = _tables(clusterer)
    fresh, joined = join_clusters(clusterer, points_to_predict)
    lambdas = np.minimum(joined.lambdas, joined.joined_lambdas)
    return _memberships(clusterer, tables, fresh, joined.cluster_of, lambdas, True, top_k)


def approximate_predict_scores(clusterer: HDBSCAN, points_to_predict: Any) -> np.ndarray:
    """Predicts outlier scores of new points, as hdbscan's function of that name: (most - lambda) / most, where lambda is 1 / the mutual
    reachability distance by which the point joins the fitted points, and `most` the greatest lambda in the cluster of the point that it
    joins.

    Parameters
    ----------
    clusterer
        HDBSCAN fitted to points. With `comm` the call is collective, and `points_to_predict` are this rank's, any number.
    points_to_predict
        (m, d) numbers, d as fitted.

    Returns
    -------
    ndarray
        Score of each new point, float64, up to 1; below 0 for a point in a denser place than any of that cluster. A point at the place
        of a fitted one has the lambda of what it joins.

    Raises
    ------
    UsageError
        If the estimator was fitted to distances, by a metric that compares all pairs, or to a dask array.
    """
    return join_clusters(clusterer, points_to_predict, scores=True)[1].scores


def _tables(clusterer: Any) -> Any:
    """Returns the tables of memberships of a fitted HDBSCAN, made at the first call. Collective with comm."""
    if not isinstance(clusterer, HDBSCAN):
        raise WrongTypeError(f"clusterer: a {type(clusterer).__name__}; allowed: a fitted merganser.HDBSCAN")
    clusterer._check_fitted()
    check_searched(clusterer)
    return clusterer._score("memberships", lambda: _make_tables(clusterer))


def _make_tables(clusterer: HDBSCAN) -> Any:
    """Makes the tables of memberships on every rank: clusters with the greatest lambda of each, and exemplars. Collective with comm."""
    tree, small = clusterer._clusters, None
    if tree is not None:
        last = np.zeros(len(tree.parent))
        np.maximum.at(last, tree.cluster_of, tree.lambda_)
        small = (tree.parent, tree.size, tree.birth, last, np.asarray(clusterer._selected, dtype=np.uint32))
    parent, size, birth, last, selected = clusterer._share(small)
    # A point per cluster stands for all that leave it: only the greatest lambda matters.
    clusters = _core.make_condensed_tree(parent, size, birth, np.arange(len(parent), dtype=np.uint32), last)
    exemplars = clusterer.exemplars_
    begin = np.cumsum([0, *map(len, exemplars)]).astype(np.uint64)
    # As the points are searched: nearness to exemplars is by the distances of the search.
    rows = clusterer._fitted_metric().transform(np.concatenate([np.empty((0, clusterer._rows.shape[1])), *exemplars]))
    return _core.Memberships(clusters, selected, begin, rows, clusterer._search()["metric"].replace("_", "-"))


def _memberships(clusterer: HDBSCAN, tables: Any, points: np.ndarray, cluster_of: np.ndarray, lambdas: np.ndarray, fresh: bool,
                 top_k: int | None) -> Any:
    """Computes the memberships of this process's points. Local."""
    most = None if top_k is None else whole(top_k, "top_k", 1)
    return tables.of(points, np.ascontiguousarray(cluster_of, dtype=np.uint32), np.ascontiguousarray(lambdas), fresh, most,
                     num_threads(clusterer.n_jobs))
