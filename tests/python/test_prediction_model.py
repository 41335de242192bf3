"""Models for predictions: the bits of the search over all ranks, of a file, and of the tables by which memberships are made."""
import pickle

import merganser
import numpy as np
import pytest
from merganser import HDBSCAN, PredictionModel, approximate_predict, approximate_predict_scores
from merganser._nearest import core_distances, join
from merganser._predict import _join_tree
from score_sets import SETS, make_set
from test_scores import fit


def by_search(fitted, fresh):
    """What the model predicts, from the search of all ranks and the condensed tree in NumPy."""
    search = fitted._search()
    cores = core_distances(fitted._points, fitted._samples, **search)
    return _join_tree(fitted, *join(fitted._points, cores, fresh, fitted._samples, **search, nearest=True))


def new_points(points, number, count=300):
    random = np.random.default_rng(number)
    return np.concatenate([random.normal(points.mean(axis=0), 2 * points.std(axis=0), (count, points.shape[1])), points[:20],
                           points[random.integers(0, len(points), 40)] + random.normal(0, 0.01, (40, points.shape[1]))])


@pytest.mark.parametrize("number", SETS)
def test_predictions_are_those_of_the_search_to_the_bit(number):
    points, fitted = fit(number)
    fresh = new_points(points, number)
    expected = by_search(fitted, fresh)
    labels, strengths, joined = approximate_predict(fitted, fresh, return_connecting_points=True)
    assert np.array_equal(labels, expected.labels) and np.array_equal(joined, expected.joined)
    assert np.array_equal(strengths.view(np.int64), expected.strengths.view(np.int64))
    assert np.array_equal(approximate_predict_scores(fitted, fresh), expected.scores)
    assert [approximate_predict(fitted, row[None])[0][0] for row in fresh[:20]] == labels[:20].tolist()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "haversine"])
@pytest.mark.parametrize("samples", [1, 2, 9])
def test_ties_and_metrics_go_by_the_same_rules(metric, samples):
    points = np.random.default_rng(3).integers(0, 7, (240, 2)) / 5.0  # many equal points and distances
    fitted = HDBSCAN(min_cluster_size=4, min_samples=samples, metric=metric, allow_single_cluster=True).fit(points)
    fresh = np.random.default_rng(4).integers(-2, 15, (400, 2)) / 10.0
    expected = by_search(fitted, fresh)
    labels, strengths, joined = approximate_predict(fitted, fresh, return_connecting_points=True)
    assert np.array_equal(labels, expected.labels) and np.array_equal(joined, expected.joined)
    assert np.array_equal(strengths, expected.strengths)
    assert np.array_equal(approximate_predict_scores(fitted, fresh), expected.scores)


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
@pytest.mark.parametrize("columns", [3, 20])  # a tree of boxes, all pairs
def test_rows_of_the_direction_of_fitted_ones_are_at_their_place(metric, columns):
    points = np.random.default_rng(6).normal(size=(60, columns))
    fitted = HDBSCAN(min_cluster_size=4, metric=metric, allow_single_cluster=True).fit(points)
    fresh = 3.1 * points  # of the same direction but for rounding
    expected = by_search(fitted, fresh)
    assert np.array_equal(PredictionModel(fitted).predict_scores(fresh), expected.scores)
    assert np.array_equal(approximate_predict_scores(fitted, fresh), expected.scores)


@pytest.mark.parametrize("number", [0, 20, 8])
def test_a_model_comes_back_from_its_file(number, tmp_path):
    points, fitted = fit(number)
    fresh = new_points(points, number, 3000)
    model = PredictionModel(fitted)
    model.write(tmp_path / "model")
    again = PredictionModel.read(tmp_path / "model")
    assert repr(again) == repr(model) == (f"PredictionModel({len(points)} points, {points.shape[1]} features, "
                                          f"{fitted.labels_.max() + 1} clusters)")
    for a, b in zip(again.predict(fresh, n_jobs=3), approximate_predict(fitted, fresh)):
        assert np.array_equal(a, b)
    assert np.array_equal(again.predict_scores(fresh), approximate_predict_scores(fitted, fresh))
    again.write(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_model_of_many_features_compares_all_points(tmp_path):
    points = np.concatenate([np.random.default_rng(1).normal(c, 1, (60, 20)) for c in (0, 5)])
    fitted = HDBSCAN(min_cluster_size=5).fit(points)
    fresh = new_points(points, 2, 50)
    PredictionModel(fitted).write(tmp_path / "model")
    for a, b in zip(PredictionModel.read(tmp_path / "model").predict(fresh), approximate_predict(fitted, fresh)):
        assert np.array_equal(a, b)


def test_damaged_files_are_refused(tmp_path):
    points, fitted = fit(0)
    PredictionModel(fitted).write(tmp_path / "model")
    whole = (tmp_path / "model").read_bytes()
    random = np.random.default_rng(1)
    for damage in range(60):
        bytes_ = bytearray(whole)
        if damage % 3 == 0:
            del bytes_[int(random.integers(0, len(whole))):]
        else:
            bytes_[int(random.integers(0, len(whole)))] ^= int(random.integers(1, 256))
        (tmp_path / "bad").write_bytes(bytes_)
        with pytest.raises(merganser.InputError, match="prediction model"):
            PredictionModel.read(tmp_path / "bad")
    with pytest.raises(merganser.InputError, match="cannot be read"):
        PredictionModel.read(tmp_path / "none")
    with pytest.raises(merganser.InputError, match="cannot be read as a prediction model; allowed"):
        PredictionModel.read(tmp_path)
    (tmp_path / "later").write_bytes(whole.replace(b"MGPRED1", b"MGPRED2", 1))
    with pytest.raises(merganser.InputError, match="later: prediction model of version 2; allowed: 1"):
        PredictionModel.read(tmp_path / "later")


def test_wrong_calls_are_refused(tmp_path):
    points, fitted = fit(0)
    model = PredictionModel(fitted)
    with pytest.raises(merganser.InputError, match="3 features; allowed: 2"):
        model.predict(np.zeros((1, 3)))
    with pytest.raises(merganser.InputError, match="nan"):
        model.predict([[np.nan, 0]])
    with pytest.raises(merganser.InputError):
        model.write(tmp_path / "no folder" / "model")
    with pytest.raises(TypeError, match="clusterer: a str"):
        PredictionModel("model")
    with pytest.raises(AttributeError, match="not fitted"):
        PredictionModel(HDBSCAN())


def test_a_fitted_estimator_predicts_after_pickle_without_its_model():
    points, fitted = fit(3)
    before = approximate_predict(fitted, points)
    again = pickle.loads(pickle.dumps(fitted))
    assert "_scores" not in again.__dict__
    for a, b in zip(approximate_predict(again, points), before):
        assert np.array_equal(a, b)
