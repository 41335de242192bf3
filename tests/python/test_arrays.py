"""What callers give: masked, missing and unexact values are refused by place, in every entry point; data frames by column."""
import numpy as np
import pytest

import merganser
from merganser._arrays import integer, line, number, plain_array, reals, scalar, to_array

POINTS = np.array([[0.0, 0], [0, 1], [5, 5], [5, 6], [9, 9], [9, 8]])


def masked(values, place):
    array = np.ma.array(values, dtype=float)
    array[place] = np.ma.masked
    return array


def merged(**columns):
    found = merganser.stars(POINTS, np.array([True] + 5 * [False]))
    return found.merge(columns.pop("volume", np.ones(6)), columns)


def parcels_with(name, values):
    parcels = merganser.Parcels(n=6)
    parcels[name] = values
    return parcels


FITTED = merganser.HDBSCAN(2).fit(POINTS)
BAD = masked(POINTS, (1, 1))
LINE = masked(np.ones(6), 2)
ENDS = np.array([0, 1]), np.array([1, 2])
CALLS = {
    "HDBSCAN": lambda: merganser.HDBSCAN(2).fit(BAD),
    "HDBSCAN of distances": lambda: merganser.HDBSCAN(2, metric="precomputed").fit(masked(np.zeros((3, 3)), (0, 2))),
    "SingleLinkage": lambda: merganser.SingleLinkage(2).fit(BAD),
    "a list of masked rows": lambda: merganser.SingleLinkage(2).fit(list(BAD)),
    "approximate_predict": lambda: merganser.approximate_predict(FITTED, BAD),
    "euclidean_tree": lambda: merganser.euclidean_tree(BAD),
    "ids of a tree": lambda: merganser.euclidean_tree(POINTS, ids=np.ma.array(range(6), mask=[0, 0, 1, 0, 0, 0])),
    "stars": lambda: merganser.stars(BAD, np.ones(6, bool)),
    "small": lambda: merganser.stars(POINTS, np.ma.array(6 * [True], mask=[0, 1, 0, 0, 0, 0])),
    "box": lambda: merganser.stars(POINTS, np.ones(6, bool), box=(masked(np.zeros(2), 0), 10)),
    "volume of merge": lambda: merged(volume=LINE),
    "attributes of merge": lambda: merged(salt=LINE),
    "migrate": lambda: merganser.stars(POINTS, np.ones(6, bool)).migrate(LINE),
    "structures": lambda: merganser.stars(POINTS, np.ones(6, bool)).migrate(
        np.ma.array(np.zeros(6, "f8,i4"), mask=[(0, 0), (0, 1)] + 4 * [(0, 0)])),
    "weights": lambda: merganser.minimum_spanning_forest((3, *ENDS, masked(np.ones(2), 0))),
    "ends": lambda: merganser.minimum_spanning_forest((3, np.ma.array([0, 1], mask=[0, 1]), ENDS[1], np.ones(2))),
    "cut": lambda: merganser.cut(masked(np.ones((2, 4)), (0, 2)), height=1),
    "a column of parcels": lambda: parcels_with("volume", LINE),
    "positions of parcels": lambda: parcels_with("position", masked(np.zeros((6, 3)), (3, 1))),
    "ids of parcels": lambda: parcels_with("id", np.ma.array(range(6), mask=[0, 0, 0, 0, 0, 1])),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_masked_values_are_refused(call):
    with pytest.raises(merganser.InputError, match=r"1 masked values, the first at \["):
        call()


def test_masked_arrays_without_masked_values_are_read():
    plain = merganser.HDBSCAN(2).fit(POINTS).labels_
    assert (merganser.HDBSCAN(2).fit(np.ma.array(POINTS)).labels_ == plain).all()
    assert (merganser.HDBSCAN(2).fit(np.ma.array(POINTS, mask=np.zeros((6, 2)))).labels_ == plain).all()


def test_objects_are_numbers_or_refused_by_their_place():
    assert merganser.euclidean_tree(POINTS.astype(object)).digest == merganser.euclidean_tree(POINTS).digest
    for value, error, text in ((None, merganser.InputError, "a missing value"), ("x", TypeError, "the text 'x'"),
                               ("1.5", TypeError, "the text '1.5'"), ({}, TypeError, "a dict"),
                               (2**53 + 1, merganser.InputError, "no float64"), (1j, ValueError, "Complex data not supported")):
        array = POINTS.astype(object)
        array[2, 1] = value
        for call in (merganser.euclidean_tree, merganser.HDBSCAN(2).fit):
            with pytest.raises(error, match=text) as found:
                call(array)
            assert "[2, 1]" in str(found.value)


def test_whole_numbers_that_float64_does_not_hold_are_refused():
    array = np.array([[0, 1], [2**53 + 1, 3], [2**53, 5]])
    for call in (merganser.euclidean_tree, merganser.HDBSCAN(2).fit):
        with pytest.raises(merganser.InputError, match=rf"{2**53 + 1} at \[1, 0\] is no float64"):
            call(array)
    array[1, 0] = 2**60  # is one
    assert merganser.euclidean_tree(array).vertices == 3


def test_entries_of_sparse_graphs_that_repeat_are_added_up():
    sparse = pytest.importorskip("scipy.sparse")
    rows, columns, weights = [0, 0, 1, 0], [1, 1, 2, 2], [2.0, 3.0, 1.0, 4.0]
    once = merganser.minimum_spanning_forest((3, [0, 1, 0], [1, 2, 2], [5.0, 1.0, 4.0]))
    coo = sparse.coo_matrix((weights, (rows, columns)), shape=(3, 3))
    csr = sparse.csr_matrix((weights, [1, 1, 2, 2], [0, 3, 4, 4]), shape=(3, 3))  # (0, 1) twice, (0, 2), (1, 2)
    csr.data[:] = [2.0, 3.0, 4.0, 1.0]
    assert not csr.has_canonical_format
    for matrix in (coo, csr, sparse.coo_array(coo)):
        assert merganser.minimum_spanning_forest(matrix).digest == once.digest
        assert matrix.nnz == 4, "what was given stays as it was"
    zero = sparse.csr_matrix(([0.0], ([0], [1])), shape=(2, 2))
    assert len(merganser.minimum_spanning_forest(zero)) == 1, "stored zeros are edges"
    graph = merganser.topology.from_scipy(sparse.coo_matrix(([2.0, 3.0], ([0, 0], [1, 1])), shape=(2, 2)))
    assert merganser.topology.to_scipy(graph)[0, 1] == 5


def test_sparse_distances_are_refused_without_advice_that_makes_absent_pairs_equal_points():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"allowed: dense arrays \(X.toarray\(\)\)"):
        merganser.SingleLinkage(2).fit(sparse.csr_matrix(POINTS))
    with pytest.raises(merganser.InputError, match="fewer than 2 neighbors: row 0 stores 1 distances"):
        merganser.HDBSCAN(2, metric="precomputed").fit(sparse.csr_matrix(np.eye(4)))
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="the distance of every pair.*would be at distance 0"):
        merganser.HDBSCAN(2, metric="precomputed").fit(pandas.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(np.eye(4))))


def test_columns_of_data_frames_are_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": pandas.array(POINTS[:, 0].astype(int), dtype="Int64"), "y": POINTS[:, 1]})
    assert (merganser.HDBSCAN(2).fit(frame).labels_ == FITTED.labels_).all()
    assert merganser.stars(frame, pandas.array([True] + 5 * [False], dtype="boolean"), ids=frame.index).centre[0] == 1
    with pytest.raises(merganser.InputError, match="column 'n': 9007199254740993"):
        merganser.euclidean_tree(pandas.DataFrame({"n": [0, 2**53 + 1], "x": [0.5, 1]}))
    missing = frame.copy()
    missing.loc[3, "x"] = pandas.NA
    text = frame.assign(city=list("abcdef"))
    time = frame.assign(when=pandas.date_range("2026-01-01", periods=6))
    for given, error, part in ((missing, merganser.InputError, "column 'x': 1 missing values, the first in row 3"),
                               (text, TypeError, "column 'city', row 0: the text 'a'"), (time, TypeError, "column 'when': of datetime")):
        for call in (merganser.HDBSCAN(2).fit, merganser.euclidean_tree, merganser.SingleLinkage(2).fit):
            with pytest.raises(error, match=part):
                call(given)


def test_new_points_have_the_columns_that_were_fitted():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(POINTS, columns=["x", "y"])
    fitted = merganser.HDBSCAN(2).fit(frame)
    labels = fitted.approximate_predict(frame)[0]
    with pytest.raises(ValueError, match="feature names should match.* same order"):
        fitted.approximate_predict(frame[["y", "x"]])
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.approximate_predict(frame.rename(columns={"y": "z"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert (fitted.approximate_predict(POINTS)[0] == labels).all()
    with pytest.warns(UserWarning, match="fitted without feature names"):
        FITTED.approximate_predict(frame)


class TwoRanks:
    """What of a communicator the check of rows uses: the other rank has told something."""

    def __init__(self, other):
        self.other = other

    def allgather(self, mine):
        return [self.other, mine]


def test_ranks_agree_on_columns_and_on_what_is_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(POINTS, columns=["x", "y"])
    with pytest.raises(merganser.InputError, match="columns .* on rank 1.* on rank 0"):
        merganser.HDBSCAN(2, comm=TwoRanks((None, ["y", "x"]))).fit(frame)
    with pytest.raises(merganser.InputError, match="rank 0: X: 1 masked"):
        merganser.HDBSCAN(2, comm=TwoRanks(("X: 1 masked values", None))).fit(frame)


def test_columns_of_arrow_tables_keep_names_and_whole_numbers():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"x": POINTS[:, 0], "y": POINTS[:, 1].astype(int)})
    fitted = merganser.HDBSCAN(2).fit(table)
    assert (fitted.labels_ == FITTED.labels_).all() and fitted.feature_names_in_.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="feature names should match.* same order"):
        fitted.approximate_predict(table.select(["y", "x"]))
    big = arrow.table({"x": [2**53 + 1, 1, 2], "y": [0.5, 1, 2]})
    with pytest.raises(merganser.InputError, match="column 'x': 9007199254740993 at .* is no float64"):
        merganser.euclidean_tree(big)
    with pytest.raises(merganser.InputError, match="column 'x': whole numbers from 2.53 on beside missing ones"):
        merganser.euclidean_tree(arrow.record_batch({"x": [2**53 + 1, None, 2]}))
    holed = arrow.array([2**53 + 1, None])
    for given in (holed, [holed], arrow.chunked_array([holed]), holed.dictionary_encode()):
        for convert in (reals, to_array, plain_array, lambda values, name: line(values, name, np.float64)):
            with pytest.raises(merganser.InputError, match="a: whole numbers from 2.53 on beside missing ones"):
                convert(given, "a")
    assert np.isnan(reals(arrow.array([2**52, None]), "a")).tolist() == [False, True]
    assert reals(arrow.array([2.0**60, None]), "a")[0] == 2.0**60, "floats are not rounded"
    with pytest.raises(merganser.WrongTypeError, match="column 'when': an array of datetime64"):
        merganser.euclidean_tree(arrow.table({"x": [0.5], "when": arrow.array([1], arrow.timestamp("s"))}))
    missing = merganser.HDBSCAN(2).fit(arrow.table({"x": [0, 0, 5, 5, None], "y": [0.0, 1, 5, 6, 7]}))
    assert missing.labels_.tolist() == [0, 0, 1, 1, -3]


class Lazy:
    """A frame of columns that are not computed, as polars' LazyFrame."""

    columns, dtypes = ["x"], ["Float64"]

    def collect(self):
        return POINTS


NO_REALS = [np.complex64(1 + 2j), np.array(1 + 2j), np.array("0.5"), np.timedelta64(3, "s"), np.array(3, "m8[s]"),
            np.array(np.complex64(1 + 2j), dtype=object), np.array("0.5", dtype=object),
            np.array(np.timedelta64(3, "ns"), dtype=object), np.array(None, dtype=object)]


@pytest.mark.parametrize("value", NO_REALS, ids=map(repr, NO_REALS))
def test_scalars_that_float_would_convert_are_no_numbers(value):
    forest, parcels = merganser.euclidean_tree(POINTS), merganser.Parcels(n=6)
    for call in (lambda: merganser.cut(forest, height=value), lambda: merganser.hdbscan(forest, 2, epsilon=value),
                 lambda: merganser.HDBSCAN(2, metric=lambda a, b: value).fit(POINTS),
                 lambda: parcels.__setitem__("volume", value), lambda: merganser.friends_of_friends(POINTS, value)):
        with pytest.raises(merganser.WrongTypeError, match="; allowed: a number"):
            call()
    with pytest.raises(merganser.UsageError, match="^box: .*; allowed: .lower, upper"):
        merganser.euclidean_tree(POINTS, box=(value, 100), periodic=True)


@pytest.mark.parametrize("value", [bytearray(b"1.5"), memoryview(b"1.5")], ids=["bytearray", "memoryview"])
def test_bytes_are_no_numbers(value):
    for call in (lambda: number(value, "h"), lambda: merganser.cut(merganser.euclidean_tree(POINTS), height=value),
                 lambda: merganser.friends_of_friends(POINTS, value)):
        with pytest.raises(merganser.WrongTypeError, match="a (bytearray|memoryview); allowed: a number"):
            call()


def test_scalars_of_arrow_are_what_they_hold():
    arrow = pytest.importorskip("pyarrow")
    for given in (arrow.scalar("1.5"), arrow.scalar(None, arrow.int64()), arrow.scalar(b"1.5")):
        with pytest.raises(merganser.WrongTypeError, match="^h: a .*; allowed: a number"):
            number(given, "h")
    with pytest.raises(merganser.WrongTypeError, match="a: an array of <U3"):
        reals([arrow.scalar("1.5")], "a")
    with pytest.raises(merganser.InputError, match="a missing value"):
        reals([arrow.scalar(None), arrow.scalar(1)], "a")
    assert number(arrow.scalar(1.5), "h") == 1.5 and reals([arrow.scalar(1), arrow.scalar(2)], "a").tolist() == [1, 2]


def test_scalars_that_float64_does_not_hold_are_refused():
    for given in (2**53 + 1, -(2**53) - 1, np.int64(2**53 + 1), np.array(2**53 + 1), np.array(2**53 + 1, dtype=object)):
        with pytest.raises(merganser.InputError, match="h: -?9007199254740993 is no float64 .*; allowed: whole"):
            number(given, "h")
    for given in (2**53, 2**60, np.int64(2**60), 2.0**53, np.float32(0.5), True, np.array(1.5, dtype=object), np.inf):
        assert number(given, "h") == given


@pytest.mark.parametrize("corner", [["0", "0"], [np.complex64(0), 0], 2 * [np.timedelta64(0, "ns")], [None, 0],
                                    [2**53 + 1, 0]])
def test_corners_that_are_no_numbers_are_refused(corner):
    for box in ((np.array(corner, dtype=object), 2**54), (-(2**54), corner)):
        with pytest.raises(merganser.UsageError, match="^box: .*; allowed: .lower, upper.*2 numbers"):
            merganser.euclidean_tree(POINTS, box=box)
    fine = merganser.euclidean_tree(POINTS, box=(np.array([0, -1.0], dtype=object), np.array(20, dtype=object)))
    assert fine.digest == merganser.euclidean_tree(POINTS, box=([0, -1], 20)).digest


def test_objects_that_are_no_real_numbers_are_refused():
    for value in (np.timedelta64(3, "ns"), bytearray(b"1.5")):
        with pytest.raises(merganser.WrongTypeError, match=r"a: \[0\]: a (timedelta64|bytearray)"):
            reals(np.array([value, 1], dtype=object), "a")
    with pytest.raises(merganser.InputError, match="Complex data not supported"):
        merganser.euclidean_tree(np.array([[np.complex64(1 + 2j), 1.5], [2, 3]], dtype=object))
    with pytest.raises(merganser.WrongTypeError, match="a Lazy, which holds no values yet; allowed: what its collect"):
        merganser.euclidean_tree(Lazy())


def test_masks_of_dask_arrays_are_seen():
    array = pytest.importorskip("dask.array")
    whole = array.from_array(POINTS, chunks=(2, 2))
    assert merganser.euclidean_tree(whole).digest == merganser.euclidean_tree(POINTS).digest
    some = array.ma.masked_greater(whole, 8.5)
    for call in (merganser.euclidean_tree, merganser.HDBSCAN(2).fit, FITTED.approximate_predict):
        with pytest.raises(merganser.InputError, match=r"3 masked values, the first at \[4, 0\]"):
            call(some)
    stars = merganser.stars(POINTS, np.ones(6, bool))
    one = array.ma.masked_greater(array.from_array(np.array([3])), 1)[0]
    for call in (lambda: to_array([row for row in some], "a"), lambda: stars.migrate(some), lambda: number(one, "h"),
                 lambda: scalar(one, "h"), lambda: integer(one, "n"),
                 lambda: merganser.euclidean_tree(POINTS, box=(one, 10))):
        with pytest.raises(merganser.InputError, match=r"masked values, the first at \["):
            call()
    assert number(whole[1, 1], "h") == 1 and to_array([whole[0], whole[1]], "a").tolist() == POINTS[:2].tolist()


def test_masks_of_dask_arrays_in_xarray_are_seen():
    array, xarray = pytest.importorskip("dask.array"), pytest.importorskip("xarray")
    some = array.ma.masked_greater(array.from_array(POINTS, chunks=(2, 2)), 8.5)
    with pytest.raises(merganser.InputError, match="coordinate nan of point 4"):  # what xarray makes of masks
        merganser.euclidean_tree(xarray.DataArray(some))
