"""Nearest fitted point of new points, by mutual reachability distance, for predictions."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._forecast import search_limits
from ._team import open_team


def join(points: np.ndarray, fresh: np.ndarray, min_samples: int, *, metric: str = "euclidean",
         ids: np.ndarray | None = None, comm: Any = None, ranks: int = 1, threads: int = 1,
         model: str = "auto", most_distances: int | None = None, forecast: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Finds for each new point `fresh` of this rank the fitted point of least mutual reachability distance among the `points` of
    all ranks, to predict HDBSCAN* labels. Collective with comm.

    Returns the numbers of those fitted points (int64), and the distances to them.
    """
    return _core.join_points(open_team(comm, ranks, model), points, ids, fresh, metric.replace("_", "-"), min_samples, threads,
                             *search_limits(most_distances, forecast))
