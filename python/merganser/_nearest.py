"""Nearest fitted point of new points, by mutual reachability distance, for predictions."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._forecast import search_limits
from ._team import open_team


def core_distances(points: np.ndarray, min_samples: int, *, metric: str = "euclidean", ids: np.ndarray | None = None,
                   comm: Any = None, ranks: int = 1, threads: int = 1, model: str = "auto", most_distances: int | None = None,
                   forecast: Any = None) -> np.ndarray:
    """Computes the distance of each of this rank's `points` to the min_samples-th nearest among those of all ranks, itself being the
    first. Collective with comm."""
    return _core.core_distances(open_team(comm, ranks, model), points, ids, metric.replace("_", "-"), min_samples, threads,
                                *search_limits(most_distances, forecast))


def join(points: np.ndarray, cores: np.ndarray, fresh: np.ndarray, min_samples: int, *, metric: str = "euclidean",
         ids: np.ndarray | None = None, comm: Any = None, ranks: int = 1, threads: int = 1,
         model: str = "auto", most_distances: int | None = None,
         forecast: Any = None, nearest: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Finds for each new point `fresh` of this rank the fitted point of least mutual reachability distance among the `points` of
    all ranks, whose core distances are `cores`, to predict HDBSCAN* labels. Collective with comm.

    Returns the numbers of those fitted points (int64), the mutual reachability distances to them, and with `nearest` the distances
    to the nearest fitted points, else none.
    """
    return _core.join_points(open_team(comm, ranks, model), points, ids, cores, fresh, metric.replace("_", "-"), min_samples,
                             threads, *search_limits(most_distances, forecast), nearest)
