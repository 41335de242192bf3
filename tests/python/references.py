"""Slow references that tests compare with: distances of all pairs, Kruskal's algorithm by sets."""
import numpy as np


def distances_of(points, metric="euclidean", periods=()):
    """Distances of all pairs by their definition; `periods`: the length of each axis, None where it has walls."""
    apart = np.abs(points[:, None] - points[None])
    for axis, length in enumerate(periods):
        if length is not None:
            there = apart[..., axis] % length
            apart[..., axis] = np.minimum(there, length - there)
    if metric == "manhattan":
        return apart.sum(axis=2)
    if metric == "chebyshev":
        return apart.max(axis=2)
    if metric in ("cosine", "correlation"):
        rows = points - points.mean(axis=1)[:, None] if metric == "correlation" else points
        unit = rows / np.sqrt((rows**2).sum(axis=1))[:, None]
        return ((unit[:, None] - unit[None]) ** 2).sum(axis=2) / 2
    if metric == "hamming":
        return (apart != 0).mean(axis=2)
    if metric == "great_circle":
        a, b = points[:, None], points[None]
        half = np.sin((a - b) / 2) ** 2
        return 2 * np.arcsin(np.sqrt(half[..., 0] + np.cos(a[..., 0]) * np.cos(b[..., 0]) * half[..., 1]))
    return np.sqrt((apart**2).sum(axis=2))


def reachability(distance, samples):
    """Mutual reachability distances, a point being its own first neighbour."""
    core = np.sort(distance, axis=1)[:, samples - 1]
    return np.maximum(distance, np.maximum(core[:, None], core[None]))


def kruskal(n, edges):
    """The edges (weight, low, high) of the minimum spanning forest in ascending order, by sets of vertices that are joined."""
    group = [{v} for v in range(n)]
    taken = []
    for w, a, b in sorted(edges):
        if group[a] is not group[b]:
            group[a] |= group[b]
            for v in group[b]:
                group[v] = group[a]
            taken.append((w, a, b))
    return taken


def tree_of(distance):
    n = len(distance)
    return kruskal(n, [(distance[a, b], a, b) for a in range(n) for b in range(a + 1, n)])
