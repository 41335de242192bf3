"""Attacks by lack of room: full disks, limits of the system, and work that exceeds any machine, which must be refused at
once."""
import os
import subprocess

from .. import shapes
from ..attack import Attack
from ..case import Finding, Part
from ..folder import state

MIB = 1 << 20
AT_ONCE_S = 2  # a refusal may take so long, times the scale of the machine
NOBODY = 65534
HUGE = (
    "cluster <in.nc --ranks {n}", "cluster <in.nc --ranks 100000", "cluster <in.nc -o >out.nc --ranks 100000", "cluster <in.nc -o >out.nc --ranks {n}", "msf --gen gnm:5:3 --ranks {n}", "graph convert --gen gnm:5:3 --ranks {n}",
    "linkage --points <p.txt --clusters 2 --ranks {n}", "gen random --cells 3,3,3 -o >out.nc --ranks {n}", "announce demo droplet --steps 2 --ranks {n}",
    "announce bench --size 8 --steps 2 --work-ms 0 --ranks {n}", "bench random --cells 3,3,3 --steps 1 --ranks {n}",
    "bench files <in.nc --steps 1 --ranks {n}", "verify --ranks {n} --comm threads --samples 1",
    "topo bench --models threads --graph chain --sizes 8 --time 0.2 --ranks {n}", "topo gen complete --ranks {n} -o >p.bin", "run -n {n} -- doctor",
    "gen random --cells 2000,2000,2000 -o >out.nc", "gen random --cells {n},4,4 -o >out.nc", "gen random --cells 4,4,4 --per-cell {n} -o >out.nc",
    "gen random --nx {n} -o >out.nc", "bench random --cells {n},4,4 --steps 1", "bench random --cells 2000,2000,2000 --steps 1",
    "bench random --cells 4,4,4 --per-cell {n} --steps 1", "graph convert --gen rmat:45:16 >out.mgr", "graph convert --gen complete:{n} >out.mgr",
    "msf --gen gnm:50:8", "msf --gen grid:{n}x{n}", "msf --points uniform:3:{n}000", "linkage --points lattice:3:{n} --clusters 2",
    "announce demo droplet --blocks {n},{n}",
)
NUMBERS = (["2147483647", "2000000000"], ["2147483647", "1000000", "20000"])  # of HUGE, of LONG
# Work that may take hours, or be refused: it is interrupted after a while.
LONG = (
    "topo gen random:4 --ranks {n}", "topo gen rgg --ranks 16 --vertices {n}", "announce demo potts --edge {n}",
    "announce bench --size {n} --steps 1 --work-ms 0 --ranks 2", "announce bench --edge {n} --steps 1 --work-ms 0 --ranks 2",
    "topo bench --models threads --ranks 2 --graph chain --sizes {n} --time 0.2", "msf --gen rmat:{n}:3", "msf --points line:{n}",
)


class Limits(Attack):
    name = "limits"
    text = "full disks, limits on files, memory and processes; work that cannot be is refused within seconds"

    def make(self, random, world):
        way = random.choice(["huge", "huge", "huge", "disk", "file size", "memory", "open files", "processes"])
        if way == "huge":
            return self.huge(random, world)
        shape = random.choice([s for s in shapes.known(world) if any(not slot.reads for slot in s.slots)])
        case = shape.case(world)
        case.memory_kib = 8 << 20
        case.old_or_new = case.old_or_new or len(case.outputs) > 1  # room for one file, and none for the next
        if random.random() < 0.3 and shape.verb in ("cluster", "msf", "linkage", "graph convert", "gen random"):
            case.parts.append(Part(["--ranks", "3"], True))
        root = os.geteuid() == 0
        if way == "disk" and root and random.random() < 0.5:
            case.data["disk"] = random.choice([4, 16, 64, 256]) << 10
            case.what = f"a disk of {case.data['disk']} bytes"
            case.racy = True
        elif way in ("disk", "file size"):
            case.limits["file_size"] = random.choice([0, 100, 1000, 4096, 20_000, 60_000])
            case.what = f"files of at most {case.limits['file_size']} bytes"
        elif way == "memory":
            case.limits["address_space"] = random.choice([120, 200, 300, 500, 800]) * MIB
            case.what = f"address space of {case.limits['address_space'] // MIB} MiB"
            case.codes = (0, 1, 2, 3, 4, 5, 70, 127)  # 70: out of memory; 127: libraries do not fit
        elif way == "open files":
            case.limits["open_files"] = random.choice([6, 8, 10, 14, 20])
            case.what = f"{case.limits['open_files']} open files"
            case.codes = (0, 1, 2, 3, 4, 5, 127)
        else:
            case.limits["processes"] = random.choice([1, 2, 4])
            case.what = f"{case.limits['processes']} processes and threads"
            if root:
                case.limits["user"] = NOBODY
            case.parts.append(Part(["--ranks", "8"], True))
            if "--ranks" in case.parts[0].words or not {"cluster", "msf", "linkage", "graph convert", "gen random"} & {shape.verb}:
                case.parts.pop()
        return case

    @staticmethod
    def huge(random, world):
        texts = [t for t in HUGE + LONG if shapes.parse(t).verb in world.verbs]
        chosen = random.choice(texts)
        text = chosen.replace("{n}", random.choice(NUMBERS[chosen in LONG]))
        case = shapes.parse(text).case(world)
        case.what = "work that cannot be"
        if chosen in LONG:
            case.what = "work that may be too much"
            case.endless = True
            case.memory_kib = 8 << 20
            return case
        case.data["at once"] = True
        case.memory_kib = MIB  # KiB: 1 GiB
        case.limits["rss_kib"] = MIB + 1
        if case.verb == "run":  # the launcher must not fill the table of processes of a machine that others use
            if os.geteuid() != 0:
                return None
            case.limits |= {"processes": 60, "user": NOBODY}
        return case

    def prepare(self, case, folder, world):
        if "disk" in case.data:
            done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={case.data['disk']},mode=755", "merganser-attack",
                                   folder.at("work")], capture_output=True, check=False)
            case.data["mounted"] = done.returncode == 0
            if case.data["mounted"]:
                try:
                    folder.lay(case)
                except OSError:  # the inputs do not fit themselves: what is left of them is a case as well
                    case.inputs = []
        if case.limits.get("user"):
            for path in (world.scratch, folder.path):
                os.chmod(path, 0o711)
            for top, folders, files in os.walk(folder.path):
                for name in [top] + [os.path.join(top, n) for n in folders + files]:
                    os.lchown(name, NOBODY, NOBODY)

    def drive(self, case, folder, world):
        began = world.scale()
        if case.data.get("at once"):
            case.limits["seconds"] = 5 * AT_ONCE_S * began
        try:
            result = super().drive(case, folder, world)
        finally:
            if case.data.get("mounted"):
                self.unmount(case, folder)
        case.data["scale"] = max(began, world.scale())
        return result

    @staticmethod
    def unmount(case, folder):
        """Unmounts the small disk and moves its content to the folder below, where it is judged as usual."""
        found = {}
        for name in os.listdir(folder.at("work")):
            path = folder.at(f"work/{name}")
            kind = state(path)
            found[name] = os.readlink(path).encode() if kind[0] == "link" else open(path, "rb").read() if kind[0] == "file" else b""
        subprocess.run(["umount", "-l", folder.at("work")], capture_output=True, check=False)
        for name in os.listdir(folder.at("work")):
            if name not in found:
                os.unlink(folder.at(f"work/{name}"))
        for name, content in found.items():
            with open(folder.at(f"work/{name}"), "wb") as file:
                file.write(content)

    def check(self, case, result, folder, world):
        allowed = AT_ONCE_S * case.data["scale"] + 1
        if case.data.get("at once") and result.code != 0 and result.seconds > allowed:
            return [Finding("late refusal", f"refused after {result.seconds:.1f} s; allowed: {allowed:.1f} s")]
        return []


ATTACK = Limits()
