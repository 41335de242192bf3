"""Attacks by invalid calls of the C library: wrong orders, null and freed handles, equal ids, wrong lengths, after
MPI_Finalize."""
import ctypes
import os
import shlex
import sys
from dataclasses import dataclass

from ..attack import Attack
from ..case import Case, Finding, Part
from ..processes import Limits, Program

DRIVER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "misuse.py")
# Actions with valid and invalid calls; see tools/attack/misuse.py.
ACTIONS = ("find", "find", "find=shift", "find=twice", "find=outside", "find=nan", "find=null", "find=stride", "lists", "migrate",
           "migrate=short", "migrate=null", "merge", "merge=count", "merge=kind", "put", "put=volume", "put=twice", "put=count",
           "put=attributes", "put=size", "fresh", "step", "null", "other", "freed", "close")
WHERE = ("ranks=1", "ranks=2", "ranks=3", "ranks=4")
MODELS = ("mpi=p2p", "mpi=neighborhood", "mpi=rma")


@dataclass
class Calls(Case):
    """Case that is a sequence of library calls instead of a command."""

    def line(self):
        return shlex.join(["python3", DRIVER, *self.words()])


def find_library(world):
    """Returns the path of libmerganser.so of the same build; None if there is none."""
    path = os.path.join(os.path.dirname(os.path.dirname(world.program)), "libmerganser.so")
    return path if os.path.exists(path) else None


def has_mpi(path):
    try:
        return hasattr(ctypes.CDLL(path), "MPI_Init")
    except OSError:
        return False


class Misuse(Attack):
    name = "misuse"
    text = "the C library in wrong orders, with null and freed handles, equal ids, wrong lengths, after MPI_Finalize"

    def __init__(self):
        self.mpi = {}

    def make(self, random, world):
        library = find_library(world)
        if library is None:
            return None
        if library not in self.mpi:
            self.mpi[library] = has_mpi(library)
        over_mpi = random.random() < 0.3 and self.mpi[library]
        where = random.choice(MODELS if over_mpi else WHERE)
        actions = [random.choice(ACTIONS) for _ in range(random.randint(3, 25))]
        if over_mpi:
            actions.insert(random.randint(1, len(actions)), "finalize")
        words = [Part([library, str(random.randrange(10**6)), where])]
        case = Calls(verb="misuse", parts=words + [Part([a], True) for a in actions], codes=(0, 1))
        case.what = f"{len(actions)} calls of the C library, {where}"
        case.memory_kib = 2 << 20
        return case

    def drive(self, case, folder, world):
        limits = Limits(seconds=30 * world.scale())
        environment = {**world.environment(folder.path), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "MERGANSER_YIELD": "0"}
        words = [sys.executable, DRIVER, *case.words()]
        return world.keep(Program(words, folder.at("work"), environment, limits, False, world.deadline)).wait()

    def check(self, case, result, folder, world):
        if result.code != 1:
            return []
        told = result.err.decode(errors="replace").strip().splitlines()
        return [Finding("wrong answer of a call", told[-1] if told else "exit 1 without a text")]


ATTACK = Misuse()
