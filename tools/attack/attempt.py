"""Runs one case in a folder of its own, judges it, and shrinks it while the finding remains."""
import signal
import time

from . import judge
from .case import WROTE, Finding, smaller_cases
from .folder import Folder

END_S = 10  # seconds in which a program that is interrupted must end, times the scale of the machine


class Attempt:
    """Result and findings of one run of a case, the most severe finding first."""

    def __init__(self, case, result, findings):
        self.case, self.result, self.findings = case, result, findings


def interrupt_if_endless(case, program, scale):
    """Interrupts a case that has work for hours after a while, as a user would."""
    if not case.endless or program.ended(3 * scale):
        return program.wait()
    program.signal(program.pid, signal.SIGINT)
    result = program.wait(until=END_S * scale)
    if result.code == -signal.SIGINT:
        result.code = 128 + signal.SIGINT
    return result


def run_case(case, attack, world):
    """Runs and judges a case once. The class of attack may run the command by itself (`drive`) and add findings (`check`)."""
    folder = Folder(world.scratch)
    try:
        folder.lay(case)
        attack.prepare(case, folder, world)
        before = folder.states()
        result = attack.drive(case, folder, world)
        found = judge.findings(case, result, before, folder.states())
        if case.endless and result.after_signal is not None:
            found = [f for f in found if not f.kind.startswith("exit 130")]
            if result.hung:
                found.insert(0, Finding("hang", f"did not end within {END_S} s (scaled) of SIGINT"))
        if not found and result.code in WROTE:
            found += read_again(case, result, folder, world)
        if not result.hung and not result.too_large:
            found = attack.check(case, result, folder, world) + found
        return Attempt(case, result, found)
    finally:
        folder.remove()


def read_again(case, result, folder, world):
    """Returns findings if the program cannot read outputs that it reported as written."""
    for words in case.read_again:
        again = world.run(words, folder)
        # The output was read; only the result of merging it once more is refused, which is allowed: where volumes are
        # far too small for their distances (1e-22 in cells of 0.5), a merge can give a vertical disc that five elements
        # do not describe (docs/parcel-files.md).
        refused = again.code == 3 and again.err.startswith(b"input: the result of ")
        if again.code not in WROTE and not refused:
            what = again.err.decode(errors="replace")[:300]
            yield Finding("unreadable output", f"exit code {result.code}, but merganser {' '.join(words)} ends with "
                                               f"{again.code}: {what}")


def shrink(attempt, attack, world, until):
    """Returns the smallest case found before the deadline that still shows a finding of the same kind."""
    kind = attempt.findings[0].kind
    best, progress, tried = attempt, True, 0
    while progress and not best.case.racy:
        progress = False
        for case in smaller_cases(best.case):
            if time.monotonic() > until or tried >= 150:
                return best
            tried += 1
            try:
                new = run_case(case, attack, world)
            except OSError:  # a smaller case that cannot even be laid out
                continue
            if any(f.kind == kind for f in new.findings):
                new.findings.sort(key=lambda f: f.kind != kind)
                best, progress = new, True
                break
    return best
