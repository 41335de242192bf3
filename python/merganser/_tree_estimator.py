"""Base class of the estimators that cluster by a minimum spanning tree: the tree of X by any metric, here or over ranks."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import is_sparse
from ._dask import dask_client, fit_on_workers, is_dask
from ._errors import InputError, UsageError
from ._estimator_base import Estimator, num_threads
from ._metrics import Metric, of_bits, parse_metric
from ._pairs import AllPairs, growth_by_pairs, previous, raise_on_all, tree_by_pairs
from ._precomputed import SparseTree, growth_from_distances, sparse_distances, tree_from_distances, warn_if_infinite
from ._trees import Forest, checked_alpha, euclidean_tree, minimum_spanning_forest, points_of_tree, tree_with_cores

INFINITE, MISSING = -2, -3
"""Labels of rows with infinite numbers and of rows with missing ones, as scikit-learn's HDBSCAN has them."""

_ZERO_BELOW = 1e-140
"""Magnitude below which the library takes a coordinate as 0."""

_LEAST_EXTENT = 1e-120
"""Least extent of points beside which a coordinate that is taken as 0 is less than rounding."""


class FitParameters(NamedTuple):
    """Parameters at fit() on which what is computed later from its results depends, whatever set_params() has set since."""

    metric: Any
    metric_params: Any
    p: Any
    comm: Any
    ranks: Any
    model: Any

    @classmethod
    def of(cls, estimator: Any) -> FitParameters:
        """Returns the present parameters of an estimator, with copies of the arrays and lists in metric_params."""
        given = getattr(estimator, "metric_params", None)
        if isinstance(given, dict):
            given = {key: np.array(value) if isinstance(value, (np.ndarray, list)) and not callable(estimator.metric) else value
                     for key, value in given.items()}
        return cls(estimator.metric, given, getattr(estimator, "p", None), estimator.comm, estimator.ranks, estimator.model)


class TreeEstimator(Estimator):
    """Base class of HDBSCAN and SingleLinkage: computes the minimum spanning tree of X on this process, its threads, or the ranks
    of comm."""

    _keeps_rows = False
    """True if results that are computed at their first use need the rows as they were fitted."""

    def _tree(self, X: Any, min_samples: int, least: int) -> Forest:
        """Returns the minimum spanning tree of X, at least `least` rows, by distances or, with min_samples above 1, mutual
        reachability distances. Collective with comm.

        Sets _rows (the finite rows; until _copy_borrowed_rows() maybe in memory of X), _points (those that are searched; None if
        all pairs are compared or X are distances), _finite (a mask; None: all rows are finite), _growth (if ties="sequential" and
        there are no _points) and _scattered (True: rank 0 has the labels of all ranks).
        """
        metric = self._metric()
        self._discard_labels()
        self._at_fit = FitParameters.of(self)
        self._points = self._growth = self._finite = self._rows = None
        self._scattered = self._borrows_rows = False
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return self._tree_of_distances(X, min_samples, least)
        array = self._finite_rows(self._rows_on_all(X, self._check_rows))
        self._borrows_rows = self._keeps_rows and getattr(self, "_ids", None) is None and _may_share(array, X)
        self._rows = array
        if self.comm is None:
            if self._finite is not None and len(array) < max(least, min_samples):
                raise InputError(f"X: {len(array)} of {len(self._finite)} rows have finite numbers in all columns; allowed: from "
                                 f"{max(least, min_samples)}" + (", min_samples" if min_samples > least else ""))
            self._check_alone(array, least)
            if min_samples > array.shape[0]:
                raise InputError(f"min_samples: {min_samples}; allowed: at most the {array.shape[0]} points "
                                 f"(min_samples {min_samples} must be at most their number)")
        metric = self._metric_of_bits(metric, array)
        if metric.search is None:
            return self._tree_by_pairs(array, metric, min_samples)
        self._searched = metric.search
        self._points = self._transformed(metric, array)
        self._check_lost(metric)
        if getattr(self, "ties", None) == "sequential":
            return tree_with_cores(self._points, min_samples, self._search(), self._alpha())
        return euclidean_tree(self._points, min_samples=min_samples, alpha=self._alpha(), **self._search())

    def _check_lost(self, metric: Metric) -> None:
        """Raises InputError on all ranks if the points that are searched have coordinates that the library takes as 0 and that matter:
        beside the extent of all points, or because unequal points of a rank become equal. Collective with comm."""
        if metric.search not in ("euclidean", "manhattan", "chebyshev"):
            return
        points = self._points
        tiny = (points != 0) & (points < _ZERO_BELOW) & (points > -_ZERO_BELOW)
        here = bool(tiny.any())
        equal = here and len(np.unique(np.where(tiny, 0, points), axis=0)) < len(np.unique(points, axis=0))
        told = [(here, equal, points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf))]
        if self.comm is not None:
            told = self.comm.allgather(told[0])
        extent = np.max(np.max([high for *_, high in told], axis=0) - np.min([low for _, _, low, _ in told], axis=0), initial=0)
        if any(tinies for tinies, *_ in told) and (any(equals for _, equals, *_ in told) or 0 < extent < _LEAST_EXTENT):
            weights = " or the weights of the metric" if metric.scale is not None else ""
            raise InputError(f"X: numbers below {_ZERO_BELOW} in magnitude, as they are compared, which count as 0 but tell points apart; "
                             f"allowed: 0, or from {_ZERO_BELOW}: multiply X, with all epsilons and thresholds,{weights} by one power of "
                             "two, or set them to 0")

    def _copy_borrowed_rows(self) -> None:
        """Copies the fitted rows if they are in memory of the caller: at the end of a fit, which takes most memory before. Local."""
        if not self._borrows_rows:
            return
        searched = self._points is self._rows
        self._rows = self._rows.copy()
        if searched:
            self._points = self._rows
        self._borrows_rows = False

    def _alpha(self) -> float:
        """Returns the number by which distances are divided where they are compared with core distances. Raises UsageError."""
        return checked_alpha(getattr(self, "alpha", 1.0))

    def _metric(self) -> Metric:
        """Returns the metric of the estimator's parameters. Raises UsageError for unknown ones."""
        return parse_metric(self.metric, getattr(self, "metric_params", None), getattr(self, "p", None))

    def _fitted_metric(self) -> Metric:
        """Returns the metric of the fit."""
        fitted = self._at_fit
        return parse_metric(fitted.metric, fitted.metric_params, fitted.p)

    @property
    def _fitted_comm(self) -> Any:
        """Communicator of the fit, or of the fit to come."""
        fitted = self.__dict__.get("_at_fit")
        return getattr(self, "comm", None) if fitted is None else fitted.comm

    def _transformed(self, metric: Metric, rows: np.ndarray) -> np.ndarray:
        """Returns rows as they are searched. Collective with comm: an error of one rank is raised on all."""
        error = found = None
        try:
            found = metric.transform(rows)
        except InputError as refused:
            error = refused
        if metric.scale is not None:
            raise_on_all(self.comm, error)
        return found

    def _metric_of_bits(self, metric: Metric, rows: np.ndarray) -> Metric:
        """Returns the metric by which rows are compared: of Hamming distances of bits, on all ranks, the library's. Collective."""
        if self.metric != "hamming":
            return metric
        found = of_bits(metric, rows)
        return found if self.comm is None or all(self.comm.allgather(found.search is not None)) else metric

    def _finite_rows(self, array: np.ndarray) -> np.ndarray:
        """Returns the finite rows, and sets _finite and _others, the labels of the other rows, if there are any. Local."""
        if not self._labels_others or getattr(self, "_ids", None) is not None:
            return array  # the search refuses other rows
        with np.errstate(all="ignore"):
            if np.isfinite(array.sum()):
                return array
        finite = np.isfinite(array).all(axis=1)
        if finite.all():
            return array
        self._finite = finite
        self._others = np.where(np.isnan(array[~finite]).any(axis=1), MISSING, INFINITE)
        return np.ascontiguousarray(array[finite])

    def _count_of_rows(self) -> int:
        """Returns the number of rows of this process, finite or not. Local."""
        if self._finite is not None:
            return len(self._finite)
        return self.n_features_in_ if self._rows is None else len(self._rows)  # of distances, (n, n), there are no rows of points

    def _of_finite(self, values: np.ndarray) -> np.ndarray:
        """Returns values of the finite rows of this process, as _rows and the trees have them, for values of all rows. Local."""
        return values if self._finite is None else values[self._finite]

    def _of_all(self, values: np.ndarray, other: float) -> np.ndarray:
        """Returns values of all rows of this process for values of the finite ones; others have the value `other`. Local."""
        if self._finite is None:
            return values
        out = np.full((len(self._finite), *values.shape[1:]), other, dtype=values.dtype)
        out[self._finite] = values
        return out

    def _expanded(self, labels: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns labels and probabilities of all rows for those of the finite rows: others have their own labels, and probability
        0 or, with missing numbers, NaN, as scikit-learn's."""
        if self._finite is None:
            return labels, probabilities
        all_labels, strengths = self._of_all(labels, INFINITE), self._of_all(probabilities, 0.0)
        missing = np.flatnonzero(~self._finite)[self._others == MISSING]
        all_labels[missing], strengths[missing] = MISSING, np.nan
        return all_labels, strengths

    def _mask_of_all(self) -> np.ndarray | None:
        """Returns on rank 0 a mask of the finite rows of all ranks; None if all are finite, and on other ranks. Collective."""
        comm = self._fitted_comm
        if comm is None:
            return self._finite
        parts = comm.gather((len(self._rows), self._finite), root=0)
        if parts is None or all(mask is None for _, mask in parts):
            return None
        return np.concatenate([np.ones(count, dtype=bool) if mask is None else mask for count, mask in parts])

    def _tree_by_pairs(self, array: np.ndarray, metric: Metric, min_samples: int) -> Forest:
        """Returns the tree by a metric that compares all pairs, after the forecast. Collective with comm."""
        sequential = getattr(self, "ties", None) == "sequential"
        if getattr(self, "_ids", None) is not None:
            raise UsageError(f"metric: {self.metric!r} with an array of dask; allowed: with arrays of NumPy, also with comm")
        pairs = AllPairs(array, metric, self.comm, self._alpha())
        if min_samples > pairs.n or pairs.n < 1:
            raise InputError(f"min_samples: {min_samples}; allowed: at most the {pairs.n} points")
        pairs.forecast(pairs.evaluations(1 + sequential, min_samples > 1), self.most_distances, self.forecast)
        core = pairs.core_distances(min_samples) if min_samples > 1 else None
        self._growth = growth_by_pairs(pairs, core) if sequential else None
        self._scattered = self.comm is not None
        return tree_by_pairs(pairs, core, ranks=self.ranks, model=self.model)

    def _tree_of_distances(self, X: Any, min_samples: int, least: int) -> Forest:
        """Returns the tree of precomputed distances X, (n, n), dense or sparse."""
        if self.comm is not None:
            raise UsageError("metric: 'precomputed' with comm; allowed: without, one process has all distances")
        sequential = getattr(self, "ties", None) == "sequential"
        if is_sparse(X):
            self.n_features_in_ = X.shape[1]
            self._check_count(X.shape[0], least)
            if not self._labels_others:  # single linkage takes several components as they are
                return minimum_spanning_forest(sparse_distances(X), ranks=self.ranks)
            tree = SparseTree(X, min_samples, self.metric_params, self.ranks, self._alpha())
            self._growth = tree.growth() if sequential else None
            forest = tree.forest
        else:
            array = self._check_rows(X)
            self._check_count(array.shape[0], least)
            forest = tree_from_distances(array, min_samples, ranks=self.ranks, alpha=self._alpha())
            self._growth = growth_from_distances(array, min_samples, self._alpha()) if sequential else None
        warn_if_infinite(forest)
        return forest

    def _order(self, samples: int, forest: Forest) -> Any:
        """Returns the argument `points` of hdbscan(), which determines scikit-learn's order of edges of equal weight: a growth or
        gathered points; None with ties="together". Collective with comm."""
        growth, self._growth = self._growth, None
        if self.ties != "sequential":
            return None
        if self._points is None:
            return growth
        gathered = points_of_tree(self._points, samples, self._search(), self._alpha(), forest)
        if not self._metric().brute:
            return gathered
        growth = _core.grow(forest, gathered)
        if not growth.exact:
            return growth
        targets = growth.targets
        return _core.Growth.of(previous(targets), targets, growth.weights)

    def _fresh_rows(self, X: Any) -> np.ndarray:
        """Converts new points for a prediction to (m, d) float64 as they are searched. Raises InputError unless they have the
        columns of the fitted data."""
        return self._fitted_metric().transform(super()._fresh_rows(X))

    def _discard_labels(self) -> None:
        """Discards the labels of the last fit: if the one that begins fails, the estimator is not fitted."""
        for name in ("labels_", "probabilities_", "n_clusters_"):
            vars(self).pop(name, None)

    def _on_workers(self, X: Any, sample_weight: Any = None) -> bool:
        """Fits X on the workers of a dask cluster and sets labels_ and probabilities_, if X is a dask array and there is such a
        cluster; else returns False. Raises UsageError for weights, which stay on this process."""
        client = dask_client(X) if is_dask(X) else None
        if client is None:
            return False
        if sample_weight is not None:
            raise UsageError("sample_weight: with an array of dask on workers; allowed: None")
        self._discard_labels()
        self.n_features_in_ = X.shape[1]
        self._at_fit = FitParameters.of(self)
        self._points = self._clusters = self._linkage_rows = self._forest = self._finite = self._mask = self._rows = None
        self.labels_, self.probabilities_ = fit_on_workers(self, X, client)
        return True

    def _search(self) -> dict[str, Any]:
        """Returns the keyword arguments of euclidean_tree() that follow from the estimator's parameters: those at fit() but for
        threads and limits, on which no result depends."""
        return {
            "metric": self._searched,
            "ids": getattr(self, "_ids", None),
            "comm": self._at_fit.comm,
            "ranks": self._at_fit.ranks,
            "threads": num_threads(self.n_jobs),
            "model": self._at_fit.model,
            "most_distances": self.most_distances,
            "forecast": self.forecast,
        }


def _may_share(array: np.ndarray, X: Any) -> bool:
    """Returns True unless an array, converted from data X, is known to be in memory of its own."""
    if isinstance(X, np.ndarray):
        return np.may_share_memory(array, X)
    return not isinstance(X, (list, tuple))


def scatter(values: np.ndarray | None, points: np.ndarray, ids: np.ndarray | None, comm: Any) -> np.ndarray:
    """Scatters values (labels, probabilities) of all points from rank 0. Collective over `comm`. Each rank returns those of its
    points, which without ids are numbered in the order of the ranks."""
    asked = comm.gather(len(points) if ids is None else ids, root=0)
    parts = None
    if asked is not None:
        parts = np.split(values, np.cumsum(asked)[:-1]) if ids is None else [values[some] for some in asked]
    return comm.scatter(parts, root=0)
