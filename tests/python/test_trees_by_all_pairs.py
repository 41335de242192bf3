"""Trees of points against Kruskal's algorithm over all pairs, edge by edge: metrics, ties, periodic axes, layouts of arrays."""
import merganser
import numpy as np
import pytest

from references import distances_of, reachability, tree_of


def check(forest, expected, **tolerance):
    assert forest.edges.tolist() == [[a, b] for _, a, b in expected]
    np.testing.assert_allclose(forest.weights, [w for w, _, _ in expected], **{"rtol": 1e-13, **tolerance})


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("samples", [1, 2, 3, 7])
@pytest.mark.parametrize("metric", merganser._trees.METRICS)
def test_every_edge_is_that_of_all_pairs(metric, samples, ranks):
    rng = np.random.default_rng(samples)
    points = rng.random((60, 2)) * [2.8, 6.2] - [1.4, 3.1]
    if metric in ("cosine", "correlation", "hamming"):  # of many columns, and of bits
        points = rng.random((60, 9)) if metric != "hamming" else rng.integers(0, 2, (60, 9)).astype(float)
    expected = tree_of(reachability(distances_of(points, metric), samples))
    forest = merganser.euclidean_tree(points, metric=metric, min_samples=samples, ranks=ranks, threads=ranks)
    assert (forest.components, forest.vertices, forest.total_edges, len(forest)) == (1, 60, 59, 59)
    np.testing.assert_allclose(forest.weights, [w for w, _, _ in expected], rtol=1e-12)
    assert forest.total_weight == pytest.approx(sum(w for w, _, _ in expected), rel=1e-12)
    if samples == 1 and metric != "hamming":  # else weights are equal, and which are depends on the last bits
        assert forest.edges.tolist() == [[a, b] for _, a, b in expected]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_of_equal_distances_the_lowest_ids_are_joined(metric, d, samples, ranks):
    points = np.random.default_rng(d).integers(0, 4, (50, d)).astype(float)  # of one distance many, and points at one place
    expected = tree_of(reachability(distances_of(points, metric), samples))
    forest = merganser.euclidean_tree(points, metric=metric, min_samples=samples, ranks=ranks)
    check(forest, expected)
    assert sum(w == 0 for w, _, _ in expected) == np.count_nonzero(forest.weights == 0)


@pytest.mark.parametrize("d", [16, 17, 20])
def test_on_both_sides_of_the_dimension_from_which_all_pairs_are_compared_the_tree_is_the_same_kind(d):
    points = np.random.default_rng(d).integers(-3, 4, (40, d)).astype(float)
    for samples in (1, 3):
        check(merganser.euclidean_tree(points, min_samples=samples, ranks=2), tree_of(reachability(distances_of(points), samples)))


@pytest.mark.parametrize("periodic", [True, [True, False], [False, True], False])
@pytest.mark.parametrize("ranks", [1, 3])
def test_periodic_axes_take_the_shorter_way_round(periodic, ranks):
    points = np.random.default_rng(3).random((70, 2)) * [2, 6] + [-1, 4]
    flags = np.broadcast_to(periodic, (2,))
    lengths = [length if flag else None for length, flag in zip((2.0, 6.0), flags)]
    forest = merganser.euclidean_tree(points, box=([-1, 4], [1, 10]), periodic=periodic, ranks=ranks)
    check(forest, tree_of(distances_of(points, periods=lengths)), rtol=1e-12)


def test_one_pair_of_numbers_is_a_box_for_every_axis_and_points_may_lie_on_its_faces():
    points = np.array([[0.0, 0.0, 0.0], [10.0, 10.0, 10.0], [5.0, 5.0, 5.0], [0.0, 5.0, 9.0]])
    for box in ((0, 10), ([0, 0, 0], [10, 10, 10]), (np.zeros(3), 10), (0, (10.0, 10.0, 10.0))):
        forest = merganser.euclidean_tree(points, box=box, periodic=True)
        check(forest, tree_of(distances_of(points, periods=[10] * 3)))
        assert forest.weights[0] == 0, "opposite corners are one place"


def test_degrees_are_radians_of_another_unit_and_poles_and_the_date_line_are_no_borders():
    degrees = np.array([[89.0, 0.0], [89.0, 180.0], [0.0, 179.5], [0.0, -179.5], [-90.0, 10.0], [-90.0, -70.0]])
    forest = merganser.euclidean_tree(degrees, metric="great_circle", angle="degrees")
    np.testing.assert_allclose(np.degrees(forest.weights)[:3], [0, 1, 2], atol=1e-9)
    assert forest.edges[:3].tolist() == [[4, 5], [2, 3], [0, 1]]
    radians = merganser.euclidean_tree(np.radians(degrees), metric="great_circle", angle="radians")
    np.testing.assert_allclose(radians.weights, forest.weights, atol=1e-9)
    np.testing.assert_allclose(forest.weights, [w for w, _, _ in tree_of(distances_of(np.radians(degrees), "great_circle"))],
                               atol=1e-9)


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "the other byte order": lambda x: x.astype(">f8"),
    "a step back": lambda x: x[::-1].copy()[::-1],
    "columns backwards": lambda x: x[:, ::-1].copy()[:, ::-1],
    "every third row": lambda x: np.repeat(x, 3, axis=0)[::3],
    "a window": lambda x: np.pad(x, 2, constant_values=np.nan)[2:-2, 2:-2],
    "a list of lists": lambda x: x.tolist(),
    "a tuple of arrays": tuple,
    "objects": lambda x: x.astype(object),
    "extended precision": lambda x: x.astype(np.longdouble),
    "a matrix of masks": np.ma.masked_invalid,
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_gives_the_same_bits_in_all_functions_of_points(layout):
    points = np.random.default_rng(5).random((80, 3))
    given = layout(points)
    assert merganser.euclidean_tree(given).digest == merganser.euclidean_tree(points).digest
    small = points[:, 0] < 0.4
    assert (merganser.stars(given, small).centre == merganser.stars(points, small).centre).all()
    for kind in (merganser.HDBSCAN(4), merganser.SingleLinkage(5)):
        assert (kind.fit_predict(given) == kind.fit_predict(points)).all()
    fitted = merganser.HDBSCAN(4).fit(points)
    for ours, expected in zip(merganser.approximate_predict(fitted, given), merganser.approximate_predict(fitted, points)):
        assert (ours == expected).all()
    np.testing.assert_array_equal(np.array(given, dtype=float), points, "what was given stays as it was")


@pytest.mark.parametrize("dtype", ["f2", ">f4", "f4", "i1", ">i2", "u1", ">u8", "i8", "?"])
def test_numbers_of_any_width_are_taken_as_what_they_are(dtype):
    numbers = np.random.default_rng(6).integers(0, 2 if dtype == "?" else 100, (30, 2)).astype(dtype)
    check(merganser.euclidean_tree(numbers), tree_of(distances_of(numbers.astype(np.float64))))


@pytest.mark.parametrize("ids_dtype", ["i8", ">i4", "u8", "u1", "object", "list"])
def test_ids_of_any_type_of_whole_numbers_name_the_points(ids_dtype):
    points = np.random.default_rng(7).random((40, 2))
    order = np.random.default_rng(8).permutation(40)
    ids = order.tolist() if ids_dtype == "list" else order.astype(ids_dtype)
    forest = merganser.euclidean_tree(points[order], ids=ids, ranks=3)
    check(forest, tree_of(distances_of(points)))
    labels = merganser.hdbscan(forest, 3).labels  # by position, not by id
    assert (labels == merganser.hdbscan(merganser.euclidean_tree(points), 3).labels[order]).all()


@pytest.mark.parametrize("scale", [1e-140, 1e-3, 1e140])
def test_very_small_and_very_large_coordinates_keep_their_order(scale):
    points = np.random.default_rng(9).integers(0, 50, (40, 2)) * scale
    expected = tree_of(distances_of(points / scale))
    forest = merganser.euclidean_tree(points)
    np.testing.assert_allclose(forest.weights / scale, [w for w, _, _ in expected], rtol=1e-9)


def test_points_at_one_place_make_a_star_around_the_lowest():
    for metric in merganser._trees.METRICS:
        forest = merganser.euclidean_tree(np.tile([0.0, 1.0], (6, 1)), metric=metric, ranks=2)
        assert forest.edges.tolist() == [[0, i] for i in range(1, 6)]
        assert forest.weights.tolist() == [0.0] * 5
        assert forest.total_weight == 0


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("ranks", [1, 4, 7])
def test_more_ranks_than_points_are_no_harm(n, ranks):
    points = np.arange(2.0 * n).reshape(n, 2)
    forest = merganser.euclidean_tree(points, ranks=ranks)
    assert forest.edges.tolist() == [[i, i + 1] for i in range(n - 1)]
    assert (forest.vertices, forest.components, forest.own) == (n, min(n, 1), n)
    assert merganser.linkage(forest).shape == (max(n - 1, 0), 4)


def test_a_forest_tells_what_it_is_and_becomes_a_matrix():
    forest = merganser.euclidean_tree([[0.0], [3.0], [1.0]])
    assert forest.edges.tolist() == [[0, 2], [1, 2]] and forest.weights.tolist() == [1, 2]
    assert repr(forest) == f"<merganser.Forest: 2 edges here, 3 vertices, digest {forest.digest}>"
    assert (forest.total_weight, forest.total_weight_text, forest.own) == (3.0, "3", 3)
    matrix = forest.to_scipy()
    assert matrix.shape == (3, 3) and matrix.format == "csr"
    assert matrix.toarray().tolist() == [[0, 0, 1], [0, 0, 2], [0, 0, 0]]
    assert forest.edges.dtype == np.int64 and not forest.edges.flags.writeable
    weights = forest.weights
    weights[:] = 7  # a copy
    assert forest.weights.tolist() == [1, 2]


def test_digests_tell_forests_apart():
    points = np.random.default_rng(1).random((50, 2))
    moved = points.copy()
    moved[17, 0] = np.nextafter(moved[17, 0], 2)
    digests = {merganser.euclidean_tree(x, **more).digest for x, more in (
        (points, {}), (points, {"min_samples": 3}), (moved, {}), (points[::-1], {}),
        (points, {"metric": "manhattan"}), (points[:49], {}))}
    assert len(digests) == 6
    assert merganser.euclidean_tree(points, min_samples=2).digest in digests, "the nearest point is no farther than any"
    assert all(len(digest) == 32 and set(digest) <= set("0123456789abcdef") for digest in digests)


@pytest.mark.parametrize("bad, error, text", [
    ({"metric": "cosines"}, merganser.UsageError,
     "metric: 'cosines'; allowed: 'euclidean', 'manhattan', 'chebyshev', 'great_circle', 'cosine', 'correlation', 'hamming'"),
    ({"metric": 2}, TypeError, "metric: a int; allowed: 'euclidean'"),
    ({"metric": None}, TypeError, "metric: a NoneType"),
    ({"angle": "gon"}, merganser.UsageError, "angle: 'gon'; allowed: 'radians', 'degrees'"),
    ({"angle": 360}, TypeError, "angle: a int"),
    ({"min_samples": 0}, merganser.UsageError, "min_samples: 0; allowed: from 1 to 2147483647"),
    ({"min_samples": 9}, merganser.InputError, "min.samples 9 of 8 points; allowed: up to their number"),
    ({"min_samples": np.float64(2)}, TypeError, "min_samples: a float64; allowed: a whole number"),
    ({"min_samples": 2**64}, merganser.UsageError, "min_samples: 18446744073709551616; allowed: whole numbers of 64 bits"),
    ({"threads": 1025}, merganser.UsageError, "threads: 1025; allowed: from 1 to 1024"),
    ({"threads": True}, TypeError, "threads: True; allowed: a whole number"),
    ({"ranks": -1}, merganser.UsageError, "ranks: -1; allowed: from 1 to 1048576"),
    ({"ranks": 2**20 + 1}, merganser.UsageError, "ranks: 1048577"),
    ({"model": "p2p"}, merganser.UsageError, "model: 'p2p'; allowed without comm: 'auto', 'threads'"),
    ({"model": 4}, TypeError, "model: a int; allowed: a name"),
    ({"box": (0, 0)}, merganser.UsageError, r"box: \(0, 0\); allowed: finite numbers, the upper above the lower"),
    ({"box": (0, [1, 2, 3])}, merganser.UsageError, r"box: .*allowed: \(lower, upper\), each a number or 2 numbers"),
    ({"box": (0, 1, 2)}, merganser.UsageError, "box: .*allowed: .lower, upper"),
    ({"box": (np.nan, 1)}, merganser.UsageError, "box: .*finite"),
    ({"box": (-1e308, 1e308)}, merganser.UsageError, "box: .*finite"),
    ({"box": (0, 1), "periodic": [True] * 3}, merganser.UsageError, "periodic: .*allowed: True, False, or 2 of them"),
    ({"box": (0, 1), "periodic": 1}, merganser.UsageError, "periodic: 1; allowed"),
    ({"periodic": [False, True]}, merganser.UsageError,
     r"periodic: an axis is, but there is no box; allowed: box=\(lower, upper\)"),
    ({"ids": np.arange(7)}, merganser.InputError, r"ids: an array of shape \(7,\); allowed: \(8,\)"),
    ({"ids": np.arange(8.0)}, TypeError, "ids: an array of float64; allowed: whole numbers"),
    ({"ids": np.arange(8) - 1}, merganser.InputError, "ids: -1; allowed: numbers from 0 on"),
    ({"ids": list("abcdefgh")}, TypeError, "ids: an array of <U1; allowed: real numbers"),
    ({"forecast": 1.0}, TypeError, "forecast: a float; allowed: None, or a callable"),
])
@pytest.mark.parametrize("function", [merganser.euclidean_tree, merganser.gather_points])
def test_arguments_are_refused_by_name_with_what_is_allowed(function, bad, error, text):
    with pytest.raises(error, match=f"^{text}"):
        function(np.random.default_rng(1).random((8, 2)), **bad)


@pytest.mark.parametrize("points, error, text", [
    (np.float64(3), merganser.InputError, r"points: an array of shape \(\); allowed: \(n, d\)"),
    (np.zeros(3), merganser.InputError, r"points: an array of shape \(3,\)"),
    (np.zeros((3, 0)), merganser.InputError, r"points: an array of shape \(3, 0\)"),
    (np.zeros((1, 2, 3)), merganser.InputError, r"points: an array of shape \(1, 2, 3\)"),
    (np.zeros((3, 2), complex), TypeError, "points: an array of complex128; allowed: real numbers"),
    (np.zeros((3, 2), "m8[s]"), TypeError, r"points: an array of timedelta64\[s\]"),
    (np.zeros((3, 2), "S3"), TypeError, r"points: an array of \|S3"),
    (np.zeros(3, "f8,f8"), TypeError, "points: an array of .*allowed: real numbers"),
    ([[1, 2], [3]], TypeError, "points: a list that is no array of numbers"),
    (None, TypeError, "points: a NoneType; allowed: an array of numbers"),
    (np.array([[0, 1], [2, np.nan]]), merganser.InputError, ".*point 1 .*finite"),
    (np.array([[0, -np.inf], [2, 1]]), merganser.InputError, ".*point 0 .*finite"),
])
def test_points_are_refused_by_what_is_wrong_with_them(points, error, text):
    with pytest.raises(error, match=f"^{text}"):
        merganser.euclidean_tree(points)
