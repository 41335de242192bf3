"""Friends of friends: groups of points connected by distances up to a linking length."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import line, number, parse_box, reals, rows, whole
from ._errors import InputError, UsageError
from ._parcels import Parcels
from ._team import open_team


class Friends(NamedTuple):
    """Friends of friends: the group of each of this rank's points, and the groups whose point of the lowest id this rank passed."""

    labels: np.ndarray
    """Id of the group of each point, (n,): the lowest id of its members."""
    id: np.ndarray
    """Ids of the groups, ascending, (g,)."""
    members: np.ndarray
    """Numbers of points of the groups, (g,)."""
    mass: np.ndarray
    """Masses of the groups, (g,)."""
    centre: np.ndarray
    """Mean positions by mass, in the box, (g, d); NaN where `winds`."""
    velocity: np.ndarray | None
    """Mean velocities by mass, (g, d); None if none were passed."""
    winds: np.ndarray
    """Whether a group winds round the box through periodic faces, so that it has no centre, (g,)."""
    length: float
    """Linking length in units of the box."""
    rounds: int
    """Rounds in which the ranks agreed on groups."""


def friends_of_friends(points: Any, linking_length: Any, *, ids: Any = None, mass: Any = None, velocity: Any = None,
                       same: Any = None, least_members: int = 1, box: Any = None, periodic: Any = False, comm: Any = None,
                       ranks: int = 1, model: str = "auto") -> Friends:
    """Groups points that are connected by distances up to a linking length: scikit-learn's DBSCAN with min_samples=1, in a periodic
    box.

    Collective with `comm`. Groups and sums have the same bits on any number of ranks and in any order of points; sums are exact and
    rounded once.

    Parameters
    ----------
    points
        (n, 2) or (n, 3), at any positions, with `comm` this rank's share; or Parcels, with their ids, and volumes as masses.
    linking_length
        Length, inclusive, below half of every periodic extent: a number in units of the box, or text "0.2spacing" in units of the
        mean spacing, the cube root of the volume of the box over the number of points of all ranks (three dimensions, with `box`).
    ids
        One integer per point, distinct over all ranks. None: consecutive, in the order of the ranks.
    mass
        One positive number per point. None: 1.
    velocity
        (n, d) numbers, or of Parcels the name of an attribute of three components, or three names.
    same
        Columns in which friends are equal, as a species: (n,) or (n, k) numbers, or of Parcels one name or several.
    least_members
        Groups of fewer points are not listed; points are labelled all the same.
    box
        (lower, upper), required if an axis is periodic; points outside of it are wrapped on periodic axes, and an error on others.
        None: the bounding box.
    periodic
        True, False or one per axis.
    comm
        Communicator of mpi4py; None: this process.
    ranks
        Number of ranks that are threads of this process, without `comm`.
    model
        Communication model; "auto" measures the models.

    Returns
    -------
    Friends
        Label of each point, and the groups.

    Raises
    ------
    InputError
        For points that are not finite or outside of the box, equal ids, masses that are not positive. With `comm` an invalid argument
        of one rank is an error on every rank.
    """
    team = open_team(comm, ranks, model)
    given = _agreed(comm, lambda: _checked(points, linking_length, ids, mass, velocity, same, least_members, box, periodic))
    found = _core.friends_of_friends(team, *given)
    found["winds"] = found["winds"].astype(bool)
    return Friends(**found)


def _checked(points: Any, linking_length: Any, ids: Any, mass: Any, velocity: Any, same: Any, least_members: Any, box: Any,
             periodic: Any) -> tuple[Any, ...]:
    """Validates this rank's arguments of friends_of_friends(). Returns them as the extension takes them, from the points on."""
    if isinstance(points, Parcels):
        if ids is not None or mass is not None:
            raise UsageError("friends_of_friends: ids or mass beside parcels; allowed: those of the parcels")
        ids, mass = points["id"], points["volume"]
        velocity, same = _columns(points, velocity), _columns(points, same)
        points = points["position"]
    array = rows(points, "points")
    n, d = array.shape
    if d not in (2, 3):
        raise InputError(f"points: {d} coordinates each; allowed: 2 or 3")
    domain = parse_box(box, periodic, d)
    length = linking_length if isinstance(linking_length, str) else repr(number(linking_length, "linking_length"))
    if "spacing" in length and (box is None or d != 3):
        raise UsageError(f"linking_length: '{length}' " + ("without box" if d == 3 else "in two dimensions") +
                         "; allowed: a number in units of the box, or spacing in three dimensions with box")
    return (array, None if ids is None else line(ids, "ids", np.int64, n),
            None if mass is None else line(mass, "mass", np.float64, n), _velocities(velocity, n, d), _same(same, n),
            None if box is None else domain, length, whole(least_members, "least_members", 1))


def _agreed(comm: Any, check: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Returns check() on every rank of a communicator, or raises on all if it raises on one, which others would wait for: there its own
    error, on the others an error of the same kind that names the rank. Collective with `comm`."""
    if comm is None:
        return check()
    given: tuple[Any, ...] = ()
    error: Exception | None = None
    try:
        given = check()
    except Exception as raised:  # of any kind: what NumPy raises for an object that is no array, too
        error = raised
    wrong = comm.allgather(None if error is None else (isinstance(error, UsageError), str(error)))
    if error is not None:
        raise error
    for rank, refused in enumerate(wrong):
        if refused is not None:
            raise (UsageError if refused[0] else InputError)(f"friends_of_friends: rank {rank}: {refused[1]}")
    return given


def _columns(parcels: Parcels, names: Any) -> Any:
    """Returns the columns of parcels that an argument names, (n,) or (n, k); None for None."""
    if names is None:
        return None
    if isinstance(names, str):
        return parcels[names]
    return np.stack([parcels[name] for name in names], axis=1)


def _velocities(velocity: Any, n: int, d: int) -> np.ndarray | None:
    """Converts velocities, (n, d), to float64 of shape (n, 3). Raises InputError for another shape."""
    if velocity is None:
        return None
    array = rows(velocity, "velocity")
    if array.shape != (n, d):
        raise InputError(f"velocity: an array of shape {array.shape}; allowed: ({n}, {d})")
    return array if d == 3 else np.column_stack([array, np.zeros(n)])


def _same(same: Any, n: int) -> np.ndarray | None:
    """Converts columns in which friends are equal to float64 of shape (n, k). Raises InputError for another length."""
    if same is None:
        return None
    array = reals(same, "same")
    if len(array) != n:
        raise InputError(f"same: an array of shape {array.shape}; allowed: ({n},) or ({n}, k)")
    return array.reshape(n, -1) if n else array.reshape(0, 1 if array.ndim == 1 else array.shape[1])
