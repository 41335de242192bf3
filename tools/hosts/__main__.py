"""./x hosts N [--delay 0.5ms] -- COMMAND"""
import argparse
import os
import re
import shutil
import sys

from .hosts import HostFailure
from .sets import NOT_ALLOWED, not_shared, start

TEXT = """\
Makes N hosts out of this machine: each has a network, a name, a list of hosts, processes, /tmp and /dev/shm of its own,
and reaches the others over an emulated network only. COMMAND is a command line of merganser, run from the first of them
with its ranks spread over all, over TCP:

  ./x hosts 4 --delay 0.5ms -- verify --ranks 4 --comm all
  ./x hosts 2 --delay 1ms -- topo bench --graph chain --ranks 2 --sizes 8
  ./x hosts 4 -- cluster in.nc -o out.nc             as: merganser run -n 4 -- cluster ... (one rank a host)
  ./x hosts 4 --exec -- ctest --test-dir build -R '^comm/.*[.][234]$'
  ./x hosts 3 --cut 2@5 -- cluster in.nc --steps 100000      what happens when a cable is pulled?

Everything is gone when it ends, however it ends. The exit code is that of COMMAND; 77 where the system allows no
namespaces, 2 for a wrong option."""
# Verbs that start their ranks themselves; others are started by `merganser run`.
STARTS_ITSELF = ("run", "verify", "doctor", "gen", "compare", "help", "--help", "--version")


def seconds(text):
    """Converts the delay of --delay, as "0.5ms", to seconds; argparse reports others than 0 to 1 s."""
    m = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s)", text)
    if not m or float(m[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[m[2]] > 1:
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: 0us to 1s, as 500us or 0.5ms')
    return float(m[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[m[2]]


def host_at(text):
    """Converts HOST@SECONDS of --cut, --kill and --off to (number of the host, seconds)."""
    m = re.fullmatch(r"(\d+)@(\d+(?:\.\d+)?)", text)
    if not m:
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: HOST@SECONDS, as 2@1.5')
    return int(m[1]), float(m[2])


def parse(words):
    """Parses the options of ./x hosts and the command line behind --; ends the program with code 2 for a wrong one."""
    p = argparse.ArgumentParser(prog="./x hosts", description=TEXT, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("count", type=int, metavar="N", help="how many hosts, 1 to 64")
    p.add_argument("--delay", type=seconds, default=0.0, metavar="TIME", help="of every frame, each way: 500us, 0.5ms [0us]")
    p.add_argument("--cut", type=host_at, action="append", default=[], metavar="HOST@S", help="cut a host off after S seconds")
    p.add_argument("--kill", type=host_at, action="append", default=[], metavar="HOST@S",
                   help="kill a rank of a host (SIGKILL) after S seconds, or as soon as there is one")
    p.add_argument("--off", type=host_at, action="append", default=[], metavar="HOST@S",
                   help="switch a host off after S seconds: all its processes are killed")
    p.add_argument("--exec", action="store_true", help="COMMAND is a program, not a verb of merganser")
    p.add_argument("--quiet", action="store_true", help="no line about the hosts and the network")
    p.add_argument("--build", default="build", metavar="FOLDER", help="where bin/merganser is [%(default)s]")
    p.usage = "./x hosts N [options] -- COMMAND"
    at = words.index("--") if "--" in words else len(words)
    o = p.parse_args(words[:at])
    o.command = words[at + 1:]
    if not 1 <= o.count <= 64:
        p.error(f"N: {o.count}; allowed: 1 to 64")
    if not o.command:
        p.error("no COMMAND; allowed: -- and a command line of merganser, as -- verify --ranks 2")
    if not o.exec and (path := not_shared(o.command, o.build)):
        p.error(f"{path} lies where each host has a folder of its own; allowed: files in folders that all see, as {os.getcwd()}")
    o.failures = [HostFailure(what, host, at) for what in ("cut", "kill", "off") for host, at in getattr(o, what)]
    for h in o.failures:
        if h.host >= o.count:
            p.error(f"--{h.what} {h.host}@...: no such host; allowed: 0 to {o.count - 1}")
        if h.what == "off" and h.host == 0:
            p.error("--off 0@...: COMMAND runs there; allowed: 1 and more")
    return o


def command_line(o):
    """Returns the command line by which ./x hosts runs COMMAND on the first emulated host."""
    if o.exec:
        return o.command
    program = os.path.realpath(os.path.join(o.build, "bin", "merganser"))
    own = o.command[0] in STARTS_ITSELF or o.command[:2] == ["topo", "bench"]
    return [program, *([] if own else ["run", "-n", requested_ranks(o.command) or str(o.count), "--"]), *o.command]


def requested_ranks(command):
    """Returns the value of --ranks in a command line of merganser, as text; None if it has none."""
    for i, word in enumerate(command):
        if word == "--ranks" and i + 1 < len(command):
            return command[i + 1]
        if word.startswith("--ranks="):
            return word[len("--ranks="):]
    return None


def body(o):
    """Returns the function that runs the command on a set of emulated hosts and returns its exit code."""
    def run(hosts):
        if not o.quiet:
            print(f"hosts: {o.count} (host0 to host{o.count - 1}), delay {o.delay * 1e6:g} us each way", file=sys.stderr,
                  flush=True)
        code = hosts.run(command_line(o), hosts.environment(), o.failures)
        said = hosts.network.end()
        if said and not o.quiet:
            print(f"hosts: {said}", file=sys.stderr, flush=True)
        return code
    return run


def main(words):
    o = parse(words)
    if not o.exec and not os.access(os.path.join(o.build, "bin", "merganser"), os.X_OK):
        print(f"hosts: {o.build}/bin/merganser is no program; ./x build makes it", file=sys.stderr)
        return 2
    if shutil.which("ip") is None:
        print("hosts: there is no program ip; Debian's package iproute2 has it", file=sys.stderr)
        return NOT_ALLOWED
    return start("hosts", o.build, body(o), o.count, o.delay)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
