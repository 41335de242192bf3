"""Reads and writes EPIC parcel files through the Python package netCDF4."""
from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import file_path, integer, number, parse_box
from . import _core
from ._errors import InputError, UsageError, WrongTypeError
from ._missing import find_missing, parse_rule, require_present
from ._parcel_checks import COLUMNS, FILL, OWN, POSITION, check_grid, check_ids, check_parcels
from ._parcels import Parcels, Schema, _checked_cells, _given


def _netcdf() -> Any:
    """Imports netCDF4. Raises InputError if it is not installed."""
    try:
        import netCDF4
    except ImportError:
        raise InputError("parcel files: the package netCDF4 is not there; allowed: after pip install netCDF4") from None
    return netCDF4


def read_parcels(path: Any, *, time_index: int = -1, attributes: Mapping[str, str] | None = None
                 ) -> tuple[Parcels, dict[str, Any]]:
    """Reads a parcel file of EPIC (docs/parcel-files.md) into this process. Local. Needs the package netCDF4.

    A variable that `attributes` does not name causes a UserWarning. The rest of the file is not kept. Values are validated as by
    the command, with the exceptions in docs/python.md.

    Parameters
    ----------
    path
        Path of the file.
    time_index
        Time level to be read: -1 is the last.
    attributes
        Further variables over the parcels, with the rules by which they merge: {"humidity": "mean"}; "mean", "sum", "centre",
        "largest", or "drop", for variables that are not to be read. Behind a rule ",missing=skip": parcels may lack a value, which
        is NaN then; members without one do not count in a mean or sum (rules "mean_present", "sum_present" of the schema).

    Returns
    -------
    parcels : Parcels
        Parcels with the attributes of EPIC that the file has. Ids are merganser_id of the file, or else places in it (the command
        `cluster` assigns ids by content).
    record : dict
        `box` as (lower, upper), `periodic` (of the file, else EPIC's default: x and y), `min_volume_ratio` (the file's
        `min_vratio`, None if it has none; Clusterer takes both), `cells`, `time`, and `passed_over`, the names of variables over
        the parcels that were not read.

    Raises
    ------
    InputError
        For a file that cannot be read, naming the first invalid parcel by its place.
    """
    name = file_path(path)
    time_index = integer(time_index, "time_index")
    if attributes is not None and not isinstance(attributes, Mapping):
        raise WrongTypeError(f"attributes: a {type(attributes).__name__}; allowed: a dict of rules by name")
    library = _netcdf()
    _core.check_self_contained(name)
    try:
        plain = os.path.isabs(name) and "//" not in name
        file = library.Dataset(name if plain else os.path.realpath(name))  # else netCDF4 may take it for an address
    except OSError as error:
        raise InputError(f"{name}: {error}; allowed: a parcel file of EPIC") from None
    with file:
        try:
            return _read(file, name, time_index, dict(attributes or {}))
        except (RuntimeError, IndexError) as error:
            raise InputError(f"{name}: cannot be read: {error}") from None


def _read(file: Any, name: str, time_index: int, rules: dict[str, str]) -> tuple[Parcels, dict[str, Any]]:
    """Reads parcels and record from an open parcel file of EPIC. `rules` are the attributes of read_parcels(), merge rules by
    variable. Warns of variables over the parcels that are passed over. Raises InputError for invalid contents."""
    file.set_auto_maskandscale(False)
    if "n_parcels" not in file.dimensions:
        raise InputError(f"{name}: no dimension n_parcels; allowed: a parcel file of EPIC")
    n = len(file.dimensions["n_parcels"])
    record = _read_record(file, name, time_index)
    known, chosen, skips = _epic_attributes(file, name), {}, {}
    others = [v.name for v in file.variables.values() if "n_parcels" in v.dimensions and v.name not in OWN]
    for variable, rule in rules.items():
        merges, skips[variable] = parse_rule(variable, rule)
        if variable not in others:
            raise UsageError(f"attributes: {variable}; allowed: of {name} {', '.join(others) or 'none'}")
        if merges is not None:
            chosen[variable] = merges
    record["passed_over"] = [variable for variable in others if variable not in chosen]
    silent = [variable for variable in others if variable not in rules]
    if silent:
        warnings.warn(f"{name}: variables over the parcels that are passed over: {', '.join(silent)}; attributes= takes them, "
                      "with a rule, or drops them", UserWarning, stacklevel=3)
    parcels = Parcels(Schema.epic() if not chosen and len(known) == len(COLUMNS) else Schema({**known, **chosen}), n)
    parcels["position"] = np.stack([_read_column(file, name, v, n, time_index) for v in POSITION], axis=1)
    parcels["volume"] = _read_column(file, name, "volume", n, time_index)
    for attribute in known:
        columns = [_read_column(file, name, v, n, time_index) for v in COLUMNS[attribute]]
        parcels[attribute] = columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
    for variable, rule in chosen.items():
        parcels[variable] = _read_attribute(file, name, variable, n, time_index, skips[variable])
    if "merganser_id" in file.variables:
        ids = _read_column(file, name, "merganser_id", n, time_index, np.int64)
        check_ids(name, ids)
        parcels["id"] = ids
    check_parcels(name, parcels, record["box"], record["periodic"])
    return parcels, record


def _epic_attributes(file: Any, name: str) -> dict[str, Any]:
    """Returns the attributes of EPIC's parcels that a file has, with their merge rules. Raises InputError if it has one in part."""
    known = {}
    for attribute, rule in Schema.epic().attributes.items():
        there = [variable in file.variables for variable in COLUMNS[attribute]]
        if attribute == "B" or all(there):
            known[attribute] = rule
        elif any(there):
            missing = COLUMNS[attribute][there.index(False)]
            raise InputError(f"{name}: no variable {missing}, beside others of {attribute}; allowed: all or none")
    return known


def _read_column(file: Any, name: str, variable: str, n: int, time_index: int, dtype: Any = np.float64) -> np.ndarray:
    """Reads one of EPIC's variables over the parcels. Raises InputError if it is of another type or shape, packed, or lacks
    values."""
    if variable not in file.variables:
        raise InputError(f"{name}: no variable {variable}; allowed: a parcel file of EPIC, which has one")
    found = file.variables[variable]
    if found.dtype.newbyteorder("=") != dtype:
        raise InputError(f"{name}: {variable} has type {found.dtype}; allowed: {np.dtype(dtype)}")
    values = _read_level(found, name, n, time_index)
    require_present(name, variable, *find_missing(name, found, values), "a value for every parcel")
    return np.ascontiguousarray(values, dtype=dtype)  # little-endian too


def _read_level(found: Any, name: str, n: int, time_index: int) -> np.ndarray:
    """Reads a time level of a variable over the parcels as stored. Raises InputError if it is packed or not over (t, n_parcels) or
    (n_parcels)."""
    for attribute, neutral in (("scale_factor", 1), ("add_offset", 0)):
        if attribute in found.ncattrs() and np.any(found.getncattr(attribute) != neutral):
            raise InputError(f"{name}: {found.name} is packed: {attribute} = {found.getncattr(attribute)}; allowed: values as "
                             'they are, as "ncpdq --unpack" makes them')
    if str(getattr(found, "_Unsigned", "")).lower() == "true":
        raise InputError(f"{name}: {found.name} has an attribute _Unsigned, so that its values are not what its type says; allowed: "
                         "values of an unsigned type")
    if found.ndim not in (1, 2) or found.shape[-1] != n or found.dimensions[-1] != "n_parcels":
        raise InputError(f"{name}: {found.name} has shape {found.shape} over {found.dimensions}; allowed: (t, n_parcels) or "
                         f"(n_parcels), of length {n}")
    if found.ndim == 2 and not -found.shape[0] <= time_index < found.shape[0]:
        if n == 0:
            return np.zeros(0, dtype=found.dtype)
        raise InputError(f"{name}: {found.name} has {found.shape[0]} time levels; allowed: time_index within them, not {time_index}")
    return np.asarray(found[time_index] if found.ndim == 2 else found[:])


def _read_attribute(file: Any, name: str, variable: str, n: int, time_index: int, skip: bool) -> np.ndarray:
    """Reads a variable over the parcels that is not EPIC's as float64, with NaN for missing values if `skip` accepts them.

    Raises InputError for missing values without `skip`, and for integers that float64 does not represent.
    """
    found = file.variables[variable]
    if not isinstance(found.dtype, np.dtype) or found.dtype.kind not in "iuf":
        raise InputError(f"{name}: {variable} has type {found.dtype}; allowed: numbers")
    exact = _read_level(found, name, n, time_index)
    missing, why = find_missing(name, found, exact)
    if not skip:
        require_present(name, variable, missing, why, "a value for every parcel, or a rule with missing=skip")
    exact = np.where(missing, exact.dtype.type(0), exact)
    if exact.dtype.kind in "iu" and n and max(abs(int(exact.min())), abs(int(exact.max()))) > 2**53:
        raise InputError(f"{name}: {variable} has numbers beyond 2^53; allowed: those below, which float64 holds")
    values = exact.astype(np.float64)
    values[missing] = np.nan
    return values


def _read_record(file: Any, name: str, time_index: int) -> dict[str, Any]:
    """Reads the record of a parcel file from its global attributes: box, periodic axes, cells, min_volume_ratio, time. Raises
    InputError for invalid ones."""
    attributes = {}
    for group in (*file.groups.values(), file):
        attributes.update({key: group.getncattr(key) for key in group.ncattrs()})
    given = {}
    for key in ("origin", "extent", "ncells", "periodic"):
        if key not in attributes and key != "periodic":
            raise InputError(f"{name}: no global attribute {key}; allowed: a parcel file of EPIC, which has one")
        values = np.atleast_1d(attributes.get(key, (1, 1, 0)))
        if values.shape != (3,) or values.dtype.kind not in "iuf":
            raise InputError(f"{name}: the global attribute {key} is {attributes[key]!r}; allowed: 3 numbers")
        given[key] = values.astype(np.float64)
    if not np.isin(given["periodic"], (0, 1)).all():
        raise InputError(f"{name}: the global attribute periodic is {attributes['periodic']!r}; allowed: 3 times 0 or 1")
    check_grid(name, given["origin"], given["extent"], given["ncells"])
    record: dict[str, Any] = {"box": (given["origin"].tolist(), (given["origin"] + given["extent"]).tolist()),
                              "periodic": (given["periodic"] != 0).tolist(), "cells": given["ncells"].astype(int).tolist(),
                              "min_volume_ratio": _read_ratio(attributes, name)}
    if "t" in file.variables and file.variables["t"].ndim == 1 and len(file.variables["t"]):
        levels = len(file.variables["t"])
        if not -levels <= time_index < levels:
            raise InputError(f"{name}: {levels} time levels; allowed: time_index from {-levels} to {levels - 1}, not {time_index}")
        record["time"] = float(file.variables["t"][time_index])
        missing, why = find_missing(name, file.variables["t"], np.atleast_1d(np.asarray(file.variables["t"][time_index])))
        if missing.any() or not np.isfinite(record["time"]):
            raise InputError(f'{name}: variable "t": level {time_index} is {record["time"]}, missing ({why}); allowed: finite '
                             "numbers")
    return record


def _read_ratio(attributes: dict[str, Any], name: str) -> float | None:
    """Returns the attribute min_vratio of a parcel file, cell volume / smallest volume that is not small; None if the file has
    none. Raises InputError unless it is a number above 0."""
    if "min_vratio" not in attributes:
        return None
    value = np.atleast_1d(attributes["min_vratio"])
    if value.shape != (1,) or value.dtype.kind not in "iuf" or not 0 < value[0] < np.inf:
        raise InputError(f"{name}: the global attribute min_vratio is {attributes['min_vratio']!r}; allowed: a number above 0")
    return float(value[0])


def write_parcels(path: Any, parcels: Parcels, *, box: Any, cells: Any, time: float = 0.0,
                  periodic: Any = (True, True, False), min_volume_ratio: float | None = None) -> None:
    """Writes this process's parcels and their ids as a file of EPIC, which appears whole or not at all. Local. Needs the package
    netCDF4.

    Attributes of other names are written as variables of these names (several components: name_0, name_1, ...). Parcels are
    validated as by read_parcels(): on axes that are not `periodic` they must lie within the box.

    Parameters
    ----------
    path
        Path of the file.
    parcels
        Parcels with the attribute B of EPIC.
    box
        (lower, upper), each a number or one per axis.
    cells
        Cells of the grid, a number or one per axis.
    time
        Time of the one time level.
    periodic
        True, False or one per axis.
    min_volume_ratio
        Cell volume / smallest volume that is not small, written as `min_vratio`; None: not written.

    Raises
    ------
    InputError
        For invalid parcels and a file that cannot be written.
    UsageError
        For invalid arguments.
    """
    from . import __version__, _core

    if not isinstance(parcels, Parcels):
        raise WrongTypeError(f"parcels: a {type(parcels).__name__}; allowed: merganser.Parcels")
    if parcels.schema.attributes.get("B") != ("ellipsoid", 5):
        raise UsageError("parcels: no attribute B; allowed: those of EPIC, whose parcels are ellipsoids")
    lower, extent, flags = parse_box(_given(box), periodic, 3)
    upper = (np.asarray(lower) + np.asarray(extent)).tolist()
    numbers = _checked_cells(cells)
    name = file_path(path)
    columns = _variable_names(parcels.schema)
    check_grid(name, lower, extent, numbers)
    check_ids(name, parcels["id"])
    check_parcels(name, parcels, (lower, upper), flags)
    if not np.isfinite(number(time, "time")):
        raise UsageError(f"time: {time}; allowed: a finite number")
    if min_volume_ratio is not None and not 0 < number(min_volume_ratio, "min_volume_ratio") < np.inf:
        raise UsageError(f"min_volume_ratio: {min_volume_ratio!r}; allowed: None, or a number above 0")
    output = _core.OutputFile(name)
    try:
        with _netcdf().Dataset(output.name, "w", format="NETCDF4") as file:
            file.setncatts({"merganser_version": __version__, "file_type": "parcels", "Conventions": "CF-1.9",
                            "ncells": np.asarray(numbers, dtype=np.int32), "origin": np.asarray(lower),
                            "extent": np.asarray(extent), "periodic": np.asarray(flags, dtype=np.int32)})
            if min_volume_ratio is not None:
                file.setncattr("min_vratio", float(min_volume_ratio))
            _write(file, parcels, columns, number(time, "time"))
    except (OSError, RuntimeError) as error:
        raise InputError(f"{name}: cannot be written ({error})") from None
    output.commit()


def _variable_names(schema: Schema) -> dict[str, tuple[str, ...]]:
    """Returns the names of a parcel file's variables for each attribute of a schema. Raises UsageError if two are equal."""
    names = {}
    for attribute, (_, components) in schema.attributes.items():
        if attribute in COLUMNS:
            if len(COLUMNS[attribute]) != components:
                raise UsageError(f"parcels: {attribute} with {components} components; allowed: {len(COLUMNS[attribute])}, as EPIC")
            names[attribute] = COLUMNS[attribute]
        else:
            names[attribute] = (attribute,) if components == 1 else tuple(f"{attribute}_{i}" for i in range(components))
    seen = {*POSITION, "volume", "merganser_id", "t", "n_parcels"}
    for variable in (v for some in names.values() for v in some):
        if variable in seen:
            raise UsageError(f"parcels: two variables of the name {variable}; allowed: each once in a file")
        seen.add(variable)
    return names


def _write(file: Any, parcels: Parcels, columns: dict[str, tuple[str, ...]], time: float) -> None:
    """Writes dimensions, time and variables of parcels to an open NetCDF file; NaN of a missing value becomes the fill value.

    `columns`: names of the variables of each attribute.
    """
    file.createDimension("n_parcels", len(parcels))
    file.createDimension("t", None)
    clock = file.createVariable("t", "f8", ("t",))
    clock.setncatts({"units": "s", "long_name": "time", "axis": "T"})
    clock[0] = time

    def write_column(variable: str, values: np.ndarray, kind: str = "f8") -> None:
        """Writes one value per parcel as a variable over (t, n_parcels) with one time level."""
        file.createVariable(variable, kind, ("t", "n_parcels"))[0, :] = values

    for axis, variable in enumerate(POSITION):
        write_column(variable, parcels["position"][:, axis])
    write_column("volume", parcels["volume"])
    write_column("merganser_id", parcels["id"], "i8")
    for attribute, names in columns.items():
        values = parcels[attribute].reshape(len(parcels), len(names))
        skips = parcels.schema.attributes[attribute][0] not in ("mean", "sum", "ellipsoid")
        for column, variable in enumerate(names):
            write_column(variable, np.where(np.isnan(values[:, column]), FILL, values[:, column]) if skips else values[:, column])
