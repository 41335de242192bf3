"""Generation, reading and writing of weighted graphs, held as edge lists (n, u, v, w)."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import file_path, flag, whole
from ._errors import WrongTypeError
from ._team import open_team
from ._trees import _edge_arrays


class Graph(NamedTuple):
    """Edge list over vertices 0 .. n - 1, as minimum_spanning_forest() takes it; over ranks this rank's share of the edges."""

    n: int
    """Number of vertices of the whole graph."""
    u: np.ndarray
    """One end of each edge (int64)."""
    v: np.ndarray
    """The other end of each edge (int64)."""
    w: np.ndarray
    """Weight of each edge."""


def generate_graph(kind: str, *, seed: int = 1, weights: str = "uniform", comm: Any = None, model: str = "auto") -> Graph:
    """Generates an artificial graph, the same for any number of ranks (packages/graph/docs/graph-files.md).

    Collective over `comm`.

    Parameters
    ----------
    kind
        "rmat:N:DEG", "rgg2d:N:DEG", "rgg3d:N:DEG", "gnm:N:DEG", "ba:N:DEG" of 2^N vertices, "grid:AxB", "grid:AxBxC", "path:V",
        "star:V", "complete:V".
    seed
        Seed of edges and weights.
    weights
        "uniform", "uniform:LIMIT", "signed", "float32", "float64", "unit", or of rgg "euclidean".
    comm
        Communicator of mpi4py; None: this process.
    model
        Communication model; "auto" measures the models.

    Returns
    -------
    Graph
        This rank's share of the edges.
    """
    _check_strings(kind=kind, weights=weights)
    return Graph(*_core.generate_graph(open_team(comm, 1, model), kind, whole(seed, "seed", 0, 2**63 - 1), weights))


def read_graph(path: Any, *, format: str = "", weights: str = "", seed: int = 1, names: bool = False, comm: Any = None,
               model: str = "auto") -> tuple[Graph, dict[str, Any]]:
    """Reads a graph file: edge lists, Matrix Market, METIS, DIMACS, ParHIP, BVGraph, Pajek, GML, GraphML, merganser's own format.

    Formats and weights: packages/graph/docs/graph-files.md. Collective over `comm`; the file must be accessible on every rank.

    Parameters
    ----------
    path
        Path of the file; of a BVGraph without extension.
    format
        Name of the format; "": determined by the file.
    weights
        Name of generated weights in place of the file's; "": those of the file, or uniform ones where it has none.
    seed
        Seed of generated weights.
    names
        Vertices are named by text: in edge lists any text is a name, numbered in the order of first places; of Pajek, GML and
        GraphML labels or ids are names.
    comm
        Communicator of mpi4py; None: this process.
    model
        Communication model; "auto" measures the models.

    Returns
    -------
    graph : Graph
        This rank's share of the edges.
    record : dict
        Record of the file: format, counts, remarks; `names`: of this rank's range of vertices the names, or the original ids where
        they were too sparse to be kept, else None.

    Raises
    ------
    InputError
        For a file that cannot be read, on every rank.
    """
    _check_strings(format=format, weights=weights)
    graph, record = _core.read_graph(open_team(comm, 1, model), file_path(path), format, weights,
                                     whole(seed, "seed", 0, 2**63 - 1), flag(names, "names"))
    return Graph(*graph), record


def write_graph(path: Any, graph: Any, *, format: str = "", comm: Any = None, model: str = "auto") -> None:
    """Writes a graph to a file. Collective over `comm`.

    Parameters
    ----------
    path
        Path of the file.
    graph
        (n, u, v, w) or a sparse matrix, of which each rank passes its share of the edges.
    format
        Name of the format; "": by the file's extension.
    comm
        Communicator of mpi4py; None: this process.
    model
        Communication model; "auto" measures the models.
    """
    _check_strings(format=format)
    _core.write_graph(open_team(comm, 1, model), file_path(path), format, *_edge_arrays(graph))


def _check_strings(**given: Any) -> None:
    """Raises TypeError for keyword arguments of graph functions (kind, format, weights) that are not strings."""
    for name, value in given.items():
        if not isinstance(value, str):
            raise WrongTypeError(f"{name}: a {type(value).__name__}; allowed: a text")
