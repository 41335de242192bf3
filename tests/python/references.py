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


def deepest(rows, cluster):
    """The greatest lambda of the rows of a condensed tree below a cluster."""
    own = rows[rows["parent"] == cluster]
    below = [deepest(rows, child) for child, size in zip(own["child"], own["child_size"]) if child >= rows["parent"].min()]
    return max([*own["lambda_val"], *below])


def outlier_scores(rows):
    """GLOSH by its definition from the rows of a condensed tree."""
    n = rows["parent"].min()
    scores = np.zeros(n)
    for row in rows[rows["child"] < n]:
        most, lam = deepest(rows, row["parent"]), row["lambda_val"]
        if most == 0 or np.isinf(lam):
            continue
        scores[row["child"]] = 1 if np.isinf(most) else (most - lam) / most
    return scores


def persistences(rows, selected, labels):
    """Stability of each selected cluster over its number of points times the greatest lambda."""
    most, out = rows["lambda_val"].max(), []
    for label, cluster in enumerate(selected):
        birth = rows["lambda_val"][rows["child"] == cluster]
        size = (labels == label).sum()
        if np.isinf(most) or most == 0 or size == 0:
            out.append(1.0)
            continue
        own = rows[rows["parent"] == cluster]
        stability = sum((r["lambda_val"] - (birth[0] if len(birth) else 0)) * r["child_size"] for r in own)
        out.append(stability / (size * most))
    return np.array(out)


def leaves_of(rows, cluster):
    """The clusters without children that a cluster contains, or itself."""
    n = rows["parent"].min()
    children = rows["child"][(rows["parent"] == cluster) & (rows["child"] >= n)]
    return [leaf for child in children for leaf in leaves_of(rows, child)] if len(children) else [cluster]


def exemplars(rows, selected):
    """Points that leave the leaves of each selected cluster last."""
    out = []
    for cluster in selected:
        points = []
        for leaf in sorted(leaves_of(rows, cluster)):
            own = rows[rows["parent"] == leaf]
            points += sorted(own["child"][own["lambda_val"] == own["lambda_val"].max()])
        out.append(points)
    return out


def relative_validity(edges, labels):
    """Relative validity from the edges (low, high, distance) of a spanning tree, cluster by cluster."""
    total, count = 0.0, labels.max(initial=-1) + 1
    greatest = max(w for _, _, w in edges)
    for label in range(count):
        inside = [w for a, b, w in edges if labels[int(a)] == label == labels[int(b)]]
        out = [w for a, b, w in edges if (labels[int(a)] == label) != (labels[int(b)] == label) and min(labels[int(a)], labels[int(b)]) >= 0]
        noise = [w for a, b, w in edges if (labels[int(a)] < 0) != (labels[int(b)] < 0)]
        separation = min(out) if out else 2 * (min(noise) if count == 1 and noise else greatest)
        sparse = max(inside, default=0.0)
        total += (labels == label).sum() * (separation - sparse) / max(separation, sparse) / len(labels)
    return total


def path(rows, cluster):
    """A cluster and those that contain it, upwards."""
    out = [cluster]
    while out[-1] > rows["parent"].min():
        out.append(rows["parent"][rows["child"] == out[-1]][0])
    return out


def parting(rows, cluster, other, lam):
    """The lambda at which a point of `cluster` that leaves it at `lam` and the cluster `other` part: `lam` if one contains the other."""
    mine, theirs = path(rows, cluster), path(rows, other)
    if cluster in theirs or other in mine:
        return lam
    while mine[-2] == theirs[-2]:
        mine.pop(), theirs.pop()
    return rows["lambda_val"][rows["child"] == mine[-2]][0]


def memberships(rows, selected, distances, cluster, lam, fresh, rounded=False):
    """Memberships of one point by hdbscan's formula. `distances`: to the nearest exemplar of each label; `rounded`: as hdbscan, which
    rounds lambda to 32 bits in one place."""
    most = rows["lambda_val"][rows["parent"] == cluster].max()
    heights = np.array([parting(rows, cluster, other, lam) for other in selected])
    if fresh:
        depth = heights if not rounded else np.array([parting(rows, cluster, other, np.float64(np.float32(lam))) for other in selected])
        rest = most - depth
        depth = most / np.where(rest <= 0, 1e-8, rest)
        depth = np.exp(depth - depth.max())
    else:
        depth = np.exp(np.exp(-((most + 1e-8) / heights)))
    near = np.where((distances == 0).any(), distances == 0, 1 / np.where(distances == 0, 1, distances))
    share = np.sqrt(near / near.sum()) * (depth / depth.sum()) ** 2 if fresh else near * depth
    nearest = heights.argmax()
    end = max(lam, rows["lambda_val"][rows["parent"] == selected[nearest]].max()) + (1e-8 if fresh else 0)
    return share / share.sum() * heights[nearest] / end


def validity(distance, labels, d, raw=False):
    """DBCV by its definition, for distances of which no two are equal: trees by Kruskal's algorithm."""
    count, n = labels.max(initial=-1) + 1, len(labels)
    inner, cores, sparse = [], [], []
    for label in range(count):
        own = np.flatnonzero(labels == label)
        between = distance[np.ix_(own, own)]
        with np.errstate(divide="ignore"):
            core = np.array([(((1 / np.delete(row, i)) ** d).sum() / (len(own) - 1)) ** (-1 / d) for i, row in enumerate(between)])
        core = np.zeros(len(own)) if raw else core
        reach = np.maximum(between, np.maximum(core[:, None], core[None]))
        edges = prim(reach)
        degree = np.bincount([end for a, b, _ in edges for end in (a, b)], minlength=len(own))
        inside = [w for a, b, w in edges if degree[a] > 1 and degree[b] > 1]
        at = np.flatnonzero(degree > 1) if (degree > 1).any() else np.array([0])
        sparse.append(max(inside) if inside else max(w for _, _, w in edges))
        inner.append(own[at])
        cores.append(core[at])
    out = []
    for i in range(count):
        apart = min((np.maximum(distance[np.ix_(inner[i], inner[j])], np.maximum(cores[i][:, None], cores[j][None])).min()
                     for j in range(count) if j != i), default=np.inf)
        out.append((apart - sparse[i]) / max(apart, sparse[i]))
    sizes = np.bincount(labels[labels >= 0], minlength=count)
    return float((np.array(out) * sizes / n).sum()), np.array(out)


def prim(distance):
    """Edges (lower end in the tree, new point, weight) of the tree from point 0; of ends at one distance, to 1e-5, the lowest."""
    n, tree, edges = len(distance), [0], []
    while len(tree) < n:
        out = [v for v in range(n) if v not in tree]
        least = [min(distance[v][t] for t in tree) for v in out]
        new = out[int(np.argmin(least))]
        edges.append((min(t for t in tree if np.isclose(distance[new][t], min(least))), new, min(least)))
        tree.append(new)
    return edges
