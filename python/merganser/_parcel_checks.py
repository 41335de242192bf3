"""Validation of EPIC parcel files on NumPy arrays, by the rules of the library's reader (docs/parcel-files.md)."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._errors import InputError

POSITION = ("x_position", "y_position", "z_position")
"""Variables of EPIC's parcel files with the positions, by axis."""
COLUMNS = {
    "vorticity": ("x_vorticity", "y_vorticity", "z_vorticity"),
    "buoyancy": ("buoyancy",),
    "B": ("B11", "B12", "B13", "B22", "B23"),
}
"""Variables of EPIC's parcel files with the components of each attribute."""
OWN = {*POSITION, "volume", "merganser_id", *(name for names in COLUMNS.values() for name in names)}
"""Variables over the parcels that read_parcels() reads without being named by `attributes`."""
FILL = 9.969209968386869e36
"""NetCDF's fill value of doubles."""
_LENGTH = (1e-40, 1e40)  # range of the extents of a grid; the upper end bounds coordinates of its origin too
_VOLUME = (1e-120, 1e120)  # range of parcel volumes
_SHAPE = (1e-200, 1e80)  # range of diagonal elements of an ellipsoid's matrix B
_MIN_MINOR = 1e-14  # of B11 B22: a minor below lies in the last digits of the stored elements
_MOST = 1e100  # greatest magnitude of an attribute that merges by mean or sum


def check_grid(where: str, lower: Any, extent: Any, cells: Any) -> None:
    """Validates origin, extents and numbers of cells of the grid of a parcel file. Raises InputError; `where` begins the
    message."""
    for name, values, least in (("extent", extent, _LENGTH[0]), ("origin", lower, -_LENGTH[1])):
        for value in values:
            if not least <= value <= _LENGTH[1]:
                raise InputError(f"{where}: {name} {value}; allowed: {least} to {_LENGTH[1]}")
    if any(not 1 <= c <= 2.0**53 or c != int(c) for c in cells):
        raise InputError(f"{where}: ncells {list(cells)}; allowed: whole numbers from 1 on")
    _core.check_grid(f"{where}: ncells, origin and extent", [float(x) for x in lower], [float(x) for x in extent],
                     [int(c) for c in cells])


def check_parcels(where: str, parcels: Any, box: Any, periodic: Any) -> None:
    """Validates positions, volumes and attributes of the parcels of a file. Raises InputError naming the first invalid parcel by
    its place. On axes that are not periodic, positions must lie within the box."""
    lower, upper = box
    columns = {name: parcels["position"][:, axis] for axis, name in enumerate(POSITION)}
    for axis, (name, x) in enumerate(columns.items()):
        _check_all(where, name, x, np.isfinite(x), "finite numbers")
        if not periodic[axis]:
            _check_all(where, name, x, (x >= lower[axis]) & (x <= upper[axis]),
                 f"{lower[axis]} to {upper[axis]}, within the walls")
    volume = parcels["volume"]
    _check_range(where, "volume", volume, *_VOLUME)
    for attribute, (rule, components) in parcels.schema.attributes.items():
        if rule == "ellipsoid":
            _check_shape(where, parcels[attribute], volume)
        elif rule in ("mean", "sum", "mean_present", "sum_present"):
            values = parcels[attribute].reshape(len(volume), components)
            for i in range(components):
                names = COLUMNS.get(attribute, (attribute,) if components == 1 else ())
                column = values[:, i]
                if rule.endswith("_present"):  # NaN stands for a missing value
                    column = np.where(np.isnan(column), 0.0, column)
                _check_range(where, names[i] if names else f"{attribute}_{i}", column, -_MOST, _MOST)


def check_ids(where: str, ids: np.ndarray) -> None:
    """Validates that the ids of the parcels of a file are at least 0 and distinct. Raises InputError naming the first that are
    not."""
    _check_all(where, "merganser_id", ids, ids >= 0, "0 and above")
    ordered = np.sort(ids)
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(same):
        first, second = np.flatnonzero(ids == ordered[same[0]])[:2]
        raise InputError(f"{where}: parcels {first} and {second} have the same id, {ordered[same[0]]}; allowed: each once")


def _check_shape(where: str, b: np.ndarray, volume: np.ndarray) -> None:
    """Validates that the shape matrices B of ellipsoidal parcels, (n, 5), are positive definite and that B33, which follows from
    the volume, can be recovered. Raises InputError naming the first invalid parcel."""
    b11, b12, b13, b22, b23 = b.T
    for name, values in zip(COLUMNS["B"], b.T):
        _check_range(where, name, values, -_SHAPE[1], _SHAPE[1])
    with np.errstate(all="ignore"):
        square, minor = b11 * b22, b11 * b22 - b12 * b12
        product = (0.75 / np.pi) * volume
        counted = np.maximum(minor, _MIN_MINOR * square)
        unsure = ((b11 * b23 - b12 * b13) ** 2 / b11 + product * product) / counted
        longest = np.maximum(np.maximum(b11, b22), b13 / b11 * b13)
        fine = (minor > _MIN_MINOR * square) | ((minor > -_MIN_MINOR * square) & (unsure <= 1e-12 * longest))
        _check_all(where, "B11 B22 - B12^2", minor, (b11 > 0) & (b22 > 0) & fine,
             "positive, as B11 and B22 are, by more than its rounding unless the ellipsoid is a needle: this one is singular")
        b33 = b13 / b11 * b13 + unsure
    for name, values in (("B11", b11), ("B22", b22), ("B33, which follows from the others,", b33)):
        _check_range(where, name, values, *_SHAPE)


def _check_range(where: str, name: str, values: np.ndarray, least: float, most: float) -> None:
    """Raises InputError for the first parcel whose value of the variable `name` is outside least .. most."""
    _check_all(where, name, values, (values >= least) & (values <= most), f"{least} to {most}")


def _check_all(where: str, name: str, values: np.ndarray, fine: np.ndarray, allowed: str) -> None:
    """Raises InputError for the first parcel whose entry of the mask `fine` is False, or whose value of the variable `name` is
    NetCDF's fill value."""
    if values.dtype.kind == "f" and (values == FILL).any():
        first = int(np.argmax(values == FILL))
        raise InputError(f"{where}: parcel {first}: {name} is {FILL}; allowed: any number but NetCDF's fill value, which means "
                         "missing")
    if not fine.all():
        first = int(np.argmin(fine))
        raise InputError(f"{where}: parcel {first}: {name} is {values[first]}; allowed: {allowed}")
