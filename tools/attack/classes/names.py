"""Attacks by hostile names of files and a hostile environment: nothing of it may be executed, nothing may crash."""
import os

from .. import samples, shapes
from ..attack import Attack
from ..case import Case, Finding, Part

NAMES = ("a\nb", "'; touch X; '", "$(touch X)", "`touch X`", "-x", "--json", "-", "\udcff\udcfe", "é ü", "%s%n%x", "\x1b[31mred", "a b", " ",
         "n" * 240, "a;touch X", "a|touch X", "&", "*", "~", "..x", "a\tb", "a\"b", "a\\b", "#", "\x7f", "con:1:2", "x=y", "a,b", "\u202eabc")
# Hostile values of PATH, launchers and $TMPDIR; {folder} is the folder of the case.
PLACES = ("'; touch X; '", "$(touch X)", "`touch X`", "a b", "a;touch X", "\udcff", "a\nb", '"; touch X; "', "n" * 200, "-x", "%s")
TOUCH = b"#!/bin/sh\ntouch X \"$HOME/X\" ../outside/X\n"
PYTHON = b"import os\nfor name in ('X', '../outside/X'):\n    open(name, 'w')\n"
# Programs that a careless program would start by name from the working directory.
CALLED = ("mpirun", "git", "python3", "sh", "srun", "lscpu", "uname", "hostname", "merganser", "clang", "numactl")
ASKS = (["doctor"], ["run", "--dry-run", "doctor"], ["run", "-n", "2", "--", "doctor"], ["bench", "msf", "--quick", "--only", "T9"],
        ["topo", "advise", "p2.bin", "--record", "k.json", "--sizes", "8"], ["--version"], ["cluster", "in.nc", "-o", "out.nc"],
        ["topo", "bench", "--models", "threads", "--ranks", "2", "--graph", "chain", "--sizes", "8", "--time", "0.2", "--json", "r.json"],
        ["graph", "convert", "--gen", "path:9", "out.mgr"], ["verify", "--ranks", "2", "--samples", "1", "--comm", "p2p", "--timeout", "60"])


class Names(Attack):
    name = "names"
    text = "hostile file names, PATH, launcher, $TMPDIR and planted programs; nothing of it is executed"

    def make(self, random, world):
        return self.of_file(random, world) if random.random() < 0.6 else self.of_environment(random, world)

    @staticmethod
    def of_file(random, world):
        shape = random.choice([s for s in shapes.known(world) if s.slots])
        k = random.randrange(len(shape.slots))
        slot, hostile = shape.slots[k], random.choice(NAMES)
        name = (hostile + os.path.splitext(slot.name)[1]) if random.random() < 0.8 else hostile
        dash = name.startswith("-")
        given = "./" + name if dash and random.random() < 0.8 else name
        case = shape.case(world, {k: given}, with_old=random.random() < 0.5)
        case.what = f"{slot.name} is named {name!r}"
        if given == "-":  # standard input or output
            case.files.pop("work/-", None)
            case.inputs = [n for n in case.inputs if n != "work/-"]
        return case

    def of_environment(self, random, world):
        words = random.choice([a for a in ASKS if a[0].startswith("-") or a[0] in world.verbs or " ".join(a[:2]) in world.verbs])
        case = Case(verb=" ".join(words[:2] if " ".join(words[:2]) in world.verbs else words[:1]), parts=[Part(words)])
        case.files = {f"work/{name}": world.sample(name) for name in samples.NAMES if name in words and name != "r.json"}
        case.inputs = list(case.files)
        case.outputs = ["work/out.nc", "work/out.mgr", "work/r.json"]
        place = random.choice(PLACES)
        way = random.choice(["PATH", "MERGANSER_LAUNCHER", "TMPDIR", "planted", "HOME"])
        case.what = f"{way} with {place!r}"
        case.codes = (0, 1, 2, 3, 4, 5, 127)
        if way == "planted":
            case.what = "programs and a script planted in the working directory and above"
            case.files["tools/productivity.py"] = case.files["work/tools/productivity.py"] = PYTHON
            for name in ("work/CMakeLists.txt", "CMakeLists.txt", "work/src/comm/backends/p2p.cpp"):
                case.files[name] = b"// nothing\n"
            case.data["run"] = [f"work/{name}" for name in CALLED]
            case.files |= {name: TOUCH for name in case.data["run"]}
        elif way == "PATH":
            case.folders = [f"work/{place}"]
            case.links[f"work/{place}/mpirun"] = "/usr/bin/mpirun"
            case.environment["PATH"] = f"{{folder}}/work/{place}:{os.environ.get('PATH', '/usr/bin:/bin')}"
        elif way == "MERGANSER_LAUNCHER":
            there = random.random() < 0.5
            case.environment[way] = (f"{{folder}}/work/{place}/mpirun" if there else place)
            case.folders = [f"work/{place}"]
            case.links[f"work/{place}/mpirun"] = "/usr/bin/mpirun"
        else:
            exists = random.random() < 0.6
            case.environment[way] = f"{{folder}}/work/{place}"
            case.folders = [f"work/{place}"] if exists else []
            case.outputs.append(f"work/{place}")  # the launcher makes a missing $TMPDIR
        return case

    def prepare(self, case, folder, world):
        for name in case.data.get("run", []):
            os.chmod(folder.at(name), 0o755)

    def check(self, case, result, folder, world):
        places = [folder.at(name) for name in ("X", "work/X", "home/X", "tmp/X", "outside/X")]
        there = [os.path.relpath(p, folder.path) for p in places if os.path.exists(p)]
        return [Finding("executed", f"a hostile name or file was run: {' '.join(there)} exists")] if there else []


ATTACK = Names()
