"""Neighbours among fitted points."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._forecast import limits
from ._team import team_of


def join(points: np.ndarray, fresh: np.ndarray, min_samples: int, *, metric: str = "euclidean",
         ids: np.ndarray | None = None, comm: Any = None, ranks: int = 1, threads: int = 1,
         model: str = "auto", most_distances: int | None = None, forecast: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Of each new point the number of the point of least mutual reachability distance, and that distance. Collective."""
    return _core.join_points(team_of(comm, ranks, model), points, ids, fresh, metric.replace("_", "-"), min_samples, threads,
                             *limits(most_distances, forecast))
