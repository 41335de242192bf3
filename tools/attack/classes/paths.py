"""Attacks that make every pair of paths of a command line one file: inputs must survive, two outputs in one place be refused."""
from .. import shapes
from ..attack import Attack
from ..case import Finding

# Forms in which the second path names the file of the first.
WAYS = ("same", "dot", "up", "absolute", "folder link", "link", "hard link")


def spelled(name, way):
    return {"dot": "./" + name, "up": "folder/../" + name, "absolute": "/proc/self/cwd/" + name,
            "folder link": "here/" + name}.get(way, name)


class Paths(Attack):
    name = "paths"
    text = "pairs of paths of a command made one file, also by links and before they exist; inputs survive, outputs are refused"

    def make(self, random, world):
        shape = random.choice([s for s in shapes.known(world) if len(s.slots) > 1])
        pairs = [(i, k) for i in range(len(shape.slots)) for k in range(len(shape.slots))
                 if i != k and not shape.slots[k].reads]
        first, second = random.choice(pairs)
        way, exists = random.choice(WAYS), random.random() < 0.5
        one, other = shape.slots[first].name, shape.slots[second].name
        linked = way in ("link", "hard link")
        case = shape.case(world, {} if linked else {second: spelled(one, way)}, with_old=exists)
        case.what = f"{other} is {one}: {way}" + ("" if exists else ", no output exists")
        case.folders, case.links = ["work/folder"], {"work/here": "."}
        case.files = {n: c for n, c in case.files.items() if "/../" not in n and "/proc/" not in n and "here/" not in n}
        if linked:
            case.files.pop(f"work/{other}", None)
            if way == "link":
                case.links[f"work/{other}"] = one
            else:
                case.files.setdefault(f"work/{one}", shapes.OLD)
                case.hard_links[f"work/{other}"] = f"work/{one}"
        if shape.slots[first].reads:
            case.files[f"work/{one}"] = world.sample(one)
        case.inputs = [n for n in case.inputs if n in case.files]
        case.outputs = [f"work/{s.name}" for s in shape.slots if not s.reads and f"work/{s.name}" not in case.inputs]
        case.data["refused"] = way != "hard link"
        return case

    def check(self, case, result, folder, world):
        if case.data["refused"] and result.code in (0, 1, 5):
            return [Finding("not refused", f"one file in two places of a command ends with {result.code}; must be 2")]
        return []


ATTACK = Paths()
