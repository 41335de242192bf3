"""Estimators: beside scikit-learn's where it is installed, by their own rules where not."""
import pickle
import subprocess
import sys

import merganser
import numpy as np
import pytest
from merganser import HDBSCAN, SingleLinkage

from patience import PATIENCE
from toys import PARAMETERS, TIE_PARAMETERS, ties, toys

random = np.random.default_rng(5)
BLOBS = np.concatenate([random.normal(c, 0.1, (60, 2)) for c in ((0, 0), (3, 0), (0, 3))])


def sklearn(reason="the comparison needs scikit-learn"):
    return pytest.importorskip("sklearn", reason=reason)


def partition(labels):
    """Labels renamed in the order of their first points."""
    names = {-1: -1}
    return [names.setdefault(int(label), len(names) - 1) for label in labels]


@pytest.mark.parametrize("estimator", [HDBSCAN(), SingleLinkage()], ids=lambda e: type(e).__name__)
def test_scikit_learns_own_checks_of_estimators_pass(estimator):
    sklearn()
    from sklearn.utils.estimator_checks import check_estimator

    checks = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = [f"{c['check_name']}: {c['exception']!r}" for c in checks if c["status"] == "failed"]
    assert not failed
    assert sum(c["status"] == "passed" for c in checks) >= 35


def test_labels_numbers_and_probabilities_are_scikit_learns_in_all_32_toy_cases():
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn")
    differing = []
    for name, points in toys().items():
        for parameters in PARAMETERS:
            theirs = cluster.HDBSCAN(copy=True, **parameters).fit(points)
            ours = HDBSCAN(ties="sequential", **parameters).fit(points)
            same = np.array_equal(ours.labels_, theirs.labels_)
            if not same or not np.allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-9):
                differing.append((name, parameters))
    assert not differing


def test_labels_are_scikit_learns_where_distances_are_equal_too():
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn (checked with 1.9.1)")
    differing = []
    for name, points in ties().items():
        distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
        for parameters in TIE_PARAMETERS:
            for metric, given in (("euclidean", points), ("manhattan", points), ("precomputed", distances)):
                theirs = cluster.HDBSCAN(copy=True, metric=metric, **parameters).fit(given)
                ours = HDBSCAN(metric=metric, **parameters).fit(given)
                assert ours.exact_order_
                same = np.array_equal(ours.labels_, theirs.labels_)
                if not same or not np.allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-9):
                    differing.append((name, metric, parameters))
    assert not differing


@pytest.mark.parametrize("ranks", [1, 3])
def test_seven_corners_of_a_cube_get_the_labels_that_scikit_learn_1_9_1_gives_them(ranks):
    corners = np.array([[0, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 0, 1]], dtype=float)
    parameters = {"min_cluster_size": 2, "min_samples": 1, "ranks": ranks}
    found = HDBSCAN(**parameters).fit(corners)
    assert found.labels_.tolist() == [0, -1, 0, 0, 1, 0, 1]
    assert found.exact_order_ is True
    forest = merganser.euclidean_tree(corners)
    alone = merganser.hdbscan(forest, 2, ties="sequential")
    assert alone.exact is False
    gathered = merganser.gather_points(corners, ranks=ranks)
    again = merganser.hdbscan(forest, 2, ties="sequential", points=gathered)
    assert again.exact is True
    assert again.labels.tolist() == found.labels_.tolist()
    assert HDBSCAN(ties="together", **parameters).fit(corners).exact_order_ is None
    with pytest.raises(TypeError, match="gather_points"):
        merganser.hdbscan(forest, 2, ties="sequential", points=corners)


def test_together_labels_do_not_depend_on_the_numbering_and_sequential_ones_do():
    points = random.random((400, 2))
    order = random.permutation(len(points))
    differ = 0
    for ties in ("together", "sequential"):
        clusterer = HDBSCAN(min_cluster_size=5, ties=ties)
        here, there = clusterer.fit(points).labels_.copy(), np.empty(len(points), dtype=np.int64)
        there[order] = clusterer.fit(points[order]).labels_
        differ += partition(here) != partition(there)
        if ties == "together":
            assert partition(here) == partition(there)
    assert differ == 1


def test_clusters_are_found_and_attributes_are_there():
    found = HDBSCAN(min_cluster_size=10, store_centers="both").fit(BLOBS)
    assert found.labels_.dtype == np.int64
    assert found.labels_.max() == 2
    assert found.probabilities_.shape == (180,)
    assert found.n_features_in_ == 2
    assert not hasattr(found, "feature_names_in_")
    assert sorted(np.rint(found.centroids_).tolist()) == sorted(np.rint(found.medoids_).tolist()) == [[0, 0], [0, 3], [3, 0]]
    assert any(np.array_equal(row, found.medoids_[0]) for row in BLOBS)
    assert np.array_equal(HDBSCAN(min_cluster_size=10).fit_predict(BLOBS), found.labels_)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("ties", ["together", "sequential"])
def test_ranks_give_the_same_labels(ranks, ties):
    alone = HDBSCAN(min_cluster_size=5, ties=ties).fit(BLOBS)
    many = HDBSCAN(min_cluster_size=5, ties=ties, ranks=ranks).fit(BLOBS)
    assert np.array_equal(alone.labels_, many.labels_)
    assert np.array_equal(alone.probabilities_, many.probabilities_)


def test_distances_are_taken_too():
    distances = np.sqrt(((BLOBS[:, None] - BLOBS[None]) ** 2).sum(axis=2))
    for ties in ("together", "sequential"):
        ours = HDBSCAN(metric="precomputed", ties=ties).fit(distances)
        assert partition(ours.labels_) == partition(HDBSCAN(ties=ties).fit(BLOBS).labels_)
    with pytest.raises(ValueError, match="symmetric"):
        HDBSCAN(metric="precomputed").fit(np.triu(distances))
    with pytest.raises(ValueError, match="allowed: \\(n, n\\)"):
        HDBSCAN(metric="precomputed").fit(distances[:4])


def test_single_linkage_is_agglomerative_clusterings():
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn")
    for n in (1, 2, 5, 100):
        theirs = cluster.AgglomerativeClustering(n, linkage="single", compute_distances=True).fit(BLOBS)
        ours = SingleLinkage(n).fit(BLOBS)
        assert partition(ours.labels_) == partition(theirs.labels_)
        assert np.allclose(ours.distances_, theirs.distances_, rtol=1e-12)
        assert ours.n_clusters_ == theirs.n_clusters_ == n
        assert ours.n_leaves_ == theirs.n_leaves_
    for threshold in (0.05, 0.1, 1, ours.distances_[-1], 100):
        theirs = cluster.AgglomerativeClustering(None, linkage="single", distance_threshold=threshold).fit(BLOBS)
        ours = SingleLinkage(None, distance_threshold=threshold).fit(BLOBS)
        assert ours.n_clusters_ == theirs.n_clusters_
        assert partition(ours.labels_) == partition(theirs.labels_)


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_cluster_size": 1}, {"min_samples": 0}, {"min_samples": 181}, {"alpha": 0.0}, {"metric": "cosines"},
        {"cluster_selection_method": "best"}, {"cluster_selection_method": None}, {"ties": "apart"}, {"ties": None},
        {"max_cluster_size": 0}, {"algorithm": "fast"},
        {"cluster_selection_epsilon": -1.0}, {"metric_params": {"p": 3}}, {"store_centers": "mean"}, {"n_jobs": 0},
        {"ranks": 0},
    ],
    ids=str,
)
def test_parameters_out_of_range_are_value_errors_that_say_what_is_allowed(wrong):
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))}: .*allowed"):
        HDBSCAN(**wrong).fit(BLOBS)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_finite_number_is_a_value_error_or_a_label_of_its_own(bad):
    points = BLOBS.copy()
    points[7, 1] = bad
    with pytest.raises(ValueError, match="NaN|inf"):
        SingleLinkage().fit(points)
    found = HDBSCAN(8).fit(points)
    assert found.labels_[7] == (-3 if np.isnan(bad) else -2)
    assert (np.delete(found.labels_, 7) == HDBSCAN(8).fit(np.delete(points, 7, axis=0)).labels_).all()


def test_shapes_that_do_not_fit_are_refused():
    for points in (np.zeros(5), np.zeros((0, 2)), np.zeros((1, 2)), np.zeros((5, 0)), [["a", "b"]] * 9):
        with pytest.raises(ValueError):
            HDBSCAN().fit(points)
    with pytest.raises(ValueError, match="n_clusters"):
        SingleLinkage(181).fit(BLOBS)
    with pytest.raises(ValueError, match="one of the two"):
        SingleLinkage(2, distance_threshold=1.0).fit(BLOBS)


def test_parameters_are_got_set_shown_and_unknown_ones_refused():
    estimator = HDBSCAN(min_cluster_size=7)
    assert repr(estimator) == "HDBSCAN(min_cluster_size=7)"
    assert estimator.set_params(ties="together").get_params()["ties"] == "together"
    with pytest.raises(ValueError, match="min_size"):
        estimator.set_params(min_size=3)
    with pytest.raises(AttributeError, match="fit"):
        estimator.condensed_tree_


def test_fitted_estimators_are_pickled():
    fitted = HDBSCAN(min_cluster_size=10).fit(BLOBS)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.labels_, fitted.labels_)
    assert np.array_equal(again.condensed_tree_.to_numpy(), fitted.condensed_tree_.to_numpy())
    assert np.array_equal(again.single_linkage_tree_.to_numpy(), fitted.single_linkage_tree_.to_numpy())


def test_trees_are_hdbscans_in_form():
    fitted = HDBSCAN(min_cluster_size=10).fit(BLOBS)
    rows = fitted.condensed_tree_.to_numpy()
    assert rows.dtype.names == ("parent", "child", "lambda_val", "child_size")
    assert sorted(rows["child"][rows["child_size"] == 1]) == list(range(180))
    parents = rows["parent"]
    assert parents.min() == 180
    for parent in np.unique(parents)[1:]:  # as many points below a cluster as it has at birth
        born = rows["child_size"][rows["child"] == parent]
        assert rows["child_size"][parents == parent].sum() == born
    clusters = fitted.single_linkage_tree_.get_clusters(1.0, 5)
    assert partition(clusters) == partition(fitted.labels_)
    assert set(fitted.single_linkage_tree_.get_clusters(1e-9, 2)) == {-1}
    with pytest.raises(TypeError, match="^min_cluster_size: a float; allowed: a whole number"):
        fitted.single_linkage_tree_.get_clusters(1.0, 5.5)


def test_trees_become_frames_and_graphs():
    pandas = pytest.importorskip("pandas")
    networkx = pytest.importorskip("networkx")
    fitted = HDBSCAN(min_cluster_size=10).fit(pandas.DataFrame(BLOBS, columns=["x", "y"]))
    assert list(fitted.feature_names_in_) == ["x", "y"]
    frame = fitted.condensed_tree_.to_pandas()
    assert list(frame.columns) == ["parent", "child", "lambda_val", "child_size"]
    graph = fitted.condensed_tree_.to_networkx()
    assert networkx.is_arborescence(graph)
    assert graph.nodes[180]["size"] == 180
    assert list(fitted.single_linkage_tree_.to_pandas().columns)[0] == "parent"


def test_nothing_of_scikit_learn_is_needed_or_imported():
    code = (
        "import sys; sys.modules['sklearn'] = None; import numpy as np, merganser\n"
        "print(merganser.HDBSCAN().fit(np.random.default_rng(1).random((50, 2))).labels_.shape, 'scipy' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60 * PATIENCE)
    assert out.stdout.split() == ["(50,)", "False"], out.stderr
    assert "HDBSCAN" in dir(merganser)


@pytest.mark.parametrize("fails", ["weights", "copy"])
def test_an_estimator_whose_second_fit_fails_is_not_fitted(fails, monkeypatch):
    fitted = HDBSCAN(min_cluster_size=10).fit(BLOBS)
    other = np.ascontiguousarray(BLOBS[::-1])
    if fails == "weights":
        with pytest.raises(merganser.InputError):
            fitted.fit(other, sample_weight=np.full(len(other), -1.0))
    else:
        def raises(self):
            raise MemoryError

        monkeypatch.setattr(HDBSCAN, "_copy_borrowed_rows", raises)
        with pytest.raises(MemoryError):
            fitted.fit(other)
    with pytest.raises(AttributeError, match="not fitted"):
        fitted.approximate_predict(BLOBS[:3])
