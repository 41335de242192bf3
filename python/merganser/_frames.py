"""Parcels as tables of other libraries: pandas, xarray, and files of Parquet. Each is imported at its first use."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from ._errors import InputError, UsageError

SITE = {"x": "m", "y": "m", "z": "m", "volume": "m^3"}
"""Units of the columns of parcels besides the id and the attributes of the schema."""


def _library(name: str, purpose: str) -> Any:
    """Imports a library by its name. Raises InputError that names the package to install if it is not there."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise InputError(f"{purpose}: the package {package} is not there; allowed: after pip install {package}") from None


def _components(parcels: Any) -> dict[str, tuple[np.ndarray, str, str]]:
    """Returns every column of numbers of parcels by its name in files, with its unit and merge rule: the id, position, volume, then
    the components of attributes. Raises UsageError if two have one name."""
    out = {"id": (parcels["id"], "1", "")}
    for name, unit in SITE.items():
        out[name] = (parcels[name], unit, "")
    for name, count, rule, names, unit in parcels.schema._core.attributes:
        values = parcels[name].reshape(len(parcels), count)
        for at in range(count):
            column = names[at] if at < len(names) else f"{name}_{at}"
            if column in out:
                raise UsageError(f"attributes: two columns would have the name {column}; allowed: names of their own")
            out[column] = (np.ascontiguousarray(values[:, at]), unit, rule)
    return out


def to_pandas(parcels: Any) -> Any:
    """Returns a pandas.DataFrame of parcels: Parcels.to_pandas()."""
    pandas = _library("pandas", "to_pandas")
    columns = _components(parcels)
    frame = pandas.DataFrame({name: values for name, (values, _, _) in columns.items()})
    frame.attrs["units"] = {name: unit for name, (_, unit, _) in columns.items() if unit}
    frame.attrs["rules"] = {name: rule for name, (_, _, rule) in columns.items() if rule}
    return frame


def to_xarray(parcels: Any) -> Any:
    """Returns an xarray.Dataset of parcels: Parcels.to_xarray()."""
    xarray = _library("xarray", "to_xarray")
    columns = {"id": ("parcel", parcels["id"], {"units": "1", "long_name": "id of the parcel"})}
    for name, unit in SITE.items():
        columns[name] = ("parcel", parcels[name], {"units": unit})
    coordinates = {name: columns.pop(name) for name in ("id", "x", "y", "z")}
    for name, count, rule, names, unit in parcels.schema._core.attributes:
        attrs = {"merge_rule": rule, **({"units": unit} if unit else {})}
        if count > 1:
            axis = f"{name}_component"
            coordinates[axis] = (axis, np.array(names or [f"{name}_{i}" for i in range(count)]))
            columns[name] = (("parcel", axis), parcels[name], attrs)
        else:
            columns[name] = ("parcel", parcels[name], attrs)
    return xarray.Dataset(columns, coordinates)


def to_parquet(parcels: Any, path: Any) -> None:
    """Writes parcels as a file of Parquet: Parcels.to_parquet()."""
    arrow = _library("pyarrow", "to_parquet")
    parquet = _library("pyarrow.parquet", "to_parquet")
    columns = _components(parcels)
    fields = [arrow.field(name, arrow.from_numpy_dtype(values.dtype), nullable=False,
                          metadata={k: v for k, v in (("units", unit), ("merge_rule", rule)) if v})
              for name, (values, unit, rule) in columns.items()]
    arrays = [arrow.array(values) for values, _, _ in columns.values()]
    table = arrow.Table.from_arrays(arrays, schema=arrow.schema(fields))
    name = os.fsdecode(path)
    output = _core.OutputFile(name)
    try:
        parquet.write_table(table, output.name)
    except OSError as error:
        raise InputError(f"{name}: cannot be written ({error})") from None
    output.commit()
