"""Base class of the classes of attacks. Each is a module of classes/ with one `ATTACK`."""
from .attempt import interrupt_if_endless


class Attack:
    name = ""
    text = ""  # one line for --list
    weight = 1.0  # share of the time

    def make(self, random, world):
        """Returns a case, determined by `random` alone; None if such a case cannot be run on this machine."""
        raise NotImplementedError

    def prepare(self, case, folder, world):
        """Sets up in the folder what a case cannot describe: devices, owners."""

    def drive(self, case, folder, world):
        """Runs the command of a case and returns its result. The time limit grows with the load of the machine."""
        case.limits.setdefault("seconds", 20 * world.scale())
        return interrupt_if_endless(case, world.start(case, folder), world.scale())

    def check(self, case, result, folder, world):
        """Returns findings of this class, besides those that judge.py derives from every run."""
        return []
