"""Parameters of other packages' HDBSCAN that are accepted, and what scikit-learn and hdbscan say of metrics that their search trees
do not know."""
from __future__ import annotations

import warnings
from typing import Any

from ._errors import UsageError

WITHOUT_EFFECT = {
    "prediction_data": "predictions need no preparation",
    "gen_min_span_tree": "the tree is always there",
    "core_dist_n_jobs": "n_jobs is the number of threads",
    "approx_min_span_tree": "trees are exact",
    "match_reference_implementation": "ties='sequential' gives scikit-learn's labels",
    "memory": "nothing is cached",
}
"""Parameters of hdbscan that have no effect here, with the reason."""

_OTHER_ALGORITHMS = ("best", "generic", "prims_kdtree", "prims_balltree", "boruvka_kdtree", "boruvka_balltree")
"""Algorithms by hdbscan's names, which have no effect here."""
ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree", *_OTHER_ALGORITHMS)
"""Values of the parameter algorithm."""

_KD_METRICS = frozenset(("euclidean", "l2", "minkowski", "p", "manhattan", "cityblock", "l1", "chebyshev", "infinity"))
"""Metrics of scikit-learn's KDTree."""
_BALL_METRICS = _KD_METRICS | {"seuclidean", "mahalanobis", "hamming", "canberra", "braycurtis", "jaccard", "dice",
                               "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "haversine"}
"""Metrics of scikit-learn's BallTree."""


def warn_without_effect(estimator: Any) -> None:
    """Issues one UserWarning that names all parameters of an estimator that are given and have no effect."""
    given = [f"{name} ({why})" for name, why in WITHOUT_EFFECT.items() if getattr(estimator, name, None) is not None]
    if estimator.p is not None and estimator.metric not in ("minkowski", "p"):
        given.append("p (the exponent of metric='minkowski')")
    if estimator.algorithm in _OTHER_ALGORITHMS:
        given.append(f"algorithm={estimator.algorithm!r} (there is one search)")
    if given:
        warnings.warn(f"{type(estimator).__name__}: without effect here: {', '.join(given)}", UserWarning, stacklevel=4)


def check_algorithm(algorithm: Any, metric: Any) -> None:
    """Raises UsageError for unknown algorithms, and for a search tree by a metric that scikit-learn's has not."""
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise UsageError(f"algorithm: {algorithm!r}; allowed: {', '.join(map(repr, ALGORITHMS))}")
    for word, tree, known in (("kd", "KDTree", _KD_METRICS), ("ball", "BallTree", _BALL_METRICS)):
        if word in algorithm and (not isinstance(metric, str) or metric not in known):
            raise UsageError(f"algorithm: {algorithm!r}; {metric} is not a valid metric for a {tree}-based algorithm. Please "
                             "select a different metric. Allowed: 'auto', 'brute'")
