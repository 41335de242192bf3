"""Attacks by libraries planted in the working folder under the names of those that the program loads: none may be loaded."""
import os
import re
import subprocess

from .. import shapes
from ..attack import Attack
from ..case import Finding

NEEDED = re.compile(r"\(NEEDED\).*\[([^\]]+)\]")
# Folders in which a loader looks below one that it searches, and those that a careless search for plug-ins would try.
BELOW = ("", "glibc-hwcaps/x86-64-v2/", "glibc-hwcaps/x86-64-v3/", "glibc-hwcaps/x86-64-v4/", "x86_64/", "tls/", "lib/", "bin/",
         "lib/merganser/", "lib64/")
BY_NAME = ("libmerganser-trace.so", "libmerganser-loopback.so", "libmerganser.so", "libmpi.so.40", "libmpi.so.12", "liboshmem.so.40",
           "libnetcdf.so.19", "libz.so.1", "mca_pml_ob1.so", "mca_btl_tcp.so")
TEXTS = ("doctor", "run -n 2 -- doctor", "cluster <in.nc -o >out.nc", "topo gen ring -o >p.bin", "topo extract -n 2 -- /bin/true",
         "msf <g.txt -o >out.txt", "doctor --json -")
REFUSES = re.compile(rb"error while loading shared libraries|cannot be preloaded|invalid ELF|file too short")


class Planted(Attack):
    name = "planted"
    text = "libraries planted in the working folder under the names of those that are loaded; none is loaded"

    def make(self, random, world):
        case = shapes.parse(random.choice([t for t in TEXTS if shapes.parse(t).verb in world.verbs])).case(world, with_old=False)
        names = list(dict.fromkeys([*self.needed(world), *BY_NAME]))
        chosen = names if random.random() < 0.5 else random.sample(names, random.randint(1, len(names)))
        below = BELOW if random.random() < 0.3 else (random.choice(BELOW),)
        # The file is no library: a loader that finds it ends the program with a message.
        case.files |= {f"work/{folder}{name}": b"planted, no library\n" for folder in below for name in chosen}
        case.inputs += [name for name in case.files if name not in case.inputs]
        if random.random() < 0.3:  # an empty entry in the user's variable is the current folder, whatever a program does
            case.environment["LD_LIBRARY_PATH"] = None
        case.what = f"{len(chosen)} planted libraries in {' '.join(b or '.' for b in below)}: {chosen[0]} ..."
        return case

    @staticmethod
    def needed(world):
        """Returns the names of libraries that the program and the libraries of its build require."""
        with world.lock:
            if "needed" not in world.made:
                beside = os.path.dirname(os.path.dirname(world.program))
                files = [world.program] + [os.path.join(beside, f) for f in sorted(os.listdir(beside)) if ".so" in f]
                found = subprocess.run(["readelf", "-dW", *files], capture_output=True, check=False).stdout.decode(errors="replace")
                world.made["needed"] = sorted(set(NEEDED.findall(found)))
            return world.made["needed"]

    def check(self, case, result, folder, world):
        if result.code == 127 or REFUSES.search(result.err):
            said = result.err[:200].decode(errors="replace").strip()
            return [Finding("planted library", f"a library in the working folder was loaded: {said}")]
        return []


ATTACK = Planted()
