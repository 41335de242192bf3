"""Conversion of arguments: what is copied and what is not, exact numbers, frames and masks, boxes, numbers of one value."""
import decimal
import fractions

import merganser
import numpy as np
import pytest
from merganser import _arrays, _forecast

POINTS = np.random.default_rng(1).random((6, 3))


def test_float64_in_c_order_is_not_copied_and_all_else_is():
    read_only = POINTS.copy()
    read_only.flags.writeable = False
    for given in (POINTS, read_only, POINTS[2:5], np.ma.array(POINTS), np.ma.array(POINTS, mask=np.zeros((6, 3)))):
        assert np.shares_memory(_arrays.rows(given, "x"), given)
    for given in (np.asfortranarray(POINTS), POINTS[::2], POINTS[:, :2], POINTS.astype("f4"), POINTS.astype(">f8"), POINTS[::-1]):
        out = _arrays.rows(given, "x")
        assert not np.shares_memory(out, given) and out.flags.c_contiguous and out.dtype == np.dtype("=f8")
        np.testing.assert_array_equal(out, given)
    flags = np.array([True, False, True])
    assert np.shares_memory(_arrays.mask(flags, "small", 3), flags) and _arrays.mask(flags[::-2], "small", 2).tolist() == [1, 1]
    numbers = np.arange(4)
    assert np.shares_memory(_arrays.line(numbers, "x", np.int64, 4), numbers)
    assert _arrays.line(numbers, "x", np.uint32).dtype == np.uint32


@pytest.mark.parametrize("value, exact",
                         [(2**53, True), (2**53 + 1, False), (2**53 + 2, True), (-2**53, True), (-2**53 - 1, False), (2**62, True),
                                          (2**63 - 1, False), (-2**63, True), (2**64 - 1, False), (2**63 + 2**11, True),
                                          (2**63 + 2**10, False)])
def test_whole_numbers_are_float64_exactly_or_refused_by_place(value, exact):
    dtype = np.uint64 if value >= 2**63 else np.int64
    for given in (np.array([[0, 1], [2, value]], dtype), np.array([[0, 1], [2, value]], dtype).T.copy().T, [[0, 1], [2, value]],
                  ([0.5, 1], (2, value))):
        if exact:
            assert _arrays.rows(given, "x")[1, 1] == value
            continue
        with pytest.raises(merganser.InputError,
                           match=rf"^x: .*{value}.* is no float64|^x: \[1, 1\]: {value} is no float64") as found:
            _arrays.rows(given, "x")
        assert "[1, 1]" in str(found.value) and f"the nearest is {int(float(value))}" in str(found.value)


@pytest.mark.parametrize("values, expected", [
    ([True, False], np.array([True, False])), ([np.bool_(1), False], np.array([True, False])),
    ([1.5, np.float32(0.25)], np.array([1.5, 0.25])),
    ([1, 2**63], np.array([1, 2**63], np.uint64)), ([1, -2**63], np.array([1, -2**63])),
    ([np.int8(1), 2**63 - 1], np.array([1, 2**63 - 1])),
    ([1, 2.5], np.array([1, 2.5])), ([True, 2], np.array([1.0, 2.0])), ([fractions.Fraction(1, 4), 1], np.array([0.25, 1])),
    ([decimal.Decimal("0.5"), 2**53], np.array([0.5, 2.0**53])), ([], np.array([])),
])
def test_objects_become_the_narrowest_type_that_holds_them(values, expected):
    given = np.empty(len(values), object)
    given[:] = values
    found = _arrays.to_array(given, "x")
    assert found.dtype == expected.dtype and found.tolist() == expected.tolist()


@pytest.mark.parametrize("value, error, text", [
    (None, merganser.InputError, r"a missing value \(None\); allowed: numbers"),
    (np.ma.masked, merganser.InputError, "a missing value"),
    (np.datetime64("NaT"), TypeError, "a datetime64"), ("1", TypeError, "the text '1'; allowed: numbers"),
    (b"ab", TypeError, "the text b'ab'"), ("x" * 99, TypeError, f"the text '{'x' * 40}'"),
    (1j, merganser.InputError, "1j. Complex data not supported; allowed: real numbers"),
    (10**400, TypeError, "a int; allowed: numbers"), ([], TypeError, "a list; allowed: numbers"),
    (-2**53 - 1, merganser.InputError, f"{-2**53 - 1} is no float64"), (object, TypeError, "a type; allowed: numbers"),
    (decimal.Decimal("sNaN"), (TypeError, ValueError), ""),
])
def test_objects_that_are_no_numbers_are_named_by_place(value, error, text):
    given = np.array([[0.5, 1], [2, 3]], object)
    given[1, 0] = value
    with pytest.raises(error, match=rf"^x: \[1, 0\]: {text}" if text else None):
        _arrays.to_array(given, "x")


@pytest.mark.parametrize("values, count, place", [
    (np.ma.array([1, 2, 3], mask=[0, 1, 1]), 2, "1"), (np.ma.array(np.eye(2), mask=np.eye(2)), 2, "0, 0"),
    (np.ma.array(5.0, mask=True), 1, ""),
    ([np.ma.array([1, 2]), np.ma.array([3, 4], mask=[0, 1])], 1, "1"), (([1], [np.ma.array([3], mask=True)]), 1, "0"),
    (np.ma.array(np.zeros(2, "f8,i4"), mask=[(0, 0), (0, 1)]), 1, "1"),
])
def test_masked_values_are_counted_and_the_first_is_told(values, count, place):
    for convert in (_arrays.to_array, _arrays.plain_array):
        with pytest.raises(merganser.InputError,
                           match=rf"^x: {count} masked values, the first at \[{place}\]; allowed: arrays without"):
            convert(values, "x")


def test_frames_take_the_types_of_their_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [0.5, np.nan]})
    assert _arrays.to_array(frame[["a"]], "x").dtype == np.int64, "one type: no value is rounded"
    np.testing.assert_array_equal(_arrays.to_array(frame, "x"), [[1, 0.5], [2, np.nan]])
    np.testing.assert_array_equal(_arrays.to_array(frame[["b", "a"]], "x"), [[0.5, 1], [np.nan, 2]])
    assert _arrays.to_array(frame.assign(c=[True, False]), "x").tolist()[0] == [1, 0.5, 1]
    assert _arrays.to_array(pandas.DataFrame(index=range(4)), "x").shape == (4, 0)
    for column, error, text in (([2**53 + 1, 1], merganser.InputError, f"x: column 'c': {2**53 + 1} at \\[0\\] is no float64"),
                                ([1, "q"], TypeError, "x: column 'c', row 1: the text 'q'; allowed: numbers"),
                                ([1, 1j], merganser.InputError, "x: column 'c': complex128. Complex data"),
                                (pandas.to_timedelta([1, 2]), TypeError,
                                 r"x: column 'c': of timedelta64\[ns\]; allowed: real numbers"),
                                (pandas.array([None, 1], dtype="Int64"), merganser.InputError,
                                 "x: column 'c': 1 missing values, the first in row 0; allowed: numbers"),
                                (pandas.array([1, None], dtype="boolean"), merganser.InputError,
                                 "x: column 'c': 1 missing values, the first in row 1"),
                                ([pandas.NaT, pandas.NaT], merganser.InputError,
                                 "x: column 'c': 2 missing values, the first in row 0")):
        with pytest.raises(error, match=f"^{text}"):
            _arrays.to_array(frame.assign(c=column), "x")
    series = pandas.Series([3, 1, 2], index=[9, 8, 7])
    assert _arrays.line(series, "x", np.int64).tolist() == [3, 1, 2] and _arrays.mask(series > 1, "small", 3).tolist() == [1, 0, 1]


def test_frames_of_dask_are_computed():
    dask = pytest.importorskip("dask.dataframe", reason="needs dask with data frames")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [0.5, 0.25, 0]})
    np.testing.assert_array_equal(_arrays.to_array(dask.from_pandas(frame, npartitions=2), "x"), frame.to_numpy())


@pytest.mark.parametrize("call, error, text", [
    (lambda: _arrays.line([1.0], "x", np.int64), TypeError, "x: an array of float64; allowed: whole numbers"),
    (lambda: _arrays.line([-1], "x", np.uint64), merganser.InputError, "x: -1; allowed: numbers from 0 on"),
    (lambda: _arrays.line([2**63], "x", np.int64), merganser.InputError, f"x: {2**63}; allowed: numbers below 2.63"),
    (lambda: _arrays.line([1, 2], "x", np.int64, 3), merganser.InputError, r"x: .*\(2,\); allowed: \(3,\)"),
    (lambda: _arrays.line([[]], "x", np.int64), merganser.InputError, r"x: an array of shape \(1, 0\); allowed: \(n,\)"),
    (lambda: _arrays.mask([1, 0], "x", 2), TypeError, "x: an array of int64; allowed: bool, one per point"),
    (lambda: _arrays.mask([True], "x", 2), merganser.InputError, r"x: an array of shape \(1,\); allowed: \(2,\)"),
    (lambda: _arrays.mask([[True]], "x", 1), merganser.InputError, r"x: an array of shape \(1, 1\)"),
    (lambda: _arrays.reals(3.0, "x"), merganser.InputError, r"x: an array of shape \(\); allowed: \(n,\) or \(n, c\)"),
    (lambda: _arrays.reals(np.zeros((1, 1, 1)), "x"), merganser.InputError, "x: an array of shape"),
    (lambda: _arrays.reals("abc", "x"), TypeError, "x: an array of <U3; allowed: real numbers"),
    (lambda: _arrays.whole(5, "x", 6), merganser.UsageError, "x: 5; allowed: from 6 to 2147483647"),
    (lambda: _arrays.whole(2**31, "x", 0), merganser.UsageError, "x: 2147483648; allowed: from 0 to 2147483647"),
    (lambda: _arrays.whole(8, "x", 0, 7), merganser.UsageError, "x: 8; allowed: from 0 to 7"),
    (lambda: _arrays.integer(2**63, "x"), merganser.UsageError, f"x: {2**63}; allowed: whole numbers of 64 bits"),
    (lambda: _arrays.integer(-2**63 - 1, "x"), merganser.UsageError, "x: -9223372036854775809"),
    (lambda: _arrays.integer(np.bool_(True), "x"), TypeError, "x: True; allowed: a whole number"),
    (lambda: _arrays.integer(np.arange(2), "x"), TypeError, "x: a ndarray; allowed: a whole number"),
    (lambda: _arrays.number("1", "x"), TypeError, "x: a str; allowed: a number"),
    (lambda: _arrays.number(b"1", "x"), TypeError, "x: a bytes"), (lambda: _arrays.number(1 + 0j, "x"), TypeError, "x: a complex"),
    (lambda: _arrays.number(None, "x"), TypeError, "x: a NoneType"),
    (lambda: _arrays.number(np.ma.masked, "x"), merganser.InputError, "x: 1 masked values"),
    (lambda: _arrays.number(float("nan"), "x"), merganser.UsageError, "x: nan"),
    (lambda: _forecast.search_limits(2**62 + 1, None), merganser.UsageError, "most_distances: .*; allowed: from 1 to"),
    (lambda: _forecast.search_limits(None, 1), TypeError, "forecast: a int"),
])
def test_arguments_of_one_value_or_axis_are_refused_by_name(call, error, text):
    with pytest.raises(error, match=f"^{text}"):
        call()


def test_what_is_allowed_at_the_bounds_is_allowed():
    whole, integer, number, line = _arrays.whole, _arrays.integer, _arrays.number, _arrays.line
    assert (whole(6, "x", 6, 6), whole(np.uint8(7), "x", 0, 7)) == (6, 7)
    assert (integer(2**63 - 1, "x"), integer(-2**63, "x")) == (2**63 - 1, -2**63)
    assert type(integer(np.int32(5), "x")) is int and number(np.float32(0.5), "x") == 0.5 and number(True, "x") == 1
    assert number(float("inf"), "x") == np.inf and number(fractions.Fraction(1, 2), "x") == 0.5
    assert line([2**63 - 1], "x", np.int64).tolist() == [2**63 - 1]
    assert line(np.array([2**64 - 1], np.uint64), "x", np.uint64).tolist() == [2**64 - 1]
    assert line([], "x", np.int64).dtype == np.int64 and line([], "x", np.uint64, 0).shape == (0,)
    assert line([True], "x", np.int64).tolist() == [1]
    assert _arrays.reals([], "x").shape == (0,) and _arrays.rows(np.zeros((0, 2)), "x").shape == (0, 2)
    assert [_forecast.search_limits(most, None)[0] for most in (1, 2**62, None)] == [1, 2**62, 2 * 10**10]


def test_forecasts_come_to_the_callable_as_one_tuple_of_names():
    seen = []
    _forecast.search_limits(None, seen.append)[1](5, 17, 10.0, 0.25, 96.0)
    assert seen == [merganser.PairsForecast(points=5, dimension=17, distances=10.0, seconds=0.25, rank_bytes=96.0)]
    with pytest.warns(UserWarning, match=r"^17 dimensions: every pair is compared, 1e\+09 distances, up to about 11 s and 3 MiB "
                      "on each rank; forecast= can refuse it"):
        _forecast.warn_if_long(merganser.PairsForecast(5, 17, 1e9, 11.2, 3 * 2.0**20))


@pytest.mark.parametrize("box, periodic, expected", [
    (None, False, ([0.0, 0.0], [1.0, 1.0], [False, False])), ((1, 3), False, ([1.0, 1.0], [2.0, 2.0], [False, False])),
    ((1, [3, 5]), True, ([1.0, 1.0], [2.0, 4.0], [True, True])),
    ([[0, -1], np.array([2, 1], "i1")], [True, False], ([0.0, -1.0], [2.0, 2.0], [True, False])),
    ((np.float32(0.5), 1), np.array([False, True]), ([0.5, 0.5], [0.5, 0.5], [False, True])),
    (np.array([[0, 1], [4, 5]]), np.bool_(True), ([0.0, 1.0], [4.0, 4.0], [True, True])),
])
def test_a_box_is_lower_corner_extent_and_periodic_axes(box, periodic, expected):
    assert _arrays.parse_box(box, periodic, 2) == expected


@pytest.mark.parametrize("box, periodic, text", [
    (None, True, "periodic: an axis is, but there is no box"), ((0, 1), [True], "periodic: .*allowed: True, False, or 2 of them"),
    ((0, 1), None, "periodic: None"), ((0, 1), 0, "periodic: 0"),
    ((0, 1), "yes", "periodic: 'yes'"), (3, False, "box: 3; allowed"), ("ab", False, "box: 'ab'"),
    ((0, None), False, r"box: \(0, None\)"), ((1, 1), False, r"box: \(1, 1\); allowed: finite numbers, the upper above the lower"),
    ((1, 0), True, "box: .*upper above"), ((0, [1, 0]), False, "box: .*upper above"), ((0, np.inf), False, "box: .*finite"),
    ((-np.inf, 0), True, "box: .*finite"), ((0, np.nan), False, "box: .*finite"),
    (([0, 0, 0], 1), False, "box: .*each a number or 2 numbers"), ((0, 1, 2), False, "box: "), ((0,), False, "box: "),
])
def test_boxes_are_refused_with_what_was_given(box, periodic, text):
    with pytest.raises(merganser.UsageError, match=f"^{text}"):
        _arrays.parse_box(box, periodic, 2)
