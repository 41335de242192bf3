"""Process graphs, measurements of neighbour exchanges on them, and advice on the fastest kernel."""
from __future__ import annotations

from typing import Any, Iterable, NamedTuple

import numpy as np

from . import _core
from ._arrays import file_path, line, number, scalar, whole
from ._errors import UsageError, WrongTypeError
from ._team import open_team

ProcessGraph = _core.ProcessGraph


def from_scipy(matrix: Any) -> ProcessGraph:
    """Converts a sparse (ranks, ranks) matrix of SciPy to a process graph: entry (i, j) is the number of bytes that i sends to j.

    Repeated entries at one (i, j) are summed, as SciPy does. Raises UsageError unless the matrix is square; loops are an error.
    """
    csr = matrix.tocsr(copy=True)
    csr.sum_duplicates()
    if csr.shape[0] != csr.shape[1]:
        raise UsageError(f"matrix: of shape {csr.shape}; allowed: (ranks, ranks)")
    return ProcessGraph(line(csr.indptr, "indptr", np.int64), line(csr.indices, "indices", np.int64),
                        line(csr.data, "data", np.float64))


def to_scipy(graph: ProcessGraph) -> Any:
    """Converts a process graph to a sparse (ranks, ranks) matrix of bytes. Needs SciPy."""
    from scipy.sparse import csr_array

    offsets, heads, sizes = graph.arrays()
    return csr_array((sizes, heads, offsets), shape=(graph.ranks, graph.ranks))


def from_networkx(graph: Any) -> ProcessGraph:
    """Converts a networkx (di)graph with nodes 0 .. ranks - 1; `weight` of an edge is its bytes, else 1. Raises UsageError."""
    n = graph.number_of_nodes()
    if set(graph) != set(range(n)):
        raise UsageError(f"graph: nodes that are not 0 .. {n - 1}; allowed: these")
    rows = [sorted((int(j), scalar(data.get("weight", 1), "weight")) for j, data in graph.adj[i].items()) for i in range(n)]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return ProcessGraph(offsets, np.array([j for row in rows for j, _ in row], dtype=np.int64),
                        np.array([w for row in rows for _, w in row], dtype=np.float64))


def to_networkx(graph: ProcessGraph) -> Any:
    """Converts a process graph to a directed graph of networkx, with the bytes along an arc as `weight`. Needs networkx."""
    import networkx

    out = networkx.DiGraph()
    out.add_nodes_from(range(graph.ranks))
    offsets, heads, sizes = (a.tolist() for a in graph.arrays())
    for i in range(graph.ranks):
        out.add_weighted_edges_from((i, heads[k], sizes[k]) for k in range(offsets[i], offsets[i + 1]))
    return out


def generate(kind: str, ranks: int, seed: int = 42) -> ProcessGraph:
    """Generates a process graph by its kind, as "ring", "torus2d", "torus:4x2", "random:4", "rgg:5", "complete".

    Kinds and their arguments: packages/topology/docs/topology-files.md.
    """
    if not isinstance(kind, str):
        raise WrongTypeError(f"kind: a {type(kind).__name__}; allowed: a text")
    return _core.make_process_graph(kind, whole(ranks, "ranks", 1), whole(seed, "seed", 0, 2**63 - 1))


def read(path: Any) -> ProcessGraph:
    """Reads a process graph; the contents determine the format (packages/topology/docs/topology-files.md)."""
    return _core.read_process_graph(file_path(path))


def write(path: Any, graph: ProcessGraph, format: str = "") -> None:
    """Writes a process graph. `format`: "binary", "adjacency", "pairs", "matrix-market", "metis"; "": by the file's extension."""
    _core.write_process_graph(file_path(path), graph, format)


def kernels() -> list[dict[str, str]]:
    """Lists the kernels that can be measured: name, communication model, completion class, and the calls of an iteration."""
    return _core.kernels()


class Measurement(NamedTuple):
    """Result of measure(), times of exchanges on a process graph, on rank 0; empty on other ranks."""

    records: list[dict[str, Any]]
    """Times of an exchange on its slowest rank in ns, one record per kernel and size; pandas.DataFrame(records) is a table."""
    unusable: list[tuple[str, str, str]]
    """Kernel, size and reason of each measurement that the ranks could not make."""


def _size(size: Any) -> tuple[float, bool]:
    """Converts the message size of an exchange, bytes per arc or "weights", to a number, and True if it is a factor of the process
    graph's weights. Raises UsageError or TypeError."""
    if size == "weights":
        return 1.0, True
    return float(whole(size, "sizes", 0, 2**40)), False


def measure(graph: ProcessGraph, sizes: Iterable[Any] = (8,), kernels: Iterable[str] = (), comm: Any = None, *,
            seconds: float = 5, seed: int = 1, model: str = "auto") -> Measurement:
    """Measures exchanges along the arcs of a process graph, as `merganser topo bench` does. Collective with comm.

    Parameters
    ----------
    graph
        Process graph.
    sizes
        Message sizes: bytes per arc, or "weights": those of the graph.
    kernels
        Names of kernels() to be measured; none: all of this build that the ranks can run.
    comm
        Communicator of mpi4py with as many ranks as the graph; None: threads of this process.
    seconds
        Time for all measurements together.
    seed
        Seed of the order of measurements.
    model
        Communication model of set-up; "auto" measures the models.

    Returns
    -------
    Measurement
        Times in ns by kernel and size on rank 0; empty on other ranks.
    """
    if not isinstance(graph, ProcessGraph):
        raise WrongTypeError(f"graph: a {type(graph).__name__}; allowed: a ProcessGraph, see from_scipy()")
    team = open_team(comm, 1 if comm is not None else graph.ranks, model)
    if isinstance(kernels, str):
        kernels = (kernels,)
    return Measurement(*_core.measure(team, graph, [_size(s) for s in sizes], list(kernels),
                                      number(seconds, "seconds"), whole(seed, "seed", 0, 2**63 - 1)))


class Advice(NamedTuple):
    """Result of advise(): kernels ranked by the time of an exchange on a process graph."""

    records: list[dict[str, Any]]
    """Kernels of each completion class, fastest first; `predicted` is True if not measured on this graph."""
    unknown: list[str]
    """Reasons why kernels are missing, with the measurements that would be needed."""


def advise(records: Iterable[dict[str, Any]], graph: ProcessGraph | None = None, size: Any = None) -> Advice:
    """Ranks kernels by the time of an exchange: on the graph and sizes of the records, or, predicted from them, on another graph.
    Local.

    Parameters
    ----------
    records
        Records of Measurement.records.
    graph
        Another process graph; given together with size.
    size
        Bytes per arc, or "weights": those of the graph.

    Returns
    -------
    Advice
        Kernels of each completion class, fastest first, and reasons why others are missing.

    Raises
    ------
    UsageError
        If one of graph and size is given without the other.
    """
    if (graph is None) != (size is None):
        raise UsageError("advise: one of graph and size; allowed: both or none")
    size_bytes, weights = (0.0, False) if size is None else _size(size)
    return Advice(*_core.advise(list(records), graph, size_bytes, weights))
