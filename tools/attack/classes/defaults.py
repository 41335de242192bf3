"""Attacks on values that both input files and options may give, on options given twice, and on options that a run does not
use."""
import json

from ..attack import Attack
from ..case import Case, Finding, Part

AXES = ["none", "x", "y", "z", "xy", "xz", "yz", "xyz"]
VALUES = ["1", "8", "0.5", "0.01", "2,3,4", "xy", "x"]


def flags(axes):
    return [int(axis in axes) for axis in "xyz"] if axes != "none" else [0, 0, 0]


def file_case(random, _):
    """Returns a case of a file with or without box and ratio, and a verb without the options, or with one that overrides
    them."""
    import numpy

    from .. import epic
    periodic = random.choice([None, *AXES])
    ratio = random.choice([None, 3.0, 7.5, 20.0, 40.0, 1000.0, 1e-3, 1e9])
    steps = [("order", random.randrange(10**6))]
    if periodic is not None:
        steps.append(("attribute", "periodic", numpy.array(flags(periodic), random.choice(["i4", "i8", "f8", "i1"]))))
    if ratio is not None:
        steps.append(("attribute", "min_vratio", random.choice([numpy.float64(ratio), numpy.array([ratio])])))
    verb = random.choice(["cluster", "cluster", "cluster", "verify", "bench files"])
    given = {}
    if random.random() < 0.3:
        given["min-volume-ratio"] = random.choice(["5", "20", "33"])
    if verb == "cluster" and random.random() < 0.3:
        given["periodic"] = random.choice(AXES)
    words = {"cluster": ["cluster", "in.nc", "-o", "out.nc", "--json", "r.json"],
             "verify": ["verify", "in.nc", "--samples", "0", "--comm", "threads", "--ranks", "1,2", "--json", "r.json"],
             "bench files": ["bench", "files", "in.nc", "--steps", "1", "--json", "r.json"]}[verb]
    case = Case(what=f"{verb} of a file of periodic {periodic}, min_vratio {ratio}, with {given or 'no option'}", verb=verb,
                parts=[Part(words)] + [Part([f"--{name}", value]) for name, value in given.items()],
                files={"work/in.nc": epic.build(steps)}, inputs=["work/in.nc"], outputs=["work/out.nc", "work/r.json"])
    case.data = {"kind": "file", "periodic": periodic, "ratio": ratio, "given": given}
    return case


def expected(data, verb):
    """Returns {option: (value, whether a warning must name it)} of the values that the program must use."""
    ratio = data["ratio"] or (40.0 if verb == "cluster" else 20.0)
    found = {"min-volume-ratio": (float(data["given"].get("min-volume-ratio", ratio)), data["ratio"])}
    if verb == "cluster":
        found["periodic"] = (data["given"].get("periodic", data["periodic"] or "xy"), data["periodic"])
    return {name: (value, name in data["given"] and said is not None and said != value) for name, (value, said) in found.items()}


def check_file(case, result, folder):
    out, err = result.out.decode(errors="replace"), result.err.decode(errors="replace")
    if result.code != 0:
        return [Finding("refused", f"exit {result.code}: {err[-300:]}")]
    found = []
    with open(folder.at("work/r.json"), encoding="utf-8") as file:
        record = json.load(file)
    for name, (value, warned) in expected(case.data, case.verb).items():
        text = value if isinstance(value, str) else f"{value:g}"
        said = case.data["periodic" if name == "periodic" else "ratio"] is not None
        source = f"(--{name})" if name in case.data["given"] else "(from in.nc)" if said else "(in.nc does not say: "
        if f"{name} {text} {source}" not in out:
            found.append(Finding("not told", f"{name} {text} {source} does not stand in the output"))
        if (f"--{name} {text} overrides in.nc" in err) != warned:
            found.append(Finding("warning", f"{name}: {'no' if warned else 'a'} warning: {err[-300:]}"))
        if case.verb == "verify":
            if record["result"]["file_ratios"] != [value]:
                found.append(Finding("default wins", f"verify used {record['result']['file_ratios']} instead of {value}"))
        elif record["options"][name] != value:
            found.append(Finding("default wins", f"the record says {name} {record['options'][name]}, not {value}"))
    if case.verb == "cluster":
        found += check_output(case, folder)
        if record["result"]["n_small"] == 0 and "parcels are small" not in err:
            found.append(Finding("silent", "no parcel is small and no warning says so"))
    return found


def check_output(case, folder):
    """Returns findings on the attributes of the file that was written."""
    from .. import epic
    with open(folder.at("work/out.nc"), "rb") as file:
        attributes = epic.attributes(file.read())
    want = expected(case.data, "cluster")
    if attributes is None:
        return []
    found = []
    if attributes.get("periodic") != flags(want["periodic"][0]):
        found.append(Finding("not kept", f"the output says periodic {attributes.get('periodic')}, not {want['periodic'][0]}"))
    if attributes.get("min_vratio") != [want["min-volume-ratio"][0]]:
        found.append(Finding("not kept", f"the output says min_vratio {attributes.get('min_vratio')}, "
                                         f"not {want['min-volume-ratio'][0]}"))
    return found


def tables(world):
    """Returns the options of every verb, as the program lists them."""
    with world.lock:
        if "tables" not in world.made:
            world.made["tables"] = json.loads(world.ask(["list-options"]))
        return world.made["tables"]


def option_word(option):
    return ("" if option["positional"] else "--") + option["name"]


def random_value(random, option):
    choices = option["kind"].split("|") if "|" in option["kind"] else VALUES
    return random.choice(choices)


def twice_case(random, world):
    """Returns a case with an option given twice, with one value or two."""
    verb, options = random.choice(list(tables(world).items()))
    option = random.choice([o for o in options if not o["positional"]])
    name = option_word(option)
    if option["flag"]:
        words = [random.choice([name, "--no-" + option["name"]]) for _ in range(2)]
    else:
        names = [name] + (["-" + option["letter"]] if option["letter"] else [])
        words = []
        for _ in range(2):
            which, value = random.choice(names), random_value(random, option)
            words += [f"{which}={value}"] if which.startswith("--") and random.random() < 0.5 else [which, value]
    case = Case(what=f"{verb}: {name} twice", verb=verb, parts=[Part([*verb.split(), *words])])
    case.data = {"kind": "twice"}
    return case


def unused_case(random, world):
    """Returns a case with an option beside one that it excludes, or without one that it requires."""
    rules = [(verb, options, option, rule, condition) for verb, options in tables(world).items() for option in options
             for rule in option["uses"] for condition in rule["conditions"] if not option["positional"]]
    verb, options, option, rule, condition = random.choice(rules)
    words = [option_word(option)] + ([] if option["flag"] else [random_value(random, option)])
    if rule["unless"]:
        name, _, values = condition.partition(" ")
        other = next(o for o in options if option_word(o) == name)
        value = random.choice(values.split("|")).replace("*", "1") if values else random_value(random, other)
        words += ([] if other["positional"] else [name]) + ([] if other["flag"] else [value])
    elif not all(" " not in c for c in rule["conditions"]):
        return twice_case(random, world)  # a default may be what it needs
    random.shuffle(words) if len(words) == 2 and option["flag"] else None
    case = Case(what=f"{verb}: {' '.join(words)}", verb=verb, parts=[Part([*verb.split(), *words])])
    case.data = {"kind": "unused"}
    return case


class Defaults(Attack):
    name = "defaults"
    text = "attributes of files against defaults of options; options twice; options that a run does not use"

    def make(self, random, world):
        return random.choices([file_case, twice_case, unused_case], [6, 2, 2])[0](random, world)

    def check(self, case, result, folder, world):
        if case.data["kind"] == "file":
            return check_file(case, result, folder)
        if result.code != 2:
            return [Finding("taken", f"exit {result.code} where 2 is right: {result.err[-300:].decode(errors='replace')}")]
        return []


ATTACK = Defaults()
