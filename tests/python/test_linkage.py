"""Single linkage and its cuts, compared with SciPy's."""
import merganser
import numpy as np
import pytest
from scipy.cluster import hierarchy


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(5).random((500, 3))


@pytest.fixture(scope="module")
def forest(points):
    return merganser.euclidean_tree(points)


def same_partition(a, b):
    return len(set(zip(a.tolist(), b.tolist()))) == len(set(a.tolist())) == len(set(b.tolist()))


def test_the_linkage_is_scipys(points, forest):
    ours, theirs = merganser.linkage(forest), hierarchy.linkage(points, "single")
    assert ours.shape == (499, 4)
    assert hierarchy.is_valid_linkage(ours)
    np.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=1e-14)
    np.testing.assert_array_equal(ours[:, :2], np.sort(theirs[:, :2], axis=1))
    np.testing.assert_array_equal(ours[:, 3], theirs[:, 3])


@pytest.mark.parametrize("height", [0.0, 0.05, 0.08, 0.1, 2.0])
def test_a_cut_by_height_is_fclusters(points, forest, height):
    z = merganser.linkage(forest)
    labels = merganser.cut(z, height=height)
    assert same_partition(labels, hierarchy.fcluster(z, height, "distance"))
    np.testing.assert_array_equal(labels, merganser.cut(forest, height))
    assert labels[0] == 0


@pytest.mark.parametrize("count", [1, 2, 17, 500])
def test_a_cut_by_count_is_fclusters(forest, count):
    z = merganser.linkage(forest)
    labels = merganser.cut(z, count=count)
    assert same_partition(labels, hierarchy.fcluster(z, count, "maxclust"))
    assert labels.max() + 1 == count


def test_merges_of_one_height_are_made_together_or_apart():
    grid = np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0)), -1).reshape(-1, 2)
    z = merganser.linkage(merganser.euclidean_tree(grid))
    assert merganser.cut(z, count=5).max() == 0
    assert merganser.cut(z, count=5, apart=True).max() == 4


@pytest.mark.parametrize("row, text", [
    ([0, 1, -1, 2], None), ([0, 0, 1, 2], "merged before"), ([0, 9, 1, 2], "whole numbers"), ([0.5, 1, 1, 2], "whole"),
    ([0, 1, np.nan, 2], "height"),
])
def test_what_is_no_linkage_is_refused(row, text):
    z = np.array([row], dtype=float)
    if text is None:
        assert merganser.cut(z, height=0).tolist() == [0, 0]
        return
    with pytest.raises(merganser.InputError, match=text):
        merganser.cut(z, height=1)


def test_a_linkage_of_one_point_is_empty():
    z = merganser.linkage(merganser.euclidean_tree(np.zeros((1, 3))))
    assert z.shape == (0, 4)
    assert merganser.cut(z, height=1).tolist() == [0]


def test_trees_that_are_apart_are_joined_at_infinity():
    forest = merganser.minimum_spanning_forest((4, [0, 2], [1, 3], [1.0, 2.0]))
    z = merganser.linkage(forest)
    assert z[:, 2].tolist() == [1, 2, np.inf]


def test_hdbscan_finds_blobs_as_scikit_learn_does():
    cluster = pytest.importorskip("sklearn.cluster")
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(c, 0.1, (300, 2)) for c in ((0, 0), (1, 1), (3, 0))])
    found = merganser.hdbscan(merganser.euclidean_tree(points, min_samples=10), 20)
    theirs = cluster.HDBSCAN(min_cluster_size=20, min_samples=10, copy=True).fit(points)
    assert same_partition(found.labels, theirs.labels_)
    np.testing.assert_allclose(found.probabilities, theirs.probabilities_, rtol=1e-10)
    assert found.tree.size[0] == len(points)
    assert (found.tree.parent[1:] < np.arange(1, len(found.tree.parent))).all()
    assert len(found.tree.lambda_) == len(found.tree.cluster_of) == len(points)
    assert len(found.selected) == found.labels.max() + 1


def test_options_of_hdbscan_are_checked(forest):
    for bad in ({"selection": "best"}, {"min_cluster_size": 1}, {"epsilon": -1.0}, {"epsilon": float("nan")},
                {"max_cluster_size": -1}, {"min_cluster_size": 2**70}, {"epsilon": float("inf")}, {"ties": "apart"}, {"ties": 1},
                {"ties": None}):
        with pytest.raises(merganser.UsageError, match=f"^{next(iter(bad))}: .*; allowed: "):
            merganser.hdbscan(forest, **bad)
    for bad in ({"selection": 1}, {"min_cluster_size": 2.5}, {"epsilon": "1"}):
        with pytest.raises(TypeError):
            merganser.hdbscan(forest, **bad)


@pytest.mark.parametrize("ties", ["together", "sequential"])
def test_points_of_another_kind_are_refused_with_any_order_of_ties(ties):
    forest = merganser.euclidean_tree(np.random.default_rng(5).random((30, 2)), min_samples=3)
    for points in (5, forest, np.zeros((30, 2))):
        with pytest.raises(merganser.WrongTypeError, match="^points: a .*; allowed: what gather_points.. gives, or None"):
            merganser.hdbscan(forest, 3, ties=ties, points=points)
