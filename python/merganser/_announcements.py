"""Telling every rank without a collective."""
from __future__ import annotations

from typing import Any, NamedTuple

from . import _core
from ._arrays import whole
from ._team import team_of


class Announcement(NamedTuple):
    """What a rank has announced."""

    origin: int
    """Rank that announced."""
    counter: int
    """0, 1, 2, ... of that rank."""
    announced: int
    """Steps that it had made then."""
    topic: int
    bytes: bytes


class Announcements:
    """Messages that reach every rank over a sparse network, one hop per step.

        network = Announcements(MPI.COMM_WORLD)
        network.announce(b"hello")
        for a in network.step(): ...

    Making one is collective. step() is called by every rank, as often on each, and waits for in-neighbours only. An
    announcement is handed over on every rank at the same step, time_to_live steps after it was made; those of one step come
    in the same order everywhere. network: "manhattan", "torus", "hypercube", "debruijn".
    """

    def __init__(self, comm: Any = None, network: str = "manhattan", dimension: int = 3, *, max_bytes: int = 1 << 20,
                 model: str = "auto"):
        if not isinstance(network, str):
            raise TypeError(f"network: a {type(network).__name__}; allowed: a name")
        self._core = _core.announcements(team_of(comm, 1, model), network, whole(dimension, "dimension", 1, 30),
                                         whole(max_bytes, "max_bytes", 1, 2**40))

    def announce(self, message: Any, topic: int = 0, *, immediate: bool = False) -> tuple[int, int]:
        """Takes bytes for every rank, this one too. They leave with the next step. (origin, counter) names them.

        immediate  handed over on a rank h hops away h steps later, instead of everywhere at one step
        """
        if not isinstance(message, (bytes, bytearray, memoryview)):
            raise TypeError(f"message: a {type(message).__name__}; allowed: bytes")
        return self._core.announce(bytes(message), whole(topic, "topic", 0, 0xFEFF), bool(immediate))

    def step(self) -> list[Announcement]:
        """Takes everything one hop further. What is handed over here."""
        return [Announcement(*a) for a in self._core.step()]

    @property
    def time_to_live(self) -> int:
        """Steps until an announcement is handed over."""
        return self._core.time_to_live

    @property
    def now(self) -> int:
        """Steps made."""
        return self._core.now

    def statistics(self) -> dict[str, int]:
        """Counts of what this rank has done."""
        return self._core.statistics()
