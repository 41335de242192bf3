"""Weights of points: in the sizes of clusters and their stabilities, against a slow condensation of the dendrogram."""
import merganser
import numpy as np
import pytest
from merganser import HDBSCAN
from score_sets import make_set
from test_scores import fit


def leaving(rows, weights, least):
    """For each point the points of its last cluster at birth, and the lambda at which it leaves, from SciPy's rows."""
    n = len(rows) + 1
    members = [[i] for i in range(n)]
    for a, b, _, _ in rows:
        members.append(members[int(a)] + members[int(b)])
    out = {}

    def visit(node, cluster):
        while True:
            a, b, height, _ = rows[node - n]
            children = [int(a), int(b)]
            large = [c for c in children if c >= n and weights[members[c]].sum() >= least]
            for c in children:
                if c not in large:
                    out.update({i: (frozenset(cluster), 1 / height) for i in members[c]})
            if len(large) != 1:
                for c in large:
                    visit(c, members[c])
                return
            node = large[0]

    visit(2 * n - 2, members[-1])
    return out


@pytest.mark.parametrize("number", [0, 3, 4, 9, 11, 14])
@pytest.mark.parametrize("ties", ["sequential", "together"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_weights_count_where_sizes_do(number, ties, ranks):
    _, points, given = make_set(number)
    weights = np.random.default_rng(number).choice([0.0, 0.5, 1.0, 3.25], len(points))
    fitted = HDBSCAN(min_cluster_size=given["min_cluster_size"], min_samples=2, ties=ties, ranks=ranks)
    fitted.fit(points, sample_weight=weights)
    expected = leaving(fitted.single_linkage_tree_.to_numpy(), weights, given["min_cluster_size"])
    tree = fitted.condensed_tree_.tree
    inside = [{c} for c in range(len(tree.parent))]
    for c in range(len(tree.parent) - 1, 0, -1):
        inside[tree.parent[c]] |= inside[c]
    for i in range(len(points)):
        cluster = frozenset(np.flatnonzero(np.isin(tree.cluster_of, list(inside[tree.cluster_of[i]]))).tolist())
        assert (cluster, tree.lambda_[i]) == expected[i]
    assert np.allclose(fitted.condensed_tree_.to_numpy()["child_size"][:len(tree.parent) - 1], tree.size[1:])
    stable = np.zeros(len(tree.parent))
    for c in range(len(tree.parent)):
        ends = tree.birth[1:][tree.parent[1:] == c]  # points of children leave where these are born
        for i in np.flatnonzero(np.isin(tree.cluster_of, list(inside[c]))):
            stable[c] += weights[i] * ((tree.lambda_[i] if tree.cluster_of[i] == c else ends[0]) - tree.birth[c])
    assert np.allclose(merganser._core.make_condensed_tree(*tree).stabilities, stable)


def test_equal_weights_are_no_weights_and_doubles_are_twice_the_size():
    points, alone = fit(0)
    ones = HDBSCAN(min_cluster_size=5, min_samples=2).fit(points, sample_weight=np.ones(len(points)))
    twos = HDBSCAN(min_cluster_size=10, min_samples=2).fit(points, sample_weight=[2] * len(points))
    for fitted in (ones, twos):
        assert np.array_equal(fitted.labels_, alone.labels_) and np.array_equal(fitted.probabilities_, alone.probabilities_)
        assert np.allclose(fitted.cluster_persistence_, alone.cluster_persistence_, rtol=1e-12)
    assert HDBSCAN(min_cluster_size=5).fit(points).condensed_tree_.tree.weights is None
    found = HDBSCAN(min_cluster_size=10, min_samples=2).fit_predict(points, sample_weight=[2] * len(points))
    assert np.array_equal(found, alone.labels_)
    with pytest.raises(TypeError, match="sample_weight"):
        merganser.SingleLinkage().fit_predict(points, sample_weight=[2] * len(points))


@pytest.mark.parametrize("number", [0, 5, 16])
def test_weights_limits_of_distance_and_size_and_persistence_hold_together(number):
    points, alone = fit(number)
    births = 1 / alone.condensed_tree_.tree.birth[1:]
    assert len(births)
    for most in (np.inf, np.median(births), births.min()):
        given = {"cluster_selection_persistence": 0.02, "cluster_selection_epsilon_max": most, "min_samples": 3}
        single = HDBSCAN(min_cluster_size=4, max_cluster_size=60, **given).fit(points)
        double = HDBSCAN(min_cluster_size=8, max_cluster_size=120, **given).fit(points, sample_weight=[2] * len(points))
        assert np.array_equal(double.labels_, single.labels_)
        tree = single.condensed_tree_
        assert (tree.tree.size[tree.selected] <= 60).all() and (1 / tree.tree.birth[tree.selected] <= most).all()
        free = HDBSCAN(min_cluster_size=4, max_cluster_size=60, **{**given, "cluster_selection_persistence": 0}).fit(points)
        assert len(tree.tree.parent) <= len(free.condensed_tree_.tree.parent)


@pytest.mark.parametrize("weights, what", [
    ([1.0], "shape"), ([[1.0]] * 270, "shape"), ([-1.0] * 270, "-1.0 at 0; allowed: finite numbers from 0"),
    ([1.0] * 269 + [np.nan], "nan at 269"), ([np.inf] + [1.0] * 269, "inf at 0"), ([0.0] * 270, "all weights are zero"), (["a"] * 270, "sample_weight"),
    ([1e308] * 270, "add up to inf; allowed: at most 1e.150"), ([1e149] * 270, "add up to 2.7.*e.151; allowed: at most 1e.150")], ids=str)
def test_bad_weights_are_refused(weights, what):
    _, points, _ = make_set(0)
    with pytest.raises((merganser.InputError, TypeError), match=what):
        HDBSCAN().fit(points, sample_weight=weights)
