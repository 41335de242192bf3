"""Attacks by signals to a run while it works and writes: it must end soon, with the old or the new output, and leave nothing."""
import os
import signal
import time

from ..attack import Attack
from ..case import Case, Finding, Part
from ..processes import Watch, process_command
from ..world import MODELS

END_S = 10  # seconds to the end after a signal, times the scale of the machine
EARLY_S = 0.2  # of its start a program can be ended before it is one that knows of signals, times the same
OLD = b"old output\n"
SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP, "KILL": signal.SIGKILL}
# Commands whose output is attacked, and the commands that read it.
WORK = {
    "cluster": (["cluster", "in.nc", "-o", "out.nc", "--steps", "5"], "out.nc", ["cluster", "out.nc", "--steps", "1"]),
    "gen random": (["gen", "random", "--cells", "24,24,24", "--per-cell", "12", "-o", "out.nc"], "out.nc", ["cluster", "out.nc"]),
    "graph convert": (["graph", "convert", "--gen", "rmat:16:8", "out.mgr"], "out.mgr", ["graph", "convert", "out.mgr"]),
    "msf": (["msf", "--gen", "gnm:16:6", "-o", "out.txt"], "out.txt", ["graph", "convert", "out.txt"]),
    "topo bench": (["topo", "bench", "--graph", "chain", "--sizes", "8,1024", "--time", "3", "--quiet", "--json", "out.json"], "out.json",
                   ["compare", "out.json", "out.json"]),
    "bench random": (["bench", "random", "--cells", "8,8,8", "--steps", "200", "--quiet", "--json", "out.json"], "out.json",
                     ["compare", "out.json", "out.json"]),
    "linkage": (["linkage", "--points", "uniform:3:60000", "--clusters", "9", "--linkage", "out.npy"], "out.npy", None),
}


def find_ranks(program):
    """Returns (launcher, ranks) among the processes of a program."""
    pids = [p for p in program.processes() if p != program.pid]
    launchers = [p for p in pids if "mpirun" in process_command(p).split(" ")[0]]
    def is_rank(pid):  # the process in which `run` copies what the job prints has the command of `run`
        return pid not in launchers and "merganser" in process_command(pid).split(" ")[0] and process_command(pid) != process_command(program.pid)
    return launchers, [p for p in pids if is_rank(p)]


def work_case(random, world, processes_only=False):
    verb = random.choice([v for v in WORK if v in world.verbs])
    words, out, again = WORK[verb]
    case = Case(verb=verb, files={f"work/{out}": OLD}, outputs=[f"work/{out}"], racy=True, old_or_new=True, memory_kib=2 << 20)
    case.parts = [Part(list(words))]
    if verb == "cluster":
        case.files["work/in.nc"] = world.sample("many 24,24,24")
        case.inputs = ["work/in.nc"]
    case.data = {"again": again, "out": out}
    if verb in ("topo bench", "bench random") and not processes_only:  # these start their ranks themselves
        model = random.choice(MODELS) if world.launches else "threads"
        case.parts.append(Part(["--ranks", "2", "--models" if verb == "topo bench" else "--comm", model]))
    elif world.launches and (processes_only or random.random() < 0.6):
        case.launch = random.choice([2, 3])
        case.parts.append(Part(["--models" if verb == "topo bench" else "--comm", random.choice(MODELS)]))
    else:
        case.parts.append(Part(["--ranks", str(random.choice([1, 2, 3]))]))
    case.data["moment"] = random.choice(["start", "work", "work", "writing", "writing"])
    case.data["delay"] = random.random()
    case.data["pick"] = random.randrange(100)
    return case


def wait_for_moment(case, program, folder, world):
    """Waits until part of the output appears or a share of the usual time has passed."""
    scale = world.scale()
    usual = (0.6 if not case.launch else 1.6) * scale
    if case.data["moment"] == "start":
        program.ended(case.data["delay"] * usual / 4)
    elif case.data["moment"] == "work":
        program.ended(case.data["delay"] * usual)
    else:
        watch = Watch([folder.at("work")])
        end = time.monotonic() + 10 * usual
        while time.monotonic() < end and not program.ended(0) and not watch.wait(0.01):
            pass
        watch.close()
        program.ended(case.data["delay"] ** 3 * 0.1)


def after_the_end(case, folder, world, old):
    """Returns findings unless the output is old or readable, and an undisturbed run removes what a killed one left."""
    path = folder.at(f"work/{case.data['out']}")
    try:
        with open(path, "rb") as file:
            content = file.read(len(old) + 1)
    except OSError:
        return [Finding("output gone", f"{case.data['out']}, which was there before, is gone")]
    if content != old and case.data["again"]:
        again = world.run(case.data["again"], folder)
        if again.code != 0:
            return [Finding("unreadable output", f"neither old nor readable: {again.err[:200].decode(errors='replace')}")]
    return []


class Signals(Attack):
    name = "signals"
    text = "INT, TERM, HUP, KILL to every process of a run at random moments: it ends, the output is whole, nothing is left"
    weight = 1.5

    def make(self, random, world):
        case = work_case(random, world)
        case.data["signal"] = random.choice(list(SIGNALS))
        case.data["whom"] = random.choice(["parent", "launcher", "rank"]) if case.launch else "parent"
        number = SIGNALS[case.data["signal"]]
        # A launcher ends its ranks by SIGTERM, whatever signal it received.
        case.what = f"{case.data['signal']} to the {case.data['whom']} ({case.data['moment']})"
        case.codes = (0, 1, 4, 128 + number, 128 + signal.SIGTERM, -number) if case.data["whom"] != "parent" else (0, 128 + number, -number)
        return case

    def drive(self, case, folder, world):
        case.limits.setdefault("seconds", 120 * world.scale())
        program = world.start(case, folder)
        wait_for_moment(case, program, folder, world)
        number = SIGNALS[case.data["signal"]]
        pid = self.target(case, program)
        sent = pid and not program.ended(0) and program.signal(pid, number, case.data["whom"])
        scale = world.scale()
        case.data["early"] = bool(sent) and program.signal_at - program.began < EARLY_S * scale
        result = program.wait(grace=3 * scale, until=END_S * scale if sent else None)
        case.data["sent"] = bool(sent)
        if case.data["signal"] == "KILL" and sent:
            self.run_again(case, folder, world)
        return result

    @staticmethod
    def target(case, program):
        if case.data["whom"] == "parent":
            return program.pid
        launchers, ranks = find_ranks(program)
        found = launchers if case.data["whom"] == "launcher" else ranks
        return found[case.data["pick"] % len(found)] if found else None

    @staticmethod
    def run_again(case, folder, world):
        """Returns findings if files that a killed run left remain after the next run with the same output."""
        quiet = [w for part in case.parts if part.words[0] not in ("--comm", "--ranks", "--models") for w in part.words]
        names = set(os.listdir(folder.at("work")))
        if names - {"in.nc", case.data["out"]}:
            world.run(quiet, folder, seconds=120)
        for name in os.listdir(folder.at("tmp")):  # a killed process cannot clean $TMPDIR, and nobody comes back for it
            path = folder.at(f"tmp/{name}")
            if os.path.isfile(path):
                os.unlink(path)

    def check(self, case, result, folder, world):
        found = after_the_end(case, folder, world, OLD)
        number = SIGNALS[case.data["signal"]]
        if case.data["sent"] and not case.data["early"] and case.data["whom"] == "parent" and result.code == -number and number != signal.SIGKILL:
            found.append(Finding("no exit code", f"ended by signal {number} itself, without a line; must be {128 + number}"))
        return found


ATTACK = Signals()
