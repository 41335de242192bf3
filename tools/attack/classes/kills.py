"""Attacks that kill a rank, over every model: all others must end soon, with one line, and the output must be whole."""
import re
import signal

from ..attack import Attack
from ..case import Finding
from ..judge import error_lines
from ..processes import shared_files
from .signals import END_S, OLD, Signals, after_the_end, find_ranks, wait_for_moment, work_case


OF_LIBRARIES = re.compile(rb"\[[^\]]+:\d+\] ")  # "[host:1234] SPML ikrit cannot be selected"


def has_begun(pid):
    """Returns whether a rank has started its library: it shares memory with others."""
    return bool(shared_files([pid]))


class Kills(Attack):
    name = "kills"
    text = "SIGKILL to a random rank over every model: all ranks end, not with 0, with one line"

    def make(self, random, world):
        if not world.launches:
            return None
        case = work_case(random, world, processes_only=True)
        case.launch = random.choice([2, 3, 4])
        case.data["signal"] = "KILL"
        case.what = f"a rank of {case.launch} is killed ({case.data['moment']})"
        case.codes = (0, 4, 128 + signal.SIGKILL, 128 + signal.SIGTERM)
        return case

    def drive(self, case, folder, world):
        case.limits.setdefault("seconds", 120 * world.scale())
        program = world.start(case, folder)
        while not program.ended(0.02) and len(find_ranks(program)[1]) < case.launch:
            pass
        wait_for_moment(case, program, folder, world)
        begun = all(map(has_begun, find_ranks(program)[1]))
        ranks = sorted(find_ranks(program)[1])
        whole = len(ranks) == case.launch  # ranks that have ended show that the work was done
        sent = whole and program.signal(ranks[case.data["pick"] % len(ranks)], signal.SIGKILL, "rank")
        scale = world.scale()
        result = program.wait(grace=3 * scale, until=END_S * scale if sent else None)
        case.data["sent"] = bool(sent)
        if sent and not begun:  # then the library tells it, in its own words, and the launcher ends with 1
            case.codes = (*case.codes, 1)
            result.err = b""
        Signals.run_again(case, folder, world)
        return result

    def check(self, case, result, folder, world):
        found = after_the_end(case, folder, world, OLD)
        lines = [line for line in error_lines(result) if not OF_LIBRARIES.match(line)]
        if case.data["sent"] and result.code not in (0, 1) and result.err and len(lines) != 1:
            found.append(Finding("lines", f"{len(lines)} lines for a killed rank; must be one"))
        return found


ATTACK = Kills()
