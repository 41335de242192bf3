"""Pickles of schemas and parcels, whose data lie in the library's memory."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core


def reduce_schema(self: Any) -> tuple[Any, ...]:
    """Returns function and arguments from which pickle makes the schema again."""
    return _schema, (type(self), [tuple(attribute) for attribute in self._core.attributes])


def reduce_parcels(self: Any) -> tuple[Any, ...]:
    """Returns function and arguments from which pickle makes this process's parcels again: the schema and all columns."""
    return _parcels, (type(self), self.schema, self.to_dict())


def _schema(kind: type, attributes: list[Any]) -> Any:
    """Returns the schema of a pickle."""
    schema = kind.__new__(kind)
    schema._core = _core.SchemaFound(attributes)
    return schema


def _parcels(kind: type, schema: Any, columns: dict[str, np.ndarray]) -> Any:
    """Returns the parcels of a pickle, in this process."""
    parcels = kind(schema, len(columns["id"]))
    for name, values in columns.items():
        parcels[name] = values
    return parcels
