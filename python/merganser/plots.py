"""Plots of condensed trees, dendrograms and spanning trees. They need matplotlib."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import reals
from ._errors import UsageError

_STEPS = 200
"""Default of the maximum number of steps in the outline of a cluster's bar in the plot of a condensed tree."""

_QUIET = "0.75"
"""Colour of clusters that are not selected."""


def condensed_tree(clusters: Any, *, axis: Any = None, select_clusters: bool = True, colors: Any = None,
                   label_clusters: bool = True, leaf_separation: float = 1, cmap: Any = None, selection_palette: Any = None,
                   colorbar: bool | None = None, log_size: bool = False, max_rectangles_per_icicle: int = _STEPS) -> Any:
    """Draws the condensed tree of HDBSCAN*: every cluster is a bar, as wide as its number of points, from its birth to its end.

    Lambda, 1 / distance, increases downwards. Infinite lambdas (coincident points) end at the greatest finite one.

    Parameters
    ----------
    clusters
        condensed_tree_ of a fitted HDBSCAN.
    axis
        Axes of matplotlib to draw on; None: the current ones.
    select_clusters
        Draw selected clusters in colours, others in grey.
    colors
        Colours by label; None: matplotlib's cycle.
    label_clusters
        Write labels beside the selected clusters.
    leaf_separation
        Factor of the gaps between clusters.
    cmap
        Colour map of matplotlib by which bars are coloured by their number of points, selected ones with edges in their colours;
        None or "none": without.
    selection_palette
        hdbscan's name of colors.
    colorbar
        Draw the scale of cmap beside the plot; None: if there is a cmap.
    log_size
        Widths are logarithms of the numbers of points.
    max_rectangles_per_icicle
        Maximum number of steps in the outline of a bar.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection, PolyCollection

    axis = plt.gca() if axis is None else axis
    tree = clusters.tree
    bars = _Bars(tree, leaf_separation, log_size, max(1, int(max_rectangles_per_icicle)))
    colors = selection_palette if colors is None else colors
    label_of = {int(c): label for label, c in enumerate(clusters.selected)} if select_clusters else {}
    cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"] if colors is None else list(colors)
    colour = [cycle[label_of[c] % len(cycle)] if c in label_of else _QUIET for c in range(bars.count)]
    faces, scale = _size_colours(tree.size, cmap)
    axis.add_collection(PolyCollection([bars.outline(c) for c in range(bars.count)], facecolors=colour if faces is None else faces,
                                       edgecolors=colour, linewidths=0.5 if faces is None else 1.5))
    if scale is not None and colorbar is not False:
        axis.figure.colorbar(scale, ax=axis, label="points")
    axis.add_collection(LineCollection(bars.branches(), colors="0.35", linewidths=0.8))
    if label_clusters:
        for c, label in label_of.items():
            axis.annotate(str(label), (bars.centre[c], bars.end[c]), xytext=(0, -4), textcoords="offset points",
                          ha="center", va="top", fontsize=8,
                          bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85})
    axis.set_xlim(-0.02 * bars.width, 1.02 * bars.width)
    axis.set_ylim(1.06 * bars.deepest, 0)
    axis.set_xticks([])
    axis.set_xlabel("clusters, as wide as their number of points")
    axis.set_ylabel(r"$\lambda$ = 1 / distance")
    for side in ("top", "right", "bottom"):
        axis.spines[side].set_visible(False)
    return axis


def _size_colours(sizes: np.ndarray, cmap: Any) -> tuple[Any, Any]:
    """Returns the colours of numbers of points by a colour map, and its scale for a colour bar; (None, None) for no map."""
    if cmap is None or cmap == "none":
        return None, None
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = ScalarMappable(Normalize(0, max(1, int(np.max(sizes, initial=1)))), cmap)
    return scale.to_rgba(sizes), scale


class _Bars:
    """Layout of the bars in the plot of a condensed tree: centre, width and end (in lambda) of every cluster."""

    def __init__(self, tree: Any, separation: float = 1, log_size: bool = False, steps: int = _STEPS):
        self.tree, self.steps = tree, steps
        self.measure = (lambda points: np.log1p(points)) if log_size else (lambda points: np.asarray(points, dtype=np.float64))
        """Width of a bar for its number of points."""
        self.gap = 0.01 * separation * max(1.0, float(self.measure(len(tree.cluster_of))))
        self.count = len(tree.parent)
        finite = np.concatenate([tree.lambda_[np.isfinite(tree.lambda_)], tree.birth[np.isfinite(tree.birth)], [0.0]])
        self.deepest = float(finite.max()) or 1.0
        self.birth = np.minimum(tree.birth, self.deepest)
        self.falls = self._falls_by_cluster()
        self.children: list[list[int]] = [[] for _ in range(self.count)]
        for c in range(1, self.count):
            self.children[tree.parent[c]].append(c)
        self.end = np.array([self._end(c) for c in range(self.count)])
        self._layout()

    def _falls_by_cluster(self) -> list[np.ndarray]:
        """Returns for each cluster the lambdas at which points fall out of it, ascending; infinite ones become the greatest
        finite."""
        order = np.argsort(self.tree.cluster_of, kind="stable")
        values = np.minimum(self.tree.lambda_[order], self.deepest)
        counts = np.bincount(self.tree.cluster_of, minlength=self.count)
        return [np.sort(part) for part in np.split(values, np.cumsum(counts)[:-1])]

    def _end(self, c: int) -> float:
        """Returns the lambda at which the bar of cluster c ends: where its last point falls out, or its children are born."""
        leaving = [self.falls[c][-1]] if len(self.falls[c]) else []
        return max(leaving + [self.birth[child] for child in self.children[c]], default=self.birth[c])

    def _layout(self) -> None:
        """Computes the centres of the clusters' bars: each in the middle of a strip wide enough for it and its children side by
        side."""
        gap = self.gap
        strip = self.measure(self.tree.size)
        inner = np.zeros(self.count)  # width of all children with the gaps between them
        for c in range(self.count - 1, -1, -1):  # children have greater numbers
            if self.children[c]:
                inner[c] = strip[self.children[c]].sum() + gap * (len(self.children[c]) - 1)
            strip[c] = max(strip[c], inner[c])
        self.centre = np.zeros(self.count)
        self.centre[:1] = strip[:1] / 2
        for c in range(self.count):
            left = self.centre[c] - inner[c] / 2
            for child in self.children[c]:
                self.centre[child] = left + strip[child] / 2
                left += strip[child] + gap
        self.width = float(strip[0]) if self.count else 1.0

    def outline(self, c: int) -> np.ndarray:
        """Returns the corners, (corners, 2), of the bar of cluster c, which narrows where points fall out."""
        falls = self.falls[c]
        places = np.unique(np.linspace(0, len(falls), min(self.steps, len(falls)) + 1).astype(int)[1:] - 1) if len(falls) else []
        depth, points = [self.birth[c]], [self.tree.size[c]]
        for place in places:
            depth += [falls[place]] * 2
            points += [points[-1], self.tree.size[c] - place - 1]
        depth.append(self.end[c])
        points.append(points[-1])
        half = self.measure(points) / 2
        left = np.column_stack([self.centre[c] - half, depth])
        return np.vstack([left, np.column_stack([self.centre[c] + half, depth])[::-1]])

    def branches(self) -> list[list[tuple[float, float]]]:
        """Returns the horizontal lines of the plot from the clusters of a condensed tree to their children."""
        return [
            [(self.centre[c], self.birth[child]), (self.centre[child], self.birth[child])]
            for c in range(self.count)
            for child in self.children[c]
        ]


def dendrogram(linkage: Any, *, axis: Any = None, leaves: int = 40, least: int | None = None, log: bool = False,
               truncate_mode: str | None = None, p: int = 0, vary_line_width: bool = False, cmap: Any = None,
               colorbar: bool | None = None) -> Any:
    """Draws the top of a single-linkage dendrogram, height against clusters.

    A line ends at the lowest merge of two sides of at least `least` points. Merges at infinite height, of unconnected graphs, are
    drawn dotted above all others.

    Parameters
    ----------
    linkage
        Rows (a, b, height, size) of merganser.linkage() or SciPy.
    axis
        Axes of matplotlib to draw on; None: the current ones.
    leaves
        Maximum number of clusters that are drawn, each with its number of points.
    least
        Omit merges in which one side has fewer points than this, as most of single linkage have; None: half a percent of the
        points; 1: draw every merge.
    log
        Draw heights on a logarithmic scale.
    truncate_mode, p
        "lastp": p is hdbscan's and SciPy's name of leaves. None: leaves counts. Other modes of SciPy are not there.
    vary_line_width
        Draw merges of many points with thick lines.
    cmap
        Colour map of matplotlib by which merges are coloured by their number of points; None or "none": without.
    colorbar
        Draw the scale of cmap beside the plot; None: if there is a cmap.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection

    axis = plt.gca() if axis is None else axis
    if truncate_mode not in (None, "lastp"):
        raise UsageError(f"truncate_mode: {truncate_mode!r}; allowed: None, 'lastp'")
    leaves = p if truncate_mode == "lastp" and p > 0 else leaves
    rows = reals(linkage, "linkage").reshape(-1, 4)
    top = _Top(rows, max(2, int(leaves)), max(1, (len(rows) + 1) // 200) if least is None else max(1, int(least)))
    solid, dotted, sizes = top.brackets()
    tints, scale = _size_colours(sizes, cmap)
    widths = 1 + 3 * np.log1p(sizes) / np.log1p(top.n) if vary_line_width else 1.0
    axis.add_collection(LineCollection(solid, colors="C0" if tints is None else tints, linewidths=widths))
    if scale is not None and colorbar is not False:
        axis.figure.colorbar(scale, ax=axis, label="points")
    if dotted:
        axis.add_collection(LineCollection(dotted, colors="0.5", linewidths=1.0, linestyles="dotted"))
    texts = [f"{size:,}" for size in top.leaf_sizes]
    axis.set_xticks(range(len(texts)), texts, rotation=90 if len(texts) > 8 else 0, fontsize=7)
    axis.tick_params(axis="x", length=0)
    axis.set_xlim(-0.8, len(texts) - 0.2)
    if log:
        axis.set_yscale("log")
        axis.set_ylim(0.8 * top.lowest, 1.25 * top.ceiling)
    else:
        axis.set_ylim(0, 1.05 * top.ceiling)
    axis.set_xlabel("points of each cluster")
    axis.set_ylabel("height")
    for side in ("top", "right", "bottom"):
        axis.spines[side].set_visible(False)
    return axis


class _Top:
    """Layout of the plot of a dendrogram's upper merges, between clusters of at least `least` points."""

    def __init__(self, rows: np.ndarray, leaves: int, least: int):
        self.rows, self.n, self.least = rows, len(rows) + 1, least
        self.ceiling = np.inf
        self.parts: dict[int, tuple[int, int]] = {}
        self.points: dict[int, int] = {}  # of the cluster whose highest division a node is
        self.root = self._descend(self.n + len(rows) - 1)
        self._split(leaves)
        heights = np.array([self._height(node) for node in self.points])
        finite = heights[np.isfinite(heights) & (heights > 0)]
        self.lowest = float(finite.min()) if len(finite) else 1.0
        self.ceiling = (float(finite.max()) if len(finite) else 1.0) * (1.0 if np.isfinite(heights).all() else 1.1)
        self.x: dict[int, float] = {}
        self.leaf_sizes: list[int] = []
        self._layout()

    def _size(self, node: int) -> int:
        """Returns the number of points of a node of the dendrogram: a point (below n) or the cluster of merge node - n."""
        return 1 if node < self.n else int(self.rows[node - self.n, 3])

    def _height(self, node: int) -> float:
        """Returns the height of a node of the dendrogram, 0 for a point, limited to the ceiling of the plot."""
        return 0.0 if node < self.n else min(float(self.rows[node - self.n, 2]), self.ceiling)

    def _children(self, node: int) -> tuple[int, int]:
        """Returns the two nodes of the dendrogram that merge into a cluster."""
        return int(self.rows[node - self.n, 0]), int(self.rows[node - self.n, 1])

    def _descend(self, node: int) -> int:
        """Returns the highest node of the dendrogram at or below this one with two sides of enough points, or with none; records
        the points of this one for it."""
        points = self._size(node)
        while node >= self.n:
            large = [child for child in self._children(node) if self._size(child) >= self.least]
            if len(large) != 1:
                break
            node = large[0]
        self.points[node] = points
        return node

    def _divides(self, node: int) -> bool:
        """Returns True for a merge of the dendrogram whose two sides have enough points to be drawn."""
        return node >= self.n and all(self._size(child) >= self.least for child in self._children(node))

    def _split(self, leaves: int) -> None:
        """Selects the highest merges of the dendrogram to be drawn, in descending order of height, until they have `leaves`
        leaves."""
        import heapq

        open_ = [(-self._height(self.root), self.root)]
        while open_ and len(self.parts) + 1 < leaves:
            _, node = heapq.heappop(open_)
            if not self._divides(node):
                continue
            a, b = (self._descend(child) for child in self._children(node))
            self.parts[node] = (a, b)
            for part in (a, b):
                heapq.heappush(open_, (-self._height(part), part))

    def _layout(self) -> None:
        """Computes the x of the drawn nodes of the dendrogram: leaves side by side, a merge in the middle of its two sides."""
        order, open_ = [], [self.root]
        while open_:
            node = open_.pop()
            order.append(node)
            if node in self.parts:
                open_.extend(sorted(self.parts[node], key=self.points.__getitem__))
            else:
                self.x[node] = len(self.leaf_sizes)
                self.leaf_sizes.append(self.points[node])
        for node in reversed(order):
            if node in self.parts:
                a, b = self.parts[node]
                self.x[node] = (self.x[a] + self.x[b]) / 2

    def brackets(self) -> tuple[list[Any], list[Any], np.ndarray]:
        """Returns the lines of the dendrogram's drawn merges of finite height, those of infinite height, and the numbers of points
        of the first."""
        solid: list[Any] = []
        dotted: list[Any] = []
        sizes: list[int] = []
        for node, (a, b) in self.parts.items():
            top = self._height(node)
            line = [(self.x[a], self._height(a)), (self.x[a], top), (self.x[b], top), (self.x[b], self._height(b))]
            finite = np.isfinite(self.rows[node - self.n, 2])
            (solid if finite else dotted).append(line)
            if finite:
                sizes.append(self._size(node))
        return solid, dotted, np.array(sizes, dtype=np.int64)


_MOST_DRAWN = 32767
"""Maximum number of points of a spanning tree that is drawn, as in hdbscan."""


def spanning_tree(tree: Any, *, axis: Any = None, node_size: float = 40, node_color: Any = "k", node_alpha: float = 0.8,
                  edge_alpha: float = 0.5, edge_cmap: Any = "viridis_r", edge_linewidth: float = 2, vary_line_width: bool = True,
                  colorbar: bool = True) -> Any:
    """Draws a minimum spanning tree over its points, with edges coloured by mutual reachability distance.

    Points of more than two coordinates are drawn at their two principal components (hdbscan: t-SNE of scikit-learn).

    Parameters
    ----------
    tree
        minimum_spanning_tree_ of a fitted HDBSCAN.
    axis
        Axes of matplotlib to draw on; None: the current ones.
    node_size, node_color, node_alpha
        Size, colour and opacity of the points.
    edge_alpha, edge_cmap, edge_linewidth
        Opacity, colour map and width of the edges.
    vary_line_width
        Draw shorter edges wider, by the logarithm of the greatest distance over theirs.
    colorbar
        Draw a bar of the colours.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Raises
    ------
    UsageError
        If the coordinates are not known, or there are more than 32,767 points.
    """
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection

    if tree.points is None:
        raise UsageError("minimum_spanning_tree_: without coordinates; allowed: fitted to points in one process")
    if len(tree.points) > _MOST_DRAWN:
        raise UsageError(f"minimum_spanning_tree_: {len(tree.points)} points to draw; allowed: up to {_MOST_DRAWN}")
    axis = plt.gca() if axis is None else axis
    points = np.asarray(tree.points, dtype=np.float64)
    finite = np.isfinite(points).all(axis=1)  # others are in no tree, and are not drawn
    places = np.full((len(points), 2), np.nan)
    places[finite] = _in_plane(points[finite])
    widths = edge_linewidth
    if vary_line_width and len(tree.distances):
        least = tree.distances[tree.distances > 0].min(initial=np.inf)  # edges of length 0 as wide as the shortest other
        widths = edge_linewidth * (np.log(tree.distances.max() / np.maximum(tree.distances, least)) + 1)
    edges = LineCollection(places[tree.ends], linewidths=widths, cmap=edge_cmap, alpha=edge_alpha)
    edges.set_array(tree.distances)
    axis.add_collection(edges)
    axis.scatter(*places.T, c=node_color, alpha=node_alpha, s=node_size)
    axis.set_xticks([])
    axis.set_yticks([])
    if colorbar:
        plt.colorbar(edges, ax=axis).ax.set_ylabel("Mutual reachability distance")
    return axis


def _in_plane(points: np.ndarray) -> np.ndarray:
    """Returns points as two coordinates each: with a zero, as they are, or their principal components of greatest variance."""
    if points.shape[1] == 1:
        return np.column_stack([points, np.zeros(len(points))])
    if points.shape[1] == 2:
        return points
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return centred @ axes[:, :-3:-1]
