"""./x attack [CLASS...] [--for 10m] [--seed S] [--case N]"""
import argparse
import os
import re
import secrets
import signal
import sys

from . import classes
from .campaign import Campaign
from .world import World

TEXT = """\
Attacks the command merganser and reports what it finds: inputs lost, old outputs destroyed, crashes, hangs, wrong exit
codes, more than one line for an error, files, processes and shared memory left behind. Classes take turns, so that a
short run sees all of them. A finding is made smaller (bytes, options, ranks), shown with the line that makes it again,
and kept with its files under --keep. Limits of time grow with the load of the machine.

  ./x attack                              all classes for two minutes
  ./x attack inputs links --for 10m       two of them
  ./x attack signals --seed 7 --case 12   one case again

Ends with 0 if nothing was found, 1 otherwise, 2 for a wrong option."""


def seconds(text):
    m = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not m:
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: a number and s, m or h, as 90s, 10m')
    return float(m[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[m[2]]


def parse(arguments):
    known = [a.name for a in classes.ALL]
    p = argparse.ArgumentParser(prog="./x attack", description=TEXT, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("classes", nargs="*", metavar="CLASS", help=f"of {', '.join(known)} [all]")
    p.add_argument("--for", dest="seconds", type=seconds, default=120.0, metavar="TIME", help="how long: 90s, 10m, 1h [2m]")
    p.add_argument("--seed", default=None, help="decides all cases [a new one]")
    p.add_argument("--case", type=int, help="runs this case alone, as a finding says; needs one CLASS and --seed")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="cases at a time [number of cores]")
    p.add_argument("--list", action="store_true", help="tell what the classes do")
    p.add_argument("--program", default="build/bin/merganser", help="what is attacked [%(default)s]")
    p.add_argument("--keep", default="build/attack", help="folder for findings [%(default)s]")
    o = p.parse_args(arguments)
    for name in o.classes:
        if name not in known:
            p.error(f"unknown class {name}; known: {' '.join(known)}")
    if o.case is not None and (len(o.classes) != 1 or o.seed is None):
        p.error("--case needs one CLASS and --seed")
    if o.jobs < 1:
        p.error(f"--jobs: {o.jobs}; allowed: at least 1")
    return o


def catch_signals():
    """Signals end this tool with all that it started. A caught one is no ignored one: programs do not inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        ignored = signal.getsignal(number) == signal.SIG_IGN
        signal.signal(number, (lambda *_: None) if ignored else lambda n, _: sys.exit(128 + n))


def main(arguments):
    sys.stdout.reconfigure(errors="backslashreplace")
    o = parse(arguments)
    if o.list:
        for attack in classes.ALL:
            print(f"{attack.name:8} {attack.text}")
        return 0
    if not os.access(o.program, os.X_OK):
        print(f"attack: {o.program} is no program; ./x build makes it", file=sys.stderr)
        return 2
    attacks = [a for a in classes.ALL if not o.classes or a.name in o.classes]
    seed = o.seed if o.seed is not None else str(secrets.randbelow(10**6))
    world = World(o.program, keep=o.keep)
    catch_signals()
    try:
        campaign = Campaign(world, attacks, seed, o.keep, say=lambda line: print(line, flush=True))
        print(f"seed {seed}, {o.program}", flush=True)
        if world.absent:
            print(f"without {', '.join(world.absent)}: the program does not have these verbs", flush=True)
        if o.case is not None:
            campaign.replay(attacks[0], o.case)
        else:
            campaign.run(o.seconds, o.jobs)
        lines, found = campaign.summary()
        print("\n".join(lines))
        return 1 if found else 0
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
