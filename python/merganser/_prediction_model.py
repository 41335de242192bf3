"""Models for the prediction of clusters of new points, which outlive the estimator: in a file that C++ reads too."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from ._arrays import file_path, rows
from ._errors import InputError, UsageError, WrongTypeError
from ._estimator_base import num_threads
from ._estimators import HDBSCAN


class PredictionModel:
    """Model of a fitted HDBSCAN for the prediction of clusters of new points: the fitted points in a tree with their core distances,
    and the clusters by height. Local; any number of threads may use one. Rows that are not finite are not in it: C++ programs that read
    its file get the numbers of joined points among the finite rows.

    Parameters
    ----------
    clusterer
        HDBSCAN fitted to points in this process.

    Raises
    ------
    UsageError
        If the estimator was fitted over the ranks of a communicator, to distances, by a metric that compares all pairs or that
        multiplies the columns first (weights, seuclidean, mahalanobis), for which a model has no place, or to a dask array.
    """

    def __init__(self, clusterer: HDBSCAN):
        from ._predict import prediction_model

        if not isinstance(clusterer, HDBSCAN):
            raise WrongTypeError(f"clusterer: a {type(clusterer).__name__}; allowed: a fitted merganser.HDBSCAN")
        clusterer._check_fitted()
        if clusterer._fitted_comm is not None or getattr(clusterer, "_points", None) is None:
            raise UsageError("clusterer: fitted over comm, to distances, by a metric of all pairs, or to an array of dask; allowed: "
                             "fitted to points in this process, by a searched metric")
        if clusterer._fitted_metric().scale is not None:
            raise UsageError(f"clusterer: metric {clusterer._at_fit.metric!r} with metric_params, for which a model has no place; allowed: "
                             "metrics without; approximate_predict() takes all that are searched")
        self._model = prediction_model(clusterer)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> PredictionModel:
        """Reads a model from a file that write() of this class or of C++ wrote, and builds its tree in O(n log n). Raises InputError
        for a file that is no model, damaged, or of another version."""
        model = cls.__new__(cls)
        model._model = _core.PredictionModel.read(file_path(path))
        return model

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, which appears whole or not at all: 8 (d + 2) + 4 bytes per point. Raises InputError."""
        self._model.write(file_path(path))

    def predict(self, points: Any, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Predicts labels (int64, -1 is noise) and strengths (float64, 0 to 1) of new points, (m, d), with the bits of
        approximate_predict(). `n_jobs`: threads, None is 1, -1 all processors. Raises InputError for other shapes."""
        found = self._predict(points, n_jobs)
        return found[0], found[1]

    def predict_scores(self, points: Any, n_jobs: int | None = None) -> np.ndarray:
        """Predicts outlier scores of new points, (m, d), with the bits of approximate_predict_scores(). Raises InputError."""
        return self._predict(points, n_jobs)[4]

    def _predict(self, points: Any, n_jobs: int | None) -> tuple[np.ndarray, ...]:
        """Returns all that the extension predicts for new points."""
        fresh = rows(points, "points")
        if fresh.shape[1] != self._model.dimension:
            raise InputError(f"points: {fresh.shape[1]} features; allowed: {self._model.dimension}, as fitted")
        return self._model.predict(fresh, num_threads(n_jobs))

    @property
    def n_points(self) -> int:
        """Number of fitted points."""
        return self._model.points

    @property
    def n_features_in_(self) -> int:
        """Number of coordinates of a point."""
        return self._model.dimension

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self._model.clusters

    def __repr__(self) -> str:
        """Returns the numbers of points, features and clusters."""
        return f"PredictionModel({self.n_points} points, {self.n_features_in_} features, {self.n_clusters} clusters)"
