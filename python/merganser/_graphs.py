"""Graphs that are made or read, as (n, u, v, w)."""
from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import whole
from ._team import team_of
from ._trees import _edges_of


class Graph(NamedTuple):
    """Edges between vertices 0 .. n - 1, as minimum_spanning_forest() takes them; over ranks this rank's share."""

    n: int
    u: np.ndarray
    v: np.ndarray
    w: np.ndarray


def generate_graph(kind: str, *, seed: int = 1, weights: str = "uniform", comm: Any = None, model: str = "auto") -> Graph:
    """An artificial graph: "rmat:N:DEG", "rgg2d:N:DEG", "rgg3d:N:DEG", "gnm:N:DEG", "ba:N:DEG" of 2^N vertices,
    "grid:AxB", "grid:AxBxC", "path:V", "star:V", "complete:V". The edges are equal for any number of ranks
    (packages/graph/docs/graph-files.md).

    weights  "uniform", "uniform:LIMIT", "signed", "float32", "float64", "unit", or of rgg "euclidean"
    """
    _texts(kind=kind, weights=weights)
    return Graph(*_core.generate_graph(team_of(comm, 1, model), kind, whole(seed, "seed", 0, 2**63), weights))


def read_graph(path: Any, *, format: str = "", weights: str = "", seed: int = 1, comm: Any = None,
               model: str = "auto") -> tuple[Graph, dict[str, Any]]:
    """Reads a graph file: edge lists, Matrix Market, METIS, DIMACS, ParHIP, BVGraph, the own format.

    Formats: packages/graph/docs/graph-files.md.

    Gives the graph and a record of what was read. Collective over `comm`; every rank must see the file.
    """
    _texts(format=format, weights=weights)
    graph, record = _core.read_graph(team_of(comm, 1, model), os.fspath(path), format, weights,
                                     whole(seed, "seed", 0, 2**63))
    return Graph(*graph), record


def write_graph(path: Any, graph: Any, *, format: str = "", comm: Any = None, model: str = "auto") -> None:
    """Writes a graph, (n, u, v, w) or a sparse matrix; without a format as the extension says. Collective over `comm`."""
    _texts(format=format)
    _core.write_graph(team_of(comm, 1, model), os.fspath(path), format, *_edges_of(graph))


def _texts(**given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, str):
            raise TypeError(f"{name}: a {type(value).__name__}; allowed: a text")
