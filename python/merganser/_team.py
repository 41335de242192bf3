"""Who computes: this process, threads of it, or the ranks of a communicator of mpi4py."""
from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import whole
from ._errors import UsageError

_alone = _core.Team(1)


def team_of(comm: Any = None, ranks: int = 1, model: str = "auto") -> _core.Team:
    """The ranks that a call asks for. Over a communicator its first call is collective and measures the models."""
    ranks = whole(ranks, "ranks", 1, 1 << 20)
    if comm is None:
        if model not in ("auto", "threads"):
            raise UsageError(f"model: {model!r}; allowed without comm: 'auto', 'threads'")
        return _alone if ranks == 1 else _core.Team(ranks)
    if ranks != 1:
        raise UsageError(f"ranks: {ranks} beside comm; allowed: one of the two")
    raise UsageError("comm: this build has no MPI; allowed: None")
