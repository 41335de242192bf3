"""What comparing every pair of points will cost, where a tree of boxes does not help: in more than 16 dimensions."""
from __future__ import annotations

import warnings
from typing import Any, Callable, NamedTuple

from ._arrays import whole

_MOST_DISTANCES = 20_000_000_000
_LONG = 10.0
"""Seconds after which one would like to have known."""


class PairsForecast(NamedTuple):
    """What a search that compares every pair will cost."""

    points: int
    """On all ranks."""
    dimension: int
    distances: float
    """n (n - 1) / 2 for the tree, n n more for core distances."""
    seconds: float
    """At most about so many, as a short measurement tells."""
    rank_bytes: float
    """On the rank with most points, besides those given."""


def limits(most_distances: Any, forecast: Any) -> tuple[int, Callable[..., None]]:
    """The two options as the extension takes them, checked."""
    most = _MOST_DISTANCES if most_distances is None else whole(most_distances, "most_distances", 1, 2**62)
    if forecast is not None and not callable(forecast):
        raise TypeError(f"forecast: a {type(forecast).__name__}; allowed: None, or a callable that takes a PairsForecast")
    told = warn_if_long if forecast is None else forecast
    return most, lambda *numbers: told(PairsForecast(*numbers))


def warn_if_long(forecast: PairsForecast) -> None:
    """A UserWarning for what will take more than about 10 s."""
    if forecast.seconds > _LONG:
        warnings.warn(
            f"{forecast.dimension} dimensions: every pair is compared, {forecast.distances:.3g} distances, up to about "
            f"{forecast.seconds:.0f} s and {forecast.rank_bytes / 2**20:.0f} MiB on each rank; forecast= can refuse it",
            UserWarning,
            stacklevel=2,
        )
