"""Schema of parcels: their attributes and how these merge."""
from __future__ import annotations

from typing import Any, Mapping

from . import _core
from ._arrays import whole
from ._errors import WrongTypeError
from ._pickles import reduce_schema


class Schema:
    """Schema: the attributes of a parcel besides position and volume, each with the rule by which it merges.

        Schema({"salt": "mean", "colour": ("largest", 3)})

    Each attribute has a rule, or (rule, components): "mean" (weighted by volume), "sum", "centre", "largest",
    "mean_present" and "sum_present" (of the members whose value is not NaN), or "ellipsoid" (5 components: B11 B12 B13 B22 B23).
    """

    def __init__(self, attributes: dict[str, Any]):
        if not isinstance(attributes, Mapping):
            raise WrongTypeError(f"attributes: a {type(attributes).__name__}; allowed: a dict of rules by name")
        given = []
        for name, what in attributes.items():
            if isinstance(what, str):
                what = what, 5 if what == "ellipsoid" else 1
            if not isinstance(name, str) or not isinstance(what, (tuple, list)) or len(what) != 2 or not isinstance(what[0], str):
                raise WrongTypeError(f"attributes: {name!r}: {what!r}; allowed: 'NAME': 'RULE', or 'NAME': ('RULE', components)")
            rule, components = what
            components = whole(components, name, 1, 1 << 20)
            names = [name] if components == 1 else [f"{name}_{i}" for i in range(components)]
            given.append((name, components, rule, names, ""))
        self._core = _core.SchemaFound(given)

    @classmethod
    def epic(cls) -> Schema:
        """Returns the schema of EPIC's parcels: vorticity (3 components, mean), buoyancy (1, mean), B (5, ellipsoid)."""
        self = cls.__new__(cls)
        self._core = _core.SchemaFound.epic()
        return self

    @property
    def attributes(self) -> dict[str, tuple[str, int]]:
        """Merge rule and number of components of each attribute by name, in the order of a parcel's row."""
        return {name: (rule, components) for name, components, rule, _, _ in self._core.attributes}

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Schema) and self._core == other._core

    __hash__ = None
    __reduce__ = reduce_schema

    def __repr__(self) -> str:
        return f"Schema({self.attributes!r})"
