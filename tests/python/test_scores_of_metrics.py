"""Scores, memberships and predictions by every kind of metric, and of data with rows that are not finite."""
import pickle

import merganser
import numpy as np
import pytest
import references
from merganser import (HDBSCAN, PredictionModel, all_points_membership_vectors, approximate_predict, approximate_predict_scores,
                       membership_vector)
from test_prediction_model import by_search

random = np.random.default_rng(11)
CENTRES = np.array([[4.0, 1.0, 0.5], [-1.0, 3.0, 1.0], [0.5, -2.0, 3.0]])
POINTS = np.concatenate([centre + random.normal(0, 0.3, (40, 3)) for centre in CENTRES] + [random.normal(0, 3, (15, 3))])
BITS = np.concatenate([random.random((40, 12)) < p for p in ([0.1, 0.9] * 6, [0.9, 0.1] * 6)]).astype(float)
GIVEN = {"min_cluster_size": 8, "min_samples": 4}
SEARCHED = [("cosine", {}), ("correlation", {}), ("chebyshev", {}), ("minkowski", {"p": 1})]
SCALED = [("seuclidean", {"V": np.array([1.0, 4.0, 0.25])}), ("euclidean", {"w": np.array([1.0, 2.0, 0.5])}),
          ("mahalanobis", {"VI": np.array([[2.0, 0.5, 0], [0.5, 1, 0], [0, 0, 3]])})]
COMPARED = [("canberra", {}), ("braycurtis", {}), ("minkowski", {"p": 3}), (lambda a, b: float(np.abs(a - b).max()), {})]


def with_other_rows(points):
    """Points with rows that are not finite among them, and the numbers of the finite rows."""
    rows = np.insert(points, [0, 7, 7, len(points)], np.nan, axis=0)
    finite = np.isfinite(rows).all(axis=1)
    places = np.flatnonzero(~finite)
    rows[places] = points[:4]
    rows[places[0], 0], rows[places[1], 1], rows[places[2], 0], rows[places[3], 2] = np.nan, np.inf, -np.inf, np.nan
    return rows, np.flatnonzero(finite), places


def filled(values, places, count):
    """Values of the finite rows, by row, with NaN for the others."""
    out = np.full((count, *values.shape[1:]), np.nan)
    out[places] = values
    return out


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


@pytest.mark.parametrize("metric, given", [("euclidean", {}), ("cosine", {}), SCALED[2], ("canberra", {})])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_are_not_finite_have_no_scores_and_change_no_other(metric, given, weighted):
    rows, finite, others = with_other_rows(POINTS)
    parameters = {**GIVEN, "metric": metric, "metric_params": given, "store_centers": "both"}
    weights = random.integers(1, 4, len(rows)).astype(float) if weighted else None
    alone = HDBSCAN(**parameters).fit(POINTS, sample_weight=None if weights is None else weights[finite])
    fitted = HDBSCAN(**parameters).fit(rows, sample_weight=weights)
    assert fitted.labels_.max() >= 1 and (fitted.labels_[finite] == alone.labels_).all()
    assert fitted.labels_[others].tolist() == [-3, -2, -2, -3]
    assert fitted.probabilities_.shape == fitted.outlier_scores_.shape == (len(rows),)
    assert same(fitted.outlier_scores_, filled(alone.outlier_scores_, finite, len(rows)))
    for name in ("cluster_persistence_", "relative_validity_", "centroids_", "medoids_", "exact_order_"):
        assert np.array_equal(getattr(fitted, name), getattr(alone, name)), name
    assert all(map(np.array_equal, fitted.exemplars_, alone.exemplars_))
    assert all(np.array_equal(a, finite[b]) for a, b in zip(fitted.exemplar_indices_, alone.exemplar_indices_))
    assert all(np.array_equal(rows[a], b) for a, b in zip(fitted.exemplar_indices_, fitted.exemplars_))
    assert np.array_equal(fitted.minimum_spanning_tree_.ends, finite[alone.minimum_spanning_tree_.ends])
    assert same(fitted.minimum_spanning_tree_.points, filled(POINTS, finite, len(rows)))
    cut = fitted.dbscan_clustering(0.4, 1)
    assert np.array_equal(cut[finite], alone.dbscan_clustering(0.4, 1)) and cut[others].tolist() == [-3, -2, -2, -3]
    for label in range(fitted.labels_.max() + 1):
        assert np.array_equal(fitted.weighted_cluster_centroid(label), alone.centroids_[label])
        assert np.array_equal(fitted.weighted_cluster_medoid(label), alone.medoids_[label])
    tree = fitted.condensed_tree_
    assert len(tree.tree.cluster_of) == len(rows) and (tree.tree.weights is None) != weighted
    assert len(fitted.single_linkage_tree_.to_numpy()) == len(rows) - 1
    again = pickle.loads(pickle.dumps(fitted))
    assert same(again.outlier_scores_, fitted.outlier_scores_)
    assert np.array_equal(again.minimum_spanning_tree_.to_numpy(), fitted.minimum_spanning_tree_.to_numpy())
    if metric == "canberra":
        return
    assert same(merganser.all_points_membership_vectors(fitted),
                filled(merganser.all_points_membership_vectors(alone), finite, len(rows)))
    labels, values = merganser.all_points_membership_vectors(fitted, top_k=2)
    expected = merganser.all_points_membership_vectors(alone, top_k=2)
    assert np.array_equal(labels[finite], expected[0]) and (labels[others] == -1).all()
    assert same(values, filled(expected[1], finite, len(rows)))
    fresh = POINTS[::5] + 0.05
    for function in (approximate_predict, approximate_predict_scores, merganser.membership_vector):
        assert np.array_equal(function(fitted, fresh), function(alone, fresh))
    joined, among_finite = (approximate_predict(one, fresh, return_connecting_points=True)[2] for one in (fitted, alone))
    assert np.array_equal(joined, finite[among_finite])


def test_trees_of_rows_that_are_not_finite_are_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fitted = HDBSCAN(**GIVEN).fit(with_other_rows(POINTS)[0])
    figure, axis = plt.subplots()
    assert fitted.minimum_spanning_tree_.plot(axis=axis) is axis
    segments = axis.collections[0].get_segments()
    assert len(segments) == len(POINTS) - 1 and np.isfinite(np.array(segments)).all()
    plt.close(figure)


@pytest.mark.parametrize("metric, given", [*SEARCHED, *SCALED, *COMPARED])
def test_scores_by_a_metric_are_those_of_the_definition(metric, given):
    fitted = HDBSCAN(**GIVEN, metric=metric, metric_params=given, store_centers="both").fit(POINTS)
    rows, selected = fitted.condensed_tree_.to_numpy(), fitted.condensed_tree_.selected + len(POINTS)
    assert fitted.labels_.max() >= 0
    assert np.allclose(fitted.outlier_scores_, references.outlier_scores(rows), rtol=0, atol=1e-12)
    assert np.allclose(fitted.cluster_persistence_, references.persistences(rows, selected, fitted.labels_), rtol=0, atol=1e-12)
    assert [numbers.tolist() for numbers in fitted.exemplar_indices_] == references.exemplars(rows, selected)
    assert all(np.array_equal(POINTS[a], b) for a, b in zip(fitted.exemplar_indices_, fitted.exemplars_))
    edges = fitted.minimum_spanning_tree_.to_numpy()
    assert fitted.relative_validity_ == pytest.approx(references.relative_validity(edges, fitted.labels_), abs=1e-12)
    between = fitted._metric().distances(POINTS, POINTS)
    for label in range(len(selected)):
        inside = np.flatnonzero(fitted.labels_ == label)
        weights = fitted.probabilities_[inside]
        assert np.allclose(fitted.centroids_[label], np.average(POINTS[inside], weights=weights, axis=0))
        sums = (between[np.ix_(inside, inside)] * weights).sum(axis=1)
        assert np.isclose(sums[(POINTS[inside] == fitted.medoids_[label]).all(axis=1)].min(), sums.min())
    expected = merganser.validity_index(between, fitted.labels_, "precomputed", d=3)
    found = merganser.validity_index(POINTS, fitted.labels_, metric, metric_params=given)
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("metric, points", [("cosine", POINTS), ("correlation", POINTS), ("hamming", BITS),
                                            ("cosine", random.normal(0, 1, (90, 24))), ("hamming", BITS[:, [*range(12), *range(9)]])])
@pytest.mark.parametrize("samples", [1, 5])
def test_predictions_by_directions_and_bits_are_those_of_the_search(metric, points, samples, tmp_path):
    fitted = HDBSCAN(min_cluster_size=6, min_samples=samples, metric=metric, allow_single_cluster=True).fit(points)
    moved = 1 - points[::2] if metric == "hamming" else points[::2] + random.normal(0, 0.2, points[::2].shape)
    fresh = np.ascontiguousarray(np.concatenate([moved, points[:9]]))
    expected = by_search(fitted, fresh)
    labels, strengths, joined = approximate_predict(fitted, fresh, return_connecting_points=True)
    assert np.array_equal(labels, expected.labels) and np.array_equal(joined, expected.joined)
    assert np.array_equal(strengths, expected.strengths)
    assert np.array_equal(approximate_predict_scores(fitted, fresh), expected.scores)
    PredictionModel(fitted).write(tmp_path / "model")
    again = PredictionModel.read(tmp_path / "model")
    for model in (PredictionModel(fitted), again):
        assert all(map(np.array_equal, model.predict(fresh), (labels, strengths)))
        assert np.array_equal(model.predict_scores(fresh), expected.scores)
    with pytest.raises(merganser.InputError):
        approximate_predict(fitted, np.full((1, points.shape[1]), 0.5 if metric == "hamming" else 0.0))
    # Distances of the reference: of the least mutual reachability, the lowest fitted point.
    between = np.asarray(fitted._metric().distances(fresh, points))
    core = np.partition(fitted._metric().distances(points, points), samples - 1, axis=1)[:, samples - 1]
    reach = np.maximum(np.maximum(between, np.partition(between, samples - 1, axis=1)[:, [samples - 1]]), core)
    assert np.allclose(reach[np.arange(len(fresh)), joined], reach.min(axis=1), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("metric, given", SCALED)
def test_transformed_metrics_predict_as_transformed_points_do(metric, given):
    fitted = HDBSCAN(**GIVEN, metric=metric, metric_params=given).fit(POINTS)
    transform = fitted._metric().transform
    other = HDBSCAN(**GIVEN).fit(transform(POINTS))
    fresh = POINTS[::4] + random.normal(0, 0.2, POINTS[::4].shape)
    for function in (approximate_predict, approximate_predict_scores, merganser.membership_vector):
        assert np.array_equal(function(fitted, fresh), function(other, transform(fresh)))
    assert np.array_equal(merganser.all_points_membership_vectors(fitted), merganser.all_points_membership_vectors(other))
    with pytest.raises(merganser.UsageError, match="with metric_params, for which a model has no place; allowed: metrics without"):
        PredictionModel(fitted)


@pytest.mark.parametrize("metric, given", COMPARED)
def test_metrics_of_all_pairs_have_no_predictions_and_memberships(metric, given):
    fitted = HDBSCAN(**GIVEN, metric=metric, metric_params=given).fit(POINTS)
    for use in (lambda: approximate_predict(fitted, POINTS[:3]), lambda: approximate_predict_scores(fitted, POINTS[:3]),
                lambda: merganser.membership_vector(fitted, POINTS[:3]), lambda: merganser.all_points_membership_vectors(fitted),
                lambda: PredictionModel(fitted)):
        with pytest.raises(merganser.UsageError, match="^clusterer: fitted .* by a metric of all pairs, .*; allowed: fitted to points"):
            use()


@pytest.mark.parametrize("metric, parameters, later", [
    ("minkowski", {"w": [1.0, 9.0]}, {"metric": "euclidean", "metric_params": None}),
    ("seuclidean", {"V": np.array([1.0, 0.01])}, {"metric_params": {"V": [1.0, 100.0]}}),
    ("manhattan", {"w": np.array([1.0, 3.0])}, {"metric": "jaccard", "metric_params": {}, "comm": "none", "ranks": -1}),
    ("euclidean", None, {"metric": "chebyshev", "p": 7, "model": "none"})], ids=str)
def test_parameters_that_are_set_after_fit_wait_for_the_next(metric, parameters, later):
    points = np.concatenate([np.random.default_rng(2).normal(c, 0.2, (40, 2)) for c in (0, 2)])
    fresh = np.random.default_rng(3).uniform(-1, 3, (60, 2))
    kept, changed = (HDBSCAN(metric=metric, metric_params=parameters).fit(points) for _ in range(2))

    def found(fitted):
        return (*approximate_predict(fitted, fresh), all_points_membership_vectors(fitted), membership_vector(fitted, fresh),
                fitted.weighted_cluster_medoid(0), fitted.weighted_cluster_centroid(1), fitted.outlier_scores_)

    expected = found(kept)  # before the arrays of the parameters change
    changed.set_params(**later)
    for key in parameters or ():
        parameters[key][1] = 1e-3
    for a, b in zip(found(changed), expected):
        assert np.array_equal(a, b)
