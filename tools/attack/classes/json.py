"""Records that are JSON but not what a reader expects: depth, size, keys that come twice, numbers that are none."""
import json

from ..attack import Attack
from ..case import DOCUMENTED, Case, Part

OLD = b"old output\n"
RAW = "@@@"  # where text that is no JSON value goes
WRONG = (None, True, "x", "", -1, 0, 2**31, 2**63 - 1, 2**63, -2**63, 1e308, 0.5, -0.5, [], {}, [None], {"x": 1}, [1] * 1000, "nan",
         {"": {}}, "\x1b[31m\n")
TEXTS = ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" * 5000, "0x10", "01", "1.", "'x'", '"\\ud800"', '"\\u0000"', "tru", "",
         '{"a":1,"a":2}', "/* */ 1", '"' + "y" * 3_000_000 + '"', "[" + "1," * 500_000 + "1]")
DEPTHS = (50, 500, 5000, 100_000, 1_000_000)


def paths_in(value, here=()):
    yield here
    if isinstance(value, dict):
        for key, child in value.items():
            yield from paths_in(child, here + (key,))
    elif isinstance(value, list):
        for i, child in enumerate(value[:6]):
            yield from paths_in(child, here + (i,))


def put(value, path, new):
    if not path:
        return new
    value = dict(value) if isinstance(value, dict) else list(value)
    value[path[0]] = put(value[path[0]], path[1:], new)
    return value


def without(value, path):
    value = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1:
        del value[path[0]]
    else:
        value[path[0]] = without(value[path[0]], path[1:])
    return value


def deep(random):
    depth = random.choice(DEPTHS)
    opening, closing = random.choice([("[", "]"), ('{"a":', "}"), ('[{"b":', "}]"), ("[", ""), ('{"a":', "")])
    return opening * depth + "1" + closing * depth, f"{depth} deep"


def spoil(random, content):
    """(bytes, what was done)"""
    value = json.loads(content)
    # Paths near the root first: those are what readers look at.
    path = random.choice(sorted(paths_in(value), key=len)[:random.choice([20, 200, 100_000])])
    where = "/".join(map(str, path)) or "the whole"
    way = random.randrange(5)
    if way == 0:
        new = random.choice(WRONG)
        return json.dumps(put(value, path, new)).encode(), f"{where} is {json.dumps(new)[:40]}"
    if way == 1 and path:
        return json.dumps(without(value, path)).encode(), f"{where} is missing"
    if way == 2 and path and isinstance(path[-1], str):
        text = json.dumps(put(value, path, RAW))
        old = json.dumps(path[-1])
        new = json.dumps(random.choice(WRONG))
        return text.replace(f'{old}: "{RAW}"', f'{old}: {new}, {old}: {new}').encode(), f"{where} comes twice"
    text, what = deep(random) if way == 3 else (random.choice(TEXTS), None)
    what = what or text[:20]
    return json.dumps(put(value, path, RAW)).replace(f'"{RAW}"', text).encode(), f"{where} is {what}"


class Json(Attack):
    name = "json"
    text = "records with wrong types, missing and double keys, NaN, depth and size, for every reader of records"

    def make(self, random, world):
        reader = random.choice(["compare", "compare", "topo extract", "topo extract", "doctor", "topo advise", "topo advise",
                                "verify-child"])
        which = {"topo extract": random.choice(["record:cluster", "traffic"]), "doctor": "record:bench", "topo advise": "record:bench"
                 }.get(reader, random.choice(["record:bench", "record:random", "record:cluster", "record:msf"]))
        good = world.sample(which)
        bad, what = spoil(random, good)
        case = Case(verb=reader, what=what, files={"work/bad.json": bad, "work/out.json": OLD}, spoiled=["work/bad.json"],
                    inputs=["work/bad.json"], outputs=["work/out.json"])
        if reader == "compare":
            case.files["work/good.json"] = good
            case.inputs.append("work/good.json")
            case.parts = [Part(["compare", *random.choice([["bad.json", "good.json"], ["good.json", "bad.json"]])]),
                          Part(["--json", "out.json"], True)]
            if random.random() < 0.2:
                case.parts.append(Part([random.choice(["--more-before", "--more-after"]), "bad.json"], True))
        elif reader == "topo extract":
            case.files["work/out.bin"] = OLD
            case.outputs.append("work/out.bin")
            case.parts = [Part(["topo", "extract", "--from", "bad.json", "-o", "out.bin"])]
        elif reader == "doctor":
            case.parts = [Part(["doctor", "--record", "bad.json"]), Part(["--json", "out.json"], True)]
        elif reader == "topo advise":
            case.files |= {f"work/{n}": c for n, c in world.sample("topo:small").items()}
            evaluate = random.random() < 0.4
            case.parts = [Part(["topo", "advise", *(["--evaluate", "bad.json"] if evaluate else ["p2.bin", "--record", "bad.json", "--sizes", "8"])]),
                          Part(["--json", "out.json"], True)]
        else:
            case.parts = [Part(["verify-child", "bad.json", "out.json", "threads"])]
            case.codes = (*DOCUMENTED, 70)  # only `verify` writes plans: a bad one is an internal error
        return case


ATTACK = Json()
