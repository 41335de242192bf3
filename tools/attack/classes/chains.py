"""Attacks by chains of runs with files in between: one result for any number of ranks, model and format on the way."""
import os

from ..attack import Attack
from ..case import Case, Finding, Part
from ..folder import state
from ..processes import Result
from ..world import MODELS
from .inputs import parse_digest

GRAPHS = (".txt", ".mtx", ".gr", ".mgr", ".metis", ".parhip")
PROCESS_GRAPHS = (".bin", ".txt", ".adj", ".mtx")


def lattice(random):
    """Returns steps for a file of parcels on a lattice with equal volumes, in some order: all distances are tied."""
    side = random.choice([3, 4, 6])
    points = [(x, y, z) for x in range(side) for y in range(side) for z in range(side)]
    order = sorted(points) if random.random() < 0.5 else random.sample(points, len(points))
    steps = [("count", len(order))]
    for axis, name in enumerate("xyz"):
        steps.append(("values", f"{name}_position", [-1 + 2 * (p[axis] + 0.5) / side for p in order]))
    steps.append(("all", "volume", random.choice([0.001, 0.002])))
    return steps


def placed(random, ranks=None):
    """Returns (words before, words after) a command that run it on several ranks: threads, or processes of a model."""
    n = ranks or random.choice([1, 2, 3, 4])
    if random.random() < 0.75:
        return [], ["--ranks", str(n)]
    return ["run", "-n", str(n), "--"], ["--comm", random.choice(MODELS)]


def plain(verb, words):
    return [*verb.split(), *words]


def chain_of_clusters(random, world):
    """Returns a chain of two or three merge runs, each on other ranks; their digests must equal those on one rank."""
    from .. import epic
    kind = random.choice(["lattice", "random", "generated"])
    stages = [["-o", "1.nc", "--min-volume-ratio", random.choice(["3", "20", "40"])],
              ["-o", "2.nc", "--min-volume-ratio", random.choice(["3", "10"])], ["--min-volume-ratio", "2"]]
    if random.random() < 0.3:
        stages[1] += ["--steps", "3"]
    first, files = [], {}
    if kind == "generated":
        first = [plain("gen random", ["--cells", "5,4,3", "--per-cell", str(random.choice([3, 7])), "--seed", str(random.randrange(99)),
                                      "-o", "0.nc"])]
    else:
        files["work/0.nc"] = epic.build(lattice(random) if kind == "lattice" else [("order", random.randrange(10**6))])
    commands = first + [["cluster", f"{i}.nc", *words] for i, words in enumerate(stages[:random.choice([2, 2, 3])])]
    return kind, files, commands


def chain_of_graphs(random, world):
    """Returns a chain that converts a generated graph through files of other formats; the forest must be the same."""
    made = random.choice(["gnm:6:3", "grid:5x4", "rmat:6:4", "path:40"])
    ways = [random.choice(GRAPHS) for _ in range(random.choice([1, 2, 3]))]
    names = [f"g{i}{extension}" for i, extension in enumerate(ways)]
    commands = [plain("graph convert", ["--gen", made, "--seed", str(random.randrange(99)), names[0]])]
    commands += [plain("graph convert", [a, b]) for a, b in zip(names, names[1:])]
    commands.append(["msf", names[-1]])
    return f"{made} through {' '.join(ways)}", {}, commands


def chain_of_process_graphs(random, _):
    """Returns a chain that converts a generated process graph through files of other formats; digests must be equal."""
    kind = random.choice(["random:4", "torus:4x2", "incast", "power-law:4"])
    ways = [random.choice(PROCESS_GRAPHS) for _ in range(random.choice([2, 3]))]
    names = [f"g{i}{extension}" for i, extension in enumerate(ways)]
    seed = ["--seed", str(random.randrange(99))]
    seed = seed if kind.split(":")[0] in ("random", "power-law") else []  # the others are not random
    commands = [["topo", "gen", kind, "--ranks", "8", *seed, "-o", names[0]]]
    commands += [["topo", "convert", a, b] for a, b in zip(names, names[1:])]
    return f"{kind} through {' '.join(ways)}", {}, commands


def chain_of_clusters_of_points(random, _):
    """Returns a chain that clusters points and reads its dendrogram on other ranks."""
    made = random.choice(["uniform:2:400", "lattice:2:12", "clusters:3:300:4", "equal:40"])
    how = random.choice([["--clusters", "7"], ["--method", "hdbscan"], ["--clusters", "7", "--break-ties"]])
    return f"linkage of {made}", {}, [["linkage", "--points", made, "--linkage", "0.txt", "--labels", "1.txt", *how]]


def direct_forest(commands):
    made = commands[0]
    return ["msf", *made[2:6]]


class Chains(Attack):
    name = "chains"
    text = "chains of runs with files between, over ranks 1 to 4, models and formats: the same digests"

    def make(self, random, world):
        maker = random.choices([chain_of_clusters, chain_of_graphs, chain_of_process_graphs, chain_of_clusters_of_points],
                               [10, 5, 2, 2])[0]
        graphs = maker is chain_of_graphs
        what, files, commands = maker(random, world)
        places = []
        for command in commands:
            before, after = placed(random) if command[0] != "topo" else ([], [])
            if before and not world.launches:
                before, after = [], ["--ranks", "2"]
            places.append((before, after))
        case = Case(what=f"{what}: {'; '.join(' '.join(b + c + a) for c, (b, a) in zip(commands, places))}", verb="chain",
                    parts=[Part(commands[0])], files=files, inputs=list(files))
        case.data = {"commands": commands, "places": places, "graphs": graphs}
        return case

    def drive(self, case, folder, world):
        """Runs the chain on several ranks and then on one. Returns the result of the last command, or of the first that
        failed."""
        case.data["problems"] = []
        digests = {"one": [], "many": []}
        result = None
        for which in digests:
            for command, (before, after) in zip(case.data["commands"], case.data["places"]):
                words = command if which == "one" else [*before, *command, *after]
                result = world.run(words, folder, seconds=120)
                digests[which].append(parse_digest(result.out))
                if command[0] == "linkage":
                    digests[which] += [state(folder.at(f"work/{name}")) for name in ("0.txt", "1.txt")]
                if result.code != 0:
                    case.data["problems"].append(Finding(
                        "chain broken", f"{' '.join(words)} ends with {result.code}: {result.err[-300:].decode(errors='replace')}"))
                    return neutral(result)
        if case.data["graphs"]:
            result = world.run(direct_forest(case.data["commands"]), folder)
            digests = {"one": [parse_digest(result.out)] * 2, "many": [digests["one"][-1], digests["many"][-1]]}
        elif case.data["commands"][0][0] == "topo":
            digests = {"one": digests["one"][:1] * len(digests["one"]), "many": digests["one"]}
        if digests["one"] != digests["many"]:
            case.data["problems"].append(Finding("digests differ", f"on one rank {digests['one']}, else {digests['many']}"))
        case.outputs = ["work/" + name for name in folder_names(folder)]
        return neutral(result)

    def check(self, case, result, folder, world):
        return case.data["problems"]


def folder_names(folder):
    return [n for n in os.listdir(folder.at("work")) if n[:1].isdigit() or n[:1] == "g"]


def neutral(result):
    """Returns a result that judge.py accepts, since files and exit codes of a chain are judged by the chain itself."""
    return Result(result.words, 0, result.out, b"", result.seconds, result.rss_kib, left=result.left)


ATTACK = Chains()
