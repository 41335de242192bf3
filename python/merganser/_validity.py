"""Density-based validity index (DBCV) of any clustering."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import flag, number, rows, to_array
from ._errors import InputError, UsageError
from ._estimator_base import num_threads
from ._metrics import parse_metric


def validity_index(X: Any, labels: Any, metric: Any = "euclidean", d: float | None = None, per_cluster_scores: bool = False,
                   mst_raw_dist: bool = False, *, n_jobs: int | None = None, metric_params: Any = None) -> Any:
    """Computes the density-based validity index (DBCV) of a clustering from the distances of all pairs, as hdbscan.validity_index.

    Local: one process has all points, since every pair within a cluster is compared.

    Parameters
    ----------
    X
        Points (n, d), or with metric="precomputed" distances (n, n).
    labels
        Cluster of each point, integers; below 0 is noise.
    metric
        As that of HDBSCAN. Metrics that compare all pairs, also a callable, are computed to a matrix of 8 n^2 bytes first.
    d
        Dimension in the core distances; None: that of the points. Needed for distances.
    per_cluster_scores
        Return the index of each cluster too.
    mst_raw_dist
        Compare plain distances instead of mutual reachability distances.
    n_jobs
        Threads; None is 1, -1 all processors.
    metric_params
        Parameters of the metric, as of HDBSCAN.

    Returns
    -------
    float
        Index from -1 to 1, greater is better; 0 without clusters, not a number for a single one.
    ndarray
        With per_cluster_scores: the index of each label, not a number for a label without points or with one (which is noise here).

    Raises
    ------
    UsageError
        For an unknown metric, and distances without d.
    InputError
        For other shapes, labels out of range, and distances that are negative, not finite, or not the same both ways.

    Notes
    -----
    Time O(m^2 d) for clusters of m points; memory O(n d). hdbscan holds m^2 distances, and computes Euclidean ones by a formula that
    loses digits: its values are equal to 1e-12 with metric="minkowski", p=2.
    """
    given = rows(X, "X")
    names = to_array(labels, "labels")
    if names.dtype.kind not in "iu" or names.shape != (len(given),):
        raise InputError(f"labels: {names.dtype} of shape {names.shape}; allowed: an integer for each of {len(given)} points")
    dimension = 0.0 if d is None else number(d, "d")
    distances = isinstance(metric, str) and metric == "precomputed"
    if distances and (d is None or given.shape[0] != given.shape[1]):
        raise UsageError(f"X: distances of shape {given.shape} with d={d}; allowed: (n, n) and the dimension of the space")
    name = "euclidean"
    if not distances:
        how = parse_metric(metric, metric_params)
        dimension = dimension or float(given.shape[1])
        distances = how.search is None
        name = (how.search or name).replace("_", "-")
        given = np.ascontiguousarray(how.distances(given, given) if distances else how.transform(given))
    index, scores = _core.validity_index(given, names.astype(np.int64), name, distances, dimension, flag(mst_raw_dist, "mst_raw_dist"),
                                         num_threads(n_jobs))
    return (index, scores) if per_cluster_scores else index
