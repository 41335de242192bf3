"""Attacks by extreme and invalid values of every option of every verb."""
from .. import samples
from ..attack import Attack
from ..case import Case, Part

VALUES = ["", "2147483647", "9223372036854775807", "9223372036854775808", "-1", "0", "nan", "inf", "1e308", "-1e308", "1e-320",
          "\n", "a\nb", "\x1b[31m", "x" * 100_000, "9" * 100_000, "-", "--", "/dev/full", "/dev/null", "/", "folder", ".", "..",
          "\udcff\udcfe", "é", ",", ",,", "1,2,3", "1,1", ":", "=", "a=b", "in.nc", "r.json", "g.txt", "p.bin", "none/x", "in.nc/x",
          "%s%n", "$(touch X)", "`touch X`", "'; touch X; '", "*", "1:2:3", "0x7f", "1e3", "1.5", "all", "default", "auto", "none"]
# Options that determine the amount of work: a large value may take hours.
WORK = {"--steps", "--time", "--samples", "--chaos", "--repeats", "--launches", "--work-ms", "--timeout", "--edge", "--blocks",
        "--every", "--block", "--exact", "--budget", "--vertices", "--ranks", "--rows", "--cells", "--nx", "--ny", "--nz",
        "--per-cell", "--degree", "--heaps", "--coarsen", "--max-ranks", "--sizes", "--measure", "--size", "--gen", "--points",
        "--graph", "--aggressor", "--watchdog", "--width", "--pitch", "--radius", "--volume", "--reach", "--kernels", "--models",
        "--quick", "--only", "--compare", "--comm", "--search", "--prune", "--weak", "--leaf", "--dimension", "--cross"}
# A command with little work for each verb; a verb that is not listed is attacked with its options alone.
LITTLE = {
    "announce bench": ["--ranks", "2", "--size", "8", "--steps", "2", "--work-ms", "0", "--edge", "2"],
    "announce demo": ["droplet", "--steps", "2"],
    "announce table2": ["--budget", "1"],
    "announce table3": ["--budget", "1"],
    "bench files": ["in.nc", "--steps", "1"],
    "bench msf": ["--quick", "--only", "T9"],
    "bench random": ["--cells", "3,3,3", "--steps", "1"],
    "cluster": ["in.nc", "-o", "out.nc"],
    "compare": ["r.json", "r2.json"],
    "doctor": [],
    "gen random": ["--cells", "3,3,3", "--per-cell", "3", "-o", "out.nc"],
    "graph convert": ["g.txt", "out.mgr"],
    "linkage": ["--points", "p.txt", "--labels", "out.txt", "--clusters", "2"],
    "msf": ["g.txt", "-o", "out.txt"],
    "run": ["--dry-run", "doctor"],
    "topo advise": ["p2.bin", "--record", "k.json", "--sizes", "8"],
    "topo bench": ["--models", "threads", "--ranks", "2", "--graph", "chain", "--sizes", "8", "--time", "0.2"],
    "topo convert": ["p.bin", "out.bin"],
    "topo extract": ["--from", "r.json", "-o", "out.bin"],
    "topo gen": ["ring", "-o", "out.bin"],
    "topo replay": ["p.bin", "--models", "threads", "--sizes", "8", "--time", "0.2"],
    "topo table2": [],
    "topo tail": ["--kernels", "threads.copy-flag", "--aggressor-kernel", "threads.copy-flag", "--time", "0.2", "--sizes", "8"],
    "verify": ["--ranks", "2", "--comm", "threads", "--samples", "1"],
}
# Verbs whose least work takes many seconds are drawn rarely.
SLOW = {"announce table2", "announce table3", "topo table2", "topo tail", "bench msf", "topo advise"}
WRITTEN = ("--output", "-o", "--json", "--csv", "--picture", "--labels", "--linkage", "--probabilities", "--condensed")


def files_for(words, world):
    """Returns the sample files that a command names."""
    return {f"work/{name}": world.sample(name) for name in samples.NAMES if name in words}


def without_option(words, option):
    """Returns the words of a command without one option and its value."""
    names = {option.name, option.letter} - {""}
    out, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in names:
            skip = bool(option.value)
        else:
            out.append(word)
    return out


def read_words(words):
    """Returns the words of a command without those that name outputs."""
    written = [i for i, word in enumerate(words) if i > 0 and words[i - 1] in WRITTEN]
    rest = [word for i, word in enumerate(words) if i not in written and word.partition("=")[0] not in WRITTEN]
    return rest + [word.partition("=")[2] for word in rest]


def outputs_in(words):
    """Returns the files that a command may write, as names in the case's folder."""
    found = []
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in WRITTEN:
            value = value if equals else (words[i + 1] if i + 1 < len(words) else "")
            found.append(value)
    return [f"work/{value}" for value in [*found, "out.nc", "out.mgr", "out.bin", "out.txt"] if value]


class Options(Attack):
    name = "options"
    text = "every option of every verb with empty, huge, negative, non-finite, hostile values; nothing but the outputs changes"
    weight = 2.0

    def make(self, random, world):
        names = [name for name in world.verbs for _ in range(1 if name in SLOW else 8)]
        verb = world.verbs[random.choice(names)]
        words = list(LITTLE.get(verb.name, []))
        given = []
        for _ in range(random.choice([1, 1, 1, 2, 3])):
            part = self.option(random, verb)
            words = without_option(words, part[1])
            given.append(part)
        if random.random() < 0.08 and words:  # a positional, or a value of the little command itself
            words[random.randrange(len(words))] = random.choice(VALUES)
        if random.random() < 0.05:
            given.append(([random.choice(["--nonsense", "-z", "--json", "--=x", "-", "--no-json", "x" * 5000])], None))
        parts = [Part([*verb.name.split(), *words])] + [Part(p, len(given) > 1) for p, _ in given]
        flat = [w for part in parts for w in part.words]
        values = [part.partition("=")[2] if "=" in part else part for part in flat]
        files = files_for(flat + values, world)
        case = Case(verb=verb.name, parts=parts, files=files, folders=["work/folder"],
                    inputs=list(files_for(read_words(flat), world)))
        case.what = "options " + " ".join(p[0].partition("=")[0] for p, _ in given)
        case.endless = verb.name in SLOW or any(w.partition("=")[0] in WORK for w in flat)
        case.outputs = [o for o in outputs_in(flat) if o not in case.inputs]
        case.memory_kib = 2 << 20  # what an option asks for may be much, within reason
        return case

    @staticmethod
    def option(random, verb):
        option = random.choice(verb.options) if verb.options else None
        if option is None:
            return [random.choice(VALUES)], None
        if not option.value:
            return [option.name + random.choice(["", "", "=", "=x", "=false"])], option
        value = random.choice(VALUES).replace("\0", "")
        if random.random() < 0.3:
            value = random.choice(option.value.split("|")) if "|" in option.value else str(random.choice([1, 2, 3, 5, 8]))
        if random.random() < 0.3:
            return [option.name, value], option
        return [f"{option.name}={value}"], option


ATTACK = Options()
