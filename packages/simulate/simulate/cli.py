"""Options of ./x simulate: parsing and checks."""
import argparse
import os
import re

from . import machines
from .studies import STUDIES
from .runner import Limits

MODELS = ("p2p", "neighborhood", "rma")
PRUNINGS = ("single-pass", "iterative")
TEXT = """\
Runs merganser on simulated ranks: the same sources, compiled for SimGrid's SMPI, on a network like that of a machine of the
clustering paper. Times are simulated; results have the same bits as on real ranks.

  ./x simulate --machine archer2 --ranks 64,256,1024 --json s.json
  ./x simulate --machine cirrus --ranks 256 --comm rma --prune single-pass
  ./x simulate --machine hotlum --ranks 16,64,256 --strong 64x64x8
  ./x simulate --machine archer2 --ranks 1024 --noise 1000:1ms
  ./x simulate --study strong --machine archer2 --json strong.json
  ./x simulate --calibrate                              simulated latencies and bandwidths beside the published ones
  ./x simulate --machine archer2 --ranks 64 -- msf --gen rmat:12:16

Without a COMMAND: merge steps of the paper's artificial parcels, 20 in a cell, half of them small, the same block of cells on
each rank, pruned in a single pass and by the published iterations; for each, simulated time per stage of the slowest rank. A
rank's own work takes what it was measured to take on this machine, once. Docs: packages/simulate/docs/simulation.md.

A COMMAND is a command line of merganser without parcel files, which the simulated build cannot read or write. Only messages take time there, and the work of a merge step none.

A study (--list tells them) is a set of simulations with ranks and sizes of its own, which options change. With --json its record is
written after each one; the same call again goes on with what is not in it.

Exit codes: 0, or that of COMMAND; 1 a simulation failed; 2 a wrong option; 4 it reached --limit or --memory."""


def number_list(text):
    """Parses the numbers of ranks of --ranks, "N,N,...". @throws argparse.ArgumentTypeError"""
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: numbers of ranks, as 64,256,1024')
    return [int(n) for n in text.split(",")]


def cells(text):
    """Parses cells along x, y and z, "AxBxC", none of them 0. @throws argparse.ArgumentTypeError"""
    if not re.fullmatch(r"\d+x\d+x\d+", text) or "0" in text.split("x"):
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: cells along x, y and z, as 4x4x4')
    return tuple(int(n) for n in text.split("x"))


def name_list(known):
    """Returns a parser of option values that are lists of known names, separated by commas."""
    def parse(text):
        words = text.split(",")
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(f'"{word}"; allowed: {", ".join(known)}')
        return words
    return parse


def positive(text):
    """Parses an option value that is a number above 0 and below 1e9. @throws argparse.ArgumentTypeError"""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: a number above 0')
    return value


def share(text):
    """Parses an option value that is a share, above 0 and up to 1. @throws argparse.ArgumentTypeError"""
    value = positive(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: above 0, up to 1')
    return value


def noise(text):
    """Parses the simulated noise of the operating system, "ONE_IN:LATE[/WINDOW]". @return machines.Noise  @throws
    argparse.ArgumentTypeError"""
    m = re.fullmatch(r"(\d+):(\d+(?:\.\d+)?)(us|ms)(?:/(\d+(?:\.\d+)?)(us|ms))?", text)
    if not m:
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: ONE_IN:LATE or ONE_IN:LATE/WINDOW, as 1000:1ms or 1000:1ms/10ms')
    unit = {"us": 1e-6, "ms": 1e-3}
    late = float(m[2]) * unit[m[3]]
    try:
        return machines.Noise(one_in=int(m[1]), late_s=late, window_s=float(m[4]) * unit[m[5]] if m[4] else late)
    except ValueError as e:
        raise argparse.ArgumentTypeError(str(e)) from e


def parser():
    """Returns the parser of the command line of ./x simulate."""
    p = argparse.ArgumentParser(prog="./x simulate", description=TEXT, formatter_class=argparse.RawDescriptionHelpFormatter,
                                usage="./x simulate --machine NAME --ranks N,... [options] [-- COMMAND ...]\n"
                                      "       ./x simulate --study NAME --machine NAME [options]")
    p.add_argument("--list", action="store_true", help="tell the machines, models, prunings and studies")
    p.add_argument("--study", choices=tuple(STUDIES), help="a study of the papers")
    p.add_argument("--machine", choices=machines.MACHINES, help="whose nodes and network")
    p.add_argument("--ranks", type=number_list, metavar="N,...", help=f"numbers of ranks, 1 to {machines.MAX_RANKS}")
    p.add_argument("--per-node", type=int, metavar="N", help="ranks on a node [as many as the paper used]")
    p.add_argument("--comm", type=name_list(MODELS), default=["p2p"], metavar="MODEL,...",
                   help=f"communication models: {', '.join(MODELS)} [p2p]")
    p.add_argument("--json", metavar="FILE", help="record to write; of a study: to go on with, if it is there")
    p.add_argument("--noise", type=noise, metavar="ONE_IN:LATE[/WINDOW]",
                   help="in every window one rank in ONE_IN is held up for LATE: 1000:1ms")
    p.add_argument("--limit", type=positive, default=3600.0, metavar="S", help="real seconds that a simulation may take [3600]")
    p.add_argument("--memory", type=positive, default=16.0, metavar="GIB", help="memory that it may take [16]")
    steps = p.add_argument_group("merge steps, without a COMMAND")
    steps.add_argument("--prune", type=name_list(PRUNINGS), default=list(PRUNINGS), metavar="NAME,...",
                       help=f"{', '.join(PRUNINGS)} [both]")
    steps.add_argument("--cells", type=cells, default=(4, 4, 4), metavar="AxBxC", help="cells of each rank: weak scaling [4x4x4]")
    steps.add_argument("--strong", type=cells, metavar="AxBxC", help="cells of the whole grid, on any number of ranks")
    steps.add_argument("--small-within", type=share, default=1.0, metavar="SHARE",
                       help="share of the domain along x that has small parcels: an imbalanced start [1]")
    steps.add_argument("--cycles", type=int, default=2, metavar="N",
                       help="merge steps, of which the last one counts: the first makes what later ones keep [2]")
    steps.add_argument("--work", choices=("measured", "again", "none"), default="measured",
                       help="what a rank's own work takes: as measured here once, measured again, or no time [measured]")
    steps.add_argument("--place", choices=machines.PLACES, default="rows",
                       help="which ranks share a node: row by row of blocks, or compact tiles of them [rows]")
    studies = p.add_argument_group("studies")
    studies.add_argument("--graph", type=graph, default="rmat:16:16", metavar="NAME", help="forests: a made graph [rmat:16:16]")
    studies.add_argument("--size", type=count(1, 1 << 20), default=400, metavar="N", help="announce: bytes of an announcement [400]")
    studies.add_argument("--edge", type=count(0, 1000), default=20, metavar="N",
                         help="announce: cells along the edge of a block; a side sends 8 N^2 bytes [20]")
    p.add_argument("--build", default="build", metavar="FOLDER", help="where bin/merganser for real ranks is [%(default)s]")
    p.add_argument("--simulated", default="build-simgrid", metavar="FOLDER",
                   help="where bin/merganser for simulated ranks is [%(default)s]")
    return p


def count(least, most):
    """Returns a parser of option values that are whole numbers from least to most."""
    def parse(text):
        if not re.fullmatch(r"\d{1,9}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f'"{text}"; allowed: {least} to {most}')
        return int(text)
    return parse


def graph(text):
    """Parses the name of a generated graph for the study of forests, as rmat:16:16. @throws argparse.ArgumentTypeError"""
    if not re.fullmatch(r"(rmat|rgg2d|rgg3d|gnm|ba):\d{1,2}:\d{1,4}", text):
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: rmat, rgg2d, rgg3d, gnm or ba with two numbers, as rmat:16:16')
    return text


def find_study(words):
    """Returns the study that the command line of ./x simulate names; None if there is none of that name."""
    for i, word in enumerate(words):
        name = word.removeprefix("--study=") if word.startswith("--study=") else words[i + 1] if word == "--study" and words[i + 1:] else None
        if name in STUDIES:
            return STUDIES[name]
    return None


def parse(words):
    """Parses and checks the command line of ./x simulate; a study's defaults come before what the user gives. Ends the program for
    wrong options."""
    p = parser()
    at = words.index("--") if "--" in words else len(words)
    study = find_study(words[:at])
    if study:
        p.set_defaults(**study.defaults)
    o = p.parse_args(words[:at])
    o.command = words[at + 1:]
    if o.list:
        return o
    if o.study and at < len(words):
        p.error(f"--study {o.study} with a COMMAND; allowed: one of them")
    if o.place != "rows" and (o.command or o.study in ("forests", "announce")):
        p.error(f"--place {o.place} without merge steps; allowed: rows")
    if o.study in ("forests", "announce") and len(o.comm) > 1:
        p.error(f"--comm {','.join(o.comm)} with --study {o.study}; allowed: one model")
    for name in ("machine", "ranks"):
        if getattr(o, name) is None:
            p.error(f"no --{name}; allowed: " + {"machine": ", ".join(machines.MACHINES), "ranks": "numbers, as 64,256"}[name])
    if at < len(words) and not o.command:
        p.error("no COMMAND after --; allowed: a command line of merganser, as -- msf --gen rmat:12:16")
    if not 1 <= o.cycles <= 1000:
        p.error(f"--cycles: {o.cycles}; allowed: 1 to 1000")
    if o.command and len(o.comm) > 1:
        p.error(f"--comm {','.join(o.comm)} with a COMMAND; allowed: one model")
    if o.json:
        folder = os.path.dirname(os.path.abspath(o.json))
        if not os.path.isdir(folder) or os.path.isdir(o.json):
            p.error(f"--json {o.json}: no file can be there; allowed: a file in a folder that is there")
    try:
        for ranks in o.ranks:
            machines.platform(o.machine, ranks, None, o.per_node)
        if o.study:
            o.ranks = sorted(set(o.ranks))
            STUDIES[o.study].cases(o)  # a grid that has not a cell for each rank
    except ValueError as e:
        p.error(str(e))
    o.limits = Limits(o.limit, o.memory * 2**30)
    return o
