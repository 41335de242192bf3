"""Announcement networks: broadcasts from any rank to all ranks over a sparse network, without a collective call."""
from __future__ import annotations

from typing import Any, NamedTuple

from . import _core
from ._arrays import flag, whole
from ._errors import WrongTypeError
from ._team import open_team


class Announcement(NamedTuple):
    """Announcement that Announcements.step() has delivered on this rank."""

    origin: int
    """Rank that made the announcement."""
    counter: int
    """Number among the announcements of the origin, from 0."""
    announced: int
    """Number of steps that the origin had made when it made the announcement."""
    topic: int
    """Topic passed to announce(), 0 to 65279."""
    bytes: bytes
    """Contents of the announcement."""


class Announcements:
    """Network that forwards announcements to all ranks, one hop per step.

    The constructor is collective over `comm`. Every rank must call step() equally often; a step waits for in-neighbours only. An
    announcement is delivered at the same step on all ranks, time_to_live steps after it was made, and those of one step have the
    same order on all ranks.

    Parameters
    ----------
    comm
        Communicator of mpi4py; None: this process alone.
    network
        Process graph along which announcements travel: "manhattan", "torus", "hypercube" or "debruijn".
    dimension
        Number of dimensions of manhattan and torus; degree of debruijn.
    max_bytes
        Limit of one announcement, in bytes.
    model
        Communication model; "auto" measures the models.

    Examples
    --------
        network = Announcements(MPI.COMM_WORLD)
        network.announce(b"hello")
        for a in network.step(): ...
    """

    def __init__(self, comm: Any = None, network: str = "manhattan", dimension: int = 3, *, max_bytes: int = 1 << 20,
                 model: str = "auto"):
        if not isinstance(network, str):
            raise WrongTypeError(f"network: a {type(network).__name__}; allowed: a name")
        self._core = _core.announcements(open_team(comm, 1, model), network, whole(dimension, "dimension", 1, 30),
                                         whole(max_bytes, "max_bytes", 1, 2**40))

    def announce(self, message: Any, topic: int = 0, *, immediate: bool = False) -> tuple[int, int]:
        """Queues bytes as an announcement of this rank, sent to all ranks, this one included, from the next step on. Local.

        Parameters
        ----------
        message
            Contents, copied.
        topic
            0 to 65279.
        immediate
            Deliver on a rank h hops away h steps later, instead of on all ranks at one step.

        Returns
        -------
        tuple of int
            (origin, counter), which identify the announcement.
        """
        if not isinstance(message, (bytes, bytearray, memoryview)):
            raise WrongTypeError(f"message: a {type(message).__name__}; allowed: bytes")
        return self._core.announce(bytes(message), whole(topic, "topic", 0, 0xFEFF), flag(immediate, "immediate"))

    def step(self) -> list[Announcement]:
        """Forwards all announcements by one hop and returns those that are delivered on this rank. Called by every rank."""
        return [Announcement(*a) for a in self._core.step()]

    @property
    def time_to_live(self) -> int:
        """Number of steps after which an announcement is delivered on all ranks: the network's diameter, at least 1."""
        return self._core.time_to_live

    @property
    def now(self) -> int:
        """Number of steps that this announcement network has made so far."""
        return self._core.now

    def statistics(self) -> dict[str, int]:
        """Returns this rank's counters of the announcement network by name: steps, announcements, messages, bytes, ... Local."""
        return self._core.statistics()
