"""Bad inputs for every reader, beside an old output that must survive."""

from ..attack import Attack
from ..case import Case, Finding, Part, Recipe
from ..mutate import mutate
from ..samples import GRAPHS, PROCESS_GRAPHS, bomb
from ..world import MODELS

OLD = b"old output\n"


def spoilt_parcels(random, world):
    """A file spoiled in what it says, or in its bytes."""
    if random.random() < 0.6:
        from .. import epic
        steps = [epic.choose(random) for _ in range(random.choice([1, 1, 1, 2, 3]))]
        return Recipe(epic.build, steps, bytes_may_go=False), "; ".join(map(str, steps))
    return mutate(random, world.sample("parcels"))


def parcels(random, world):
    content, what = spoilt_parcels(random, world)
    verb = random.choice(["cluster"] * 8 + ["bench files", "verify"])
    case = Case(what=what, verb=verb, files={"work/in.nc": content}, spoiled=["work/in.nc"], inputs=["work/in.nc"])
    if verb == "verify":
        case.parts = [Part(["verify", "--samples", "0", "--comm", "threads", "--ranks", "1,2", "in.nc"])]
    elif verb == "bench files":
        case.parts = [Part(["bench", "files", "in.nc", "--steps", "1"]), Part(["--ranks", "2"], True)]
    else:
        case.parts = [Part(["cluster", "in.nc", "-o", "out.nc"]), Part(["--ranks", str(random.choice([2, 3]))], True)]
        for extra in (["--audit"], ["--steps", "3"], ["--json", "r.json"], ["--prune", "iterative"], ["--balance"],
                      ["--min-volume-ratio", "3"]):
            if random.random() < 0.15:
                case.parts.append(Part(extra, True))
        case.files |= {"work/out.nc": OLD, "work/r.json": OLD}
        case.outputs = ["work/out.nc", "work/r.json"]
        case.read_again = [["cluster", "out.nc"]]
        case.data["parcels"] = True
    return case


def graphs(random, world):
    which = random.choice(list(GRAPHS))
    files = dict(world.sample(f"graph:{which}"))
    name = random.choice(list(files))
    others = [c for n in GRAPHS if n != "bvgraph" for c in world.sample(f"graph:{n}").values()]
    files[name], what = mutate(random, files[name], others)
    if which not in ("bvgraph", "binary", "parhip") and random.random() < 0.03:
        content, what = bomb(random.choice([b"0", b"\n", b"# \n", b" "]), 30 << 20), "gzip of 30 MB"
        files = {name + ".gz": content}
        name += ".gz"
    graph = "g" if which == "bvgraph" else name
    verb = random.choice(["graph convert", "graph convert", "msf", "linkage"])
    case = Case(what=f"{name}: {what}", verb=verb, files={f"work/{n}": c for n, c in files.items()},
                spoiled=[f"work/{name}"], inputs=[f"work/{n}" for n in files])
    out, label = "out" + random.choice([".mgr", ".txt", ".mtx"]), "labels.txt"
    if verb == "linkage":
        case.parts = [Part(["linkage", graph, "--labels", label, "--clusters", "3"])]
        out = label
    elif verb == "msf":
        case.parts = [Part(["msf", graph, "-o", out]), Part(["--labels", label], True), Part(["--verify"], True)]
        case.read_again = [["graph", "convert", out]]
    else:
        case.parts = [Part(["graph", "convert", graph, out])]
        case.read_again = [["graph", "convert", out]]
    if random.random() < 0.5:
        case.parts.append(Part(["--ranks", str(random.choice([2, 3]))], True))
    if random.random() < 0.4:
        case.parts.append(Part(["--format", which], True))
    case.files |= {f"work/{out}": OLD, f"work/{label}": OLD}
    case.outputs = [f"work/{out}", f"work/{label}"]
    return case


def process_graphs(random, world):
    which = random.choice(list(PROCESS_GRAPHS))
    name, content = next(iter(world.sample(f"topo:{which}").items()))
    content, what = mutate(random, content, [c for n in PROCESS_GRAPHS for c in world.sample(f"topo:{n}").values()])
    out = "out" + random.choice([".bin", ".txt", ".adj", ".mtx"])
    case = Case(what=f"{name}: {what}", verb="topo convert", parts=[Part(["topo", "convert", name, out])],
                files={f"work/{name}": content, f"work/{out}": OLD}, spoiled=[f"work/{name}"], inputs=[f"work/{name}"],
                outputs=[f"work/{out}"], read_again=[["topo", "convert", out]])
    for extra in (["--ranks", "2"], ["--from", which]):
        if random.random() < 0.3:
            case.parts.append(Part(extra, True))
    return case


def points(random, world):
    which = random.choice(["text", "npy", "gzip"])
    name, content = next(iter(world.sample(f"points:{which}").items()))
    content, what = mutate(random, content, [c for w in ("text", "npy") for c in world.sample(f"points:{w}").values()])
    if random.random() < 0.02:
        name, content, what = "p.txt.gz", bomb(random.choice([b"0", b"\n", b"# \n", b" "]), 30 << 20), "gzip of 30 MB"
    verb = random.choice(["linkage", "msf"])
    case = Case(what=f"{name}: {what}", verb=verb, files={f"work/{name}": content, "work/labels.txt": OLD},
                spoiled=[f"work/{name}"], inputs=[f"work/{name}"], outputs=["work/labels.txt"])
    case.parts = [Part([verb, "--points", name, "--labels", "labels.txt"])]
    if verb == "linkage":
        case.parts.append(Part(random.choice([["--method", "hdbscan"], ["--clusters", "3"], ["--height", "2"]])))
    if random.random() < 0.3:
        case.parts.append(Part(["--periodic", "xy", "--extent", "100"], True))
    if random.random() < 0.4:
        case.parts.append(Part(["--ranks", "3"], True))
    return case


def records(random, world):
    which = random.choice(["bench", "random", "cluster", "msf", "traffic"])
    content, what = mutate(random, world.sample("traffic" if which == "traffic" else f"record:{which}"))
    case = Case(what=f"record of {which}: {what}", files={"work/r.json": content, "work/out.json": OLD}, spoiled=["work/r.json"],
                inputs=["work/r.json", "work/good.json"], outputs=["work/out.json"])
    if which in ("cluster", "traffic"):
        case.verb, case.outputs = "topo extract", ["work/out.bin"]
        case.files["work/out.bin"] = OLD
        case.parts = [Part(["topo", "extract", "--from", "r.json", "-o", "out.bin"])]
        case.read_again = [["topo", "convert", "out.bin"]]
    elif which == "bench" and random.random() < 0.5:
        case.verb = "doctor"
        case.parts = [Part(["doctor", "--record", "r.json", "--json", "out.json"])]
    else:
        case.verb = "compare"
        case.files["work/good.json"] = world.sample(f"record:{which}")
        pair = random.choice([["r.json", "good.json"], ["good.json", "r.json"]])
        case.parts = [Part(["compare", *pair]), Part(["--json", "out.json"], True)]
    return case


def traces(random, world):
    which = random.choice(["trace", "monitoring"])
    files = dict(world.sample(which))
    name = random.choice(list(files))
    if random.random() < 0.1:
        del files[name]
        what = "is missing"
    else:
        files[name], what = mutate(random, files[name], list(files.values()))
    out = random.choice(["out.bin", "out.json", "out.mtx"])
    case = Case(what=f"{name}: {what}", verb="topo extract", files={f"work/t/{n}": c for n, c in files.items()} | {f"work/{out}": OLD},
                spoiled=[f"work/t/{name}"] if name in files else [], inputs=[f"work/t/{n}" for n in files], outputs=[f"work/{out}"],
                parts=[Part(["topo", "extract", "--from", "t", "-o", out])])
    case.read_again = [["topo", "extract", "--from", out] if out == "out.json" else ["topo", "convert", out]]
    if which == "trace" and random.random() < 0.3:
        case.parts.append(Part(["--phase", "1"], True))
    return case


class Inputs(Attack):
    name = "inputs"
    text = "mutated, truncated and spliced inputs of every reader; the old output survives, a new one can be read"
    weight = 3.0

    def make(self, random, world):
        maker = random.choices([parcels, graphs, process_graphs, points, records, traces], [6, 6, 2, 2, 2, 2])[0]
        case = maker(random, world)
        case.spoiled = [n for n in case.spoiled if n in case.files]
        case.inputs = [n for n in case.inputs if n in case.files]
        if world.launches and random.random() < 0.02 and case.verb in ("cluster", "graph convert", "msf", "linkage"):
            case.parts = [p for p in case.parts if p.words[0] != "--ranks"] + [Part(["--comm", random.choice(MODELS)])]
            case.launch = random.choice([2, 3])
        return case

    def check(self, case, result, folder, world):
        if result.code != 0 and result.code in case.codes:
            return self.same_refusal(case, result, folder, world)
        if result.code != 0 or not case.data.get("parcels"):
            return []
        return self.conserved(case, folder) + self.same_on_ranks(case, result, folder, world)

    @staticmethod
    def same_refusal(case, result, folder, world):
        """Several ranks refuse an input as one does: nothing masks the error."""
        words = [w for part in case.parts if part.words[0] not in ("--ranks", "--comm") for w in part.words]
        if len(words) == len(case.words()):
            return []
        alone = world.run(words, folder)
        if alone.code == 0 and b" ranks for " in result.err:  # more ranks than cells
            return []
        if alone.code != result.code:
            return [Finding("error masked", f"on several ranks the exit code is {result.code}, on one {alone.code}: "
                                            f"{alone.err[:200].decode(errors='replace')}")]
        return []

    @staticmethod
    def conserved(case, folder):
        from .. import epic
        before = epic.volume(case.files["work/in.nc"] if isinstance(case.files["work/in.nc"], bytes)
                             else case.files["work/in.nc"].bytes())
        with open(folder.at("work/out.nc"), "rb") as file:
            after = epic.volume(file.read())
        if before is None:  # the library of this tool is stricter than the program
            return []
        if after is None or not abs(after - before) <= 1e-9 * abs(before):
            return [Finding("volume lost", f"volume {before!r} became {after!r}, exit code 0")]
        return []

    @staticmethod
    def same_on_ranks(case, result, folder, world):
        words = [w for part in case.parts if part.words[0] not in ("--ranks", "--comm") for w in part.words]
        digests = {digest_of(result.out): "as given"}
        for ranks in ("1", "2", "3"):
            again = world.run([*words, "--ranks", ranks], folder)
            if again.code != 0:
                return [Finding("ranks differ", f"with --ranks {ranks} the exit code is {again.code}: {again.err[:300]!r}")]
            digests[digest_of(again.out)] = ranks
        return [Finding("ranks differ", f"digests differ over ranks: {digests}")] if len(digests) > 1 else []


def digest_of(out):
    at = out.rfind(b"digest ")
    return out[at + 7:].split(b"\n")[0].decode() if at >= 0 else ""


ATTACK = Inputs()
