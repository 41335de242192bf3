"""HDBSCAN whose distances are divided by alpha where they are compared with core distances: max(d / alpha, core, core)."""
import warnings

import merganser
import numpy as np
import pytest
from merganser import HDBSCAN

from references import distances_of, tree_of
from score_sets import make_set

ALPHAS = (0.3, 0.75, 1.4, 5.0)
random = np.random.default_rng(11)
BLOBS = np.concatenate([random.normal(c, 0.25, (40, 3)) for c in ((1, 0, 0.5), (3, 0.2, 1), (0, 3, 2))])
PLACES = np.column_stack([random.uniform(-1, 1, 90), random.uniform(-3, 3, 90)])


def reach(distance, samples, alpha):
    """Weights of all pairs by their definition, a point being its own first neighbour."""
    core = np.sort(distance, axis=1)[:, samples - 1]
    return np.maximum(distance / alpha, np.maximum(core[:, None], core[None]))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "correlation", "great_circle", "hamming"])
def test_weights_of_trees_are_those_of_the_definition(metric, alpha):
    points = {"great_circle": PLACES, "hamming": (random.random((90, 14)) < 0.3).astype(float)}.get(metric, BLOBS)
    distance = distances_of(points, metric)
    for samples in (1, 2, 6):
        if metric == "great_circle" and alpha * np.sort(distance, axis=1)[:, samples - 1].max() > np.pi:
            with pytest.raises(merganser.InputError, match="alpha 5 times a core distance of .*; allowed: up to pi"):
                merganser.euclidean_tree(points, metric=metric, min_samples=samples, alpha=alpha)
            continue
        expected = [w for w, _, _ in tree_of(reach(distance, samples, alpha))]
        forests = [merganser.euclidean_tree(points, metric=metric, min_samples=samples, alpha=alpha, ranks=ranks)
                   for ranks in (1, 2, 3)]
        assert len({forest.digest for forest in forests}) == 1
        np.testing.assert_allclose(np.sort(forests[0].weights), expected, rtol=1e-12, atol=4e-16)


@pytest.mark.parametrize("columns", [3, 20])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_labels_and_probabilities_are_those_of_the_distances_given_and_of_all_pairs(alpha, columns):
    points = np.concatenate([BLOBS, random.normal(0, 0.1, (len(BLOBS), columns - 3))], axis=1)
    distance = distances_of(points)
    for samples in (1, 4):
        for ranks in (1, 3):
            keywords = {"min_cluster_size": 6, "min_samples": samples, "alpha": alpha, "ranks": ranks}
            found = HDBSCAN(**keywords).fit(points)
            assert found.exact_order_
            given = HDBSCAN(**keywords, metric="precomputed").fit(distance)
            called = HDBSCAN(**keywords, metric=lambda a, b: np.sqrt(((a - b) ** 2).sum())).fit(points)
            for other in (given, called):
                together = [HDBSCAN(**keywords, ties="together", **more).fit(X) for more, X in (
                    ({}, points), ({"metric": "precomputed"}, distance) if other is given else ({"metric": called.metric}, points))]
                assert np.array_equal(together[0].labels_, together[1].labels_)
                np.testing.assert_allclose(together[0].probabilities_, together[1].probabilities_, rtol=0, atol=1e-12)
            heights = [np.sort(one.minimum_spanning_tree_.to_numpy()[:, 2]) for one in (found, given, called)]
            np.testing.assert_allclose(heights[1], heights[0], rtol=1e-12)
            np.testing.assert_allclose(heights[2], heights[0], rtol=1e-12)


def test_sparse_distances_are_divided_too():
    sparse = pytest.importorskip("scipy.sparse")
    distance = distances_of(BLOBS)
    stored = sparse.csr_array(distance + 1e-300 * np.eye(len(BLOBS)))  # the own distance is stored, practically 0
    found = HDBSCAN(6, 4, metric="precomputed", alpha=1.7, ties="together").fit(stored)
    dense = HDBSCAN(6, 4, metric="precomputed", alpha=1.7, ties="together").fit(distance)
    assert np.array_equal(found.labels_, dense.labels_)
    np.testing.assert_allclose(found.probabilities_, dense.probabilities_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("number", range(30))
def test_clusters_are_those_of_scikit_learn_and_of_hdbscan(number):
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn")
    _, points, given = make_set(number)
    alpha = ALPHAS[number % 4]
    keywords = {"min_cluster_size": given["min_cluster_size"], "cluster_selection_method": given["method"],
                "allow_single_cluster": given["single"], "alpha": alpha}
    mine = HDBSCAN(min_samples=given["samples"] + 1, **keywords).fit(points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = cluster.HDBSCAN(min_samples=given["samples"] + 1, algorithm="kd_tree", **keywords).fit(points)
        assert np.array_equal(mine.labels_, other.labels_)
        np.testing.assert_allclose(mine.probabilities_, other.probabilities_, rtol=0, atol=1e-12)
        if number >= 15:
            return  # equal distances, which hdbscan undoes in another order
        hdbscan = pytest.importorskip("hdbscan", reason="the comparison needs hdbscan")
        # In its search by Boruvka's algorithm alpha has no effect.
        theirs = hdbscan.HDBSCAN(min_samples=given["samples"], algorithm="prims_kdtree", **keywords).fit(points)
    pairs = set(zip(mine.labels_.tolist(), theirs.labels_.tolist()))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    np.testing.assert_allclose(mine.probabilities_, theirs.probabilities_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mine.outlier_scores_, theirs.outlier_scores_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("alpha", [0, -1.0, 0.0009, 1001, np.inf, np.nan])
def test_values_out_of_range_are_refused(alpha):
    for call in (lambda: HDBSCAN(alpha=alpha).fit(BLOBS), lambda: merganser.euclidean_tree(BLOBS, alpha=alpha),
                 lambda: HDBSCAN(alpha=alpha, metric="precomputed").fit(distances_of(BLOBS))):
        with pytest.raises(merganser.UsageError, match="alpha: .*allowed"):
            call()
