"""Attacks by files that refer to other files, and names that are no files: no reader may follow them."""
import os

from ..attack import Attack
from ..case import Case, Finding, Part

SEEDS = os.path.join(os.path.dirname(__file__), "..", "..", "..", "tests", "fuzz", "seeds", "hdf5_references")
OLD = b"old output\n"
BAIT = b"\x89HDF\r\n\x1a\n" + bytes(4096)
VERBS = (["cluster", "{}", "-o", "out.nc"], ["bench", "files", "{}", "--steps", "1"],
         ["verify", "--samples", "0", "--comm", "threads", "--ranks", "1,2", "{}"], ["flow", "--restart", "{}", "--until", "0.001"])
ADDRESSES = ("http://127.0.0.1:9/in.nc", "https://127.0.0.1:9/in.nc", "file:///proc/self/cwd/bait.nc", "s3://bucket/in.nc",
             "dap4://127.0.0.1:9/in.nc", "bait.nc#mode=zarr,file", "bait.nc#mode=bytes", "[log][mode=nczarr]file://bait.nc",
             "http://127.0.0.1:9/in.nc#mode=bytes", "-", "/dev/stdin", "/proc/self/fd/0")
PICKLE = b"(dp0\n."  # of Python: never unpacked


def npy(descr):
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': (2, 2), }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + PICKLE * 20


def properties(more):
    return f"#BVGraph properties\nversion=0\nnodes=6\narcs=0\nwindowsize=0\nmaxrefcount=0\n{more}\n".encode()


TEXTS = {
    "g.txt": [b"@bait.nc\n", b"1 2\ninclude bait.nc\n", b"bait.nc bait.nc\n"],
    "g.mtx": [b"%%MatrixMarket matrix coordinate pattern general\n%include bait.nc\n@bait.nc\n"],
    "g.metis": [b"%include bait.nc\n@bait.nc\n"],
    "p.txt": [b"@bait.nc\n", b"include bait.nc\n"],
    "p.npy": [npy("'|O'"), npy("'|V16'"), npy("[('x', '|O')]"), npy("'<U4'")],
    "r.json": [b'{"include": "bait.nc"}', b'{"$ref": "bait.nc"}', b'"bait.nc"'],
}
READERS = {
    "g.txt": [["graph", "convert", "{}", "out.mgr"], ["msf", "{}", "-o", "out.mgr"]],
    "g.mtx": [["graph", "convert", "{}", "out.mgr"], ["topo", "convert", "{}", "out.mgr"]],
    "g.metis": [["graph", "convert", "{}", "out.mgr"]],
    "p.txt": [["linkage", "--points", "{}", "--clusters", "2"]],
    "p.npy": [["linkage", "--points", "{}", "--clusters", "2"], ["msf", "--points", "{}"]],
    "r.json": [["compare", "{}", "{}"], ["topo", "extract", "--from", "{}", "-o", "out.mgr"]],
}
CLASSES = ("graphclass=it.unimi.dsi.webgraph.Transform\nunderlyinggraph=bait",
           "graphclass=it.unimi.dsi.webgraph.labelling.BitStreamArcLabelledImmutableGraph\nunderlyinggraph=../bait",
           "graphclass=java.lang.Runtime")


class References(Attack):
    name = "references"
    text = "files that name other files (links, storage, plug-ins, properties, pickles) and names that are addresses: refused"
    weight = 0.5

    def make(self, random, world):
        which = random.choice(["hdf5", "hdf5", "address", "text", "bvgraph"])
        files, out = {"work/bait.nc": BAIT, "work/bait.graph": BAIT}, None
        if which == "hdf5":
            name = random.choice(sorted(n for n in os.listdir(SEEDS) if n.startswith("refused-")))
            with open(os.path.join(SEEDS, name), "rb") as file:
                files["work/in.nc"] = file.read()
            files |= {"work/other.h5": BAIT, "work/raw.bin": bytes(48)}
            words, what = [w.format("in.nc") for w in random.choice(VERBS)], name
        elif which == "address":
            what = random.choice(ADDRESSES)
            words = [w.format(what) for w in random.choice(VERBS)]
        elif which == "bvgraph":
            what = random.choice(CLASSES)
            files |= {"work/g.graph": b"\0" * 8, "work/g.properties": properties(what)}
            words = ["graph", "convert", "g", "out.mgr"]
        else:
            name = random.choice(list(TEXTS))
            files[f"work/{name}"] = random.choice(TEXTS[name])
            words, what = [w.format(name) for w in random.choice(READERS[name])], name
        out = next((w for w in words if w.startswith("out.")), None)
        case = Case(what=what, verb=words[0], parts=[Part(words)], files=files, inputs=list(files), codes=(2, 3))
        if out:
            case.files[f"work/{out}"], case.outputs = OLD, [f"work/{out}"]
        case.data["hdf5"] = which == "hdf5"
        return case

    def check(self, case, result, folder, world):
        if not case.data["hdf5"]:
            return []
        text = result.err.decode(errors="replace")
        if result.code != 3 or ("another file" not in text and "plug-in" not in text):
            return [Finding("reference followed", f"exit code {result.code}, must be 3 and say what leads where: {text[:300]}")]
        return []


ATTACK = References()
