"""merganser's HDBSCAN in the namespaces of scikit-learn and hdbscan, for their tests.

scikit-learn's class is replaced by merganser.HDBSCAN itself. hdbscan's is replaced by a class that translates what hdbscan means by
its parameters: core distances count one neighbour more, min_samples is at most the number of points, parameters of the metric are
keywords, and max_cluster_size=0 is any size. Rows that are not finite are noise of probability 0 there.
"""
from __future__ import annotations

from typing import Any

import numpy as np

import merganser

OF_METRICS = ("V", "VI", "w")
"""Keywords of hdbscan that are parameters of a metric."""
FUNCTIONS = ("approximate_predict", "approximate_predict_scores", "membership_vector", "all_points_membership_vectors",
             "validity_index")
"""Functions of hdbscan that are replaced by merganser's where there are such."""


class HDBSCAN(merganser.HDBSCAN):
    """merganser.HDBSCAN with hdbscan's parameters."""

    def __init__(self, min_cluster_size=5, min_samples=None, **given: Any):
        given["metric_params"] = {name: given.pop(name) for name in OF_METRICS if name in given} or None
        if given.get("max_cluster_size") == 0:
            del given["max_cluster_size"]
        super().__init__(min_cluster_size, min_samples, **given)

    def fit(self, X: Any, y: Any = None) -> HDBSCAN:
        """Fits X with hdbscan's meaning of min_samples, and labels rows that are not finite as hdbscan does."""
        asked = self.min_samples
        samples = self.min_cluster_size if asked is None else asked
        if isinstance(samples, (int, np.integer)) and samples >= 1:
            # Of a sparse matrix the distance of a point to itself is not stored, and does not count.
            more = 0 if hasattr(X, "tocsr") and self.metric == "precomputed" else 1
            self.min_samples = max(1, min(samples + more, _points(X, self.metric)))
        try:
            super().fit(X, y)
        finally:
            self.min_samples = asked
        self.labels_, self.probabilities_ = self.labels_.clip(-1), np.nan_to_num(self.probabilities_)
        return self


def _points(X: Any, metric: Any) -> int:
    """Returns the number of points of X, of rows those that are finite."""
    if hasattr(X, "tocsr"):
        return X.shape[0]
    array = np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        return 2**31 - 1
    return len(array) if metric == "precomputed" else int(np.isfinite(array).all(axis=1).sum())


def hdbscan(X: Any, **given: Any) -> tuple[Any, ...]:
    """Returns labels, probabilities, persistence, condensed tree, single-linkage tree, spanning tree, as hdbscan.hdbscan()."""
    found = HDBSCAN(**given).fit(X)
    return (found.labels_, found.probabilities_, getattr(found, "cluster_persistence_", None), found.condensed_tree_.to_numpy(),
            found.single_linkage_tree_.to_numpy(), getattr(found, "minimum_spanning_tree_", None))


def _missing(name: str) -> Any:
    """Returns a function that raises AttributeError: that merganser has no function of that name."""

    def function(*_: Any, **__: Any) -> None:
        raise AttributeError(f"merganser: no {name}()")

    return function


def install(package: str) -> None:
    """Puts merganser's estimator, and its functions where there are such, into a package's namespace."""
    if package == "sklearn":
        import sklearn.cluster

        sklearn.cluster.HDBSCAN = merganser.HDBSCAN
        return
    import hdbscan as theirs

    theirs.HDBSCAN, theirs.hdbscan = HDBSCAN, hdbscan
    for name in FUNCTIONS:
        setattr(theirs, name, getattr(merganser, name, _missing(name)))
