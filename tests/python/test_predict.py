"""New points: against the definition, and beside hdbscan where it is installed."""
import merganser
import numpy as np
import pytest
from merganser import HDBSCAN, approximate_predict

random = np.random.default_rng(5)
BLOBS = np.concatenate([random.normal(c, s, (80, 2)) for c, s in (((0, 0), 0.1), ((3, 0), 0.3), ((0, 3), 0.2))])
BLOBS = np.concatenate([BLOBS, random.uniform(-2, 5, (40, 2))])
FRESH = random.uniform(-2, 5, (300, 2))


def by_definition(fitted, samples, fresh):
    """Label and strength of one new point, from all distances and the rows of the condensed tree."""
    points, rows, selected = BLOBS, fitted.condensed_tree_.to_numpy(), fitted.condensed_tree_.selected + len(BLOBS)
    core = np.sort(np.linalg.norm(points[:, None] - points[None], axis=2), axis=1)[:, samples - 1]
    distance = np.linalg.norm(points - fresh, axis=1)
    reach = np.maximum(np.maximum(distance, core), np.sort(distance)[samples - 1])
    order = np.lexsort((np.arange(len(points)), distance, reach))
    at = 1 / reach[order[0]]
    row = rows[rows["child"] == order[0]][0]
    cluster = row["parent"]
    if row["lambda_val"] > at:
        while cluster > len(points):
            born = rows[rows["child"] == cluster][0]
            if born["lambda_val"] < at:
                break
            cluster = born["parent"]
    while cluster not in selected and cluster > len(points):
        cluster = rows[rows["child"] == cluster][0]["parent"]
    if cluster not in selected:
        return -1, 0.0
    last = rows["lambda_val"][rows["parent"] == cluster].max()
    return int(np.flatnonzero(selected == cluster)[0]), min(at, last) / last


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("parameters", [{}, {"cluster_selection_method": "leaf"}, {"min_samples": 12, "ties": "together"}],
                         ids=str)
def test_new_points_get_the_cluster_that_is_where_they_join(parameters, ranks):
    fitted = HDBSCAN(min_cluster_size=6, ranks=ranks, **parameters).fit(BLOBS)
    labels, strengths = approximate_predict(fitted, FRESH)
    expected = [by_definition(fitted, parameters.get("min_samples", 6), x) for x in FRESH]
    assert labels.tolist() == [label for label, _ in expected]
    assert np.allclose(strengths, [strength for _, strength in expected], rtol=1e-9)
    assert len(set(labels)) >= 3
    assert -1 in labels


def test_most_labels_are_hdbscans():
    hdbscan = pytest.importorskip("hdbscan", reason="the comparison needs hdbscan")
    theirs = hdbscan.HDBSCAN(min_cluster_size=10, min_samples=9, prediction_data=True).fit(BLOBS)
    ours = HDBSCAN(min_cluster_size=10, min_samples=10).fit(BLOBS)
    pairs = list(zip(theirs.labels_.tolist(), ours.labels_.tolist()))
    same = {pair for pair in pairs if pairs.count(pair) > 2}  # merges of one height are undone in another order
    assert len(same) == len({a for a, _ in same}) == len({b for _, b in same})  # the same clusters
    name = dict(same)
    labels, strengths = hdbscan.approximate_predict(theirs, FRESH)
    mine, how = approximate_predict(ours, FRESH)
    agree = np.array([name[int(label)] for label in labels]) == mine
    assert agree.mean() >= 0.97
    assert np.abs(strengths - how)[agree].mean() < 0.05


def test_fitted_points_come_back_and_places_far_away_are_noise():
    fitted = HDBSCAN(min_cluster_size=10).fit(BLOBS)
    labels, strengths = fitted.approximate_predict(BLOBS)
    inside = fitted.labels_ >= 0
    assert (labels[inside] == fitted.labels_[inside]).mean() > 0.98
    assert strengths.min() >= 0 and strengths.max() <= 1
    far, none = approximate_predict(fitted, [[1e6, 1e6]])
    assert (far.tolist(), none.tolist()) == ([-1], [0.0])
    nothing, strength = approximate_predict(fitted, np.zeros((0, 2)))
    assert nothing.shape == strength.shape == (0,)


@pytest.mark.parametrize("features", [2, 17])
def test_what_predictions_need_is_built_by_hdbscans_method_too(features):
    points = np.pad(BLOBS, ((0, 0), (0, features - 2)))
    fitted, prepared = HDBSCAN(min_cluster_size=10).fit(points), HDBSCAN(min_cluster_size=10).fit(points)
    assert prepared.generate_prediction_data() is None
    assert set(prepared._scores[1]) == ({"cores", "model"} if features == 2 else {"cores"})
    fresh = np.pad(FRESH, ((0, 0), (0, features - 2)))
    for ours, theirs in zip(approximate_predict(fitted, fresh), approximate_predict(prepared, fresh)):
        assert (ours == theirs).all()
    with pytest.raises(merganser.UsageError, match="HDBSCAN: not fitted; allowed: after fit"):
        HDBSCAN().generate_prediction_data()
    with pytest.raises(merganser.UsageError, match="clusterer: fitted to distances, by a metric of all pairs"):
        HDBSCAN(metric="precomputed").fit(np.linalg.norm(BLOBS[:, None] - BLOBS, axis=2)).generate_prediction_data()


def test_points_at_one_place_are_certain():
    fitted = HDBSCAN(min_cluster_size=4, min_samples=2).fit(np.repeat([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]], 8, axis=0))
    labels, strengths = approximate_predict(fitted, [[0.0, 0.0], [9.0, 9.0]])
    assert labels.tolist() == fitted.labels_[[0, 16]].tolist()
    assert strengths.tolist() == [1.0, 1.0]


def test_what_cannot_be_predicted_is_refused_in_words():
    fitted = HDBSCAN().fit(BLOBS)
    with pytest.raises(ValueError, match="3 features; allowed: 2"):
        approximate_predict(fitted, np.zeros((4, 3)))
    with pytest.raises(TypeError, match="HDBSCAN"):
        approximate_predict(merganser.SingleLinkage().fit(BLOBS), FRESH)
    with pytest.raises(AttributeError, match="fit"):
        approximate_predict(HDBSCAN(), FRESH)
    with pytest.raises(ValueError, match="fitted to points"):
        approximate_predict(HDBSCAN(metric="precomputed").fit(np.zeros((9, 9))), FRESH)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError):
            approximate_predict(fitted, [[0.0, bad]])
