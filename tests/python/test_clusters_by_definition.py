"""Dendrograms, cuts and HDBSCAN* against their definitions on sets of points, and against SciPy where heights are equal."""
import itertools

import merganser
import numpy as np
import pytest
from merganser.hierarchies import Clusters, CondensedClusters, SingleLinkageTree
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from references import kruskal


def random_tree(n, most, seed, apart=1):
    """Edges (weight, a, b) of a random tree, or of `apart` trees, with whole weights from 1 to `most`: many are equal."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(n).tolist()
    return [(int(rng.integers(1, most + 1)), names[i], names[int(rng.choice(range(i % apart, i, apart)))]) for i in range(apart, n)]


def forest_of(n, edges, **options):
    w, u, v = (list(part) for part in zip(*edges)) if edges else ([], [], [])
    return merganser.minimum_spanning_forest((n, u, v, np.array(w, float)), **options)


def pieces(points, edges):
    """The connected pieces of a set of points."""
    group = {p: {p} for p in points}
    for _, a, b in edges:
        if group[a] is not group[b]:
            group[a] |= group[b]
            for p in group[b]:
                group[p] = group[a]
    return sorted({id(g): frozenset(g) for g in group.values()}.values(), key=min)


def labels_of(n, sets):
    """Labels of points by the sets they are in, -1 for none; sets in the order of their lowest points."""
    labels = [-1] * n
    for label, members in enumerate(sorted(sets, key=min)):
        for p in members:
            labels[p] = label
    return labels


CASES = [(n, most, seed, apart) for (n, most), seed, apart in
         itertools.product([(2, 1), (5, 2), (12, 3), (25, 1), (40, 6), (40, 1000)], range(4), (1, 2)) if apart < n]


@pytest.mark.parametrize("n, most, seed, apart", CASES)
def test_a_linkage_joins_what_is_joined_at_each_height(n, most, seed, apart):
    edges = random_tree(n, most, seed, apart)
    z = merganser.linkage(forest_of(n, edges, ranks=1 + seed))
    ordered = sorted((w, min(a, b), max(a, b)) for w, a, b in edges)
    members = [frozenset([p]) for p in range(n)]
    for i, (a, b, height, size) in enumerate(z):
        assert a < b < n + i, "the lower cluster comes first"
        union = members[int(a)] | members[int(b)]
        if i < len(ordered):
            w, low, high = ordered[i]
            assert height == w and {low in members[int(a)], high in members[int(a)]} == {True, False}
        else:
            assert height == np.inf
        assert size == len(union) == len(members[int(a)]) + len(members[int(b)])
        members.append(union)
    assert len(z) == n - 1 and (len(members[-1]) == n)


@pytest.mark.parametrize("n, most, seed, apart", CASES)
def test_cuts_by_height_and_count_are_those_of_the_definition_and_of_scipy(n, most, seed, apart):
    edges = random_tree(n, most, seed, apart)
    forest = forest_of(n, edges)
    z = merganser.linkage(forest)
    heights = sorted({w for w, _, _ in edges})
    for height in (-1.0, 0.0, *heights, *(np.nextafter(h, 0) for h in heights), *(h + 0.5 for h in heights), 1e9):
        expected = labels_of(n, pieces(range(n), [e for e in edges if e[0] <= height]))
        assert merganser.cut(z, height=height).tolist() == expected
        assert merganser.cut(forest, height).tolist() == expected
    at = {h: pieces(range(n), [e for e in edges if e[0] <= h]) for h in (0, *heights)}
    at[np.inf] = [frozenset(range(n))]
    for count in range(1, n + 2):
        expected = max((sets for sets in at.values() if len(sets) <= count), key=len)
        found = merganser.cut(z, count=count)
        assert found.tolist() == labels_of(n, expected)
        if np.isfinite(z).all():
            theirs = hierarchy.fcluster(z, count, "maxclust")
            assert len(set(zip(found.tolist(), theirs.tolist()))) == len(set(theirs.tolist())) == len(expected)
    ordered = sorted((w, min(a, b), max(a, b)) for w, a, b in edges)
    for count in range(apart, n + 1):
        expected = pieces(range(n), ordered[:n - count])
        assert merganser.cut(z, count=count, apart=True).tolist() == labels_of(n, expected)
        assert len(expected) == count


@pytest.mark.parametrize("seed", range(4))
def test_the_height_at_which_two_points_meet_is_the_heaviest_edge_between_them(seed):
    points = np.random.default_rng(seed).integers(0, 6, (30, 2)).astype(float)
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    least = distance.copy()
    for k in range(30):  # Floyd's algorithm with the greatest instead of the sum
        least = np.minimum(least, np.maximum(least[:, k:k + 1], least[k:k + 1]))
    z = merganser.linkage(merganser.euclidean_tree(points))
    assert hierarchy.is_valid_linkage(z)
    np.testing.assert_array_equal(squareform(hierarchy.cophenet(z)), least)
    theirs = hierarchy.linkage(points, "single")
    np.testing.assert_array_equal(z[:, 2], theirs[:, 2])
    for height in np.unique(z[:, 2]):
        ours, other = merganser.cut(z, height=height).tolist(), hierarchy.fcluster(theirs, height, "distance").tolist()
        assert len(set(zip(ours, other))) == len(set(ours)) == len(set(other))
        assert merganser.cut(theirs, height=height).tolist() == ours, "SciPy's rows are taken as well"


class Condensed:
    """Condensed tree by definition: from all points on, edges of the greatest weight are removed together."""

    def __init__(self, n, edges, least):
        self.clusters = []  # (members, birth, number of the parent)
        self.out = {}  # point: (cluster, lambda)
        self.children = []
        self.mass = []
        self.least = least
        self._grow(frozenset(range(n)), edges, 0.0, 0)

    def _grow(self, members, edges, birth, parent):
        me = len(self.clusters)
        self.clusters.append((members, birth, parent))
        self.children.append([])
        self.mass.append(0.0)
        while True:
            edges = [e for e in edges if e[1] in members]
            if len(members) == 1 and not edges:
                break
            joined = len(pieces(members, edges)) == 1
            weight = max(w for w, _, _ in edges) if joined else np.inf
            level = 1 / weight
            edges = [e for e in edges if e[0] < weight]
            parts = pieces(members, edges)
            large = [part for part in parts if len(part) >= self.least]
            for part in parts:
                if part not in large:
                    for p in part:
                        self.out[p] = (me, level)
                    self.mass[me] += len(part) * (level - birth)
            if len(large) != 1:
                for part in large:
                    self.mass[me] += len(part) * (level - birth)
                    self.children[me].append(self._grow(part, edges, level, me))
                break
            members = large[0]
        return me

    def select(self, method, largest, close):
        """Members of the clusters that are selected; `close` gets the differences that decided."""
        if method == "leaf":
            return [c for c in range(1, len(self.clusters)) if not self.children[c]]

        def best(c):
            below = [best(child) for child in self.children[c]]
            total = sum(mass for mass, _ in below)
            chosen = [x for _, some in below for x in some]
            if c == 0 or (largest and len(self.clusters[c][0]) > largest):
                return total, chosen
            if chosen:
                close.append(abs(self.mass[c] - total))
            return (self.mass[c], [c]) if not chosen or self.mass[c] >= total else (total, chosen)

        return best(0)[1]

    def within(self, c, above):
        """True if cluster c is `above` or below it."""
        while c > above:
            c = self.clusters[c][2]
        return c == above


@pytest.mark.parametrize("n, most, seed, apart", [case for case in CASES if case[0] > 5])
@pytest.mark.parametrize("least", [2, 3, 5])
def test_hdbscan_is_that_of_the_definition_where_merges_are_undone_together(n, most, seed, apart, least):
    edges = random_tree(n, most, seed, apart)
    forest = forest_of(n, edges, ranks=1 + seed % 3)
    expected = Condensed(n, edges, least)
    for method, largest in (("eom", 0), ("eom", n // 3), ("leaf", 0)):
        found = merganser.hdbscan(forest, least, selection=method, max_cluster_size=largest)
        tree = found.tree
        count = len(tree.parent)
        members = [set() for _ in range(count)]
        for p, c in enumerate(tree.cluster_of.tolist()):
            while True:
                members[c].add(p)
                if c == 0:
                    break
                c = tree.parent[c]
        name = {frozenset(m): c for c, m in enumerate(members)}
        assert set(name) == {m for m, _, _ in expected.clusters} and len(name) == count == len(expected.clusters)
        for c, (m, birth, parent) in enumerate(expected.clusters):
            ours = name[m]
            assert tree.size[ours] == len(m) and tree.birth[ours] == birth
            assert tree.parent[ours] == name[expected.clusters[parent][0]] and (ours == 0 or tree.parent[ours] < ours)
            assert tree.stabilities[ours] == pytest.approx(expected.mass[c], rel=1e-12)
        for p, (c, level) in expected.out.items():
            assert tree.cluster_of[p] == name[expected.clusters[c][0]] and tree.lambda_[p] == level
        close = []
        chosen = expected.select(method, largest, close)
        if close and min(close) < 1e-9:
            continue  # of equal masses rounding decides
        sets = [{p for p, (c, _) in expected.out.items() if expected.within(c, top)} for top in chosen]
        order = sorted(range(len(sets)), key=lambda i: min(sets[i]))
        assert found.labels.tolist() == labels_of(n, sets)
        assert found.selected.tolist() == [name[expected.clusters[chosen[i]][0]] for i in order]
        for i, top in enumerate(chosen):
            last = max([level for c,
                        level in expected.out.values() if c == top] + [expected.clusters[c][1] for c in expected.children[top]])
            for p in sets[i]:
                assert found.probabilities[p] == pytest.approx(min(expected.out[p][1], last) / last, rel=1e-14)
        assert (found.probabilities[found.labels < 0] == 0).all()


PARAMETERS = [{}, {"cluster_selection_method": "leaf"}, {"cluster_selection_epsilon": 0.3}, {"cluster_selection_epsilon": 1.0},
              {"max_cluster_size": 40}, {"allow_single_cluster": True}, {"min_samples": 1},
              {"min_samples": 12, "metric": "manhattan"},
              {"metric": "chebyshev", "cluster_selection_method": "leaf", "cluster_selection_epsilon": 0.2},
              {"allow_single_cluster": True, "cluster_selection_epsilon": 5.0},
              {"allow_single_cluster": True, "max_cluster_size": 60}]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_labels_are_scikit_learns_with_every_parameter(parameters, seed):
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn")
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(c, s, (40, 2)) for c,
                             s in (((0, 0), 0.1), ((2, 0), 0.3), ((0, 3), 0.2), ((0.6, 0.6), 0.1))])
    try:
        theirs = cluster.HDBSCAN(min_cluster_size=8, copy=True, **parameters).fit(points)
    except TypeError as error:
        assert "0-dimensional" in str(error)
        pytest.skip("scikit-learn's search by epsilon fails with this NumPy")
    ours = merganser.HDBSCAN(min_cluster_size=8, **parameters).fit(points)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-9)


def test_centers_are_scikit_learns():
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn")
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.normal(c, 0.2, (40, 3)) for c in ((0, 0, 0), (2, 0, 0), (0, 3, 1))])
    theirs = cluster.HDBSCAN(min_cluster_size=8, copy=True, store_centers="both").fit(points)
    for which in ("centroid", "medoid", "both"):
        ours = merganser.HDBSCAN(min_cluster_size=8, store_centers=which).fit(points)
        assert hasattr(ours, "centroids_") == (which != "medoid") and hasattr(ours, "medoids_") == (which != "centroid")
        if which != "medoid":
            np.testing.assert_allclose(ours.centroids_, theirs.centroids_, rtol=1e-9)
        if which != "centroid":
            np.testing.assert_allclose(ours.medoids_, theirs.medoids_, rtol=1e-9)


def test_a_condensed_tree_has_a_row_for_each_cluster_and_point():
    tree = Clusters(np.array([0, 0, 0]), np.array([5, 2, 2]), np.array([0.0, 0.5, 0.5]), np.array([1, 1, 0, 2, 2]),
                    np.array([2.0, 2.0, 0.25, np.inf, np.inf]))
    shown = CondensedClusters(tree, [2])
    rows = shown.to_numpy()
    assert rows.tolist() == [(5, 6, 0.5, 2), (5, 7, 0.5, 2), (6, 0, 2.0, 1), (6, 1, 2.0, 1), (5, 2, 0.25, 1), (7, 3, np.inf, 1),
                             (7, 4, np.inf, 1)]
    assert shown.selected.dtype == np.int64 and shown.selected.tolist() == [2]
    networkx, pandas = pytest.importorskip("networkx"), pytest.importorskip("pandas")
    graph = shown.to_networkx()
    assert {n: graph.nodes[n]["size"] for n in graph} == {0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 5, 6: 2, 7: 2}
    assert graph[5][7]["weight"] == 0.5 and graph[7][3]["weight"] == np.inf and networkx.is_arborescence(graph)
    pandas.testing.assert_frame_equal(shown.to_pandas(), pandas.DataFrame(rows))


def test_a_dendrogram_is_a_frame_and_is_cut_into_clusters_of_enough_points():
    pandas = pytest.importorskip("pandas")
    z = np.array([[1, 2, 0.5, 2], [3, 4, 1.0, 2], [0, 6, 2.0, 3], [5, 7, 4.0, 5]])
    tree = SingleLinkageTree(z)
    assert tree.to_numpy() is z
    frame = tree.to_pandas()
    expected = {"parent": [5, 6, 7, 8], "left_child": [1, 3, 0, 5], "right_child": [2, 4, 6, 7], "distance": [0.5, 1, 2, 4],
                "size": [2, 2, 3, 5]}
    pandas.testing.assert_frame_equal(frame, pandas.DataFrame(expected))
    assert [str(t) for t in frame.dtypes] == ["int64", "int64", "int64", "float64", "int64"]
    for distance, least, labels in ((0.4, 1, [0, 1, 2, 3, 4]), (0.5, 2, [-1, 0, 0, -1, -1]), (1.0, 2, [-1, 0, 0, 1, 1]),
                                    (2.0, 2, [0, 1, 1, 0, 0]), (2.0, 3, [0, -1, -1, 0, 0]), (4.0, 5, [0] * 5), (4.0, 6, [-1] * 5)):
        found = tree.get_clusters(distance, least)
        assert found.tolist() == labels and found.dtype == np.int64


def test_a_maximum_forest_has_no_dendrogram_of_ascending_heights_but_minimum_ones_of_integers_do():
    u, v, w = [0, 1, 2], [1, 2, 3], np.array([2**53 + 1, 5, 7], np.uint64)
    z = merganser.linkage(merganser.minimum_spanning_forest((4, u, v, w)))
    assert z[:, 2].tolist() == [5, 7, float(2**53)] and z.dtype == np.float64
    assert kruskal(3, [(1, 0, 1), (1, 1, 2), (1, 0, 2)]) == [(1, 0, 1), (1, 0, 2)]  # the reference itself


@pytest.mark.parametrize("bad, error, text", [
    ({}, merganser.UsageError, "cut: both or none of height and count; allowed: one of the two"),
    ({"height": 1.0, "count": 2}, merganser.UsageError, "cut: both or none"),
    ({"height": "1"}, TypeError, "height: a str; allowed: a number"),
    ({"height": np.nan}, merganser.UsageError, "height: nan; allowed: a number"),
    ({"height": [1.0, 2.0]}, TypeError, "height: a list"), ({"count": 0}, merganser.UsageError, "count: 0; allowed: from 1 to"),
    ({"count": 1.0}, TypeError, "count: a float; allowed: a whole number"), ({"count": True}, TypeError, "count: True"),
])
def test_cuts_are_refused_by_name(bad, error, text):
    with pytest.raises(error, match=f"^{text}"):
        merganser.cut(np.array([[0, 1, 1.0, 2]]), **bad)


@pytest.mark.parametrize("rows, error, text", [
    ([[0, 1, 1.0]], merganser.InputError, "linkage: rows of 3 numbers; allowed: 4"),
    ([[0, 1, 1.0, 2, 0]], merganser.InputError, "linkage: rows of 5 numbers"),
    ([0, 1, 1.0, 2], merganser.InputError, r"linkage: an array of shape \(4,\)"),
    ([[0, 1, 1, 2], [0, 2, 2, 3]], merganser.InputError, "linkage: row 1: a cluster that was merged before"),
    ([[0, 1, 1, 2], [2, 2, 2, 3]], merganser.InputError, "linkage: row 1: a cluster that was merged before"),
    ([[0, 3, 1, 2], [1, 2, 2, 3]], merganser.InputError,
     r"linkage: row 0: cluster 3\.0*; allowed: whole numbers from 0 to below 3"),
    ([[0, 1, 1, 2], [2, 4, 2, 3]], merganser.InputError, "linkage: row 1: cluster 4.*below 4"),
    ([[-1, 1, 1, 2]], merganser.InputError, "linkage: row 0: cluster -1"),
    ([[0, 1, 2, 2], [2, 3, 1, 3]], merganser.InputError, "linkage: row 1: a height below"),
    ([[0, 1, 1, 1.5]], merganser.InputError, "linkage: row 0: size 1.5"),
    ([[0, 1, 1, 3]], merganser.InputError, "linkage: row 0: size 3"),
    ([["a"] * 4], TypeError, "linkage: an array of <U1"), (None, TypeError, "linkage: a NoneType; allowed: an array of numbers"),
    ([[0, 1, None, 2]], merganser.InputError, r"linkage: \[0, 2\]: a missing value"),
])
def test_rows_that_are_no_dendrogram_are_refused_by_their_number(rows, error, text):
    for how in ({"height": 1}, {"count": 1}):
        with pytest.raises(error, match=f"^{text}"):
            merganser.cut(rows, **how)


@pytest.mark.parametrize("forest", [None, np.zeros((3, 4)), "forest", (3, [0], [1], [1.0])])
def test_what_is_no_forest_has_no_linkage_and_no_clusters(forest):
    for call in (merganser.linkage, merganser.hdbscan):
        with pytest.raises(TypeError, match=f"^forest: a {type(forest).__name__}; allowed: a merganser.Forest"):
            call(forest)
