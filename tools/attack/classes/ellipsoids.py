"""Attacks by stars whose parcels are far smaller than their distances, flat, long, in a line or a plane; shapes are compared
with an oracle of 400 digits."""
import importlib.util
import math
import os

from ..attack import Attack
from ..case import Case, Finding, Part

CELLS = 4  # along each axis
PLACES = ("any", "line", "plane", "diagonal", "axis")
LIMIT = 1e-12


def load_oracle():
    """Loads merged_shapes.py of the tests, which generates stars, and merges them by the definition with mpmath."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    spec = importlib.util.spec_from_file_location("merged_shapes", os.path.join(root, "tests", "parcels", "merged_shapes.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stars(random, oracle, unit):
    """Returns (members of each star, in cells of their own; a description). Lengths are multiples of `unit`, the edge of a
    cell."""
    out, kinds = [], []
    for cell in random.sample(range(CELLS**3), random.choice([1, 8, 24])):
        distance = unit * 10 ** random.uniform(-6, -1.7)
        ratio = 10 ** -random.choice([random.uniform(0, 3), random.uniform(3, 9), random.uniform(9, 30)])
        ratio = max(ratio, 1e-38 / distance)  # volumes from 1e-120 on
        shape, place = random.choice(oracle.SHAPES), random.choice(PLACES)
        members = random.choice([2, 2, 3, 4, 6])
        _, parcels = oracle.star(random, members, ratio, shape, place, distance)
        at = [unit * ((cell // CELLS**axis) % CELLS + 0.5) for axis in range(3)]
        if random.random() < 0.3:  # across the edge of a periodic axis
            at[0] = 0.0
        first = parcels[0][0]
        for x, volume, b in parcels:
            moved = [(p + x[a] - first[a]) % (CELLS * unit) if a < 2 else p + x[a] - first[a] for a, p in enumerate(at)]
            out.append((moved, volume, b))
        kinds.append(f"{members} {shape} {place} {ratio:.0e}")
    return out, kinds


class Ellipsoids(Attack):
    name = "ellipsoids"
    text = "parcels far smaller than their distances, flat, long and in line: shapes against an oracle of 400 digits"

    def make(self, random, world):
        from .. import epic
        oracle = load_oracle()
        unit = 10.0 ** random.choice([0, 0, 0, -6, 6])
        parcels, kinds = stars(random, oracle, unit)
        order = random.sample(range(len(parcels)), len(parcels))  # ids: places in a star are not in their order
        columns = {name: [p[0][a] for p in parcels] for a, name in enumerate(("x_position", "y_position", "z_position"))}
        columns["volume"] = [p[1] for p in parcels]
        columns |= {name: [p[2][k] for p in parcels] for k, name in enumerate(("B11", "B12", "B13", "B22", "B23"))}
        columns["merganser_id"] = order
        steps = [("count", len(parcels)), ("type", "merganser_id", "i8"),
                 ("attribute", "extent", [CELLS * unit] * 3), ("attribute", "origin", [0.0] * 3)]
        steps += [("values", name, values) for name, values in columns.items()]
        case = Case(what="; ".join(kinds[:3]), verb="cluster", files={"work/in.nc": epic.build(steps)}, inputs=["work/in.nc"],
                    outputs=["work/out.nc", "work/l.txt"], codes=(0,), read_again=[["cluster", "out.nc"]])
        ratio = random.choice(["3", "20"])
        case.parts = [Part(["cluster", "in.nc", "-o", "out.nc", "--labels", "l.txt", "--min-volume-ratio", ratio, "--audit"]),
                      Part(["--ranks", str(random.choice([2, 3]))], True)]
        case.data |= {"parcels": parcels, "ids": order, "extent": CELLS * unit}
        return case

    def check(self, case, result, folder, world):
        from .. import epic
        if result.code != 0:
            return []
        oracle = load_oracle()
        with open(folder.at("work/out.nc"), "rb") as file:
            out = epic.columns(file.read())
        if out is None:
            return [Finding("unreadable output", "out.nc cannot be read")]
        place = {int(i): n for n, i in enumerate(out["merganser_id"])}
        box = {"extent": [case.data["extent"]] * 3, "periodic": [1, 1, 0]}
        found = []
        for centre, members in self.clusters(case, folder).items():
            members.sort(key=lambda m: (case.data["ids"][m] != centre, case.data["ids"][m]))
            want = oracle.merged(box, [case.data["parcels"][m] for m in members])
            have = [out[name][place[centre]] for name in ("B11", "B12", "B13", "B22", "B23")]
            x, y, z = (math.sqrt(want[k]) for k in (0, 3, 5))
            off = max(abs(h - w) / size for h, w, size in zip(have, want, (x * x, x * y, x * z, y * y, y * z)))
            if not off <= LIMIT:
                found.append(Finding("wrong shape", f"parcel {centre} of {len(members)} members: B {have}, by the oracle "
                                                    f"{want}: off by {off:.1e}"))
        return found

    @staticmethod
    def clusters(case, folder):
        """Returns the members of clusters of two and more parcels, by the id of their centre."""
        out = {}
        with open(folder.at("work/l.txt"), encoding="ascii") as lines:
            for line in lines:
                at, to = map(int, line.split()[:2])
                out.setdefault(to, []).append(at)
        return {to: members for to, members in out.items() if len(members) > 1}


ATTACK = Ellipsoids()
