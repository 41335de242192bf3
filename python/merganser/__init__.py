"""merganser: exact spanning trees, clusters and stars of points, with results that are bitwise equal on any number of ranks.

    forest = merganser.euclidean_tree(points, min_samples=10)
    labels = merganser.hdbscan(forest, min_cluster_size=20).labels

See docs/python.md.
"""
from __future__ import annotations

import atexit as _atexit

from . import _interpreter  # raises ImportError in sub-interpreters, before the extension is loaded
from . import _core
from ._core import __version__
from ._errors import CommError, Error, InputError, UnavailableError, UsageError, VerificationError, WrongTypeError
from ._friends import Friends, friends_of_friends
from ._linkage import CondensedTree, Hdbscan, cut, hdbscan, linkage
from ._parcels import Clusterer, Merged, Parcels, Schema, Stars, random_parcels, stars
from ._policies import MergePolicy
from ._trees import Forest, euclidean_tree, gather_points, minimum_spanning_forest

_atexit.register(_core.wait_for_interrupted)

_LATER = {
    "HDBSCAN": "_estimators",
    "SingleLinkage": "_estimators",
    "PredictionModel": "_prediction_model",
    "all_points_membership_vectors": "_memberships",
    "approximate_predict": "_predict",
    "approximate_predict_scores": "_memberships",
    "membership_vector": "_memberships",
    "validity_index": "_validity",
    "PairsForecast": "_forecast",
    "Announcement": "_announcements",
    "Announcements": "_announcements",
    "Graph": "_graphs",
    "generate_graph": "_graphs",
    "read_graph": "_graphs",
    "write_graph": "_graphs",
    "read_parcels": "_parcel_files",
    "write_parcels": "_parcel_files",
    "hierarchies": None,
    "plots": None,
    "topology": None,
}
"""Public names that are imported at their first use, with the private module that defines each; None: the name is a module
itself."""


def __getattr__(name: str) -> object:
    """Imports a public name of the package at its first use and returns it. Raises AttributeError for an unknown name."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = _LATER[name]
    found = import_module(f".{home or name}", __name__)
    value = found if home is None else getattr(found, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Returns all names of the package, those included that are not imported yet."""
    return sorted({*globals(), *_LATER})


__all__ = [
    "Announcement",
    "Announcements",
    "Clusterer",
    "CommError",
    "CondensedTree",
    "Error",
    "Forest",
    "Friends",
    "Graph",
    "HDBSCAN",
    "Hdbscan",
    "InputError",
    "MergePolicy",
    "Merged",
    "PairsForecast",
    "Parcels",
    "PredictionModel",
    "Schema",
    "SingleLinkage",
    "Stars",
    "UnavailableError",
    "UsageError",
    "VerificationError",
    "WrongTypeError",
    "__version__",
    "all_points_membership_vectors",
    "approximate_predict",
    "approximate_predict_scores",
    "cut",
    "euclidean_tree",
    "friends_of_friends",
    "gather_points",
    "generate_graph",
    "hdbscan",
    "hierarchies",
    "linkage",
    "membership_vector",
    "minimum_spanning_forest",
    "plots",
    "random_parcels",
    "read_graph",
    "read_parcels",
    "stars",
    "topology",
    "validity_index",
    "write_graph",
    "write_parcels",
]
