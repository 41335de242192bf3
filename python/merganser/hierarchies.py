"""Trees of clusters as users of hdbscan know them: as arrays, data frames, graphs and pictures."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._linkage import cut


class Clusters(NamedTuple):
    """A condensed tree as arrays, which can be pickled. Cluster 0 is all points; lambda is 1 / height."""

    parent: np.ndarray
    """By cluster: the cluster it splits from, of a lower number; that of cluster 0 is 0."""
    size: np.ndarray
    """By cluster: points at birth."""
    birth: np.ndarray
    """By cluster: lambda of birth."""
    cluster_of: np.ndarray
    """By point: the cluster that it falls out of."""
    lambda_: np.ndarray
    """By point: where it does; infinite for what lies at one place."""

    @classmethod
    def of(cls, tree: Any) -> Clusters:
        """Of what merganser.hdbscan() gives, without a copy of what is kept by point."""
        return cls(tree.parent, tree.size, tree.birth, tree.cluster_of, tree.lambda_)


class CondensedClusters:
    """The condensed tree of HDBSCAN*: what splits into what, and where points fall out.

    Rows (parent, child, lambda_val, child_size): clusters are numbered from n on, n being all points; first come the
    clusters, then the n points.
    """

    def __init__(self, tree: Any, selected: np.ndarray):
        self.tree = tree
        """The tree by cluster and by point: Clusters, or what merganser.hdbscan() gives."""
        self.selected = np.asarray(selected, dtype=np.int64)
        """By label: the cluster that was taken, counted from 0."""

    def to_numpy(self) -> np.ndarray:
        """The rows, with the names and types that hdbscan's condensed_tree_.to_numpy() has."""
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
        """The rows as a data frame. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.to_numpy())

    def to_networkx(self) -> Any:
        """A directed graph from parents to children; edges have `weight` (lambda), nodes `size`. Needs networkx."""
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
        """A picture: see merganser.plots.condensed_tree(). Needs matplotlib."""
        from .plots import condensed_tree

        return condensed_tree(self, **options)


class SingleLinkageTree:
    """A dendrogram: SciPy's rows (a, b, height, size), merge i making cluster n + i."""

    def __init__(self, rows: np.ndarray):
        self.rows = rows

    def to_numpy(self) -> np.ndarray:
        """The rows, (n - 1, 4) float64, as SciPy's functions take them."""
        return self.rows

    def to_pandas(self) -> Any:
        """The rows as a data frame: parent, left_child, right_child, distance, size. Needs pandas."""
        import pandas

        n = len(self.rows) + 1
        columns = {"parent": np.arange(n, n + len(self.rows))}
        for place, name in enumerate(("left_child", "right_child", "distance", "size")):
            column = self.rows[:, place]
            columns[name] = column if name == "distance" else column.astype(np.int64)
        return pandas.DataFrame(columns)

    def get_clusters(self, cut_distance: float, min_cluster_size: int = 5) -> np.ndarray:
        """Labels of a cut at a distance; clusters of fewer points are noise (-1). Numbered by their lowest points."""
        labels = cut(self.rows, height=cut_distance).astype(np.int64)
        large = np.bincount(labels) >= min_cluster_size
        number = np.where(large, np.cumsum(large) - 1, -1)
        return number[labels]

    def plot(self, **options: Any) -> Any:
        """A picture: see merganser.plots.dendrogram(). Needs matplotlib."""
        from .plots import dendrogram

        return dendrogram(self.rows, **options)
