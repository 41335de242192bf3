"""Condensed trees and dendrograms with the interface of the package hdbscan: arrays, data frames, graphs and plots."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._arrays import integer
from ._linkage import cut


class Clusters(NamedTuple):
    """Condensed tree of HDBSCAN* as arrays, which can be pickled. Cluster 0 is the root with all points; lambda is 1 / height."""

    parent: np.ndarray
    """Parent of each cluster, which has a lower number; that of cluster 0 is 0."""
    size: np.ndarray
    """Number of points of each cluster at its birth."""
    birth: np.ndarray
    """Lambda at which each cluster is born."""
    cluster_of: np.ndarray
    """Cluster that each point falls out of."""
    lambda_: np.ndarray
    """Lambda at which each point falls out of its cluster; infinite for coincident points."""
    weights: np.ndarray | None = None
    """Weight of each point in sizes and stabilities; None: one each."""

    @classmethod
    def of(cls, tree: Any) -> Clusters:
        """Converts the condensed tree of a result of merganser.hdbscan(), without a copy of the arrays by point."""
        return cls(tree.parent, tree.size, tree.birth, tree.cluster_of, tree.lambda_, tree.weights)


def with_other_rows(clusters: Clusters, finite: np.ndarray | None) -> Clusters:
    """Returns a condensed tree of the finite rows (a mask) with the other rows, which leave the root at lambda 0 with weight 0."""
    if finite is None:
        return clusters
    cluster_of, lambda_ = np.zeros(len(finite), dtype=clusters.cluster_of.dtype), np.zeros(len(finite))
    cluster_of[finite], lambda_[finite] = clusters.cluster_of, clusters.lambda_
    size = clusters.size.copy()
    size[0] = len(finite)
    weights = clusters.weights
    if weights is not None:
        weights = np.zeros(len(finite))
        weights[finite] = clusters.weights
    return clusters._replace(size=size, cluster_of=cluster_of, lambda_=lambda_, weights=weights)


def linkage_with_other_rows(rows: np.ndarray, finite: np.ndarray | None) -> np.ndarray:
    """Returns a linkage matrix of the finite rows (a mask) with the other rows, which are merged last, at infinity."""
    if finite is None:
        return rows
    n, known = len(finite), len(rows) + 1
    names = np.concatenate([np.flatnonzero(finite), n + np.arange(len(rows))]).astype(np.float64)
    out = np.empty((n - 1, 4))
    out[:len(rows)] = rows
    out[:len(rows), :2] = names[rows[:, :2].astype(np.int64)]
    for step, row in enumerate(np.flatnonzero(~finite)):
        place = len(rows) + step
        top = names[known - 1] if place == 0 else n + place - 1
        out[place] = (min(row, top), max(row, top), np.inf, known + step + 1)
    return out


class CondensedClusters:
    """Condensed tree of HDBSCAN*: the splits of clusters, and the lambda at which each point falls out of its cluster.

    Rows (parent, child, lambda_val, child_size): clusters are numbered from n on, n being all points; first come the
    clusters, then the n points.
    """

    def __init__(self, tree: Any, selected: np.ndarray):
        self.tree = tree
        """Condensed tree by cluster and by point: Clusters, or the tree of a result of merganser.hdbscan()."""
        self.selected = np.asarray(selected, dtype=np.int64)
        """Number in the condensed tree of the selected cluster of each label, counted from 0."""

    def to_numpy(self) -> np.ndarray:
        """Returns the rows of the condensed tree as a structured array, with the names and types of hdbscan's
        condensed_tree_.to_numpy()."""
        tree, n = self.tree, len(self.tree.cluster_of)
        clusters = np.arange(1, len(tree.parent))
        rows = np.empty(len(clusters) + n, dtype=[("parent", np.int64), ("child", np.int64), ("lambda_val", np.float64),
                                                  ("child_size", np.int64)])
        rows["parent"] = n + np.concatenate([tree.parent[clusters], tree.cluster_of])
        rows["child"] = np.concatenate([n + clusters, np.arange(n)])
        rows["lambda_val"] = np.concatenate([tree.birth[clusters], tree.lambda_])
        rows["child_size"] = np.concatenate([tree.size[clusters], np.ones(n, dtype=np.int64)])
        return rows

    def to_pandas(self) -> Any:
        """Returns the rows of the condensed tree as a data frame. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.to_numpy())

    def to_networkx(self) -> Any:
        """Returns the condensed tree as a directed graph from parents to children; edges have `weight` (lambda), nodes `size`.
        Needs networkx."""
        import networkx

        rows = self.to_numpy()
        graph = networkx.DiGraph()
        graph.add_weighted_edges_from(
            (int(parent), int(child), float(value))
            for parent, child, value in zip(rows["parent"], rows["child"], rows["lambda_val"])
        )
        sizes = dict(zip(rows["child"].tolist(), rows["child_size"].tolist()))
        sizes[len(self.tree.cluster_of)] = len(self.tree.cluster_of)
        networkx.set_node_attributes(graph, {node: sizes[node] for node in graph}, "size")
        return graph

    def plot(self, **options: Any) -> Any:
        """Draws the condensed tree by merganser.plots.condensed_tree(), whose options it takes. Needs matplotlib."""
        from .plots import condensed_tree

        return condensed_tree(self, **options)


class SingleLinkageTree:
    """Dendrogram of single linkage: SciPy's rows (a, b, height, size); merge i creates cluster n + i."""

    def __init__(self, rows: np.ndarray):
        self.rows = rows

    def to_numpy(self) -> np.ndarray:
        """Returns the rows of the linkage matrix, (n - 1, 4) float64, as SciPy's functions take them."""
        return self.rows

    def to_pandas(self) -> Any:
        """Returns the merges of the dendrogram as a data frame: parent, left_child, right_child, distance, size. Needs pandas."""
        import pandas

        n = len(self.rows) + 1
        columns = {"parent": np.arange(n, n + len(self.rows))}
        for place, name in enumerate(("left_child", "right_child", "distance", "size")):
            column = self.rows[:, place]
            columns[name] = column if name == "distance" else column.astype(np.int64)
        return pandas.DataFrame(columns)

    def to_networkx(self) -> Any:
        """Returns the dendrogram as a directed graph from merges (n and above) to what they merge; edges have `weight` (height),
        nodes `size`. Needs networkx."""
        import networkx

        n, graph = len(self.rows) + 1, networkx.DiGraph()
        graph.add_nodes_from((node, {"size": 1}) for node in range(n))
        for place, (a, b, height, size) in enumerate(self.rows):
            graph.add_node(n + place, size=int(size))
            graph.add_weighted_edges_from(((n + place, int(a), float(height)), (n + place, int(b), float(height))))
        return graph

    def get_clusters(self, cut_distance: float, min_cluster_size: int = 5) -> np.ndarray:
        """Cuts the dendrogram at a distance and returns cluster labels (int64), numbered in the order of the clusters' lowest
        points. Points of clusters below min_cluster_size are noise (-1). Raises TypeError for another size than a whole
        number."""
        least = integer(min_cluster_size, "min_cluster_size")
        labels = cut(self.rows, height=cut_distance).astype(np.int64)
        large = np.bincount(labels) >= least
        number = np.where(large, np.cumsum(large) - 1, -1)
        return number[labels]

    def plot(self, **options: Any) -> Any:
        """Draws the dendrogram by merganser.plots.dendrogram(), whose options it takes. Needs matplotlib."""
        from .plots import dendrogram

        return dendrogram(self.rows, **options)


class MinimumSpanningTree:
    """Minimum spanning tree of the mutual reachability distances of points, with the interface of hdbscan's."""

    def __init__(self, ends: np.ndarray, distances: np.ndarray, points: np.ndarray | None = None):
        self.ends = ends
        """Ends of each edge, (n - 1, 2) int64, the lower first; edges are in ascending order of (distance, low, high)."""
        self.distances = distances
        """Mutual reachability distance of the ends of each edge."""
        self.points = points
        """Rows of X, for plot(), NaN for those that are not finite; None over ranks, and for precomputed distances."""

    def to_numpy(self) -> np.ndarray:
        """Returns the edges as rows (from, to, distance), (n - 1, 3) float64."""
        return np.column_stack([self.ends.astype(np.float64), self.distances])

    def to_pandas(self) -> Any:
        """Returns the edges as a data frame: from, to (int64), distance. Needs pandas."""
        import pandas

        return pandas.DataFrame({"from": self.ends[:, 0], "to": self.ends[:, 1], "distance": self.distances})

    def to_networkx(self) -> Any:
        """Returns the tree as a graph; edges have `weight` (distance), nodes `data` (a tuple of coordinates) where these are known.
        Needs networkx."""
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(range(len(self.distances) + 1))
        graph.add_weighted_edges_from(zip(*self.ends.T.tolist(), self.distances.tolist()))
        if self.points is not None:
            networkx.set_node_attributes(graph, {i: tuple(row) for i, row in enumerate(self.points.tolist())}, "data")
        return graph

    def plot(self, **options: Any) -> Any:
        """Draws the tree over the points by merganser.plots.spanning_tree(), whose options it takes. Needs matplotlib."""
        from .plots import spanning_tree

        return spanning_tree(self, **options)
