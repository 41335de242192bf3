"""Single linkage and HDBSCAN*, from a forest."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import array_of, number, rows, whole
from ._errors import UsageError
from ._trees import Forest

CondensedTree = _core.CondensedTree


def linkage(forest: Forest) -> np.ndarray | None:
    """The dendrogram of a forest as SciPy's functions take it: (n - 1, 4) float64 rows (a, b, height, size).

    Trees of a forest are joined at infinite height. Collective over the communicator of the forest: rank 0 gets it, the
    others None. Time O(n) after a sort; memory 32 bytes per vertex.
    """
    _check_forest(forest)
    return _core.linkage(forest)


def cut(linkage: Any, height: float | None = None, count: int | None = None, *, apart: bool = False) -> np.ndarray:
    """Clusters of a dendrogram, as labels 0, 1, ... (int32) in the order of their lowest vertices.

    linkage  what linkage() gives, or SciPy's; or a forest
    height   merges of at most that height are made (SciPy's fcluster, criterion "distance")
    count    at most so many clusters, as many as can be (criterion "maxclust"); with `apart` exactly so many: merges of one
             height are then made one by one, in the order of (height, low, high)
    """
    if (height is None) == (count is None):
        raise UsageError("cut: both or none of height and count; allowed: one of the two")
    if isinstance(linkage, Forest):
        linkage = _core.linkage(linkage)
        if linkage is None:
            raise UsageError("cut: rank 0 alone has the linkage of a forest over ranks; allowed: to cut it there")
    z = array_of(linkage, "linkage")
    z = np.zeros((0, 4)) if z.size == 0 else rows(z, "linkage")
    if height is not None:
        return _core.cut_by_height(z, number(height, "height"))
    return _core.cut_by_count(z, whole(count, "count", 1), bool(apart))


class Hdbscan(NamedTuple):
    """What hdbscan() finds."""

    labels: np.ndarray
    """By point of this process: its cluster, or -1 for noise (int32); clusters in the order of their lowest points."""
    probabilities: np.ndarray
    """By point: 0 for noise, 1 for those that stay to the end (float64)."""
    tree: CondensedTree | None
    """The condensed tree, of all points; None on ranks other than 0 of a communicator."""
    selected: np.ndarray
    """By label: the cluster of the condensed tree that was taken; empty where there is no tree."""
    exact: bool | None = None
    """With ties="sequential", whether all edges of equal weight were compared, so that their order is scikit-learn's; None with
    "together" and where there is no tree."""


def hdbscan(forest: Forest, min_cluster_size: int = 5, *, selection: str = "eom", epsilon: float = 0.0,
            allow_single_cluster: bool = False, max_cluster_size: int = 0, ties: str = "together",
            points: Any = None) -> Hdbscan:
    """Clusters of any density (HDBSCAN*), from a tree of mutual reachability distances: euclidean_tree(min_samples=...).

    selection             "eom": the clusters that together are the most stable; "leaf": those that do not split further
    epsilon               clusters that are born below this distance are taken with what they split from
    allow_single_cluster  all points may be one cluster
    max_cluster_size      larger ones are not taken; 0: any size
    ties                  how merges of one height are undone: "together", as the definition has it, so that the result does
                          not depend on the numbering of the points; "sequential", one by one in scikit-learn's order:
                          Prim's algorithm from point 0, and what argsort of the NumPy at hand makes of it. Labels are then
                          numbered as scikit-learn does
    points                with "sequential": what gather_points() gives for the points that the forest was made of. Without,
                          where the tree could have had other edges of the same weight, the order is that of the forest's
                          edges alone, and labels may differ from scikit-learn's: see Hdbscan.exact

    Collective over the communicator of the forest; every rank gets the labels of the points that it gave.
    """
    _check_forest(forest)
    if not isinstance(selection, str):
        raise TypeError(f"selection: a {type(selection).__name__}; allowed: 'eom', 'leaf'")
    if selection not in ("eom", "leaf"):
        raise UsageError(f"selection: {selection!r}; allowed: 'eom', 'leaf'")
    if not isinstance(ties, str) or ties not in ("together", "sequential"):
        raise UsageError(f"ties: {ties!r}; allowed: 'together', 'sequential'")
    least, distance = whole(min_cluster_size, "min_cluster_size", 2), number(epsilon, "epsilon")
    most = whole(max_cluster_size, "max_cluster_size", 0)
    growth, order = _sequence(forest, points) if ties == "sequential" else (None, None)
    found = _core.hdbscan(forest, least, selection, distance, bool(allow_single_cluster), most, growth, order)
    return Hdbscan(*found, None if growth is None or found[2] is None else growth.exact)


def _sequence(forest: Forest, points: Any) -> tuple[Any, np.ndarray]:
    """The edges as scikit-learn finds them, and in which order it merges them. Both are empty on ranks other than 0."""
    if points is not None and not isinstance(points, (_core.GatheredPoints, _core.Growth)):
        raise TypeError(f"points: a {type(points).__name__}; allowed: what gather_points() gives, or None")
    growth = points if isinstance(points, _core.Growth) else _core.grow(forest, points)
    return growth, np.argsort(growth.weights).astype(np.uint32)


def _check_forest(forest: Any) -> None:
    if not isinstance(forest, Forest):
        raise TypeError(f"forest: a {type(forest).__name__}; allowed: a merganser.Forest")
