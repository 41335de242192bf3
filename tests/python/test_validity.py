"""Validity index (DBCV): against its definition in plain Python, and its corners."""
import merganser
import numpy as np
import pytest
import references
from merganser import validity_index
from score_sets import SETS
from test_scores import fit


@pytest.mark.parametrize("number", [n for n in SETS if n % 3 == 0])
@pytest.mark.parametrize("raw", [False, True])
def test_the_index_is_that_of_the_definition(number, raw):
    points, fitted = fit(number)
    points, labels = points[::3], fitted.labels_[::3]
    if min(np.bincount(labels + 1, minlength=3)[1:]) < 2 or labels.max() < 1:
        labels = np.arange(len(points)) % 3 - 1
    distance = references.distances_of(points)
    index, by_cluster = validity_index(points, labels, per_cluster_scores=True, mst_raw_dist=raw)
    expected, scores = references.validity(distance, labels, points.shape[1], raw)
    assert index == pytest.approx(expected, abs=1e-12) and np.allclose(by_cluster, scores, rtol=0, atol=1e-12)
    of_distances = validity_index(distance, labels, metric="precomputed", d=points.shape[1], mst_raw_dist=raw, n_jobs=2)
    assert of_distances == pytest.approx(index, abs=1e-12)
    assert validity_index(points, labels, mst_raw_dist=raw, n_jobs=3) == index


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "haversine"])
def test_the_index_goes_by_the_metric(metric):
    points = np.concatenate([np.random.default_rng(1).normal(c, 0.1, (30, 2)) for c in (0, 1)])
    labels = np.repeat([0, 1], 30)
    distance = references.distances_of(points, {"haversine": "great_circle"}.get(metric, metric))
    assert validity_index(points, labels, metric) == pytest.approx(references.validity(distance, labels, 2)[0], abs=1e-12)


def test_corners_have_a_value():
    points = np.random.default_rng(1).normal(size=(12, 2))
    noise = np.full(12, -1)
    assert validity_index(points, noise) == 0
    assert np.isnan(validity_index(points, np.zeros(12, dtype=int)))
    alone = noise.copy()
    alone[:9] = [0, 0, 0, 0, 1, 1, 1, 1, 3]  # label 2 has no point, label 3 one, which is noise
    index, by_cluster = validity_index(points, alone, per_cluster_scores=True)
    alone[8] = -1
    assert index == validity_index(points, alone) and np.isnan(by_cluster[2:]).all() and np.isfinite(by_cluster[:2]).all()
    equal = np.repeat([[0.0, 0.0], [1.0, 1.0]], 4, axis=0)
    assert validity_index(equal, np.repeat([0, 1], 4)) == 1


def test_many_dimensions_do_not_overflow():
    points = np.concatenate([np.random.default_rng(1).normal(c, 1e-3, (20, 500)) for c in (0, 1)])
    assert 0.9 < validity_index(points, np.repeat([0, 1], 20)) <= 1


def test_wrong_arguments_are_refused():
    points = np.random.default_rng(1).normal(size=(6, 2))
    with pytest.raises(merganser.InputError, match="labels: .* allowed: an integer for each of 6 points"):
        validity_index(points, [0, 1])
    with pytest.raises(merganser.InputError, match="label 7 of 6 points"):
        validity_index(points, [0, 0, 0, 1, 1, 7])
    with pytest.raises(merganser.UsageError, match="dimension of the space"):
        validity_index(np.zeros((6, 6)), [0, 0, 0, 1, 1, 1], metric="precomputed")
    with pytest.raises(merganser.InputError, match="a distance of -1"):
        validity_index(-np.ones((6, 6)), [0, 0, 0, 1, 1, 1], metric="precomputed", d=2)
    with pytest.raises(merganser.UsageError, match="metric"):
        validity_index(points, [0, 0, 0, 1, 1, 1], metric="cubic")


def test_distances_that_differ_both_ways_or_are_infinite_are_refused():
    labels = np.repeat([0, 1], 30)
    unequal = np.random.default_rng(1).uniform(1, 100, (60, 60))
    np.fill_diagonal(unequal, 0)
    with pytest.raises(merganser.InputError, match="distances of points 0 and 1: .* one way, .* the other; allowed: the same both"):
        validity_index(unequal, labels, metric="precomputed", d=2)
    with pytest.raises(merganser.InputError, match="the same both ways"):
        validity_index(unequal, labels, metric=lambda a, b: abs(a[0] - b[0]) * (1 if a[0] < b[0] else 2))
    distance = unequal + unequal.T
    assert np.isfinite(validity_index(distance, labels, metric="precomputed", d=2))
    distance[7] = distance[:, 7] = np.inf  # a row
    with pytest.raises(merganser.InputError, match="a distance of inf; allowed: finite"):
        validity_index(distance, labels, metric="precomputed", d=2)
    distance[:] = np.where(labels[:, None] == labels, np.inf, 1.0)  # all between points of a cluster
    with pytest.raises(merganser.InputError, match="a distance of inf; allowed: finite"):
        validity_index(distance, labels, metric="precomputed", d=2)
