"""Whatever is given for arrays: the right result, or an exception with a clear text."""
import merganser
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.cluster import hierarchy

EASY = settings(max_examples=120, deadline=None)
CLEAR = (TypeError, ValueError, MemoryError)
coordinates = st.one_of(
    st.floats(-1e3, 1e3, width=32), st.sampled_from([0.0, -0.0, 1.0, 1e300, -1e200, 1e-320, np.inf, -np.inf, np.nan])
)


def check_tree(points, forest):
    n = len(points)
    assert forest.edges.shape == (max(n - 1, 0), 2)
    assert np.isfinite(forest.weights).all()
    if n > 1:
        np.testing.assert_allclose(forest.weights, hierarchy.linkage(points, "single")[:, 2], rtol=1e-12, atol=1e-130)


class Subclass(np.ndarray):
    """An array of another class, as pandas and astropy have them."""


@EASY
@given(hnp.arrays(np.float64, st.tuples(st.integers(0, 12), st.integers(0, 5)), elements=coordinates),
       st.integers(1, 3), st.integers(1, 4))
def test_any_numbers_give_a_tree_or_say_why_not(points, ranks, min_samples):
    try:
        forest = merganser.euclidean_tree(points, ranks=ranks, min_samples=min_samples)
    except CLEAR as error:
        assert len(str(error)) > 10
        good = points.ndim == 2 and points.shape[1] in (2, 3) and np.isfinite(points).all()
        assert not good or np.abs(points).max(initial=0) > 1e150 or min_samples > len(points)
        return
    if min_samples == 1 and np.abs(points).max(initial=0) < 1e100:
        check_tree(points, forest)


@EASY
@given(hnp.arrays(hnp.scalar_dtypes() | hnp.byte_string_dtypes() | hnp.unicode_string_dtypes(),
                  hnp.array_shapes(max_dims=3, max_side=6)))
def test_any_dtype_and_shape_is_taken_or_refused(array):
    for call in (merganser.euclidean_tree, lambda a: merganser.cut(a, height=1.0),
                 lambda a: merganser.minimum_spanning_forest((6, a, a, a)),
                 lambda a: merganser.euclidean_tree(np.zeros((6, 3)), ids=a)):
        try:
            call(array)
        except CLEAR as error:
            assert str(error)


@EASY
@given(st.sampled_from(["<f8", ">f8", "<f4", ">f4", "<f2", "<i4", ">i8", "<u2", "?", "g"]),
       st.sampled_from(["C", "F", "reversed", "strided", "read-only", "subclass", "list", "unaligned"]),
       st.integers(2, 40))
def test_every_layout_gives_the_same_tree(dtype, layout, n):
    values = np.random.default_rng(n).integers(0, 100, (n, 3)).astype(dtype)
    plain = np.array(values, dtype=np.float64)
    if layout == "F":
        values = np.asfortranarray(values)
    elif layout == "reversed":
        values = values[::-1].copy()[::-1]
    elif layout == "strided":
        wide = np.zeros((2 * n, 7), dtype=dtype)
        wide[::2, 1:7:2] = values
        values = wide[::2, 1:7:2]
    elif layout == "read-only":
        values.flags.writeable = False
    elif layout == "subclass":
        values = values.view(Subclass)
    elif layout == "list":
        values = values.tolist()
    elif layout == "unaligned":
        raw = np.zeros(values.nbytes + 1, np.uint8)
        raw[1:] = np.frombuffer(values.tobytes(), np.uint8)
        values = raw[1:].view(dtype).reshape(n, 3)
    before = np.array(values, copy=True)
    assert merganser.euclidean_tree(values).digest == merganser.euclidean_tree(plain).digest
    np.testing.assert_array_equal(values, before)


class OnlyDlpack:
    """An array of another library on the CPU."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **more):
        return self.array.__dlpack__(**more)

    def __dlpack_device__(self):
        return (self.device, 0)


def test_arrays_of_other_libraries_are_read_by_dlpack():
    points = np.random.default_rng(1).random((50, 3))
    assert merganser.euclidean_tree(OnlyDlpack(points)).digest == merganser.euclidean_tree(points).digest
    with pytest.raises(TypeError, match="device 2"):
        merganser.euclidean_tree(OnlyDlpack(points, 2))


@pytest.mark.parametrize("points", [
    None, "points", 7, object(), {}, [[1, 2, 3], [1, 2]], [["a", "b"]], np.zeros((4, 3), complex), np.zeros((4, 3), "M8[s]"),
    np.array([[object()] * 3]),
])
def test_what_is_no_array_of_numbers_is_a_type_error(points):
    with pytest.raises((TypeError, ValueError)) as caught:
        merganser.euclidean_tree(points)
    assert len(str(caught.value)) > 10


def test_masked_values_are_refused():
    points = np.ma.masked_array(np.zeros((4, 3)), mask=np.eye(4, 3, dtype=bool))
    with pytest.raises(merganser.InputError, match="masked"):
        merganser.euclidean_tree(points)


@EASY
@given(st.integers(0, 8), st.lists(st.tuples(st.integers(-2, 9), st.integers(-2, 9),
                                            st.floats(allow_nan=True, allow_infinity=True)), max_size=12),
       st.integers(1, 3))
def test_any_graph_has_a_forest_or_is_refused(n, edges, ranks):
    u, v, w = (list(part) for part in zip(*edges)) if edges else ([], [], [])
    good = all(0 <= a < n and 0 <= b < n for a, b in zip(u, v)) and not np.isnan(np.array(w, dtype=float)).any()
    try:
        forest = merganser.minimum_spanning_forest((n, u, v, w), ranks=ranks)
    except ValueError as error:
        assert not good and str(error)
        return
    assert good
    assert forest.vertices == n and len(forest) == n - forest.components


@EASY
@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 30), st.just(2)), elements=st.integers(0, 3)),
       st.integers(2, 5), st.sampled_from(["eom", "leaf"]), st.booleans())
def test_clusters_of_points_at_equal_places(points, size, selection, single):
    forest = merganser.euclidean_tree(points, min_samples=1)
    found = merganser.hdbscan(forest, size, selection=selection, allow_single_cluster=single)
    assert found.labels.shape == found.probabilities.shape == (len(points),)
    assert found.labels.min() >= -1
    assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()
    assert (found.probabilities[found.labels == -1] == 0).all()
    z = merganser.linkage(forest)
    assert z.shape == (len(points) - 1, 4)
    assert len(merganser.cut(z, height=1.0)) == len(points)


@pytest.mark.parametrize("bad", [
    {"min_samples": 0}, {"min_samples": 1.5}, {"ranks": 0}, {"ranks": "2"}, {"threads": 0}, {"threads": 10**9},
    {"periodic": True}, {"periodic": 3}, {"box": (0, 0)}, {"box": 1}, {"box": (0, np.inf)}, {"box": ([0, 0], 1)},
    {"ids": [0, 1]}, {"ids": [0, 1, 2, 2]}, {"ids": [0, 1, 2, 4]}, {"ids": [-1, 0, 1, 2]}, {"ids": [0.0, 1, 2, 3]},
    {"model": "pigeons"}, {"min_samples": 5}, {"min_samples": True},
])
def test_bad_options_are_refused(bad):
    with pytest.raises((TypeError, ValueError)) as caught:
        merganser.euclidean_tree(np.random.default_rng(1).random((4, 3)), **bad)
    assert len(str(caught.value)) > 10
