"""Attacks by damaged files for every command that reads some, and by parcels of extreme values, which are merged.

That readers bear any bytes is what tests/fuzz looks for. Here counts what the whole command does: its exit code and its one line, old
outputs that survive, new ones that can be read, the same on all ranks.
"""
import gzip
import os
import re

from .. import shapes
from ..attack import Attack
from ..case import DOCUMENTED, Finding, Part, Recipe
from ..world import MODELS

# Readers of files that write too little for a template of shapes.py; verify-child is what `verify` calls.
MORE = ("topo advise --evaluate <k.json --json >a.json", "verify-child <r.json >o.json threads")
ON_RANKS = ("cluster", "graph convert", "msf", "linkage", "bench files")  # take --ranks, where a template does not
# What reads the first output of a verb.
AGAIN = {"cluster": ["cluster"], "graph convert": ["graph", "convert"], "msf": ["graph", "convert"],
         "topo convert": ["topo", "convert"], "topo extract": ["topo", "convert"]}
NUMBER = re.compile(rb"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
WORDS = (b"-1", b"0", b"1e308", b"1e400", b"-0.0", b"nan", b"-inf", b"2147483648", b"9223372036854775807", b"18446744073709551616",
         b"1e-320", b"", b"x", b"null", b"\0", b"\x1b[31m", b"\xff\xfe", b"1" * 400, b"1 1 1 1 1 1")
FIRST = (b"", b"\n", b"\0" * 4096, b"{}", b"[" * 100_000, b"\x89HDF\r\n\x1a\n", b"CDF\1", b"\x1f\x8b", b"\x93NUMPY\1\0",
         b"%%MatrixMarket matrix coordinate pattern general\n")


def cut(random, content):
    return content[:random.randrange(len(content))]


def flip(random, content):
    at = random.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1:]


def another(random, content):
    """Replaces all by the first bytes of a file of another format, or of none."""
    return random.choice(FIRST)


def number(random, content):
    m = random.choice(list(NUMBER.finditer(content)))
    return content[:m.start()] + random.choice(WORDS) + content[m.end():]


def long_line(random, content):
    lines = content.split(b"\n")
    lines.insert(random.randrange(len(lines)), bytes([random.choice(b"0 x,\t#")]) * 300_000)
    return b"\n".join(lines)


def bomb(random, content):
    """Replaces all by 10 MB and more that gzip makes small: longer than any input of tests/fuzz."""
    return gzip.compress(random.choice([b"0", b"\n", b"# \n", b" "]) * (10 << 20), mtime=0)


TEXT, BINARY = (cut, another, number, number, number, long_line), (cut, another, flip, flip)


def damaged(random, world):
    """Returns a case in which one of the files that a command reads is damaged."""
    more = [s for s in map(shapes.parse, MORE) if s.verb.removesuffix("-child") in world.verbs]
    shape = random.choice([s for s in shapes.known(world) + more if any(slot.reads for slot in s.slots)])
    case = shape.case(world)
    name = random.choice(case.inputs)
    way = random.choice(BINARY if b"\0" in case.files[name] else TEXT)
    if name in ("work/g.txt", "work/g.mtx") and random.random() < 0.05:
        way = bomb
    case.files[name] = way(random, case.files[name])
    case.what = f"{name}: {way.__name__}"
    if shape.verb in AGAIN:
        case.read_again = [[*AGAIN[shape.verb], next(slot.name for slot in shape.slots if not slot.reads)]]
    if shape.verb == "verify-child":
        case.codes = (*DOCUMENTED, 70)  # only `verify` writes plans: a bad one is an internal error
    return case


def extreme(random, world):
    """Returns a case of parcels with extreme values, which the command reads, merges and writes."""
    from .. import epic
    steps = [epic.choose(random) for _ in range(random.choice([1, 1, 1, 2, 3]))]
    case = shapes.parse("cluster <in.nc -o >out.nc --json >r.json").case(world)
    case.files["work/in.nc"] = Recipe(epic.build, steps)
    case.what, case.read_again = "; ".join(map(str, steps)), [["cluster", "out.nc"]]
    for extra in (["--audit"], ["--steps", "3"], ["--prune", "iterative"], ["--balance"], ["--min-volume-ratio", "3"]):
        if random.random() < 0.15:
            case.parts.append(Part(extra, True))
    return case


class Inputs(Attack):
    name = "inputs"
    text = "damaged files for all commands that read, extreme values of parcels: old outputs survive, new ones can be read"
    weight = 2.0

    def make(self, random, world):
        case = random.choice([damaged, extreme])(random, world)
        if case.verb in ON_RANKS and random.random() < 0.5:
            if world.launches and random.random() < 0.05 and case.verb != "bench files":
                case.parts.append(Part(["--comm", random.choice(MODELS)]))
                case.launch = random.choice([2, 3])
            else:
                case.parts.append(Part(["--ranks", str(random.choice([2, 3]))], True))
        return case

    def check(self, case, result, folder, world):
        words = [w for part in case.parts if part.words[0] not in ("--ranks", "--comm") for w in part.words]
        if result.code != 0 and result.code in case.codes:
            return self.same_refusal(case, result, folder, world, words)
        if result.code != 0 or case.verb != "cluster":
            return []
        checks = self.same_on_ranks(result, folder, world, words)
        if "work/in.nc" in case.files and os.path.exists(folder.at("work/out.nc")):  # other formats have no check here
            checks = self.conserved(case, folder) + checks
        return checks

    @staticmethod
    def same_refusal(case, result, folder, world, words):
        """Returns a finding if several ranks refuse an input with another error than one rank."""
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
        content = case.files["work/in.nc"]
        before = epic.volume(content if isinstance(content, bytes) else content.bytes())
        with open(folder.at("work/out.nc"), "rb") as file:
            after = epic.volume(file.read())
        if before is None:  # the library of this tool is stricter than the program
            return []
        if after is None or not abs(after - before) <= 1e-9 * abs(before):
            return [Finding("volume lost", f"volume {before!r} became {after!r}, exit code 0")]
        return []

    @staticmethod
    def same_on_ranks(result, folder, world, words):
        digests = {parse_digest(result.out): "as given"}
        for ranks in ("1", "2", "3"):
            again = world.run([*words, "--ranks", ranks], folder)
            if again.code != 0:
                return [Finding("ranks differ", f"with --ranks {ranks} the exit code is {again.code}: {again.err[:300]!r}")]
            digests[parse_digest(again.out)] = ranks
        return [Finding("ranks differ", f"digests differ over ranks: {digests}")] if len(digests) > 1 else []


def parse_digest(out):
    at = out.rfind(b"digest ")
    return out[at + 7:].split(b"\n")[0].decode() if at >= 0 else ""


ATTACK = Inputs()
