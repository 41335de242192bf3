"""Validation of arguments and their conversion to arrays and numbers that the extension reads, without a copy if possible."""
from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np

from ._errors import InputError, UsageError, WrongTypeError


_EXACT = 2**53
"""Greatest integer up to which every integer is exact as float64."""


def to_array(values: Any, name: str) -> np.ndarray:
    """Converts any array-like of numbers to a NumPy array: objects with `__array__` or `__dlpack__` (CPU), data frames, sequences.

    All arrays of callers pass this function. Raises InputError for masked and missing values, TypeError for sparse matrices,
    text and other objects. `name` is that of the argument in messages.
    """
    if type(values) is np.ndarray:
        return _numbers(values, name)
    values = _unmasked(values, name)
    if isinstance(values, np.ma.MaskedArray):
        return _numbers(values.data, name)
    if not isinstance(values, np.ndarray) and not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
        device = values.__dlpack_device__()[0]
        if int(device) != 1:
            raise WrongTypeError(f"{name}: an array on device {int(device)} of DLPack; allowed: 1, the CPU")
        return np.from_dlpack(values)
    if is_sparse(values):
        raise WrongTypeError(f"{name}: a sparse {type(values).__name__}; allowed: dense arrays")
    if hasattr(values, "column_names") and hasattr(values, "schema"):  # a table or record batch of pyarrow
        return _arrow_table(values, name)
    if hasattr(values, "columns") and hasattr(values, "dtypes"):
        return _frame(values, name)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise WrongTypeError(f"{name}: a {type(values).__name__} that is no array of numbers ({error})") from None
    if isinstance(values, (list, tuple)) and array.dtype == np.float64 and (np.abs(array) >= _EXACT).any():
        array = np.asarray(values, dtype=object)  # NumPy rounds integers beside floats, and those of int64 beside those of uint64
    return _numbers(array, name)


def plain_array(values: Any, name: str) -> np.ndarray:
    """Converts an array argument to a NumPy array of the caller's dtype, which may be structured. Raises InputError for masked
    values."""
    values = _unmasked(values, name)
    return values.data if isinstance(values, np.ma.MaskedArray) else np.asarray(values)


def is_sparse(values: Any) -> bool:
    """Returns True for an argument that is a sparse matrix or array such as SciPy's."""
    return hasattr(values, "tocsr") and not hasattr(values, "__array__")


def _unmasked(values: Any, name: str) -> Any:
    """Returns an argument, with arrays of dask computed, whose masks show in what is computed alone, and scalars of
    pyarrow converted, whose bytes NumPy may take for an array.

    Raises InputError for masked values, whose masks NumPy would drop, and for integers of pyarrow beside missing ones,
    which could be rounded. All this also within lists.
    """
    if hasattr(values, "as_py"):
        values = values.as_py()
    if hasattr(values, "compute") and hasattr(values, "chunks"):  # of dask, or of xarray, which may hold one
        values = values.compute()
    if isinstance(values, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(values)
        if masked.dtype.names is not None:  # a mask for each field
            masked = np.any([masked[field] for field in masked.dtype.names], axis=0)
        if masked.any():
            place = ", ".join(str(int(i)) for i in np.argwhere(masked)[0]) if masked.ndim else ""
            raise InputError(f"{name}: {np.count_nonzero(masked)} masked values, the first at [{place}]; allowed: arrays "
                             "without (leave out what has one, or fill it)")
    elif isinstance(values, (list, tuple)):
        parts = [part if type(part) in (int, float) else _unmasked(part, name) for part in values]
        return values if all(map(operator.is_, parts, values)) else parts
    elif getattr(values, "null_count", 0) and hasattr(values, "type"):  # an array of pyarrow
        kind = str(getattr(values.type, "value_type", values.type))
        if kind.startswith(("int", "uint")) and (np.abs(np.asarray(values)) >= _EXACT).any():
            raise InputError(f"{name}: whole numbers from 2^53 on beside missing ones; allowed: those without "
                             "missing ones")
    return values


def _numbers(array: np.ndarray, name: str) -> np.ndarray:
    """Returns an array argument itself, or for one of dtype object a converted copy: bool, int64, uint64 or float64."""
    if array.dtype.kind != "O":
        return array
    if array.ndim == 0:
        raise WrongTypeError(f"{name}: a {type(array.item()).__name__}; allowed: an array of numbers")
    types = set(map(type, array.flat))
    if types and types <= {bool, np.bool_}:
        return array.astype(np.bool_)
    if types and types <= {float, np.float64, np.float32}:
        return array.astype(np.float64)
    if array.ndim == 1 and types and all(map(_is_whole, types)):
        return _whole_objects(array, name)
    out = np.empty(array.shape)
    for place in np.ndindex(array.shape):
        out[place] = _to_float(array[place], f"{name}: {list(place)}")
    return out


def _is_whole(kind: type) -> bool:
    """Returns whether a type is one of integers: not bool, nor NumPy's type of times, which derives from integers."""
    return issubclass(kind, (int, np.integer)) and not issubclass(kind, (bool, np.timedelta64))


def _whole_objects(array: np.ndarray, name: str) -> np.ndarray:
    """Converts an array of Python integers to int64, or to uint64 if one is 2^63 or above. Raises InputError beyond 64 bits."""
    values = [int(x) for x in array]
    if values and not (-(2**63) <= min(values) <= max(values) < (2**63 if min(values) < 0 else 2**64)):
        raise InputError(f"{name}: whole numbers beyond 64 bits; allowed: from -2^63 to below 2^63, or from 0 to below 2^64")
    return np.array(values, dtype=np.uint64 if values and max(values) >= 2**63 else np.int64)


def _to_float(value: Any, where: str) -> float:
    """Converts an entry of an array or data frame to float. Raises InputError for missing values and integers that float64 does not
    represent, TypeError for other objects. `where` names the entry in messages."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value is np.ma.masked:
        raise InputError(f"{where}: a missing value ({value}); allowed: numbers")
    if isinstance(value, (str, bytes)):
        raise WrongTypeError(f"{where}: the text {value[:40]!r}; allowed: numbers")
    if isinstance(value, (complex, np.complexfloating)):
        raise InputError(f"{where}: {value!r}. Complex data not supported; allowed: real numbers")
    value = _unmasked(value, where)
    try:
        number = _float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise WrongTypeError(f"{where}: a {type(value).__name__}; allowed: numbers ({error})") from None
    return _exact(number, value, where)


def _kind(value: Any) -> str:
    """Returns the kind of a scalar's dtype of NumPy; "f" where it has none."""
    return getattr(getattr(value, "dtype", None), "kind", "f")


def _float(value: Any) -> float:
    """Returns float(value). Raises TypeError also for text, bytes, complex numbers and times, which it may convert."""
    number = float(value) if _kind(value) in "fiub" else None
    if number is None or not (hasattr(type(value), "__float__") or hasattr(type(value), "__index__")):
        raise TypeError("not text, bytes, complex numbers or times")
    return number


def _frame(frame: Any, name: str) -> np.ndarray:
    """Converts a data frame (pandas, polars, dask) to a matrix of numbers. Errors for text, missing values and objects name the
    column."""
    if hasattr(frame, "compute"):  # a data frame of dask
        frame = frame.compute()
    if hasattr(frame, "collect"):
        raise WrongTypeError(f"{name}: a {type(frame).__name__}, which holds no values yet; allowed: what its collect() returns")
    kinds = [getattr(dtype, "kind", None) if isinstance(dtype, np.dtype) else None for dtype in frame.dtypes]
    if kinds and len(set(map(str, frame.dtypes))) == 1 and kinds[0] is not None and kinds[0] in "fiub":
        return np.asarray(frame)  # all columns have one type, so no value is rounded
    columns = []
    for place, label in enumerate(frame.columns):
        column = frame.iloc[:, place] if hasattr(frame, "iloc") else frame[label]
        where = f"{name}: column {label!r}"
        missing = column.isna() if hasattr(column, "isna") else column.is_null() if hasattr(column, "is_null") else None
        if kinds[place] != "f" and missing is not None and missing.any():
            rows_missing = np.flatnonzero(np.asarray(missing))
            raise InputError(f"{where}: {len(rows_missing)} missing values, the first in row {rows_missing[0]}; allowed: numbers")
        numbers = np.asarray(column.to_numpy())
        if numbers.dtype.kind == "O":
            numbers = np.array([_to_float(x, f"{where}, row {row}") for row, x in enumerate(numbers)], dtype=np.float64)
        if numbers.dtype.kind == "c":
            raise InputError(f"{where}: {numbers.dtype}. Complex data not supported; allowed: real numbers")
        if numbers.dtype.kind not in "fiub":
            raise WrongTypeError(f"{where}: of {numbers.dtype}; allowed: real numbers")
        columns.append(as_float64(numbers, where))
    return np.stack(columns, axis=1) if columns else np.empty((len(frame), 0))


def _arrow_table(table: Any, name: str) -> np.ndarray:
    """Converts a table of pyarrow to a matrix of numbers, column by column: the array that pyarrow itself makes of columns of
    several types has rounded integers. Missing integers and floats become NaN, as pyarrow has them; missing values of
    other types, such as bools and decimals, are refused. Errors name the column."""
    columns = []
    for label, column in zip(table.column_names, table.columns):
        where = f"{name}: column {label!r}"
        numbers = to_array(column, where)
        _check_real(numbers, where)
        columns.append(as_float64(numbers, where))
    return np.stack(columns, axis=1) if columns else np.empty((table.num_rows, 0))


def as_float64(array: np.ndarray, name: str) -> np.ndarray:
    """Converts an array of real numbers to float64 in C order, without a copy if it is so already.

    Raises InputError for an integer beyond 2^53 that float64 does not represent.
    """
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        if int(array.max()) > _EXACT or int(array.min()) < -_EXACT:
            for place in np.argwhere((array > _EXACT) | (array < -_EXACT) if array.dtype.kind == "i" else array > _EXACT):
                value = int(array[tuple(place)])
                if int(float(value)) != value:
                    raise InputError(f"{name}: {value} at {place.tolist()} is no float64 (the nearest is {int(float(value))}); "
                                     "allowed: whole numbers up to 2^53")
    return np.ascontiguousarray(array, dtype=np.float64)


def _check_real(array: np.ndarray, name: str) -> None:
    """Raises TypeError unless an array argument holds real numbers: floats, integers or bools."""
    if array.dtype.kind not in "fiub":
        raise WrongTypeError(f"{name}: an array of {array.dtype}; allowed: real numbers")


def nearly_equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Returns whether all numbers of two arrays are equal within 1e-5, those near 0 within 1e-8 of the greatest finite one: as
    numpy.allclose(), whatever the unit of the numbers."""
    with np.errstate(over="ignore"):
        return bool(np.allclose(a, b, rtol=1e-5, atol=1e-8 * np.abs(a).max(initial=0, where=np.isfinite(a))))


def reals(values: Any, name: str) -> np.ndarray:
    """Converts an array argument to float64 in C order of shape (n,) or (n, c), without a copy if possible. Raises InputError for
    other shapes."""
    array = to_array(values, name)
    _check_real(array, name)
    if array.ndim not in (1, 2):
        raise InputError(f"{name}: an array of shape {array.shape}; allowed: (n,) or (n, c)")
    return as_float64(array, name)


def rows(values: Any, name: str) -> np.ndarray:
    """Converts points or other rows to float64 in C order of shape (n, d), d >= 1, without a copy if possible. Raises InputError
    for other shapes."""
    array = to_array(values, name)
    _check_real(array, name)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(f"{name}: an array of shape {array.shape}; allowed: (n, d), d coordinates of each of n points")
    return as_float64(array, name)


def line(values: Any, name: str, dtype: Any, n: int | None = None) -> np.ndarray:
    """Converts an array argument to one dimension and a given dtype, of length n if given. Raises InputError for other shapes or
    values out of range, TypeError for floats where the dtype is an integer."""
    array = to_array(values, name)
    wanted = np.dtype(dtype)
    if array.size == 0 and array.ndim == 1:
        array = array.astype(wanted)
    _check_real(array, name)
    if array.ndim != 1 or (n is not None and array.shape[0] != n):
        allowed = "(n,)" if n is None else f"({n},)"
        raise InputError(f"{name}: an array of shape {array.shape}; allowed: {allowed}")
    if wanted.kind in "iu" and array.dtype.kind == "f":
        raise WrongTypeError(f"{name}: an array of {array.dtype}; allowed: whole numbers")
    if wanted.kind == "u" and array.dtype.kind == "i" and array.size and array.min() < 0:
        raise InputError(f"{name}: {array.min()}; allowed: numbers from 0 on")
    if wanted == np.int64 and array.dtype == np.uint64 and array.size and array.max() >= 2**63:
        raise InputError(f"{name}: {array.max()}; allowed: numbers below 2^63")
    if wanted == np.float64:
        return as_float64(array, name)
    return np.ascontiguousarray(array, dtype=wanted)


def mask(values: Any, name: str, n: int) -> np.ndarray:
    """Converts an argument with one bool per point to n bytes, 1 or 0, without a copy if possible. Raises TypeError for another
    dtype, InputError for another shape."""
    array = to_array(values, name)
    if array.dtype != np.bool_:
        raise WrongTypeError(f"{name}: an array of {array.dtype}; allowed: bool, one per point")
    if array.shape != (n,):
        raise InputError(f"{name}: an array of shape {array.shape}; allowed: ({n},)")
    return np.ascontiguousarray(array).view(np.uint8)


def integer(value: Any, name: str) -> int:
    """Converts a scalar argument to an integer of 64 bits. Raises UsageError for larger ones, InputError for masked
    ones, TypeError for other types."""
    value = _unmasked(value, name)
    if isinstance(value, (bool, np.bool_)):
        raise WrongTypeError(f"{name}: {value}; allowed: a whole number")
    try:
        number = operator.index(value)
    except TypeError:
        raise WrongTypeError(f"{name}: a {type(value).__name__}; allowed: a whole number") from None
    if not -(2**63) <= number < 2**63:
        raise UsageError(f"{name}: {number}; allowed: whole numbers of 64 bits")
    return number


def flag(value: Any, name: str) -> bool:
    """Returns a scalar argument that is True or False, of Python or NumPy. Raises TypeError for others, of which "no" would be true."""
    if not isinstance(value, (bool, np.bool_)):
        raise WrongTypeError(f"{name}: {value!r}; allowed: True, False")
    return bool(value)


def whole(value: Any, name: str, least: int, most: int = 2**31 - 1) -> int:
    """Converts a scalar argument to an integer of least .. most. Raises UsageError outside, TypeError for other types."""
    number = integer(value, name)
    if not least <= number <= most:
        raise UsageError(f"{name}: {number}; allowed: from {least} to {most}")
    return number


def scalar(value: Any, name: str) -> float:
    """Converts a scalar to a float, which may be NaN. `name` is what the scalar is called in messages.

    Raises InputError for masked values and integers that float64 does not represent; TypeError for text, bytes, complex
    numbers, times and other objects, also where they are scalars or arrays of NumPy that float() would convert.
    """
    value = _unmasked(value, name)
    if _kind(value) in "iuO" and getattr(value, "ndim", None) == 0:
        return scalar(value.item(), name)
    try:
        number = _float(value)
    except (TypeError, ValueError, OverflowError):
        array = isinstance(value, np.ndarray) and _kind(value) not in "fiub"
        what = f"{value.dtype} array" if array else type(value).__name__
        raise WrongTypeError(f"{name}: a {what}; allowed: a number") from None
    return _exact(number, value, name)


def _exact(number: float, value: Any, name: str) -> float:
    """Returns the float64 nearest to a scalar. Raises InputError if the scalar is another integer."""
    try:
        integral = operator.index(value)
    except TypeError:  # no integer
        return number
    if integral != number:
        raise InputError(f"{name}: {integral} is no float64 (the nearest is {int(number)}); allowed: whole numbers "
                         "up to 2^53")
    return number


def file_path(value: Any) -> str:
    """Converts the argument `path` of a function to the text that the extension opens. Raises UsageError for names with zero bytes, at
    the first of which the system would end them, and names that are not UTF-8; TypeError for what is no path."""
    try:
        path = os.fsdecode(value)
    except TypeError:
        raise WrongTypeError(f"path: a {type(value).__name__}; allowed: a text, bytes or os.PathLike") from None
    try:
        fine = b"\0" not in path.encode()
    except UnicodeEncodeError:
        fine = False
    if not fine:
        raise UsageError(f"path: {path!r}; allowed: names in UTF-8 without zero bytes")
    return path


def number(value: Any, name: str) -> float:
    """Converts a scalar argument to a float. Raises UsageError for NaN, InputError for masked values and integers that
    float64 does not represent, TypeError for other types."""
    x = scalar(value, name)
    if x != x:
        raise UsageError(f"{name}: {x}; allowed: a number")
    return x


def parse_box(box: Any, periodic: Any, d: int) -> tuple[list[float], list[float], list[bool]]:
    """Validates the box of points in d dimensions and returns its lower corner, its extents, and a flag per axis: True if periodic.

    `box` is None or (lower, upper), each one number for all axes or one for each. The library has the upper wall of an axis at
    lower + extent, so extents are rounded up where needed for a point at exactly `upper` to lie within. Raises UsageError.
    """
    box = _unmasked(box, "box")
    flags = np.asarray(_unmasked(periodic, "periodic"))
    if flags.dtype != np.bool_ or flags.shape not in ((), (d,)):
        raise UsageError(f"periodic: {periodic!r}; allowed: True, False, or {d} of them")
    flags = np.broadcast_to(flags, (d,))
    if box is None:
        if flags.any():
            raise UsageError("periodic: an axis is, but there is no box; allowed: box=(lower, upper) with it")
        lower, extent = np.zeros(d), np.ones(d)
    else:
        try:
            below, above = box
            lower, upper = (np.broadcast_to(scalar(side, "box") if np.ndim(side) == 0 else reals(side, "box"), (d,))
                            for side in (below, above))
        except (TypeError, ValueError) as error:  # also those of this module
            raise UsageError(f"box: {box!r}; allowed: (lower, upper), each a number or {d} numbers") from error
        with np.errstate(all="ignore"):
            extent = upper - lower
            # Both are rounded: the sum may be below, and one step more is enough.
            extent = np.where(~flags & (lower + extent < upper), np.nextafter(extent, np.inf), extent)
        if not (np.isfinite(lower).all() and np.isfinite(extent).all() and (extent > 0).all()):
            raise UsageError(f"box: {box!r}; allowed: finite numbers, the upper above the lower")
    return lower.tolist(), extent.tolist(), flags.tolist()
