"""Brings what callers give into the arrays that the extension reads: in place where that can be, else by one copy."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ._errors import InputError, UsageError


def _array(values: Any, name: str) -> np.ndarray:
    """Any array: NumPy's, what has `__array__` or `__dlpack__` on the CPU, or nested sequences."""
    if type(values) is np.ndarray:
        return values
    if not isinstance(values, np.ndarray) and not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
        device = values.__dlpack_device__()[0]
        if int(device) != 1:
            raise TypeError(f"{name}: an array on device {int(device)} of DLPack; allowed: 1, the CPU")
        return np.from_dlpack(values)
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            raise InputError(f"{name}: an array with masked values; allowed: arrays without")
        values = values.data
    if hasattr(values, "tocsr") and not hasattr(values, "__array__"):
        raise TypeError(f"{name}: a sparse {type(values).__name__}; allowed: dense arrays")
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{name}: a {type(values).__name__} that is no array of numbers ({error})") from None


def _check_real(array: np.ndarray, name: str) -> None:
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: an array of {array.dtype}; allowed: real numbers")


def rows(values: Any, name: str) -> np.ndarray:
    """Float64 numbers, (n, d) with d at least 1, C-ordered: in place if that is what they are."""
    array = _array(values, name)
    _check_real(array, name)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(f"{name}: an array of shape {array.shape}; allowed: (n, d), d coordinates of each of n points")
    return np.ascontiguousarray(array, dtype=np.float64)


def line(values: Any, name: str, dtype: Any, n: int | None = None) -> np.ndarray:
    """Numbers of a dtype in one dimension, C-ordered; whole numbers only for those of whole numbers."""
    array = _array(values, name)
    wanted = np.dtype(dtype)
    if array.size == 0 and array.ndim == 1:
        array = array.astype(wanted)
    _check_real(array, name)
    if array.ndim != 1 or (n is not None and array.shape[0] != n):
        allowed = "(n,)" if n is None else f"({n},)"
        raise InputError(f"{name}: an array of shape {array.shape}; allowed: {allowed}")
    if wanted.kind in "iu" and array.dtype.kind == "f":
        raise TypeError(f"{name}: an array of {array.dtype}; allowed: whole numbers")
    if wanted.kind == "u" and array.dtype.kind == "i" and array.size and array.min() < 0:
        raise InputError(f"{name}: {array.min()}; allowed: numbers from 0 on")
    if wanted == np.int64 and array.dtype == np.uint64 and array.size and array.max() >= 2**63:
        raise InputError(f"{name}: {array.max()}; allowed: numbers below 2^63")
    return np.ascontiguousarray(array, dtype=wanted)


def mask(values: Any, name: str, n: int) -> np.ndarray:
    """A byte per point: 1 or 0."""
    array = _array(values, name)
    if array.dtype != np.bool_:
        raise TypeError(f"{name}: an array of {array.dtype}; allowed: bool, one per point")
    if array.shape != (n,):
        raise InputError(f"{name}: an array of shape {array.shape}; allowed: ({n},)")
    return np.ascontiguousarray(array).view(np.uint8)


def whole(value: Any, name: str, least: int, most: int = 2**31 - 1) -> int:
    """A whole number in a range."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: {value}; allowed: a whole number")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: a {type(value).__name__}; allowed: a whole number") from None
    if not least <= number <= most:
        raise UsageError(f"{name}: {number}; allowed: from {least} to {most}")
    return number


def number(value: Any, name: str) -> float:
    """A real number that is not NaN."""
    if isinstance(value, (str, bytes, complex)):
        raise TypeError(f"{name}: a {type(value).__name__}; allowed: a number")
    try:
        x = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: a {type(value).__name__}; allowed: a number") from None
    if x != x:
        raise UsageError(f"{name}: {x}; allowed: a number")
    return x


def box_of(box: Any, periodic: Any, d: int) -> tuple[list[float], list[float], list[bool]]:
    """Lower corner and extent of a box of d axes, and which of them are periodic.

    `box` is None or (lower, upper), each one number for all axes or one for each.
    """
    flags = np.asarray(periodic)
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
            lower = np.broadcast_to(np.asarray(below, dtype=np.float64), (d,))
            upper = np.broadcast_to(np.asarray(above, dtype=np.float64), (d,))
        except (TypeError, ValueError):
            raise UsageError(f"box: {box!r}; allowed: (lower, upper), each a number or {d} numbers") from None
        with np.errstate(all="ignore"):
            extent = upper - lower
        if not (np.isfinite(lower).all() and np.isfinite(extent).all() and (extent > 0).all()):
            raise UsageError(f"box: {box!r}; allowed: finite numbers, the upper above the lower")
    return lower.tolist(), extent.tolist(), flags.tolist()
