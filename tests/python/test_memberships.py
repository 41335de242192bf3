"""Memberships of fitted and new points: against the formula in plain Python; the greatest of them; predictions of scores."""
import merganser
import numpy as np
import pytest
import references
from merganser import HDBSCAN, all_points_membership_vectors, approximate_predict_scores, membership_vector
from score_sets import SETS
from test_scores import fit, selected_of


def by_formula(points, fitted, places, clusters, lambdas, fresh, metric="euclidean"):
    """Memberships of places by the slow formula, row after row."""
    rows, selected = fitted.condensed_tree_.to_numpy(), selected_of(fitted)
    out = np.empty((len(places), len(selected)))
    for i, place in enumerate(places):
        near = np.array([references.distances_of(np.vstack([place, points[some]]), metric)[0, 1:].min()
                         for some in references.exemplars(rows, selected)])
        out[i] = references.memberships(rows, selected, near, clusters[i], lambdas[i], fresh)
    return out


@pytest.mark.parametrize("number", SETS)
def test_memberships_are_those_of_the_formula(number):
    points, fitted = fit(number)
    if fitted.labels_.max() < 0:
        assert all_points_membership_vectors(fitted).shape == (len(points), 0)
        assert membership_vector(fitted, points[:2]).shape == (2, 0)
        return
    rows = fitted.condensed_tree_.to_numpy()
    own = rows[len(rows) - len(points):]
    some = np.random.default_rng(number).choice(len(points), 40, replace=False)
    expected = by_formula(points, fitted, points[some], own["parent"][some], own["lambda_val"][some], False)
    assert np.allclose(all_points_membership_vectors(fitted)[some], expected, rtol=0, atol=1e-12)
    fresh = np.random.default_rng(number).normal(points.mean(axis=0), points.std(axis=0), (30, points.shape[1]))
    fresh[0] = fitted.exemplars_[-1][0]  # at distance 0
    _, _, joined = merganser.approximate_predict(fitted, fresh, return_connecting_points=True)
    core = np.sort(references.distances_of(points), axis=1)[:, fitted.min_samples - 1]
    distance = np.linalg.norm(points[None] - fresh[:, None], axis=2)
    reach = np.maximum(np.maximum(distance, core), np.sort(distance, axis=1)[:, [fitted.min_samples - 1]]).min(axis=1)
    lambdas = np.minimum(1 / reach, own["lambda_val"][joined])
    expected = by_formula(points, fitted, fresh, own["parent"][joined], lambdas, True)
    assert np.allclose(membership_vector(fitted, fresh), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "haversine"])
def test_memberships_go_by_the_metric(metric):
    points, alone = fit(0)
    points = points / 10
    fitted = HDBSCAN(min_cluster_size=5, min_samples=2, metric=metric).fit(points)
    rows = fitted.condensed_tree_.to_numpy()
    own = rows[len(rows) - len(points):]
    name = {"haversine": "great_circle"}.get(metric, metric)
    expected = by_formula(points, fitted, points[:30], own["parent"][:30], own["lambda_val"][:30], False, name)
    assert np.allclose(all_points_membership_vectors(fitted)[:30], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("number", [0, 3, 4, 9])
@pytest.mark.parametrize("most", [1, 2, 5, 1000])
def test_the_greatest_memberships_are_those_of_all(number, most):
    points, fitted = fit(number)
    fresh = points[:50] + 0.01
    for whole, (labels, values) in (
        (all_points_membership_vectors(fitted), all_points_membership_vectors(fitted, top_k=most)),
        (membership_vector(fitted, fresh), membership_vector(fitted, fresh, top_k=most)),
    ):
        order = np.argsort(-whole, axis=1, kind="stable")[:, :most]
        assert labels.dtype == np.int32 and np.array_equal(labels, order)
        assert np.array_equal(values, np.take_along_axis(whole, order, axis=1))


@pytest.mark.parametrize("more", [{"ranks": 3}, {"n_jobs": 3}], ids=str)
def test_memberships_and_scores_do_not_depend_on_ranks_and_threads(more):
    points, alone = fit(3)
    _, ours = fit(3, **more)
    fresh = np.random.default_rng(1).normal(1, 2, (700, points.shape[1]))
    assert np.array_equal(all_points_membership_vectors(ours), all_points_membership_vectors(alone))
    assert np.array_equal(membership_vector(ours, fresh), membership_vector(alone, fresh))
    assert np.array_equal(approximate_predict_scores(ours, fresh), approximate_predict_scores(alone, fresh))


@pytest.mark.parametrize("number", [0, 6, 15, 28])
def test_scores_of_new_points_are_those_of_the_definition(number):
    points, fitted = fit(number)
    rows = fitted.condensed_tree_.to_numpy()
    fresh = np.concatenate([np.random.default_rng(2).normal(0, 2, (40, points.shape[1])), points[:10]])
    _, _, joined = merganser.approximate_predict(fitted, fresh, return_connecting_points=True)
    core = np.sort(references.distances_of(points), axis=1)[:, fitted.min_samples - 1]
    scores = approximate_predict_scores(fitted, fresh)
    for i, place in enumerate(fresh):
        distance = np.linalg.norm(points - place, axis=1)
        reach = max(distance[joined[i]], core[joined[i]], np.sort(distance)[fitted.min_samples - 1])
        row = rows[rows["child"] == joined[i]][0]
        most = references.deepest(rows, row["parent"])
        lam = row["lambda_val"] if distance.min() == 0 else 1 / reach
        assert scores[i] == pytest.approx((most - lam) / most, abs=1e-9)


def test_wrong_calls_are_refused():
    points, fitted = fit(0)
    with pytest.raises(merganser.UsageError, match="top_k: 0"):
        all_points_membership_vectors(fitted, top_k=0)
    with pytest.raises(TypeError, match="clusterer: a int"):
        all_points_membership_vectors(3)
    with pytest.raises(merganser.InputError, match="3 features; allowed: 2"):
        membership_vector(fitted, np.zeros((2, 3)))
    distances = HDBSCAN(metric="precomputed").fit(references.distances_of(points))
    with pytest.raises(merganser.UsageError, match="fitted to distances"):
        all_points_membership_vectors(distances)
