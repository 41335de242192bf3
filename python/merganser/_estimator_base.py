"""Base class of estimators that follow scikit-learn's interface without needing it: parameters, validation of X, tags."""
from __future__ import annotations

import inspect
import warnings
from typing import Any, Callable

import numpy as np

from ._arrays import to_array, as_float64, is_sparse
from ._errors import InputError, UsageError, WrongTypeError
from ._manners import Manners


class Estimator(Manners):
    """Base class of clusterers with scikit-learn's interface: __init__ stores parameters as they are, fit() validates them."""

    _estimator_type = "clusterer"
    _labels_others = False
    """True if rows with numbers that are not finite get labels of their own, and sparse rows are taken."""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        """Returns the names of the estimator's parameters, those of __init__, sorted."""
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the estimator's parameters by name. `deep` has no effect: no parameter is an estimator."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Estimator:
        """Sets parameters of the estimator by name and returns it. Raises UsageError, a ValueError, for an unknown name."""
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise UsageError(f"{type(self).__name__}: a parameter {name!r}; allowed: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def fit_predict(self, X: Any, y: Any = None, **given: Any) -> np.ndarray:
        """Fits the estimator to X, with further arguments of fit() if there are any, and returns labels_, the cluster labels of this
        process's points."""
        return self.fit(X, y, **given).labels_

    def __repr__(self) -> str:
        """Returns the estimator's class with the parameters that differ from their defaults."""
        first = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}" for name, value in self.get_params().items() if not _is_same(value, first[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        """Returns True after fit(), for scikit-learn's check_is_fitted()."""
        return hasattr(self, "labels_")

    def __sklearn_tags__(self) -> Any:
        """Returns the tags of scikit-learn that describe a clusterer. Called by scikit-learn only, which is imported here."""
        from sklearn.utils import InputTags, Tags, TargetTags

        distances = getattr(self, "metric", None) == "precomputed"
        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            transformer_tags=None,
            classifier_tags=None,
            regressor_tags=None,
            array_api_support=False,
            no_validation=False,
            non_deterministic=False,
            requires_fit=True,
            input_tags=InputTags(pairwise=distances, sparse=self._labels_others, allow_nan=self._labels_others and not distances),
        )

    def _check_rows(self, X: Any) -> np.ndarray:
        """Converts data X of fit() to (n, d) float64 and sets n_features_in_ and feature_names_in_. Local: validates this process's
        rows only."""
        names = _feature_names(X)
        array = self._real_rows(X)
        self.n_features_in_ = array.shape[1]
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return array

    def _rows_on_all(self, X: Any, check: Callable[[Any], np.ndarray]) -> np.ndarray:
        """Returns check(X), the validated rows of this rank. Collective with comm: an error of one rank is raised on all, and data
        frames of all ranks must have the same columns."""
        comm = getattr(self, "_fitted_comm", getattr(self, "comm", None))
        if comm is None:
            return check(X)
        if not hasattr(comm, "allgather"):
            raise WrongTypeError(f"comm: a {type(comm).__name__}; allowed: a communicator of mpi4py")
        array = error = names = None
        try:
            array, names = check(X), _feature_names(X)
        except (TypeError, ValueError) as refused:
            error = refused
        told = comm.allgather((None if error is None else str(error), None if names is None else list(names)))
        if error is not None:
            raise error
        for rank, (text, _) in enumerate(told):
            if text is not None:
                raise InputError(f"rank {rank}: {text}")
        known = [(rank, theirs) for rank, (_, theirs) in enumerate(told) if theirs is not None]
        for rank, theirs in known:
            if theirs != known[0][1]:
                raise InputError(f"X: columns {theirs[:8]} on rank {rank}, {known[0][1][:8]} on rank {known[0][0]}; allowed: the "
                                 "same in one order")
        return array

    def _check_names(self, X: Any) -> None:
        """Validates the column names of X against those of the fitted data, as scikit-learn does.

        Raises InputError for other names or another order; warns if only one of the two has names.
        """
        fitted, names = getattr(self, "feature_names_in_", None), _feature_names(X)
        name = type(self).__name__
        if fitted is None and names is not None:
            warnings.warn(f"X has feature names, but {name} was fitted without feature names", stacklevel=4)
        elif fitted is not None and names is None:
            warnings.warn(f"X does not have valid feature names, but {name} was fitted with feature names", stacklevel=4)
        elif fitted is not None and list(fitted) != list(names):
            shown = [", ".join(map(repr, some[:8])) + (", ..." if len(some) > 8 else "") for some in (names, fitted)]
            order = " Feature names must be in the same order as they were in fit." if set(fitted) == set(names) else ""
            raise InputError(f"The feature names should match those that were passed during fit.{order} points: columns "
                             f"{shown[0]}; allowed: {shown[1]}")

    def _fresh_rows(self, X: Any) -> np.ndarray:
        """Converts new points for a prediction to (m, d) float64. Raises InputError unless they have the columns of the fitted
        data."""
        self._check_names(X)
        fresh = self._real_rows(X)
        if fresh.shape[1] != self.n_features_in_:
            raise InputError(f"points: {fresh.shape[1]} features; allowed: {self.n_features_in_}, as fitted")
        return fresh

    def _real_rows(self, X: Any) -> np.ndarray:
        """Converts data of an estimator to (n, d) float64 in C order, without a copy if they are so already. Raises InputError for
        other shapes, TypeError for sparse matrices where they are not taken."""
        distances = getattr(self, "metric", None) == "precomputed"
        if self._labels_others and not distances and is_sparse(X):
            if self.algorithm not in ("auto", "brute", "best", "generic"):
                raise UsageError(f"algorithm: {self.algorithm!r} with sparse X; Sparse data matrices only support algorithm "
                                 "`brute`. Allowed: 'auto', 'brute'")
            X = X.toarray()
        if is_sparse(X) or (distances and any(str(dtype).startswith("Sparse") for dtype in _dtypes(X))):
            allowed = "dense arrays (X.toarray())"
            if distances:
                allowed = ("a dense array with the distance of every pair. Pairs that X does not store have none, and would be at "
                           "distance 0 in X.toarray(); the forest of the pairs that are stored is minimum_spanning_forest(X)")
            raise WrongTypeError(f"{type(self).__name__}: X is sparse; allowed: {allowed}")
        array = _real_array(X)
        if array.ndim != 2:
            raise InputError(
                f"X: an array of shape {array.shape}; allowed: (n, d). Reshape your data: X.reshape(-1, 1) for n points "
                "on a line, X.reshape(1, -1) for one point."
            )
        if array.shape[1] == 0:
            raise InputError(f"X: 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
        return array

    def _check_alone(self, array: np.ndarray, least: int) -> None:
        """Raises InputError unless the rows of a fit in one process are at least `least` and all finite. Over ranks the search for
        the spanning tree validates them collectively."""
        self._check_count(array.shape[0], least)
        with np.errstate(all="ignore"):
            fine = np.isfinite(array.sum()) or np.isfinite(array).all()
        if not fine:
            what = "NaN" if np.isnan(array).any() else "infinity"
            raise InputError(f"X: contains {what}; allowed: finite numbers")

    def _check_count(self, n: int, least: int) -> None:
        """Raises InputError unless a fit in one process has at least `least` points."""
        if n < least:
            raise InputError(
                f"X: {n} sample{'' if n == 1 else 's'} (n_samples={n}); allowed: {least} and more for {type(self).__name__}"
            )


def _is_same(a: Any, b: Any) -> bool:
    """Returns True if a parameter has its default: the same object, or an equal one of the same type."""
    return a is b or (type(a) is type(b) and a == b)


def _dtypes(X: Any) -> Any:
    """Returns the dtypes of the columns of a data frame; none for other objects."""
    return X.dtypes if hasattr(X, "columns") and hasattr(X, "dtypes") else ()


def _feature_names(X: Any) -> np.ndarray | None:
    """Returns the names of the columns of a data frame if all are strings, else None. Raises TypeError if only some are."""
    columns = getattr(X, "column_names", getattr(X, "columns", None))  # the former of a table of pyarrow
    if columns is None:
        return None
    kinds = {isinstance(name, str) for name in columns}
    if kinds == {True, False}:
        raise WrongTypeError("X: some names of columns are strings and some are not; allowed: all or none")
    return np.asarray(list(columns), dtype=object) if kinds == {True} else None


def _real_array(X: Any) -> np.ndarray:
    """Converts data X of an estimator to float64. Raises InputError for complex numbers and other dtypes."""
    array = to_array(X, "X")
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: X is an array of {array.dtype}; allowed: real numbers")
    if array.dtype.kind not in "fiub":
        raise InputError(f"X: an array of {array.dtype}; allowed: real numbers")
    return as_float64(array, "X")


def num_threads(n_jobs: int | None) -> int:
    """Returns the number of threads for scikit-learn's n_jobs: None is 1, -1 all processors, -2 all but one. Raises UsageError."""
    import os

    if n_jobs is None:
        return 1
    whole_number = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if not whole_number or n_jobs == 0:
        error = UsageError if whole_number else WrongTypeError
        raise error(f"n_jobs: {n_jobs!r}; allowed: None, 1 and more, or -1 for all processors")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))
