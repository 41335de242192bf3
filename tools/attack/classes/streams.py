"""Attacks on standard output that is full, closed, read slowly or left by its reader, alone and under `run`: all is written,
or an error is reported."""
import os
import subprocess

from .. import shapes
from ..attack import Attack
from ..case import Finding, Part
from ..processes import Limits, Program

GONE = 141  # whoever read has gone
PIPES = 1 << 18  # bytes: more than the pipes between a rank and a reader hold, so that somebody meets a reader who has gone
# Commands with large results that are the same in each run; small results are made from all command templates.
LARGE = ("linkage --points uniform:2:40000 --clusters 40 --labels -", "linkage --points uniform:2:9000 --clusters 4 --linkage -",
         "msf --gen gnm:13:4 -o -", "msf --points uniform:2:9000 --labels -", "linkage <g.txt --clusters 2 --labels -",
         "gen random --cells 3,3,3 -o >out.nc --json -", "topo gen ring --ranks 9000 -o -")
WAYS = {"full": "> /dev/full", "closed": ">&-", "disk": '> "$PLACE/small/out"', "slow": "| { sleep 1; cat; } > \"$PLACE/out\"",
        "leaves": "| head -c 1 > /dev/null", "file": '> "$PLACE/out"'}


class Streams(Attack):
    name = "streams"
    text = "standard output full, closed, left or read slowly, alone and under run: all is written, or the exit code says it is not"

    def make(self, random, world):
        known = shapes.known(world)
        large = [s for s in map(shapes.parse, LARGE) if s.verb in world.verbs]
        if large and random.random() < 0.5:
            case = random.choice(large).case(world, with_old=False)
        else:
            shape = random.choice([s for s in known if any(not slot.reads for slot in s.slots)])
            slot = random.choice([k for k, s in enumerate(shape.slots) if not s.reads])
            case = shape.case(world, {slot: "-"}, with_old=False)
            case.outputs = [o for o in case.outputs if o != "work/-"]
        ways = [w for w in WAYS if w != "file" and (w != "disk" or os.geteuid() == 0)]
        case.data["way"] = random.choice(ways)
        case.data["disk"] = random.choice([0, 4096, 65536])
        case.launch = 2 if world.launches and random.random() < 0.6 else 0
        case.what = f"standard output {WAYS[case.data['way']]}"
        case.old_or_new = True  # the command runs twice
        case.codes = (0, 1, 2, 3, 4, 5, GONE)
        case.memory_kib = 8 << 20
        if case.launch and "--ranks" in case.words():
            case.parts = [Part([w for k, w in enumerate(p.words) if "--ranks" not in p.words[max(0, k - 1):k + 1]]) for p in case.parts]
        return case

    @staticmethod
    def run(case, folder, world, way):
        """Runs the command with its output redirected as `way` says; its exit code is written to a file."""
        world.require(case.words())
        script = '{ { cd "$PLACE/work"; "$@"; echo $? > "$PLACE/code"; } ' + WAYS[way] + "; }"
        environment = {**world.environment(folder.path, case.environment), "PLACE": folder.path}
        limits = Limits(seconds=60 * world.scale())
        program = world.keep(Program(["/bin/sh", "-c", script, "sh", world.program, *case.words()], folder.at("work"), environment,
                                     limits, deadline=world.deadline))
        result = program.wait()
        try:
            with open(f"{folder.path}/code", encoding="ascii") as file:
                result.code = int(file.read())
        except (OSError, ValueError):
            result.hung = True
        if os.path.exists(f"{folder.path}/code"):
            os.unlink(f"{folder.path}/code")
        return result

    def drive(self, case, folder, world):
        whole = self.run(case, folder, world, "file")
        case.data["code"] = whole.code
        case.data["bytes"] = os.path.getsize(f"{folder.path}/out")
        with open(f"{folder.path}/out", "rb") as file:
            case.data["lines"] = file.read().count(b"\n")
        small = f"{folder.path}/small"
        if case.data["way"] == "disk":
            os.mkdir(small)
            done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + str(max(4096, case.data["disk"])), "merganser-attack", small],
                                  capture_output=True, check=False)
            if done.returncode != 0:
                case.data["way"] = "full"
            elif case.data["disk"] == 0:
                with open(f"{small}/other", "wb") as file:
                    file.write(b"\0" * 4096)
        try:
            result = self.run(case, folder, world, case.data["way"])
        finally:
            if case.data["way"] == "disk":
                subprocess.run(["umount", "-l", small], capture_output=True, check=False)
        case.data["came"] = self.lines(f"{folder.path}/out") if case.data["way"] == "slow" else None
        return result

    @staticmethod
    def lines(path):
        with open(path, "rb") as file:
            return file.read().count(b"\n")

    def check(self, case, result, folder, world):
        way, there = case.data["way"], case.data["bytes"]
        if case.data["code"] != 0:  # nothing to be written
            return []
        said = f"{there} bytes {WAYS[way]}, exit code {result.code}"
        room = case.data["disk"] if way == "disk" else 0
        if way in ("full", "closed", "disk"):
            fits = there <= room - 4096 if room else there == 0
            must = {0} if fits else {3} if there > room * 1.1 else {0, 3}
            return [] if result.code in must else [Finding("lost in silence", f"{said}; must be {must}")]
        if way == "leaves":
            must = {GONE} if there > PIPES else {0, GONE}
            return [] if result.code in must else [Finding("reader has gone", f"{said}; must be {must}")]
        same = case.data["came"] == case.data["lines"] or "json" in " ".join(case.words())  # those hold times, in lists of any length
        if result.code != 0 or not same:
            return [Finding("slow reader", f"{said}; {case.data['came']} of {case.data['lines']} lines came")]
        return []


ATTACK = Streams()
