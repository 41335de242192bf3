"""Forecast of the cost of a search that compares all pairs of points, as beyond 16 dimensions, where no spatial tree helps."""
from __future__ import annotations

import warnings
from typing import Any, Callable, NamedTuple

from ._arrays import whole
from ._errors import WrongTypeError

_MOST_DISTANCES = 20_000_000_000
"""Default limit of distances of a search that compares all pairs of points."""
_LONG = 10.0
"""Forecast time of a search, in seconds, above which the default is to warn."""


class PairsForecast(NamedTuple):
    """Forecast cost of a search that compares all pairs of points."""

    points: int
    """Number of points on all ranks."""
    dimension: int
    """Number of coordinates of a point."""
    distances: float
    """Number of distances: n (n - 1) / 2 for the spanning tree, and n n more for core distances."""
    seconds: float
    """Upper estimate of the time of the search, by a short measurement."""
    rank_bytes: float
    """Memory of the rank with most points, in bytes, in addition to its points."""


def search_limits(most_distances: Any, forecast: Any) -> tuple[int, Callable[..., None]]:
    """Validates the options most_distances and forecast of a search among points, and converts them for the extension: the limit of
    distances, and a callback that takes the numbers of a PairsForecast. Raises UsageError."""
    most = _MOST_DISTANCES if most_distances is None else whole(most_distances, "most_distances", 1, 2**62)
    if forecast is not None and not callable(forecast):
        raise WrongTypeError(f"forecast: a {type(forecast).__name__}; allowed: None, or a callable that takes a PairsForecast")
    callback = warn_if_long if forecast is None else forecast
    return most, lambda *numbers: callback(PairsForecast(*numbers))


def warn_if_long(forecast: PairsForecast) -> None:
    """Issues a UserWarning if the forecast time of comparing all pairs of points exceeds 10 s."""
    if forecast.seconds > _LONG:
        warnings.warn(
            f"{forecast.dimension} dimensions: every pair is compared, {forecast.distances:.3g} distances, up to about "
            f"{forecast.seconds:.0f} s and {forecast.rank_bytes / 2**20:.0f} MiB on each rank; forecast= can refuse it",
            UserWarning,
            stacklevel=2,
        )
