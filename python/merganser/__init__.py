"""merganser: exact trees, clusters and stars of points, on one process or on many ranks, with the same bits everywhere.

    forest = merganser.euclidean_tree(points, min_samples=10)
    labels = merganser.hdbscan(forest, min_cluster_size=20).labels

See docs/python.md.
"""
from __future__ import annotations

import atexit as _atexit

from . import _core
from ._core import __version__
from ._errors import CommError, Error, InputError, UsageError, VerificationError
from ._linkage import CondensedTree, Hdbscan, cut, hdbscan, linkage
from ._trees import Forest, euclidean_tree, minimum_spanning_forest

_atexit.register(_core.wait_for_interrupted)

_LATER = {
    "HDBSCAN": "_estimators",
    "SingleLinkage": "_estimators",
    "approximate_predict": "_predict",
    "hierarchies": None,
    "plots": None,
}
"""What is imported when it is first used, and from where; None: a module."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = _LATER[name]
    found = import_module(f".{home or name}", __name__)
    value = found if home is None else getattr(found, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "HDBSCAN",
    "CommError",
    "CondensedTree",
    "Error",
    "Forest",
    "Hdbscan",
    "InputError",
    "SingleLinkage",
    "UsageError",
    "VerificationError",
    "__version__",
    "approximate_predict",
    "cut",
    "euclidean_tree",
    "hdbscan",
    "linkage",
    "minimum_spanning_forest",
    "plots",
]
