"""Attacks by links planted where the program writes: at outputs, and at predictable names of temporary files."""
import os
import re
import signal

from .. import shapes
from ..attack import Attack
from ..case import WROTE, Finding
from ..processes import Watch

VICTIM = b"not to be touched\n"
STRANGER = 65534  # uid
# Names of temporaries seen in programs; those of this one are learned from a run.
TEMPORARIES = ("{out}.tmp", "{out}.part", "{out}~", "{out}.tmp{pid}", "{out}.{pid}", ".{out}.{pid}", ".{out}.tmp", "{out}.{pid}.tmp",
               "merganser-{pid}", "merganser-{pid}.json")
NUMBER = re.compile(r"\d{2,}")


def plant(path, target):
    try:
        os.symlink(target, path)
        return True
    except FileExistsError:
        return False


class Links(Attack):
    name = "links"
    text = "links planted at outputs, at temporary names and by another user; nothing outside changes, one rule for all outputs"

    def make(self, random, world):
        known = shapes.known(world)
        what = random.choices(["output", "temporary", "stranger", "one rule"], [6, 9, 5, 1])[0]
        if what == "stranger" and os.geteuid() != 0:
            what = "output"
        shape = random.choice([s for s in known if any(not slot.reads for slot in s.slots)])
        case = shape.case(world, with_old=random.random() < 0.5)
        case.data["kind"] = what
        case.what = what
        dangling = random.random() < 0.3
        victim = "new" if dangling else "victim"
        case.files["outside/victim"] = VICTIM
        slots = [s for s in shape.slots if not s.reads]
        if what == "output":
            slot = random.choice(slots)
            case.files.pop(f"work/{slot.name}", None)
            case.links[f"work/{slot.name}"] = f"../outside/{victim}"
            case.outputs.append(f"outside/{victim}")  # a user's own link may be written through
            case.data["link"] = f"work/{slot.name}"
        elif what == "stranger":
            k, slot = random.choice([(i, s) for i, s in enumerate(shape.slots) if not s.reads])
            case = shape.case(world, {k: f"shared/{slot.name}"}, with_old=False)
            case.files["outside/victim"] = VICTIM
            case.folders = ["work/shared"]
            case.links[f"work/shared/{slot.name}"] = f"../../outside/{victim}"
            case.data |= {"kind": what, "link": f"work/shared/{slot.name}"}
            case.what = f"a stranger's link at {slot.name} in a shared folder"
        elif what == "temporary":
            case.data["plain"] = random.random() < 0.4
            case.what = "files" if case.data["plain"] else "links"
            case.what += " planted at names of temporaries"
            case.racy = True
        return case

    def prepare(self, case, folder, world):
        if case.data["kind"] == "stranger":
            os.chmod(folder.at("work/shared"), 0o1777)
            os.lchown(folder.at(case.data["link"]), STRANGER, STRANGER)
        elif case.data["kind"] == "temporary":
            self.learn(case, folder, world)

    @staticmethod
    def learn(case, folder, world):
        """Runs a command once and returns the names that appeared and vanished, with {pid} for numbers near its process id."""
        watch = Watch([folder.at("work"), folder.at("tmp")])
        program = world.start(case, folder)
        program.wait()
        outputs = {os.path.basename(o) for o in case.outputs}
        patterns = set()
        for where, name in watch.names():
            if name in outputs or where is None:
                continue
            for m in NUMBER.finditer(name):
                if abs(int(m[0]) - program.pid) < 30:
                    name = name[:m.start()] + "{pid}" + name[m.end():]
                    break
            patterns.add((os.path.relpath(where, folder.path), name))
        watch.close()
        for output in case.outputs:  # back to what there was
            path = folder.at(output)
            if os.path.lexists(path):
                os.unlink(path)
            if output in case.files:
                with open(path, "wb") as file:
                    file.write(case.files[output])
        case.data["learned"] = sorted(patterns)

    def drive(self, case, folder, world):
        if case.data["kind"] != "temporary":
            return super().drive(case, folder, world)
        case.limits.setdefault("seconds", 20 * world.scale())
        program = world.start(case, folder, stopped=True)
        while not self.stands(program.pid) and not program.ended(0.002):
            pass
        planted = self.plant_all(case, folder, program.pid)
        if not program.ended(0):
            os.kill(program.pid, signal.SIGCONT)
        result = program.wait()
        case.data["lost"] = []
        for path, is_link in planted:
            same = os.path.islink(path) if is_link else self.is_victim(path)
            if same:
                os.unlink(path)
            elif not is_link:
                case.data["lost"].append(os.path.relpath(path, folder.path))
        return result

    @staticmethod
    def stands(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
                return file.read().rpartition(")")[2].split()[0] == "T"
        except OSError:
            return False

    @staticmethod
    def is_victim(path):
        try:
            with open(path, "rb") as file:
                return file.read() == VICTIM
        except OSError:
            return False

    @staticmethod
    def plant_all(case, folder, pid):
        names = {(where, name) for where, name in case.data["learned"]}
        names |= {("work", t) for t in TEMPORARIES if "{out}" in t} | {("tmp", t) for t in TEMPORARIES if "{out}" not in t}
        planted = []
        for where, pattern in sorted(names):
            for output in case.outputs if "{out}" in pattern else [""]:
                out = os.path.basename(output)
                for number in range(pid, pid + 8) if "{pid}" in pattern else [pid]:
                    path = folder.at(f"{where}/" + pattern.replace("{out}", out).replace("{pid}", str(number)))
                    if case.data["plain"] and not os.path.lexists(path):
                        with open(path, "wb") as file:
                            file.write(VICTIM)
                        planted.append((path, False))
                    elif not case.data["plain"] and plant(path, folder.at("outside/victim")):
                        planted.append((path, True))
        return planted

    def check(self, case, result, folder, world):
        found = []
        for name in case.data.get("lost", []):
            found.append(Finding("another file lost", f"{name}, a file of the user, was taken for a temporary"))
        if case.data["kind"] == "output" and result.code in WROTE and not os.path.islink(folder.at(case.data["link"])):
            found.append(Finding("link replaced", f"the link {case.data['link']} was neither written through nor refused"))
        if case.data["kind"] == "one rule":
            found += self.one_rule(folder, world)
        return found

    @staticmethod
    def one_rule(folder, world):
        """Returns findings if writing through a link has another effect for one kind of output than for the others."""
        rules = {}
        for shape in shapes.known(world):
            case = shape.case(world)
            folder.lay(case)
            for k, slot in enumerate(shape.slots):
                if slot.reads:
                    continue
                link, target = folder.at("work/linked"), folder.at("work/target")
                for path in (link, target):
                    if os.path.lexists(path):
                        os.unlink(path)
                extension = os.path.splitext(slot.name)[1]
                os.symlink("target" + extension, link + extension)
                result = world.run([w if i != slot.at else "linked" + extension for i, w in enumerate(shape.words)], folder)
                through = os.path.islink(link + extension) and os.path.exists(target + extension)
                rule = "written through" if through else "refused" if result.code in (2, 3) else f"neither (exit {result.code})"
                rules.setdefault(rule, []).append(f"{shape.verb} {slot.name}")
                for path in (link + extension, target + extension):
                    if os.path.lexists(path):
                        os.unlink(path)
        if len(rules) > 1:
            return [Finding("several rules", "outputs that are links: " + "; ".join(f"{r}: {', '.join(v)}" for r, v in rules.items()))]
        return []


ATTACK = Links()
