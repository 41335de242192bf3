"""Minimum spanning trees of points and minimum spanning forests of graphs."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _core
from ._arrays import flag, to_array, number, parse_box, line, rows, whole
from ._errors import InputError, UsageError, WrongTypeError
from ._forecast import PairsForecast, search_limits
from ._team import open_team

Forest = _core.Forest


METRICS = ("euclidean", "manhattan", "chebyshev", "great_circle", "cosine", "correlation", "hamming")
"""Metrics of euclidean_tree() and gather_points()."""


def euclidean_tree(points: Any, *, min_samples: int = 1, box: Any = None, periodic: Any = False,
                   metric: str = "euclidean", angle: str = "radians", ids: Any = None, comm: Any = None, ranks: int = 1,
                   threads: int = 1, model: str = "auto", most_distances: int | None = None,
                   forecast: Callable[[PairsForecast], None] | None = None, alpha: float = 1.0) -> Forest:
    """Computes the exact minimum spanning tree of points, which is the same on any number of ranks.

    Edges compare by (distance, lower id, higher id), so there is one tree, ties included. Collective with `comm`.

    Parameters
    ----------
    points
        (n, d) numbers; float64 in C order is read in place, anything else is copied once. With `comm` this rank's share of them,
        any number.
    min_samples
        Above 1: mutual reachability distances, max(d(p, q), core(p), core(q)), where the core distance of a point is that to its
        min_samples-th nearest, itself being the first.
    box
        (lower, upper), each a number or one per axis; needed where an axis is periodic.
    periodic
        True, False or one per axis.
    metric
        "euclidean", "manhattan", "chebyshev"; "great_circle": points are (latitude, longitude), and weights angles in radians;
        "cosine", "correlation": 1 less the cosine or the correlation of two rows; "hamming": share of the bits (0, 1) that differ.
    angle
        Unit of the coordinates of great_circle: "radians" or "degrees".
    ids
        Numbers of the points, each of 0 .. n - 1 once over all ranks; without: in order, rank after rank.
    comm
        Communicator of mpi4py; None: this process.
    ranks
        Number of ranks that are threads of this process, without `comm`.
    threads
        Number of threads of each rank in the construction of the tree of boxes and in searches.
    model
        Communication model; "auto" measures the models.
    most_distances
        Beyond 16 dimensions: maximum number of distances; a search that needs more raises a UsageError with its cost. None: 2
        10^10.
    forecast
        Beyond 16 dimensions: callable that receives a PairsForecast before the search begins, on this process or rank 0 of `comm`,
        possibly on another thread. An exception that it raises cancels the search, on other ranks as a UsageError. None: a
        UserWarning if the search will take more than about 10 s.
    alpha
        Number from 0.001 to 1000 by which distances, but not core distances, are divided: max(d(p, q) / alpha, core(p), core(q)).

    Returns
    -------
    Forest
        Spanning tree, of which every rank holds a share of the edges.

    Raises
    ------
    InputError
        A ValueError, for coordinates that are not finite and for min_samples above the number of points.
    UsageError
        For arguments out of range, and for more distances than most_distances.

    Notes
    -----
    Time O(n log n) up to 16 dimensions; beyond, where every pair is compared, O(n n d) on all ranks together.
    """
    return _core.euclidean_tree(*_search_arguments(points, min_samples, box, periodic, metric, angle, ids, comm, ranks, threads,
                                                    model, most_distances, forecast, alpha))


def gather_points(points: Any, *, min_samples: int = 1, box: Any = None, periodic: Any = False, metric: str = "euclidean",
                  angle: str = "radians", ids: Any = None, comm: Any = None, ranks: int = 1, threads: int = 1,
                  model: str = "auto", most_distances: int | None = None,
                  forecast: Callable[[PairsForecast], None] | None = None, alpha: float = 1.0) -> Any:
    """Gathers all points and their core distances on one process (rank 0 of `comm`), for hdbscan(ties="sequential").

    Collective with `comm`. Memory 8 bytes per coordinate and 8 per point; time of computing the core distances.

    Parameters
    ----------
    points, min_samples, box, periodic, metric, angle, ids, comm, ranks, threads, model, most_distances, forecast, alpha
        Those of euclidean_tree(), with the values that the tree was computed with.

    Returns
    -------
    GatheredPoints
        Argument `points` of hdbscan(); without points on ranks other than 0.

    Raises
    ------
    InputError, UsageError
        For the same arguments as euclidean_tree().
    """
    return _core.gather_points(*_search_arguments(points, min_samples, box, periodic, metric, angle, ids, comm, ranks, threads,
                                                   model, most_distances, forecast, alpha))


def tree_with_cores(points: Any, min_samples: int, search: dict[str, Any], alpha: float) -> Forest:
    """Computes euclidean_tree() of points, and keeps their core distances for points_of_tree(). Collective with `comm`.

    `search`: keyword arguments of euclidean_tree() but min_samples and alpha.
    """
    return _core.euclidean_tree(*_search_arguments(points, min_samples=min_samples, alpha=alpha, **search), keep_cores=True)


def points_of_tree(points: Any, min_samples: int, search: dict[str, Any], alpha: float, tree: Forest) -> Any:
    """Gathers points as gather_points() does, with the core distances that tree_with_cores() of the same arguments has kept.
    Collective with `comm`."""
    return _core.gather_points(*_search_arguments(points, min_samples=min_samples, alpha=alpha, **search), tree=tree)


def checked_alpha(alpha: Any) -> float:
    """Returns the number by which distances are divided where they are compared with core distances. Raises UsageError unless it is
    from 0.001 to 1000, TypeError for other types."""
    value = number(alpha, "alpha")
    if not 0.001 <= value <= 1000:
        raise UsageError(f"alpha: {value}; allowed: 0.001 to 1000")
    return value


def _search_arguments(points: Any, min_samples: int, box: Any = None, periodic: Any = False, metric: str = "euclidean",
                      angle: str = "radians", ids: Any = None, comm: Any = None, ranks: int = 1, threads: int = 1,
                      model: str = "auto", most_distances: int | None = None,
                      forecast: Callable[[PairsForecast], None] | None = None, alpha: float = 1.0) -> tuple[Any, ...]:
    """Validates the arguments of euclidean_tree() and gather_points(), searches among points, and converts them to those of the
    functions of _core. Raises InputError, UsageError or TypeError."""
    array = rows(points, "points")
    n, d = array.shape
    metric = _checked_choice(metric, "metric", METRICS)
    lower, extent, flags = parse_box(box, periodic, d)
    axes = [(axis, lower[axis], extent[axis]) for axis in range(d) if flags[axis]]
    numbers = None if ids is None else line(ids, "ids", np.uint64, n)
    return (open_team(comm, ranks, model), array, numbers, metric.replace("_", "-"),
            _checked_choice(angle, "angle", ("radians", "degrees")), axes, whole(min_samples, "min_samples", 1),
            checked_alpha(alpha), whole(threads, "threads", 1, 1024), *search_limits(most_distances, forecast))


def _checked_choice(word: Any, name: str, allowed: tuple[str, ...]) -> str:
    """Returns a string argument of a search among points (metric, angle). Raises UsageError unless it is one of those allowed."""
    if not isinstance(word, str):
        raise WrongTypeError(f"{name}: a {type(word).__name__}; allowed: {', '.join(map(repr, allowed))}")
    if word not in allowed:
        raise UsageError(f"{name}: {word!r}; allowed: {', '.join(map(repr, allowed))}")
    return word


def minimum_spanning_forest(graph: Any, *, maximum: bool = False, comm: Any = None, ranks: int = 1, threads: int = 1,
                            model: str = "auto") -> Forest:
    """Computes the minimum spanning forest of a graph in the strict order (weight, low, high), the same on any number of ranks.

    Collective with `comm`. Integer weights stay integers; others become float64.

    Parameters
    ----------
    graph
        Sparse matrix or array of SciPy (entries that are stored are edges, 0 too; entries that repeat at one (i, j) are added up,
        as SciPy does; of (i, j) and (j, i) the lighter counts); dense array (n, n), of which entries that are 0, infinite or NaN
        are no edges, as in scipy.sparse.csgraph; graph of networkx (nodes are numbered in their order in the graph, directed
        edges are taken both ways, an edge without `weight` weighs 1); or (n, u, v, w): edges between u[i] and v[i] of
        0 .. n - 1, of which parallel ones stay apart. With `comm` this rank's share of the edges; loops are allowed.
    maximum
        Compute the maximum spanning forest instead.
    comm
        Communicator of mpi4py; None: this process.
    ranks
        Number of ranks that are threads of this process, without `comm`.
    threads
        Number of threads of each rank.
    model
        Communication model; "auto" measures the models.

    Returns
    -------
    Forest
        Spanning forest, of which every rank holds a share of the edges.

    Raises
    ------
    InputError
        For weights that are NaN and ends of edges that are no vertices.
    """
    n, u, v, w = _edge_arrays(graph)
    return _core.spanning_forest(open_team(comm, ranks, model), n, u, v, w, flag(maximum, "maximum"),
                                 whole(threads, "threads", 1, 1024))


def _edge_arrays(graph: Any) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Converts this rank's edges of a graph (sparse matrix, dense array, graph of networkx, (n, u, v, w)) to the arrays
    (n, u, v, w) that _core takes. Raises InputError or TypeError for other objects."""
    if hasattr(graph, "tocoo"):
        coo = graph.tocoo(copy=True)
        coo.sum_duplicates()
        if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
            raise InputError(f"graph: a matrix of shape {coo.shape}; allowed: (n, n)")
        parts = (coo.shape[0], coo.row, coo.col, coo.data)
    elif isinstance(graph, (tuple, list)) and len(graph) == 4:
        parts = tuple(graph)
    elif hasattr(graph, "edges") and hasattr(graph, "nodes") and hasattr(graph, "adj"):
        parts = _networkx_edges(graph)
    elif isinstance(graph, np.ndarray):
        parts = _dense_edges(to_array(graph, "graph"))
    else:
        raise WrongTypeError(f"graph: a {type(graph).__name__}; allowed: a sparse matrix of SciPy, an array (n, n), a graph of "
                        "networkx, or (n, u, v, w)")
    n = whole(parts[0], "n", 0, 2**62)
    u = line(parts[1], "u", np.int64)
    v = line(parts[2], "v", np.int64, len(u))
    w = to_array(parts[3], "w")
    kinds = {"u": np.uint64, "i": np.int64, "b": np.uint64}
    return n, u, v, line(w, "w", kinds.get(w.dtype.kind, np.float64), len(u))


def _dense_edges(matrix: np.ndarray) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Returns the edges (n, u, v, w) of a dense adjacency matrix: its entries that are finite and not 0. Raises InputError for
    other shapes."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"graph: an array of shape {matrix.shape}; allowed: (n, n)")
    if matrix.dtype.kind not in "fiub":
        raise WrongTypeError(f"graph: an array of {matrix.dtype}; allowed: real numbers")
    u, v = np.nonzero(np.isfinite(matrix) & (matrix != 0))
    return len(matrix), u, v, matrix[u, v]


def _networkx_edges(graph: Any) -> tuple[int, np.ndarray, np.ndarray, Any]:
    """Returns the edges (n, u, v, w) of a graph of networkx, whose nodes are numbered in their order."""
    place_of = {node: i for i, node in enumerate(graph.nodes)}
    ends, weights = np.empty((graph.number_of_edges(), 2), dtype=np.int64), []
    for place, (a, b, weight) in enumerate(graph.edges(data="weight", default=1)):
        ends[place] = place_of[a], place_of[b]
        weights.append(weight)
    return len(place_of), ends[:, 0], ends[:, 1], weights


def to_scipy(self: Forest) -> Any:
    """Returns this process's edges of the spanning forest as a sparse (n, n) array of SciPy, each once, at (low, high). Needs
    SciPy."""
    from scipy.sparse import coo_array

    edges = self.edges
    return coo_array((self.weights, (edges[:, 0], edges[:, 1])), shape=(self.vertices, self.vertices)).tocsr()


def _repr(self: Forest) -> str:
    """Returns a line that describes a spanning forest: edges of this process, vertices, digest."""
    return f"<merganser.Forest: {len(self.edges)} edges here, {self.vertices} vertices, digest {self.digest}>"


def _unpickled(n: int, edges: np.ndarray, weights: np.ndarray, ids: np.ndarray | None) -> Forest:
    """Returns the forest of a pickle, in this process. A forest of float32 weights becomes one of float64."""
    _, u, v, w = _edge_arrays((n, edges[:, 0], edges[:, 1], weights))
    return _core.spanning_forest(open_team(), n, u, v, w, False, 1, ids)


def _reduced(self: Forest) -> tuple[Any, ...]:
    """Returns function and arguments for pickle. Raises TypeError for a forest over several processes, which holds a share of the
    edges."""
    if not self.team.here:
        raise TypeError("Forest: over a communicator; allowed to pickle: forests of one process, or edges and weights of each rank")
    return _unpickled, (self.vertices, np.array(self.edges), self.weights, self.own_ids)


Forest.__reduce__ = _reduced
Forest.to_scipy = to_scipy
Forest.__repr__ = _repr
Forest.__len__ = lambda self: len(self.edges)
