"""What a class of attacks is. Each is a module of classes/ with one `ATTACK`."""
from .attempt import interrupt_if_endless


class Attack:
    name = ""
    text = ""  # one line for --list
    weight = 1.0  # share of the time

    def make(self, random, world):
        """A case, a function of `random` alone; None if such a case cannot be run here."""
        raise NotImplementedError

    def prepare(self, case, folder, world):
        """What cannot be said in the case: devices, owners."""

    def drive(self, case, folder, world):
        """Runs the command; the limit grows with the load of the machine."""
        case.limits.setdefault("seconds", 20 * world.scale())
        return interrupt_if_endless(case, world.start(case, folder), world.scale())

    def check(self, case, result, folder, world):
        """What must hold besides what judge.py asks of every run."""
        return []
