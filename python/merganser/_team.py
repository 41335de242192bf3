"""Teams: the ranks that run a call, which are this process, threads of it, or the ranks of a communicator of mpi4py."""
from __future__ import annotations

import atexit
import sys
from typing import Any

from . import _core
from ._arrays import whole
from ._errors import UsageError, WrongTypeError

_alone = _core.Team(1)
"""Team of this process alone."""
_keyval: int | None = None
"""Key of MPI's attribute under which communicators cache their teams; None before the first communicator."""
_open: list[_core.Team] = []
"""Teams over communicators that are open, in the order of opening."""


def open_team(comm: Any = None, ranks: int = 1, model: str = "auto") -> _core.Team:
    """Returns the team of ranks for the arguments comm, ranks and model of a call. The first call for a communicator is collective;
    "auto" measures the communication models.

    Raises UsageError if comm is given together with ranks, or is not usable.
    """
    ranks = whole(ranks, "ranks", 1, 1 << 20)
    if not isinstance(model, str):
        raise WrongTypeError(f"model: a {type(model).__name__}; allowed: a name")
    if comm is None:
        if model not in ("auto", "threads"):
            raise UsageError(f"model: {model!r}; allowed without comm: 'auto', 'threads'")
        return _alone if ranks == 1 else _core.Team(ranks)
    if ranks != 1:
        raise UsageError(f"ranks: {ranks} beside comm; allowed: one of the two")
    return _team_over(comm, model)


def _team_over(comm: Any, model: str) -> _core.Team:
    """Returns the team over a communicator of mpi4py, cached as an attribute of the communicator until it is freed: opening is
    collective and takes tens of milliseconds. Raises TypeError or UsageError for a communicator that cannot be used."""
    from mpi4py import MPI

    global _keyval
    if not isinstance(comm, MPI.Comm):
        raise WrongTypeError(f"comm: a {type(comm).__name__}; allowed: a communicator of mpi4py")
    # MPI aborts a program that calls anything but these two before MPI_Init or after MPI_Finalize.
    if not MPI.Is_initialized():
        raise UsageError("comm: MPI is not initialised; allowed: after MPI.Init(), which importing mpi4py.MPI calls unless "
                         "mpi4py.rc.initialize is False")
    if MPI.Is_finalized():
        raise UsageError("comm: MPI is finalised; allowed: before MPI.Finalize()")
    if comm == MPI.COMM_NULL:
        raise UsageError("comm: MPI.COMM_NULL; allowed: a communicator")
    if _keyval is None:
        _core.use_mpi()
        _keyval = MPI.Comm.Create_keyval(delete_fn=_close_freed)
        atexit.register(_close_all)  # called before mpi4py ends MPI
    teams = comm.Get_attr(_keyval)
    if teams is None:
        teams = {}
        comm.Set_attr(_keyval, teams)
    if model not in teams:
        handle = comm.toint() if hasattr(comm, "toint") else comm.py2f()
        teams[model] = _core.team_over(handle, model)
        _open.append(teams[model])
    return teams[model]


def _close_freed(comm: Any, keyval: int, teams: dict[str, _core.Team]) -> None:
    """Closes the teams of a communicator that is being freed. Called by MPI; collective, in the same order on all ranks."""
    for model in sorted(teams):
        _close(teams[model])
    teams.clear()


def _close(team: _core.Team) -> None:
    """Closes a team over a communicator, unless it was closed before. Collective."""
    if team in _open:
        _open.remove(team)
        team.close()


def _close_all() -> None:
    """Closes all open teams at the end of the process, in the order in which they were opened, which is that of all ranks.

    Does nothing after an error: closing is collective, and other ranks may not have failed.
    """
    from mpi4py import MPI

    if hasattr(sys, "last_type") or MPI.Is_finalized():
        return
    while _open:
        _close(_open[0])
