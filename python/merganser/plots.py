"""Pictures of trees of clusters. They need matplotlib."""
from __future__ import annotations

from typing import Any

import numpy as np

_STEPS = 200
"""Most steps in the outline of a cluster."""

_QUIET = "0.75"


def condensed_tree(clusters: Any, *, axis: Any = None, select_clusters: bool = True, colors: Any = None,
                   label_clusters: bool = True) -> Any:
    """The condensed tree of HDBSCAN*: every cluster a bar that is as wide as it has points, from its birth down to its end.

    clusters         condensed_tree_ of a fitted HDBSCAN
    axis             axes of matplotlib to draw on; None: the current ones
    select_clusters  clusters that were taken have colours, others are grey
    colors           colours by label; None: matplotlib's cycle
    label_clusters   labels beside the clusters that were taken

    Lambda, 1 / distance, grows downwards. Infinite lambdas (points at one place) end at the greatest finite one. Gives the
    axes.
    """
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection, PolyCollection

    axis = plt.gca() if axis is None else axis
    tree = clusters.tree
    bars = _Bars(tree)
    label_of = {int(c): label for label, c in enumerate(clusters.selected)} if select_clusters else {}
    cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"] if colors is None else list(colors)
    colour = [cycle[label_of[c] % len(cycle)] if c in label_of else _QUIET for c in range(bars.count)]
    axis.add_collection(PolyCollection([bars.outline(c) for c in range(bars.count)], facecolors=colour, edgecolors=colour,
                                       linewidths=0.5))
    axis.add_collection(LineCollection(bars.branches(), colors="0.35", linewidths=0.8))
    if label_clusters:
        for c, label in label_of.items():
            axis.annotate(str(label), (bars.centre[c], bars.end[c]), xytext=(0, -4), textcoords="offset points",
                          ha="center", va="top", fontsize=8)
    axis.set_xlim(-0.02 * bars.width, 1.02 * bars.width)
    axis.set_ylim(1.06 * bars.deepest, 0)
    axis.set_xticks([])
    axis.set_ylabel(r"$\lambda$ = 1 / distance")
    for side in ("top", "right", "bottom"):
        axis.spines[side].set_visible(False)
    return axis


class _Bars:
    """Where the clusters of a condensed tree lie in a picture."""

    def __init__(self, tree: Any):
        self.tree = tree
        self.count = len(tree.parent)
        finite = np.concatenate([tree.lambda_[np.isfinite(tree.lambda_)], tree.birth[np.isfinite(tree.birth)], [0.0]])
        self.deepest = float(finite.max()) or 1.0
        self.birth = np.minimum(tree.birth, self.deepest)
        self.falls = self._falls_by_cluster()
        self.children: list[list[int]] = [[] for _ in range(self.count)]
        for c in range(1, self.count):
            self.children[tree.parent[c]].append(c)
        self.end = np.array([self._end(c) for c in range(self.count)])
        self._place()

    def _falls_by_cluster(self) -> list[np.ndarray]:
        order = np.argsort(self.tree.cluster_of, kind="stable")
        values = np.minimum(self.tree.lambda_[order], self.deepest)
        counts = np.bincount(self.tree.cluster_of, minlength=self.count)
        return [np.sort(part) for part in np.split(values, np.cumsum(counts)[:-1])]

    def _end(self, c: int) -> float:
        leaving = [self.falls[c][-1]] if len(self.falls[c]) else []
        return max(leaving + [self.birth[child] for child in self.children[c]], default=self.birth[c])

    def _place(self) -> None:
        """Leaves side by side, as wide as they are born; others in the middle of their children."""
        gap = 0.02 * max(1, len(self.tree.cluster_of))
        self.centre = np.zeros(self.count)
        right = 0.0
        open_ = [0]
        while open_:  # in the order of a walk, children from left to right
            c = open_.pop()
            if self.children[c]:
                open_.extend(reversed(self.children[c]))
                continue
            self.centre[c] = right + self.tree.size[c] / 2
            right += self.tree.size[c] + gap
        for c in range(self.count - 1, -1, -1):  # children have greater numbers
            if self.children[c]:
                self.centre[c] = np.mean(self.centre[self.children[c]])
        halves = self.tree.size / 2
        left = float((self.centre - halves).min(initial=0))
        self.centre -= left
        self.width = float((self.centre + halves).max(initial=1))

    def outline(self, c: int) -> np.ndarray:
        """Corners of a bar: it grows thinner where points fall out."""
        falls = self.falls[c]
        places = np.unique(np.linspace(0, len(falls), min(_STEPS, len(falls)) + 1).astype(int)[1:] - 1) if len(falls) else []
        depth, points = [self.birth[c]], [self.tree.size[c]]
        for place in places:
            depth += [falls[place]] * 2
            points += [points[-1], self.tree.size[c] - place - 1]
        depth.append(self.end[c])
        points.append(points[-1])
        half = np.array(points) / 2
        left = np.column_stack([self.centre[c] - half, depth])
        return np.vstack([left, np.column_stack([self.centre[c] + half, depth])[::-1]])

    def branches(self) -> list[list[tuple[float, float]]]:
        """Lines from clusters to what they split into."""
        return [
            [(self.centre[c], self.birth[child]), (self.centre[child], self.birth[child])]
            for c in range(self.count)
            for child in self.children[c]
        ]


def dendrogram(linkage: Any, *, axis: Any = None, leaves: int = 40, log: bool = False) -> Any:
    """The top of a dendrogram, height against clusters.

    linkage  rows (a, b, height, size): what merganser.linkage() gives, or SciPy's
    axis     axes of matplotlib to draw on; None: the current ones
    leaves   clusters that are drawn as leaves, with their numbers of points (those of one point without)
    log      heights on a logarithmic scale

    Joins at infinite height, of graphs that fall apart, are drawn dotted above all others. Gives the axes.
    """
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection

    axis = plt.gca() if axis is None else axis
    rows = np.asarray(linkage, dtype=np.float64)
    top = _Top(rows, max(2, int(leaves)))
    solid, dotted = top.brackets()
    axis.add_collection(LineCollection(solid, colors="C0", linewidths=1.0))
    if dotted:
        axis.add_collection(LineCollection(dotted, colors="0.5", linewidths=1.0, linestyles="dotted"))
    texts = ["" if size == 1 else f"{size:,}" for size in top.leaf_sizes]
    axis.set_xticks(range(len(texts)), texts, rotation=90 if len(texts) > 12 else 0, fontsize=7)
    axis.tick_params(axis="x", length=0)
    axis.set_xlim(-0.8, len(texts) - 0.2)
    if log:
        axis.set_yscale("log")
        axis.set_ylim(0.8 * top.lowest, 1.25 * top.ceiling)
    else:
        axis.set_ylim(0, 1.05 * top.ceiling or 1)
    axis.set_xlabel("points")
    axis.set_ylabel("height")
    for side in ("top", "right", "bottom"):
        axis.spines[side].set_visible(False)
    return axis


class _Top:
    """The last merges of a dendrogram, placed."""

    def __init__(self, rows: np.ndarray, leaves: int):
        self.rows = rows
        self.n = len(rows) + 1
        self.first = max(0, len(rows) - (leaves - 1))  # the first merge that is drawn
        drawn = rows[self.first:, 2]
        finite = drawn[np.isfinite(drawn)]
        self.ceiling = 1.1 * float(finite.max(initial=0)) or 1.0
        if len(finite) == len(drawn) and len(drawn):
            self.ceiling /= 1.1
        positive = finite[finite > 0]
        self.lowest = float(positive.min()) if len(positive) else 1.0
        self.x: dict[int, float] = {}
        self.leaf_sizes: list[int] = []
        self._place()

    def _children(self, node: int) -> tuple[int, int] | None:
        if node < self.n + self.first:
            return None
        row = self.rows[node - self.n]
        return int(row[0]), int(row[1])

    def _size(self, node: int) -> int:
        return 1 if node < self.n else int(self.rows[node - self.n, 3])

    def _place(self) -> None:
        open_ = [self.n + len(self.rows) - 1]
        while open_:
            node = open_.pop()
            children = self._children(node)
            if children is None:
                self.x[node] = len(self.leaf_sizes)
                self.leaf_sizes.append(self._size(node))
            else:
                open_.extend(sorted(children, key=self._size))
        for merge in range(self.first, len(self.rows)):
            a, b = int(self.rows[merge, 0]), int(self.rows[merge, 1])
            self.x[self.n + merge] = (self.x[a] + self.x[b]) / 2

    def _height(self, node: int) -> float:
        if node < self.n + self.first:
            return 0.0
        return min(float(self.rows[node - self.n, 2]), self.ceiling)

    def brackets(self) -> tuple[list[Any], list[Any]]:
        """Lines of the merges: those of finite height, and those of infinite."""
        solid: list[Any] = []
        dotted: list[Any] = []
        for merge in range(self.first, len(self.rows)):
            a, b = int(self.rows[merge, 0]), int(self.rows[merge, 1])
            top = self._height(self.n + merge)
            line = [(self.x[a], self._height(a)), (self.x[a], top), (self.x[b], top), (self.x[b], self._height(b))]
            (solid if np.isfinite(self.rows[merge, 2]) else dotted).append(line)
        return solid, dotted
