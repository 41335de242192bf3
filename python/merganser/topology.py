"""Process graphs, what an exchange on one costs, and which kernel to take."""
from __future__ import annotations

from typing import Any, Iterable, NamedTuple

import numpy as np

from . import _core
from ._arrays import line, number, whole
from ._errors import UsageError
from ._team import team_of

ProcessGraph = _core.ProcessGraph


def from_scipy(matrix: Any) -> ProcessGraph:
    """The graph of a sparse (ranks, ranks) matrix of SciPy: entry (i, j) are the bytes that i sends to j. No loops.

    Entries that repeat at one (i, j) are added up, as SciPy does.
    """
    csr = matrix.tocsr(copy=True)
    csr.sum_duplicates()
    if csr.shape[0] != csr.shape[1]:
        raise UsageError(f"matrix: of shape {csr.shape}; allowed: (ranks, ranks)")
    return ProcessGraph(line(csr.indptr, "indptr", np.int64), line(csr.indices, "indices", np.int64),
                        line(csr.data, "data", np.float64))


def to_scipy(graph: ProcessGraph) -> Any:
    """The sparse matrix of a graph. Needs SciPy."""
    from scipy.sparse import csr_array

    offsets, heads, sizes = graph.arrays()
    return csr_array((sizes, heads, offsets), shape=(graph.ranks, graph.ranks))


def from_networkx(graph: Any) -> ProcessGraph:
    """The graph of a networkx (di)graph whose nodes are 0 .. ranks - 1; `weight` of an edge are its bytes, else 1."""
    n = graph.number_of_nodes()
    if set(graph) != set(range(n)):
        raise UsageError(f"graph: nodes that are not 0 .. {n - 1}; allowed: these")
    rows = [sorted((int(j), float(data.get("weight", 1))) for j, data in graph.adj[i].items()) for i in range(n)]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return ProcessGraph(offsets, np.array([j for row in rows for j, _ in row], dtype=np.int64),
                        np.array([w for row in rows for _, w in row], dtype=np.float64))


def to_networkx(graph: ProcessGraph) -> Any:
    """A directed graph of networkx, with `weight`: bytes along an arc. Needs networkx."""
    import networkx

    out = networkx.DiGraph()
    out.add_nodes_from(range(graph.ranks))
    offsets, heads, sizes = (a.tolist() for a in graph.arrays())
    for i in range(graph.ranks):
        out.add_weighted_edges_from((i, heads[k], sizes[k]) for k in range(offsets[i], offsets[i + 1]))
    return out


def generate(kind: str, ranks: int, seed: int = 42) -> ProcessGraph:
    """A graph by its kind, as "ring", "torus2d", "torus:4x2", "random:4", "rgg:5", "complete".

    Kinds and their arguments: packages/topology/docs/topology-files.md.
    """
    if not isinstance(kind, str):
        raise TypeError(f"kind: a {type(kind).__name__}; allowed: a text")
    return _core.make_process_graph(kind, whole(ranks, "ranks", 1), whole(seed, "seed", 0, 2**64 - 1))


def read(path: Any) -> ProcessGraph:
    """Reads a graph; the format is seen in the file (packages/topology/docs/topology-files.md)."""
    import os

    return _core.read_process_graph(os.fspath(path))


def write(path: Any, graph: ProcessGraph, format: str = "") -> None:
    """Writes a graph: "binary", "adjacency", "pairs", "matrix-market", "metis"; without, as the extension says."""
    import os

    _core.write_process_graph(os.fspath(path), graph, format)


def kernels() -> list[dict[str, str]]:
    """The kernels that can be measured: name, model, when an exchange counts as completed, calls of an iteration."""
    return _core.kernels()


class Measurement(NamedTuple):
    """What measure() finds, on rank 0; elsewhere it is empty."""

    records: list[dict[str, Any]]
    """One per kernel and size: times of an exchange on its slowest rank in ns. pandas.DataFrame(records) is a table."""
    unusable: list[tuple[str, str, str]]
    """Kernel, size, and why it could not be measured."""


def _size(size: Any) -> tuple[float, bool]:
    if size == "weights":
        return 1.0, True
    return float(whole(size, "sizes", 0, 2**40)), False


def measure(graph: ProcessGraph, sizes: Iterable[Any] = (8,), kernels: Iterable[str] = (), comm: Any = None, *,
            seconds: float = 5, seed: int = 1, model: str = "auto") -> Measurement:
    """Measures exchanges along the arcs of a graph, as `merganser topo bench` does. Collective.

    sizes    bytes per arc, or "weights": those of the graph
    kernels  names, see kernels(); none: all of this build for the ranks that measure
    comm     as many ranks as the graph has; without: threads of this process
    seconds  for everything
    """
    if not isinstance(graph, ProcessGraph):
        raise TypeError(f"graph: a {type(graph).__name__}; allowed: a ProcessGraph, see from_scipy()")
    team = team_of(comm, 1 if comm is not None else graph.ranks, model)
    if isinstance(kernels, str):
        kernels = (kernels,)
    return Measurement(*_core.measure(team, graph, [_size(s) for s in sizes], list(kernels),
                                      number(seconds, "seconds"), whole(seed, "seed", 0, 2**63)))


class Advice(NamedTuple):
    """What advise() finds."""

    records: list[dict[str, Any]]
    """Kernels of each completion class, the fastest first; `predicted` where they were not measured on this graph."""
    unknown: list[str]
    """Why kernels are missing, with what would have to be measured."""


def advise(records: Iterable[dict[str, Any]], graph: ProcessGraph | None = None, size: Any = None) -> Advice:
    """Which kernel to take: for the load that the records are of, or for another graph and size, predicted from them."""
    if (graph is None) != (size is None):
        raise UsageError("advise: one of graph and size; allowed: both or none")
    size_bytes, weights = (0.0, False) if size is None else _size(size)
    return Advice(*_core.advise(list(records), graph, size_bytes, weights))
