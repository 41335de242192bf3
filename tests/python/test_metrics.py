"""Metrics of the estimators against distances of all pairs by SciPy, Kruskal's algorithm, and scikit-learn's labels."""
import pickle
import warnings

import merganser
import numpy as np
import pytest
from merganser import HDBSCAN, SingleLinkage, _metrics

from references import distances_of, reachability, tree_of

random = np.random.default_rng(3)
BLOBS = np.concatenate([random.normal(c, 0.2, (40, 3)) for c in ((1, 0, 0.5), (3, 0.2, 1), (0, 3, 2))])
BITS = (random.random((90, 24)) < np.repeat([[0.15], [0.5], [0.85]], 30, axis=0)).astype(float)
COVARIANCE = np.array([[1.0, 0.2, 0.0], [0.2, 2.0, 0.1], [0.0, 0.1, 0.5]])
W = np.array([1.0, 0.0, 2.5])

CASES = [
    (BLOBS, {"metric": "cosine"}, ("cosine", {})),
    (BLOBS, {"metric": "correlation"}, ("correlation", {})),
    (BLOBS, {"metric": "minkowski"}, ("minkowski", {"p": 2})),
    (BLOBS, {"metric": "minkowski", "p": 1}, ("cityblock", {})),
    (BLOBS, {"metric": "p", "p": np.inf}, ("chebyshev", {})),
    (BLOBS, {"metric": "minkowski", "p": 3}, ("minkowski", {"p": 3})),
    (BLOBS, {"metric": "minkowski", "metric_params": {"p": 1.5, "w": W}}, ("minkowski", {"p": 1.5, "w": W})),
    (BLOBS, {"metric": "minkowski", "metric_params": {"p": 2, "w": W}}, ("euclidean", {"w": W})),
    (BLOBS, {"metric": "euclidean", "metric_params": {"w": W}}, ("euclidean", {"w": W})),
    (BLOBS, {"metric": "l1", "metric_params": {"w": W}}, ("cityblock", {"w": W})),
    (BLOBS, {"metric": "seuclidean", "metric_params": {"V": [1.0, 2.0, 0.5]}}, ("seuclidean", {"V": [1.0, 2.0, 0.5]})),
    (BLOBS, {"metric": "mahalanobis", "metric_params": {"V": COVARIANCE}}, ("mahalanobis", {"VI": np.linalg.inv(COVARIANCE)})),
    (BLOBS, {"metric": "mahalanobis", "metric_params": {"VI": COVARIANCE}}, ("mahalanobis", {"VI": COVARIANCE})),
    (BLOBS, {"metric": "canberra"}, ("canberra", {})),
    (np.abs(BLOBS), {"metric": "braycurtis"}, ("braycurtis", {})),
    (np.round(BLOBS, 1), {"metric": "hamming"}, ("hamming", {})),
    (BITS, {"metric": "hamming"}, ("hamming", {})),
    (BITS[:, :10], {"metric": "hamming"}, ("hamming", {})),
    *((BITS, {"metric": name}, (name, {})) for name in ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")),
]
IDS = [f"{given['metric']} {number}" for number, (_, given, _) in enumerate(CASES)]


def definition(points, name, parameters):
    """Distances of all pairs by SciPy."""
    distance = pytest.importorskip("scipy.spatial.distance")
    bits = name in ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
    found = distance.cdist(points.astype(bool) if bits else points, points.astype(bool) if bits else points, name, **parameters)
    return np.maximum(found, found.T)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("points, given, theirs", CASES, ids=IDS)
def test_heights_are_distances_of_the_definition(points, given, theirs, ranks):
    expected = [w for w, _, _ in tree_of(definition(points, *theirs))]
    ours = SingleLinkage(3, ranks=ranks, **given).fit(points)
    np.testing.assert_allclose(ours.distances_, expected, rtol=1e-12, atol=4e-16)


@pytest.mark.parametrize("points, given, theirs", CASES, ids=IDS)
def test_mutual_reachability_is_that_of_the_definition(points, given, theirs):
    distance = definition(points, *theirs)
    np.fill_diagonal(distance, 0)
    expected = [w for w, _, _ in tree_of(reachability(distance, 4))]
    for ranks in (1, 3):
        ours = HDBSCAN(5, 4, ranks=ranks, **given).fit(points)
        heights = ours.single_linkage_tree_.to_numpy()[:, 2]
        np.testing.assert_allclose(heights, expected, rtol=1e-12, atol=4e-16)


@pytest.mark.parametrize("points, given, theirs", CASES, ids=IDS)
def test_labels_are_scikit_learns(points, given, theirs):
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn (checked with 1.9.1)")
    if given["metric"] == "p" or "w" in (given.get("metric_params") or {}):
        pytest.skip("scikit-learn has no such parameters")
    parameters = {**(given.get("metric_params") or {}), **({"p": given["p"]} if "p" in given else {})}
    if given["metric"] == "minkowski":
        parameters.setdefault("p", 2)
    if "V" in parameters:
        parameters["V"] = np.asarray(parameters["V"])
    for samples in (1, 2, 5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = cluster.HDBSCAN(5, min_samples=samples, metric=given["metric"], metric_params=parameters or None, copy=True)
            other.fit(points.astype(bool) if given["metric"] == "yule" else points)
        ours = HDBSCAN(5, samples, **given).fit(points)
        assert ours.exact_order_
        if samples > 1 or given["metric"] not in ("cosine", "correlation"):
            np.testing.assert_array_equal(ours.labels_, other.labels_)
            np.testing.assert_allclose(ours.probabilities_, other.probabilities_, rtol=1e-6)


def test_heights_of_cosines_are_half_the_squared_chord_exactly():
    points = np.array([[3.0, 4.0], [4.0, 3.0], [-3.0, -4.0]])
    unit = points / 4 / np.sqrt(((points / 4) ** 2).sum(axis=1))[:, None]
    chords = [((unit[a] - unit[b]) ** 2).sum() / 2 for a, b in ((0, 1), (1, 2))]
    forest = merganser.euclidean_tree(points, metric="cosine")
    np.testing.assert_allclose(forest.weights, chords, rtol=1e-15)
    assert forest.weights[0] == pytest.approx(1 - 24 / 25, rel=1e-14)
    close = np.array([[1.0, 0.0], [1.0, 1e-9], [0.0, 1.0]])
    found = merganser.euclidean_tree(close, metric="cosine").weights[0]
    assert found == pytest.approx(5e-19, rel=1e-9), "1 - cos would be 0"


@pytest.mark.parametrize("scale", [1e-60, 1e-200, 1.0, 1e60, 1e150])
@pytest.mark.parametrize("p, w", [(3.0, None), (7.5, None), (40.0, None), (3.0, W), (40.0, np.array([1e-300, 0.0, 2.0]))])
def test_minkowski_distances_of_any_size_are_the_scaled_ones(scale, p, w):
    a, b = np.ascontiguousarray(BLOBS[:20].T), np.ascontiguousarray(BLOBS[15:40].T)
    found = _metrics._power_distances(a * scale, b * scale, p, w)
    expected = np.zeros(found.shape)
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            apart = [0.0 if w is not None and w[k] == 0 else abs(a[k, i] - b[k, j]) * (1 if w is None else w[k] ** (1 / p))
                     for k in range(3)]
            most = max(apart)
            expected[i, j] = most * scale * sum((x / most) ** p for x in apart) ** (1 / p) if most > 0 else 0
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_minkowski_distances_whose_powers_vanish_or_overflow_make_the_same_clusters():
    plain = HDBSCAN(5, metric="minkowski", p=60).fit(BLOBS)
    assert len(set(plain.labels_)) > 1
    for scale in (2.0**-40, 2.0**40):
        scaled = HDBSCAN(5, metric="minkowski", p=60).fit(BLOBS * scale)
        np.testing.assert_array_equal(scaled.labels_, plain.labels_)


def test_ratios_of_the_greatest_numbers_are_no_zeros():
    a, b = np.array([[1.7e308], [1.6e308]]), np.array([[1e308, 1.2e308, -1.7e308], [1.6e308, -1e-308, 0.0]])
    np.testing.assert_array_equal(_metrics._canberra(a, b), _metrics._canberra(a / 16, b / 16))
    np.testing.assert_allclose(_metrics._braycurtis(a, b), _metrics._braycurtis(a / 16, b / 16), rtol=1e-15)
    assert (_metrics._canberra(a, b) > 0).all() and (_metrics._braycurtis(a, b) > 0).all()


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_rows_of_one_direction_are_joined_by_an_epsilon_above_rounding(metric):
    directions = np.array([[0.1, 0.2, 0.3, 0.7], [0.5, 0.1, 0.9, 0.2], [0.3, 0.8, 0.1, 0.1]])
    scales = np.random.default_rng(3).uniform(1, 30, (3, 60, 1))
    points = (scales * directions[:, None]).reshape(180, 4)
    labels = HDBSCAN(metric=metric, cluster_selection_epsilon=1e-14).fit(points).labels_
    parts = [set(labels[part:part + 60]) for part in (0, 60, 120)]
    assert [len(part) for part in parts] == [1, 1, 1] and set().union(*parts) == {0, 1, 2}


def euclid(a, b):
    return float(np.sqrt(((a - b) ** 2).sum()))


@pytest.mark.parametrize("kind", [HDBSCAN, SingleLinkage])
def test_a_callable_is_called_once_for_each_pair_after_a_forecast(kind):
    calls, told = [], []

    def metric(a, b, scale=1.0):
        calls.append(1)
        return scale * euclid(a, b)

    ours = kind(metric=metric, metric_params={"scale": 2.0}, forecast=told.append).fit(BLOBS)
    theirs = kind().fit(BLOBS)
    assert (ours.labels_ == theirs.labels_).all()
    np.testing.assert_allclose(ours.single_linkage_tree_.to_numpy()[:, 2], 2 * theirs.single_linkage_tree_.to_numpy()[:, 2],
                               rtol=1e-13)
    (forecast,) = told
    assert (forecast.points, forecast.dimension, forecast.distances) == (120, 3, 120 * 119 / 2) and forecast.seconds > 0
    assert len(calls) >= 120 * 119 / 2 and np.sum(calls) < 120 * 119 / 2 + 10**5  # some are measured before


def test_forecasts_refuse_all_pairs():
    def refuse(forecast):
        raise RuntimeError(f"{forecast.points} points")

    with pytest.raises(RuntimeError, match="120 points"):
        HDBSCAN(metric="canberra", forecast=refuse).fit(BLOBS)
    with pytest.raises(merganser.UsageError, match="most_distances: 100; .* distances of 120 points .*; allowed"):
        HDBSCAN(metric="jaccard", most_distances=100).fit(BLOBS)


@pytest.mark.parametrize("given, error, text", [
    ({"metric": "minkowski", "p": 0.5}, merganser.UsageError, "p: 0.5; allowed: from 1"),
    ({"metric": "minkowski", "p": "3"}, TypeError, "p: a str"),
    ({"metric": "minkowski", "metric_params": {"q": 3}}, merganser.UsageError,
     "metric_params: 'q' with metric 'minkowski'; allowed: p, w"),
    ({"metric": "cosine", "metric_params": {"w": W}}, merganser.UsageError,
     "metric_params: 'w' with metric 'cosine'; allowed: None, {}"),
    ({"metric": "minkowski", "metric_params": {"p": np.inf, "w": W}}, merganser.UsageError,
     "metric_params: 'w' with p of infinity"),
    ({"metric": "euclidean", "metric_params": {"w": [1, -1, 1]}}, merganser.UsageError,
     "metric_params: 'w' .*; allowed: a finite number"),
    ({"metric": "euclidean", "metric_params": {"w": [1, 1]}}, merganser.InputError,
     "metric_params: parameters of 2 columns; allowed: of the 3 of X"),
    ({"metric": "minkowski", "metric_params": {"p": 3, "w": [1, 1]}}, merganser.InputError, "metric_params: 'w' of 2 columns"),
    ({"metric": "seuclidean"}, merganser.UsageError, "metric_params: no 'V' with metric 'seuclidean'"),
    ({"metric": "seuclidean", "metric_params": {"V": [1, 0, 1]}}, merganser.UsageError,
     "metric_params: 'V' .*; allowed: .* above 0"),
    ({"metric": "seuclidean", "metric_params": {"V": [1, 1e-320, 1]}}, merganser.UsageError,
     r"metric_params: 'V' .*1e-320.*; allowed: .* above 0 \(from 1e-300\)"),
    ({"metric": "seuclidean", "metric_params": {"V": "abc"}}, merganser.UsageError,
     "metric_params: 'V' 'abc'; allowed: an array of real numbers"),
    ({"metric": "euclidean", "metric_params": {"w": [[1], [1, 2]]}}, merganser.UsageError,
     "metric_params: 'w' .*; allowed: an array of real numbers"),
    ({"metric": "seuclidean", "metric_params": {"V": [1, np.nan, 1]}}, merganser.UsageError,
     "metric_params: 'V' with nan; allowed: finite numbers"),
    ({"metric": "mahalanobis", "metric_params": {"V": np.diag([1, np.inf, 1])}}, merganser.UsageError,
     "metric_params: 'V' with inf; allowed: finite numbers"),
    ({"metric": "mahalanobis", "metric_params": {"VI": np.diag([1, np.nan, 1])}}, merganser.UsageError,
     "metric_params: 'VI' with nan; allowed: finite numbers"),
    ({"metric": "mahalanobis", "metric_params": {"V": 1e-320 * np.eye(3)}}, merganser.UsageError,
     "metric_params: 'V' of numbers up to 1e-320; allowed: from 1e-300"),
    ({"metric": "mahalanobis", "metric_params": {"V": np.diag([1, 1e-320, 1])}}, merganser.UsageError,
     "metric_params: .*'V'.*allowed: a covariance"),
    ({"metric": "mahalanobis", "metric_params": {"V": -np.eye(3)}}, merganser.UsageError,
     "metric_params: 'V' is not positive definite"),
    ({"metric": "mahalanobis", "metric_params": {"V": np.eye(3)[:2]}}, merganser.UsageError,
     r"metric_params: 'V' of shape \(2, 3\)"),
    ({"metric": "mahalanobis", "metric_params": {"VI": 1e-9 * (np.eye(3) + np.eye(3, k=1) / 2)}}, merganser.UsageError,
     r"metric_params: 'VI' of shape \(3, 3\), not symmetric; allowed: a symmetric matrix"),
    ({"metric": lambda a, b: np.nan}, merganser.InputError, "metric: nan between points 0 and 1; allowed: finite numbers from 0"),
    ({"metric": lambda a, b: -1.0}, merganser.InputError, "metric: -1.0 between points"),
    ({"metric": lambda a, b: "far"}, TypeError, "metric: a str between points 0 and 1; allowed: a number"),
    ({"metric": len}, TypeError, ".*"),
    ({"metric": "euclid"}, merganser.UsageError, "metric: 'euclid'; allowed: euclidean, .*jaccard.*precomputed, a callable"),
])
@pytest.mark.parametrize("kind", [HDBSCAN, SingleLinkage])
def test_metrics_and_their_parameters_are_refused_by_name(kind, given, error, text):
    with pytest.raises(error, match=f"^{text}"):
        kind(**given).fit(BLOBS)


@pytest.mark.parametrize("metric, row, text", [
    ("cosine", [0.0, 0.0, 0.0], "point 7: all coordinates 0; allowed with cosine distances"),
    ("correlation", [0.3, 0.3, 0.3], "point 7: all coordinates equal; allowed with correlation distances"),
])
def test_rows_without_a_direction_are_refused(metric, row, text):
    points = BLOBS.copy()
    points[7] = row
    for ranks in (1, 3):
        with pytest.raises(merganser.InputError, match=text):
            HDBSCAN(metric=metric, ranks=ranks).fit(points)


@pytest.mark.parametrize("columns", [2, 3, 16, 40])
@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_multiples_of_one_row_are_at_height_0(metric, columns):
    random = np.random.default_rng(columns)
    few = 2 if (metric, columns) == ("correlation", 2) else 6  # correlations of two columns are 1 and -1
    rows = random.normal(0, 1, (few, columns))
    if few == 2:
        rows = np.array([[1.0, 2.0], [2.0, 1.0]])
    which = random.permutation(np.repeat(np.arange(few), 12))
    points = rows[which] * random.uniform(1e-3, 1e3, (len(which), 1))
    for ranks in (1, 2, 3):
        heights = SingleLinkage(few, metric=metric, ranks=ranks).fit(points)
        assert (heights.distances_[:len(points) - few] == 0).all() and (heights.distances_[len(points) - few:] > 1e-6).all()
        for samples in (1, 4, 12):
            found = HDBSCAN(5, samples, metric=metric, ranks=ranks).fit(points)
            pairs = set(zip(found.labels_.tolist(), which.tolist()))
            assert len(pairs) == few and found.labels_.min() == 0 and (found.probabilities_ == 1).all()
            fresh = points * random.uniform(0.1, 10, (len(points), 1))
            labels, strengths = merganser.approximate_predict(found, fresh)
            assert np.array_equal(labels, found.labels_) and (strengths == 1).all()
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        powers = rows[which] * 2.0 ** random.integers(-3, 4, (len(which), 1))  # divided by their lengths these are equal bits
        theirs = cluster.HDBSCAN(5, min_samples=4, metric="cosine").fit(powers)
    if metric == "cosine" and len(set(zip(theirs.labels_.tolist(), which.tolist()))) == few:
        assert np.array_equal(HDBSCAN(5, 4, metric=metric).fit(powers).labels_, theirs.labels_)


def test_directions_that_differ_by_more_than_rounding_keep_their_heights():
    for angle in (1e-11, 1e-9, 1e-6):
        found = SingleLinkage(2, metric="cosine").fit([[1.0, 0.0], [1.0, angle]]).distances_[0]
        assert found == pytest.approx(angle**2 / 2, rel=1e-4)
    assert SingleLinkage(2, metric="cosine").fit([[1.0, 0.0], [1.0, 0.9e-12]]).distances_[0] == 0


@pytest.mark.parametrize("keep", [1 << 30, 0], ids=["distances kept", "distances computed again"])
@pytest.mark.parametrize("samples", [1, 4])
def test_of_equal_distances_the_lowest_points_are_joined(monkeypatch, samples, keep):
    monkeypatch.setattr(merganser._pairs, "_KEPT", keep)
    lattice = np.random.default_rng(samples).integers(0, 3, (40, 2)).astype(float)
    metric = _metrics.Metric(None, between=lambda a, b: np.abs(a[:, :, None] - b[:, None]).sum(axis=0))
    pairs = merganser._pairs.AllPairs(lattice, metric)
    core = pairs.core_distances(samples) if samples > 1 else None
    forest = merganser._pairs.tree_by_pairs(pairs, core)
    assert forest.digest == merganser.euclidean_tree(lattice, metric="manhattan", min_samples=samples).digest
    for brute in (False, True):
        pairs.metric = metric._replace(brute=brute)
        growth = merganser._pairs.growth_by_pairs(pairs, core)
        distance = np.abs(lattice[:, None] - lattice).sum(axis=2)
        by_distances = merganser._precomputed.growth_from_distances(distance, samples)
        assert growth.weights.tolist() == by_distances.weights.tolist()
        assert growth.targets.tolist() == by_distances.targets.tolist()


def test_medoids_are_those_of_the_metric():
    distance = pytest.importorskip("scipy.spatial.distance")
    for metric in ("cosine", "correlation", "canberra", "minkowski", euclid):
        found = HDBSCAN(8, metric=metric, p=3 if metric == "minkowski" else None, store_centers="both").fit(BLOBS)
        name, more = (metric, {"p": 3} if metric == "minkowski" else {})
        for label, medoid in enumerate(found.medoids_):
            inside = np.flatnonzero(found.labels_ == label)
            sums = distance.cdist(BLOBS[inside], BLOBS[inside], name, **more) @ found.probabilities_[inside]
            assert sums[(BLOBS[inside] == medoid).all(axis=1)].min() <= sums.min() * (1 + 1e-9)


def test_new_points_are_predicted_by_searched_metrics():
    for given in ({"metric": "cosine"}, {"metric": "euclidean", "metric_params": {"w": W + 1}},
                  {"metric": "mahalanobis", "metric_params": {"V": COVARIANCE}}):
        fitted = HDBSCAN(8, **given).fit(BLOBS)
        labels, _ = fitted.approximate_predict(BLOBS)
        inside = fitted.labels_ >= 0
        assert (labels[inside] == fitted.labels_[inside]).mean() > 0.95
        again = pickle.loads(pickle.dumps(fitted)).approximate_predict(BLOBS)
        assert (again[0] == labels).all()
    with pytest.raises(merganser.UsageError, match="clusterer: fitted to distances"):
        HDBSCAN(8, metric="canberra").fit(BLOBS).approximate_predict(BLOBS)


@pytest.mark.parametrize("seed", range(12))
def test_labels_of_equal_distances_and_other_rows_are_scikit_learns(seed):
    cluster = pytest.importorskip("sklearn.cluster", reason="the comparison needs scikit-learn (checked with 1.9.1)")
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 80)), int(rng.integers(2, 6))
    points = rng.integers(0, 4, (n, d)).astype(float) if seed % 2 else rng.normal(size=(n, d)) + rng.integers(0, 3, (n, 1)) * 4
    points[rng.integers(n), 0] = [1.0, np.nan, np.inf][seed % 3]
    for metric, given in (("canberra", None), ("braycurtis", None), ("minkowski", {"p": 3}), ("hamming", None), ("jaccard", None),
                          ("chebyshev", None), ("manhattan", None)):
        for more in ({"min_samples": 1}, {"min_samples": 3, "cluster_selection_method": "leaf"}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = cluster.HDBSCAN(4, metric=metric, metric_params=given, copy=True, **more).fit(points)
            ours = HDBSCAN(4, metric=metric, metric_params=given, **more).fit(points)
            np.testing.assert_array_equal(ours.labels_, theirs.labels_)
            np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-6)


@pytest.mark.parametrize("name", _metrics._SEARCHED_DISTANCES)
def test_distances_of_a_few_points_are_those_of_the_definition(name):
    points = np.round(random.uniform(-1.5, 1.5, (9, 2 if name == "great_circle" else 5)), 1)
    found = _metrics._SEARCHED_DISTANCES[name](points.T[:, :4], points.T)
    np.testing.assert_allclose(found, distances_of(points, name)[:4], rtol=1e-12, atol=1e-12)
