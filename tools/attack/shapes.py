"""Command templates with all files that they read (<) and write (>), for attacks on paths, links, names and disks."""
from dataclasses import dataclass

from .case import Case, Part

TEXTS = (
    "cluster <in.nc -o >out.nc --json >r.json --csv >c.csv --picture >p.svg",
    "cluster <in.nc -o >out.nc",
    "convert <in.nc >out.vtu --json >r.json",
    "convert <in.nc >out.npz",
    "convert <in.nc >out.nc",
    "convert <in.nc >out.vtkhdf --json >r.json",
    "convert <in.nc >out.npy",
    "convert <in.nc >out.csv",
    "convert <in.vtkhdf >out.npz",
    "convert <in.csv >out.vtu --cells 3,3,3 --origin -50,-50,-50 --extent 100,100,100 --periodic xyz",
    "cluster <in.vtu -o >out.vtkhdf --json >r.json",
    "cluster <in.npz -o >out.npz",
    "gen random --cells 3,3,3 --per-cell 3 -o >out.nc --json >r.json",
    "graph convert <g.txt >out.mgr --json >r.json",
    "graph convert <g.mtx >out.txt",
    "graph convert <g.txt >out.parhip",
    "msf <g.txt -o >out.txt --labels >l.txt --json >r.json",
    "msf --points <p.txt -o >out.txt --labels >l.txt --json >r.json",
    "linkage --points <p.txt --method hdbscan --labels >l.txt --linkage >z.npy --probabilities >q.txt --condensed >d.txt --json >r.json",
    "linkage <g.txt --clusters 2 --labels >l.txt --linkage >z.txt --json >r.json",
    "compare <r.json <r2.json --json >o.json",
    "topo gen ring -o >p.bin --json >r.json",
    "topo convert <p.bin >q.bin --json >r.json",
    "topo convert <p.bin >q.txt",
    "topo extract --from <r.json -o >p.bin --json >p.json",
    "topo advise <p2.bin --record <k.json --sizes 8 --json >a.json",
    "topo bench --models threads --ranks 2 --graph chain --sizes 8 --time 0.2 --quiet --json >r.json --csv >c.csv",
    "topo replay <p.bin --models threads --sizes 8 --time 0.2 --quiet --json >r.json --csv >c.csv",
    "doctor --record <k.json --json >d.json",
    "bench random --cells 3,3,3 --steps 1 --quiet --json >r.json --csv >c.csv",
    "bench files <in.nc --steps 1 --quiet --json >r.json --csv >c.csv",
    "announce demo droplet --steps 2 --json >r.json --picture >p.svg",
    "announce bench --ranks 2 --size 8 --steps 2 --work-ms 0 --edge 2 --json >r.json",
    "verify --ranks 2 --comm threads --samples 0 <in.nc --json >v.json",
)
OLD = b"old output\n"


@dataclass
class Slot:
    """A word of a command template that is a path."""
    at: int  # index of the word
    name: str
    reads: bool


@dataclass
class Shape:
    words: list
    slots: list

    @property
    def verb(self):
        return " ".join(self.words[:2]) if self.words[0] in ("topo", "graph", "gen", "bench", "announce") else self.words[0]

    def case(self, world, names=None, with_old=True):
        """Returns the command with the files that it reads; `names` replaces the paths of slots."""
        names = names or {}
        words = list(self.words)
        for i, slot in enumerate(self.slots):
            words[slot.at] = names.get(i, slot.name)
        case = Case(verb=self.verb, parts=[Part(words)])
        for i, slot in enumerate(self.slots):
            place = "work/" + names.get(i, slot.name).removeprefix("./")
            if slot.reads:
                case.files[place] = world.sample(slot.name)
                case.inputs.append(place)
            else:
                case.outputs.append(place)
                if with_old:
                    case.files[place] = OLD
        return case


def parse(text):
    words, slots = [], []
    for word in text.split():
        if word[0] in "<>":
            slots.append(Slot(len(words), word[1:], word[0] == "<"))
            word = word[1:]
        words.append(word)
    return Shape(words, slots)


SHAPES = [parse(text) for text in TEXTS]


def known(world):
    """Returns the templates whose verb this program has."""
    return [s for s in SHAPES if s.verb in world.verbs]
