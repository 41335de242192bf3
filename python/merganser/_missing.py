"""Missing values of a NetCDF variable, by the library's rule (docs/parcel-files.md)."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._errors import InputError, UsageError

_TYPES = {"i1": 1, "i2": 3, "i4": 4, "f4": 5, "f8": 6, "u1": 7, "u2": 8, "u4": 9, "i8": 10, "u8": 11}
"""NetCDF's numbers of its types, by NumPy's codes."""
_TEXT = 2
"""NetCDF's number of the type of text."""
RULES = ("mean", "sum", "centre", "largest", "drop")
"""Names of the merge rules of parcel attributes in files: those of the command cluster, and, without drop, of a schema."""


def parse_rule(variable: str, text: str) -> tuple[str | None, bool]:
    """Parses the merge rule of a variable in a parcel file, such as "mean" or "mean,missing=skip". Returns the schema's rule (None:
    drop), and True if parcels may lack a value. Raises UsageError."""
    rule, _, more = text.partition(",") if isinstance(text, str) else (text, "", "")
    if rule not in RULES or more not in ("", "missing=skip", "missing=refuse") or (more and rule == "drop"):
        raise UsageError(f"attributes: {variable}: {text!r}; allowed: {', '.join(RULES)}, and behind one that merges "
                         "\",missing=skip\" or \",missing=refuse\"")
    skip = more == "missing=skip"
    if rule == "drop":
        return None, skip
    return (f"{rule}_present" if skip and rule in ("mean", "sum") else rule), skip


def _native(values: Any) -> tuple[int, int, bytes] | None:
    """Returns number of the NetCDF type, count and bytes of a NetCDF attribute; None if it is neither numeric nor text."""
    if isinstance(values, str):
        return _TEXT, len(values.encode()), values.encode()
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind not in "iuf" or array.dtype.str[1:] not in _TYPES:
        return (_TEXT, array.size, b"") if array.dtype.kind in "OUS" else None
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    return _TYPES[array.dtype.str[1:]], array.size, array.tobytes()


def find_missing(where: str, variable: Any, values: np.ndarray) -> tuple[np.ndarray, str]:
    """Classifies values of a NetCDF variable, as stored in the file. Returns a mask, True where missing, and the reason of the
    first.

    Raises InputError if the attributes of the variable do not define missing values. `where` begins the message.
    """
    attributes = []
    for name in ("_FillValue", "missing_value", "valid_range", "valid_min", "valid_max", "scale_factor", "add_offset",
                 "_Unsigned"):
        native = _native(variable.getncattr(name)) if name in variable.ncattrs() else None
        if native is not None:
            attributes.append((name, *native))
    array = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    try:
        mask, why = _core.find_missing(variable.name, _TYPES[array.dtype.str[1:]], array.size, array.tobytes(),
                                        attributes)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return np.frombuffer(mask, dtype=np.uint8).astype(bool), why


def require_present(where: str, name: str, missing: np.ndarray, why: str, allowed: str) -> None:
    """Raises InputError if values of a parcel file's variable are missing: if the mask `missing` is True anywhere. The message has
    their number, the first parcel, and the reason `why`."""
    if missing.any():
        count, first = int(missing.sum()), int(np.argmax(missing))
        words = "values is missing, of parcel" if count == 1 else "values are missing, the first of parcel"
        raise InputError(f'{where}: variable "{name}": {count} of {len(missing)} {words} {first} ({why}); allowed: {allowed}')
