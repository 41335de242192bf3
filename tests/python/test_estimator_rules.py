"""Estimators as scikit-learn's tools use them: cloned, pickled, searched, shown; their parameters and data, refused by name."""
import copy
import pickle
import warnings

import merganser
import numpy as np
import pytest
from merganser import HDBSCAN, SingleLinkage, _estimator_base, _precomputed

random = np.random.default_rng(11)
BLOBS = np.concatenate([random.normal(c, 0.1, (30, 2)) for c in ((0, 0), (3, 0), (0, 3))])
DISTANCES = np.sqrt(((BLOBS[:, None] - BLOBS[None]) ** 2).sum(axis=2))
KINDS = (HDBSCAN, SingleLinkage)
OTHERS = {
    HDBSCAN: {"min_cluster_size": 7, "min_samples": 3, "cluster_selection_epsilon": 0.25, "max_cluster_size": 50, "metric": "l1",
              "metric_params": {}, "algorithm": "brute", "leaf_size": 9, "n_jobs": -1, "cluster_selection_method": "leaf",
              "allow_single_cluster": True, "store_centers": "both", "copy": True, "ties": "together", "ranks": 2,
              "cluster_selection_persistence": 0.01, "model": "threads",
              "most_distances": 10**6, "forecast": print, "alpha": 1, "comm": None, "cluster_selection_epsilon_max": 9.0,
              "p": None, "prediction_data": None,
              "gen_min_span_tree": None, "core_dist_n_jobs": None, "approx_min_span_tree": None,
              "match_reference_implementation": None, "memory": None},
    SingleLinkage: {"n_clusters": None, "distance_threshold": 0.5, "metric": "chebyshev", "n_jobs": 2, "ranks": 3,
                    "model": "threads",
                    "most_distances": 10**6, "forecast": print, "comm": None, "metric_params": {}, "p": None},
}


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_are_kept_as_they_are_given(kind):
    given = OTHERS[kind]
    made = kind(**given)
    assert made.get_params() == given == made.get_params(deep=False)
    assert all(made.get_params()[name] is value for name, value in given.items())
    other = kind()
    assert other.set_params(**given) is other and other.get_params() == given
    assert set(kind().get_params()) == set(given) and other.set_params() is other
    made.fit(BLOBS)
    assert made.get_params() == given, "fit() changes no parameter"
    with pytest.raises(merganser.UsageError, match=f"^{kind.__name__}: a parameter 'eps'; allowed: .*metric.*ranks"):
        made.set_params(metric="l2", eps=3)


@pytest.mark.parametrize("kind", KINDS)
def test_clones_are_unfitted_and_copies_are_fitted(kind):
    base = pytest.importorskip("sklearn.base")
    fitted = kind(**{**OTHERS[kind], "forecast": None}).fit(BLOBS)
    clone = base.clone(fitted)
    assert clone.get_params() == fitted.get_params() and not hasattr(clone, "labels_") and not clone.__sklearn_is_fitted__()
    assert (clone.fit(BLOBS).labels_ == fitted.labels_).all() and fitted.__sklearn_is_fitted__()
    for again in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted)), copy.copy(fitted)):
        assert repr(again) == repr(fitted) and (again.labels_ == fitted.labels_).all()
        np.testing.assert_array_equal(again.single_linkage_tree_.to_numpy(), fitted.single_linkage_tree_.to_numpy())
        assert again.n_features_in_ == 2


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_predict_as_what_was_pickled(protocol):
    fitted = HDBSCAN(8, store_centers="both").fit(BLOBS)
    again = pickle.loads(pickle.dumps(fitted, protocol))
    assert fitted._forest is not None and again._forest is None
    fresh = random.normal(1, 2, (50, 2))
    for ours, theirs in zip(again.approximate_predict(fresh), fitted.approximate_predict(fresh)):
        np.testing.assert_array_equal(ours, theirs)
    for name in ("labels_", "probabilities_", "centroids_", "medoids_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(fitted, name))
    assert again.exact_order_ is True
    unfitted = pickle.loads(pickle.dumps(HDBSCAN(3), protocol))
    assert repr(unfitted) == "HDBSCAN(min_cluster_size=3)" and not hasattr(unfitted, "labels_")


def test_estimators_are_shown_with_what_differs_from_the_defaults():
    assert repr(HDBSCAN()) == "HDBSCAN()"
    assert repr(SingleLinkage()) == repr(SingleLinkage(2, metric="euclidean")) == "SingleLinkage()"
    assert repr(HDBSCAN(5.0)) == "HDBSCAN(min_cluster_size=5.0)", "an equal number of another type differs"
    assert repr(HDBSCAN(copy=True, ties="together")) == "HDBSCAN(copy=True, ties='together')"
    assert repr(SingleLinkage(None, distance_threshold=0.5)) == "SingleLinkage(distance_threshold=0.5, n_clusters=None)"


def test_searches_and_pipelines_take_them():
    sklearn = pytest.importorskip("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils.validation import check_is_fitted

    labels = make_pipeline(StandardScaler(), HDBSCAN(8)).fit_predict(BLOBS)
    assert (labels == HDBSCAN(8).fit(StandardScaler().fit_transform(BLOBS)).labels_).all()
    for kind in KINDS:
        with pytest.raises(sklearn.exceptions.NotFittedError):
            check_is_fitted(kind())
        check_is_fitted(kind().fit(BLOBS))
        assert sklearn.base.is_clusterer(kind()) and kind(metric="precomputed").__sklearn_tags__().input_tags.pairwise
        assert not kind().__sklearn_tags__().input_tags.pairwise


def test_points_may_be_missing_only_where_labels_mark_others():
    marks = {kind.__name__: kind().__sklearn_tags__().input_tags.allow_nan for kind in KINDS}
    assert marks == {kind.__name__: kind.__name__ == "HDBSCAN" for kind in KINDS}
    assert not any(kind(metric="precomputed").__sklearn_tags__().input_tags.allow_nan for kind in KINDS)


def test_a_second_fit_forgets_the_first():
    pandas = pytest.importorskip("pandas")
    fitted = HDBSCAN(8).fit(pandas.DataFrame(BLOBS, columns=["a", "b"]))
    first = fitted.single_linkage_tree_.to_numpy()
    assert fitted.feature_names_in_.tolist() == ["a", "b"] and fitted.feature_names_in_.dtype == object
    fitted.fit(BLOBS[:40, :1])
    assert not hasattr(fitted, "feature_names_in_") and fitted.n_features_in_ == 1 and len(fitted.labels_) == 40
    assert len(fitted.single_linkage_tree_.to_numpy()) == 39 != len(first)
    fitted.fit(pandas.DataFrame(BLOBS))  # columns 0 and 1 are no names
    assert not hasattr(fitted, "feature_names_in_")
    with pytest.raises(TypeError, match="X: some names of columns are strings and some are not; allowed: all or none"):
        fitted.fit(pandas.DataFrame(BLOBS, columns=["a", 1]))


@pytest.mark.parametrize("columns", [["y", "x"], ["x", "y", "z"], ["x"]])
def test_columns_in_another_order_are_refused_for_new_points_and_taken_for_a_fit(columns):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(BLOBS, columns=["x", "y"]).assign(z=1.0)
    fitted = HDBSCAN(8).fit(frame[["x", "y"]])
    with pytest.raises(merganser.InputError, match="^The feature names should match those that were passed during fit") as found:
        fitted.approximate_predict(frame[columns])
    assert ("same order" in str(found.value)) == (sorted(columns) == ["x", "y"])
    assert f"points: columns {', '.join(map(repr, columns))}; allowed: 'x', 'y'" in str(found.value)
    assert fitted.fit(frame[columns]).feature_names_in_.tolist() == columns
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.approximate_predict(frame[columns])


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_every_type_are_numbers_or_refused_by_column(kind):
    pandas = pytest.importorskip("pandas")
    whole = np.round(BLOBS * 100).astype(int)
    labels = kind().fit(whole).labels_
    for frame in (pandas.DataFrame(whole), pandas.DataFrame(whole).astype("float32"), pandas.DataFrame(whole).astype("Int64"),
                  pandas.DataFrame(whole).astype("Float64"), pandas.DataFrame(whole).astype(object),
                  pandas.DataFrame({"a": whole[:, 0].astype("i2"), "b": whole[:, 1].astype("f4")}),
                  pandas.DataFrame(whole, index=range(90, 0, -1))):
        assert (kind().fit(frame).labels_ == labels).all()
    doubled = pandas.DataFrame(whole, columns=["a", "a"])
    assert (kind().fit(doubled).labels_ == labels).all(), "columns of one name are two"
    for dtype, value, error, text in (
            ("Int64", pandas.NA, merganser.InputError, "column 'b': 1 missing values, the first in row 4"),
            ("object", None, merganser.InputError, "column 'b': 1 missing values, the first in row 4"),
            ("float64", np.nan, None, -3), ("float32", np.inf, None, -2),
            ("object", "7", TypeError, "column 'b', row 4: the text '7'"),
            ("complex128", 1j, ValueError, "Complex data not supported")):
        frame = pandas.DataFrame({"a": whole[:, 0], "b": pandas.Series(whole[:, 1]).astype(dtype)})
        frame.loc[4, "b"] = value
        if error is None and kind is HDBSCAN:
            assert kind().fit(frame).labels_[4] == text
            continue
        error, text = error or ValueError, text if error else "NaN|infinity"
        with pytest.raises(error, match=text):
            kind().fit(frame)


@pytest.mark.parametrize("samples", [1, 2, 6])
def test_trees_of_distances_are_those_of_the_points(samples):
    forest = _precomputed.tree_from_distances(DISTANCES, samples, ranks=2)
    points = merganser.euclidean_tree(BLOBS, min_samples=samples)
    np.testing.assert_allclose(forest.weights, points.weights, rtol=1e-12)
    growth = _precomputed.growth_from_distances(DISTANCES, samples)
    np.testing.assert_allclose(np.sort(growth.weights), points.weights, rtol=1e-12)
    assert growth.exact and growth.weights[0] == min(max(DISTANCES[0, j], *np.sort(DISTANCES[[0, j]], axis=1)[:, samples - 1])
                                                     for j in range(1, 90))
    assert len(_precomputed.growth_from_distances(np.zeros((1, 1)), 1).weights) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change, error, text", [
    (lambda d: d[:5], merganser.InputError,
     r"X: The precomputed distance matrix has shape \(5, 90\); allowed: \(n, n\)"),
    (lambda d: -d, merganser.InputError, "X: a distance of -.*; allowed: 0 and more"),
    (lambda d: np.triu(d), merganser.InputError, 
     "X: The precomputed distance matrix has values that are not symmetric; allowed: the same both ways"),
    (lambda d: np.where(d > 4, np.nan, d), merganser.InputError, 
     r"X: contains NaN \(np.nan values found in precomputed-dense\); allowed: numbers, infinity for no distance"),
    (lambda d: d.astype(complex), merganser.InputError, "Complex data not supported: X is an array of complex128"),
    (lambda d: d[None], merganser.InputError, r"X: an array of shape \(1, 90, 90\)"),
])
def test_distances_are_refused_by_what_is_wrong(kind, change, error, text):
    with pytest.raises(error, match=f"^{text}"):
        kind(metric="precomputed").fit(change(DISTANCES))


@pytest.mark.parametrize("metric", ["manhattan", "l1", "cityblock", "chebyshev", "infinity", "l2", "haversine"])
def test_metrics_are_the_distances_of_their_names(metric):
    from scipy.spatial.distance import cdist

    points = BLOBS / 4
    if metric == "haversine":
        pairwise = pytest.importorskip("sklearn.metrics.pairwise")
        distance = pairwise.haversine_distances(points)
    else:
        distance = cdist(points, points,
                         {"l2": "euclidean", "chebyshev": "chebyshev", "infinity": "chebyshev"}.get(metric, "cityblock"))
    ours = SingleLinkage(3, metric=metric).fit(points)
    theirs = SingleLinkage(3, metric="precomputed").fit((distance + distance.T) / 2)
    np.testing.assert_allclose(ours.distances_, theirs.distances_, rtol=1e-9, atol=1e-15)
    assert (ours.labels_ == theirs.labels_).all()
    centres = HDBSCAN(8, metric=metric, store_centers="medoid").fit(points)
    for label, medoid in enumerate(centres.medoids_):
        inside = np.flatnonzero(centres.labels_ == label)
        sums = distance[np.ix_(inside, inside)] @ centres.probabilities_[inside]
        assert (points[inside[sums.argmin()]] == medoid).all()


@pytest.mark.parametrize("wrong, error, text", [
    ({"n_clusters": 0}, merganser.UsageError, "n_clusters: 0; allowed: from 1 to"),
    ({"n_clusters": 2.0}, TypeError, "n_clusters: a float"),
    ({"n_clusters": 91}, merganser.InputError, "n_clusters: 91; allowed: at most the 90 points"),
    ({"n_clusters": None}, merganser.UsageError,
     "n_clusters, distance_threshold: both or none; allowed: one of the two, the other None"),
    ({"distance_threshold": 1.0}, merganser.UsageError, "n_clusters, distance_threshold: both or none"),
    ({"n_clusters": None, "distance_threshold": "1"}, TypeError, "distance_threshold: a str; allowed: a number"),
    ({"n_clusters": None, "distance_threshold": np.nan}, merganser.UsageError, "distance_threshold: nan"),
    ({"metric": "minkowsky"}, merganser.UsageError, "metric: 'minkowsky'; allowed: euclidean, l2, .*precomputed"),
    ({"n_jobs": 1.5}, ValueError, "n_jobs: 1.5; allowed: None, 1 and more, or -1"), ({"n_jobs": True}, ValueError, "n_jobs: True"),
    ({"ranks": 0}, merganser.UsageError, "ranks: 0"), ({"model": "p2p"}, merganser.UsageError, "model: 'p2p'"),
    ({"forecast": 7}, TypeError, "forecast: a int"),
    ({"most_distances": 0}, merganser.UsageError, "most_distances: 0; allowed: from 1"),
])
def test_parameters_of_single_linkage_are_refused_at_fit_and_not_before(wrong, error, text):
    estimator = SingleLinkage(**wrong)
    with pytest.raises(error, match=f"^{text}"):
        estimator.fit(BLOBS)
    assert not hasattr(estimator, "labels_")
    with pytest.raises(AttributeError, match="SingleLinkage: not fitted; allowed: after fit"):
        estimator.single_linkage_tree_


@pytest.mark.parametrize("wrong, error, text", [
    ({"min_cluster_size": "5"}, TypeError, "min_cluster_size: a str; allowed: a whole number"),
    ({"min_cluster_size": True}, TypeError, "min_cluster_size: True"),
    ({"min_samples": 2.5}, TypeError, "min_samples: a float"),
    ({"max_cluster_size": -1}, merganser.UsageError, "max_cluster_size: -1; allowed: from 1"),
    ({"cluster_selection_epsilon": np.nan}, merganser.UsageError, "cluster_selection_epsilon: nan"),
    ({"alpha": "1"}, TypeError, "alpha: a str; allowed: a number"),
    ({"alpha": 2000}, merganser.UsageError, "alpha: 2000.0; allowed: 0.001 to 1000"),
    ({"metric_params": []}, merganser.UsageError, r"metric_params: \[\]; allowed: None, {}, or a dict"),
    ({"algorithm": None}, merganser.UsageError, "algorithm: None; allowed: 'auto', 'brute', 'kd_tree', 'ball_tree'"),
    ({"allow_single_cluster": "no"}, TypeError, "allow_single_cluster: 'no'; allowed: True, False"),
    ({"allow_single_cluster": 1}, TypeError, "allow_single_cluster: 1; allowed: True, False"),
    ({"n_jobs": "2"}, merganser.UsageError, "n_jobs: '2'; allowed: None, 1 and more, or -1"),
    ({"store_centers": True}, merganser.UsageError, "store_centers: True; allowed: None, 'centroid', 'medoid', 'both'"),
    ({"store_centers": "both", "metric": "precomputed"}, merganser.UsageError,
     r"store_centers: 'both' with distances \(Cannot .*\); allowed: None"),
    ({"min_samples": 91}, merganser.InputError, "min_samples: 91; allowed: at most the 90 points"),
    ({"min_samples": 91, "metric": "precomputed"}, merganser.InputError, ".*"),
    ({"min_cluster_size": 91}, merganser.InputError, "min_samples: 91"),
])
def test_parameters_of_hdbscan_are_refused_by_their_own_names(wrong, error, text):
    estimator = HDBSCAN(**wrong)
    with pytest.raises(error, match=f"^{text}"):
        estimator.fit(BLOBS)
    for name in ("condensed_tree_", "single_linkage_tree_"):
        with pytest.raises(AttributeError, match="HDBSCAN: not fitted; allowed: after fit"):
            getattr(estimator, name)


def test_threads_are_counted_as_scikit_learn_does(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(6 if process == 0 else 60)))  # 0: this one
    assert [_estimator_base.num_threads(n) for n in (None, 1, 4, np.int64(9), -1, -2, -6, -7, -100)] == [1, 1, 4, 9, 6, 5, 1, 1, 1]
    for bad in (0, 1.0, "2", False):
        with pytest.raises(ValueError, match="^n_jobs: .*; allowed: None, 1 and more, or -1 for all processors"):
            _estimator_base.num_threads(bad)


@pytest.mark.parametrize("X, text", [
    (BLOBS[0], r"X: an array of shape \(2,\); allowed: \(n, d\). Reshape your data: X.reshape\(-1, 1\)"),
    (BLOBS[:, :0], r"X: 0 feature\(s\) \(shape=\(90, 0\)\) while a minimum of 1 is required"),
    (BLOBS[:1], r"X: 1 sample \(n_samples=1\); allowed: 2 and more for "),
    (BLOBS[:0], r"X: 0 samples \(n_samples=0\); allowed: 2 and more"),
    (BLOBS.astype("S9"), "X: an array of .S9; allowed: real numbers"), (BLOBS * 1j, "Complex data not supported"),
])
@pytest.mark.parametrize("kind", KINDS)
def test_data_are_refused_by_shape_and_type(kind, X, text):
    with pytest.raises(merganser.InputError, match=f"^{text}"):
        kind().fit(X)


@pytest.mark.parametrize("X, text", [(None, "a NoneType"), ({"x": 1}, "a dict"), ((row for row in BLOBS), "a generator")],
                         ids=["None", "dict", "generator"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_array_is_refused_by_its_type(kind, X, text):
    with pytest.raises((TypeError, merganser.InputError), match=f"^X: {text}; allowed: an array of numbers"):
        kind().fit(X)


def test_rows_that_are_left_after_those_with_missing_numbers_are_counted_in_the_error():
    for finite in (0, 3):
        X = np.concatenate([np.full((20 - finite, 2), np.nan), BLOBS[:finite]])
        with pytest.raises(merganser.InputError, match=f"^X: {finite} of 20 rows have finite numbers in all columns; allowed: from 5"):
            HDBSCAN().fit(X)
    X = np.concatenate([np.full((20, 2), np.nan), BLOBS])
    assert (HDBSCAN().fit(X).labels_[20:] == HDBSCAN().fit(BLOBS).labels_).all()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("kind", [HDBSCAN, SingleLinkage])
def test_points_too_near_to_zero_to_be_told_apart_are_refused_and_others_scale(kind, metric):
    plain = kind(metric=metric).fit(BLOBS)
    for factor in (2.0**-395, 2.0**-415):
        assert (kind(metric=metric).fit(BLOBS * factor).labels_ == plain.labels_).all()
    beside_one = np.column_stack([np.ones(len(BLOBS)), BLOBS * 1e-150])
    far_from_one = np.r_[BLOBS * 1e-150, np.ones((1, BLOBS.shape[1]))]
    in_one_column = np.column_stack([np.arange(1, len(BLOBS) + 1) * 1e-139, BLOBS[:, 0] * 1e-145])  # rows stay unequal
    for X in (BLOBS * -1e-160, BLOBS * 1e-300, beside_one, far_from_one, in_one_column):
        with pytest.raises(merganser.InputError, match="^X: numbers below 1e-140 in magnitude, .*; allowed: 0, or from 1e-140: multiply X"):
            kind(metric=metric).fit(X)
    # What is lost is less than rounding, or nothing: points at one place, and directions, which have no magnitude.
    assert (kind(metric=metric).fit(np.column_stack([BLOBS, BLOBS[:, 0] * 1e-200])).labels_ == plain.labels_).all()
    zeros = kind(metric=metric).fit(np.zeros((20, 3))).labels_
    assert (kind(metric=metric).fit(np.full((20, 3), 1e-150)).labels_ == zeros).all()
    assert (kind(metric="cosine").fit(BLOBS * 1e-160).labels_ == kind(metric="cosine").fit(BLOBS).labels_).all()


def test_thresholds_are_exclusive():
    line = np.array([[0.0], [1.0], [3.0]])
    cases = {1.0: [0, 1, 2], np.nextafter(1, 2): [0, 0, 1], 2.0: [0, 0, 1], 2.5: [0, 0, 0], -1.0: [0, 1, 2], np.inf: [0, 0, 0]}
    for threshold, labels in cases.items():
        found = SingleLinkage(None, distance_threshold=threshold).fit(line)
        assert found.labels_.tolist() == labels and found.n_clusters_ == max(labels) + 1
    assert found.children_.tolist() == [[0, 1], [2, 3]] and found.distances_.tolist() == [1, 2] and found.n_leaves_ == 3
    assert found.n_connected_components_ == 1 and found.labels_.dtype == found.children_.dtype == np.int64
