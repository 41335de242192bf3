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

__all__ = [
    "CommError",
    "CondensedTree",
    "Error",
    "Forest",
    "Hdbscan",
    "InputError",
    "UsageError",
    "VerificationError",
    "__version__",
    "cut",
    "euclidean_tree",
    "hdbscan",
    "linkage",
    "minimum_spanning_forest",
]
