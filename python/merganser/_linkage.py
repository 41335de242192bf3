"""Single-linkage dendrograms and HDBSCAN* clusters, computed from a minimum spanning forest."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import flag, integer, number, rows, to_array, whole
from ._errors import UsageError, WrongTypeError
from ._trees import Forest

CondensedTree = _core.CondensedTree


def linkage(forest: Forest) -> np.ndarray | None:
    """Computes the single-linkage dendrogram of a forest in SciPy's form, a linkage matrix.

    Trees of a forest are joined at infinite height. Collective over the communicator of the forest. Time O(n) after a sort; memory
    32 bytes per vertex.

    Parameters
    ----------
    forest
        Minimum spanning forest of points or of a graph.

    Returns
    -------
    ndarray or None
        Rows (a, b, height, size), (n - 1, 4) float64; None on ranks other than 0.
    """
    _check_forest(forest)
    return _core.linkage(forest)


def cut(linkage: Any, height: float | None = None, count: int | None = None, *, apart: bool = False) -> np.ndarray:
    """Cuts a single-linkage dendrogram into flat clusters.

    Exactly one of height and count must be given. Local; for a forest collective over its communicator.

    Parameters
    ----------
    linkage
        Dendrogram of linkage() or SciPy; or a forest, which must not be spread over processes.
    height
        Apply merges of at most that height (SciPy's fcluster, criterion "distance").
    count
        At most this number of clusters, as many as possible (criterion "maxclust").
    apart
        Exactly `count` clusters: merges of equal height are separated, in the order of (height, low, high).

    Returns
    -------
    ndarray
        Labels 0, 1, ... (int32) of all vertices, numbered in the order of the clusters' lowest vertices.

    Raises
    ------
    UsageError
        If both or none of height and count are given, or the forest is spread over processes.
    InputError
        For rows that are no dendrogram.
    """
    if (height is None) == (count is None):
        raise UsageError("cut: both or none of height and count; allowed: one of the two")
    if isinstance(linkage, Forest):
        linkage = _core.linkage(linkage)
        if linkage is None:
            raise UsageError("cut: rank 0 alone has the linkage of a forest over ranks; allowed: to cut it there")
    z = to_array(linkage, "linkage")
    z = np.zeros((0, 4)) if z.size == 0 else rows(z, "linkage")
    if height is not None:
        return _core.cut_by_height(z, number(height, "height"))
    return _core.cut_by_count(z, whole(count, "count", 1), flag(apart, "apart"))


class Hdbscan(NamedTuple):
    """Result of hdbscan(): HDBSCAN* clusters of the points that this process passed."""

    labels: np.ndarray
    """Cluster of each point of this process, -1 for noise (int32); clusters are numbered in the order of their lowest points."""
    probabilities: np.ndarray
    """Strength of membership of each point of this process, 0 (noise) to 1 (float64)."""
    tree: CondensedTree | None
    """Condensed tree of all points; None on ranks other than 0 of a communicator."""
    selected: np.ndarray
    """Selected cluster of the condensed tree, by label; empty where there is no tree."""
    exact: bool | None = None
    """With ties="sequential", True if all edges of equal weight were compared, so that their order is scikit-learn's; None with
    "together" and where there is no tree."""


def hdbscan(forest: Forest, min_cluster_size: int = 5, *, selection: str = "eom", epsilon: float = 0.0,
            allow_single_cluster: bool = False, max_cluster_size: int = 0, ties: str = "together",
            points: Any = None, epsilon_max: float = np.inf, persistence: float = 0.0) -> Hdbscan:
    """Computes HDBSCAN* clusters from a tree of mutual reachability distances: euclidean_tree(min_samples=...).

    Collective over the communicator of the forest.

    Parameters
    ----------
    forest
        Minimum spanning tree of the points.
    min_cluster_size
        Minimum number of points of a cluster, at least 2.
    selection
        "eom": excess of mass, the clusters of greatest total stability; "leaf": those that do not split.
    epsilon
        Clusters born below this distance are merged with the cluster they split from.
    allow_single_cluster
        The root of the tree, all points, may be selected.
    max_cluster_size
        Larger clusters are not selected; 0: any size.
    ties
        Order in which merges of one height are undone: "together", as the definition has it, so that the result does not depend on
        the numbering of the points; "sequential", one by one in scikit-learn's order: Prim's algorithm from point 0, and what
        argsort of the NumPy at hand makes of it. Labels are then numbered as scikit-learn does.
    epsilon_max
        With "eom", clusters born above this distance are not selected.
    persistence
        Clusters that live for less than this difference of lambda (1 / distance) are merged with their sibling before clusters are
        selected.
    points
        Result of gather_points() for the points of the forest, which "sequential" alone uses. If it is None there, and
        the tree could have had other edges of the same weight, the order is that of the forest's edges alone, and
        labels may differ from scikit-learn's: see Hdbscan.exact.

    Returns
    -------
    Hdbscan
        Labels and probabilities of the points that this rank passed to euclidean_tree(), and on rank 0 the condensed tree.

    Raises
    ------
    UsageError
        For parameters out of range.
    """
    _check_forest(forest)
    if not isinstance(selection, str):
        raise WrongTypeError(f"selection: a {type(selection).__name__}; allowed: 'eom', 'leaf'")
    options = hdbscan_options(min_cluster_size, selection, epsilon, allow_single_cluster, max_cluster_size, ties,
                              epsilon_max=epsilon_max, persistence=persistence)
    if points is not None and not isinstance(points, _core.GatheredPoints):
        raise WrongTypeError(f"points: a {type(points).__name__}; allowed: what gather_points() gives, or None")
    return find_clusters(forest, options, points)


def hdbscan_options(min_cluster_size: Any, selection: Any, epsilon: Any, allow_single_cluster: Any, max_cluster_size: Any,
                    ties: Any, names: dict[str, str] = {}, *, epsilon_max: Any = np.inf,
                    persistence: Any = 0.0) -> _core.HdbscanOptions:
    """Converts parameters of hdbscan() to the options of find_clusters(). `names`: names of the parameters in the caller's
    function, for errors.

    Raises TypeError for other types, UsageError for values out of range.
    """
    return _core.HdbscanOptions(
        min_cluster_size=integer(min_cluster_size, names.get("min_cluster_size", "min_cluster_size")), selection=selection,
        epsilon=number(epsilon, names.get("epsilon", "epsilon")), allow_single_cluster=flag(allow_single_cluster, "allow_single_cluster"),
        max_cluster_size=integer(max_cluster_size, names.get("max_cluster_size", "max_cluster_size")), ties=ties,
        epsilon_max=number(epsilon_max, names.get("epsilon_max", "epsilon_max")),
        persistence=number(persistence, names.get("persistence", "persistence")), names=names)


def find_clusters(forest: Forest, options: _core.HdbscanOptions, points: Any, weights: np.ndarray | None = None) -> Hdbscan:
    """Computes HDBSCAN* clusters of a spanning forest with validated options. Collective over the communicator of the forest.

    `points`: result of gather_points(), or a growth, for ties="sequential"; None: the order is that of the forest's edges alone.
    `weights`: on rank 0 the weights of all points; None: one each.
    """
    growth, order = _sequence(forest, points) if options.sequential else (None, None)
    found = _core.hdbscan(forest, options, growth, order, weights)
    return Hdbscan(*found, None if growth is None or found[2] is None else growth.exact)


def _sequence(forest: Forest, points: Any) -> tuple[Any, np.ndarray]:
    """Returns the edges of a spanning tree in the order of Prim's algorithm, as scikit-learn's HDBSCAN finds them, and the
    permutation (uint32) in which it merges them, that of NumPy's argsort by weight.

    Both are empty on ranks other than 0. Collective over the communicator of the forest.
    """
    growth = points if isinstance(points, _core.Growth) else _core.grow(forest, points)
    return growth, np.argsort(growth.weights).astype(np.uint32)


def _check_forest(forest: Any) -> None:
    """Raises TypeError unless the argument `forest` of linkage() or hdbscan() is a merganser.Forest."""
    if not isinstance(forest, Forest):
        raise WrongTypeError(f"forest: a {type(forest).__name__}; allowed: a merganser.Forest, as euclidean_tree(points) is")
