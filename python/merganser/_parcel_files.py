"""EPIC's parcel files, read and written by the Python package netCDF4."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._arrays import box_of
from ._errors import InputError, UsageError
from ._parcels import Parcels, Schema

_POSITION = ("x_position", "y_position", "z_position")
_COLUMNS = {
    "vorticity": ("x_vorticity", "y_vorticity", "z_vorticity"),
    "buoyancy": ("buoyancy",),
    "B": ("B11", "B12", "B13", "B22", "B23"),
}


def _netcdf() -> Any:
    try:
        import netCDF4
    except ImportError:
        raise InputError("parcel files: the package netCDF4 is not there; allowed: after pip install netCDF4") from None
    return netCDF4


def read_parcels(path: Any, *, time_index: int = -1) -> tuple[Parcels, dict[str, Any]]:
    """Reads a parcel file of EPIC (docs/parcel-files.md) into this process.

    Gives the parcels, with the attributes of EPIC that the file has, and a record: `box` as (lower, upper), `cells`, `time`.
    Ids are merganser_id of the file, or else places in it. Needs the package netCDF4.
    """
    name = os.fspath(path)
    try:
        file = _netcdf().Dataset(name)
    except OSError as error:
        raise InputError(f"{name}: {error}; allowed: a parcel file of EPIC") from None
    with file:
        for needed in (*_POSITION, "volume", *_COLUMNS["B"]):
            if needed not in file.variables:
                raise InputError(f"{name}: no variable {needed}; allowed: a parcel file of EPIC, which has one")
        n = len(file.dimensions["n_parcels"])
        schema = Schema.epic()
        known = {a: rule for a, rule in schema.attributes.items() if all(c in file.variables for c in _COLUMNS[a])}
        if set(known) != set(schema.attributes):
            schema = Schema(known)
        parcels = Parcels(schema, n)
        parcels["position"] = np.stack([_values(file, name, v, n, time_index) for v in _POSITION], axis=1)
        parcels["volume"] = _values(file, name, "volume", n, time_index)
        for attribute in known:
            columns = [_values(file, name, v, n, time_index) for v in _COLUMNS[attribute]]
            parcels[attribute] = columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
        if "merganser_id" in file.variables:
            parcels["id"] = np.asarray(file.variables["merganser_id"][..., :]).reshape(-1)[-n:] if n else []
        if n and not (parcels["volume"] > 0).all():
            raise InputError(f"{name}: a volume of {parcels['volume'].min()}; allowed: above 0")
        return parcels, _heading(file, time_index)


def _values(file: Any, name: str, variable: str, n: int, time_index: int) -> np.ndarray:
    found = file.variables[variable]
    values = np.ma.asarray(found[time_index] if found.ndim == 2 else found[:])
    if values.shape != (n,) or np.ma.is_masked(values):
        raise InputError(f"{name}: {variable} has shape {values.shape} or lacks values; allowed: ({n},), all there")
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError(f"{name}: {variable} is not finite for parcel {int(np.argmin(np.isfinite(array)))}")
    return array


def _heading(file: Any, time_index: int) -> dict[str, Any]:
    record: dict[str, Any] = {}
    attributes = {key: file.getncattr(key) for key in file.ncattrs()}
    for group in file.groups.values():
        attributes.update({key: group.getncattr(key) for key in group.ncattrs()})
    if "origin" in attributes and "extent" in attributes:
        lower = np.asarray(attributes["origin"], dtype=float)
        record["box"] = (lower.tolist(), (lower + np.asarray(attributes["extent"], dtype=float)).tolist())
    if "ncells" in attributes:
        record["cells"] = [int(c) for c in np.atleast_1d(attributes["ncells"])]
    if "t" in file.variables and len(file.variables["t"]):
        record["time"] = float(file.variables["t"][time_index])
    return record


def write_parcels(path: Any, parcels: Parcels, *, box: Any, cells: Any, time: float = 0.0) -> None:
    """Writes parcels as a file of EPIC, with their ids. The file appears whole or not at all. Needs the package netCDF4.

    Attributes of other names are written as variables of these names (several components: name_0, name_1, ...).
    """
    from . import __version__

    if not isinstance(parcels, Parcels):
        raise TypeError(f"parcels: a {type(parcels).__name__}; allowed: merganser.Parcels")
    if "B" not in parcels.schema.attributes:
        raise UsageError("parcels: no attribute B; allowed: those of EPIC, whose parcels are ellipsoids")
    lower, extent, _ = box_of(box, False, 3)
    name = os.fspath(path)
    beside = f"{name}.{os.getpid()}.tmp"
    try:
        with _netcdf().Dataset(beside, "w", format="NETCDF4") as file:
            _write(file, parcels, lower, extent, cells, time, __version__)
        os.replace(beside, name)
    except OSError as error:
        raise InputError(f"{name}: cannot be written ({error})") from None
    finally:
        if os.path.exists(beside):
            os.remove(beside)


def _write(file: Any, parcels: Parcels, lower: Any, extent: Any, cells: Any, time: float, version: str) -> None:
    file.createDimension("n_parcels", len(parcels))
    file.createDimension("t", None)
    file.setncatts({"merganser_version": version, "file_type": "parcels", "Conventions": "CF-1.9",
                    "ncells": np.asarray(np.broadcast_to(cells, (3,)), dtype=np.int32), "origin": np.asarray(lower),
                    "extent": np.asarray(extent)})
    file.createVariable("t", "f8", ("t",))[0] = time

    def put(variable: str, values: np.ndarray, kind: str = "f8") -> None:
        file.createVariable(variable, kind, ("t", "n_parcels"))[0, :] = values

    for axis, variable in enumerate(_POSITION):
        put(variable, parcels["position"][:, axis])
    put("volume", parcels["volume"])
    put("merganser_id", parcels["id"], "i8")
    for attribute, (_, components) in parcels.schema.attributes.items():
        names = _COLUMNS.get(attribute, (attribute,) if components == 1 else
                             tuple(f"{attribute}_{i}" for i in range(components)))
        values = parcels[attribute].reshape(len(parcels), components)
        for column, variable in enumerate(names):
            put(variable, values[:, column])
