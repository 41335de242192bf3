"""./x hosts N [--delay 0.5ms] -- COMMAND"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from . import namespaces as ns
from . import settings
from .hosts import HERE, Files, Happening, Host, Network

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
NOT_ALLOWED = 77
# Verbs that start their ranks themselves; others are started by `merganser run`.
STARTS_ITSELF = ("run", "verify", "doctor", "gen", "compare", "help", "--help", "--version")
WAIT_LIMIT_S = 60  # of a rank that hears nothing, where the user sets none: a host may be cut off


def seconds(text):
    m = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s)", text)
    if not m or float(m[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[m[2]] > 1:
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: 0us to 1s, as 500us or 0.5ms')
    return float(m[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[m[2]]


def host_at(text):
    m = re.fullmatch(r"(\d+)@(\d+(?:\.\d+)?)", text)
    if not m:
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: HOST@SECONDS, as 2@1.5')
    return int(m[1]), float(m[2])


def parse(words):
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
    o.happenings = [Happening(what, host, at) for what in ("cut", "kill", "off") for host, at in getattr(o, what)]
    for h in o.happenings:
        if h.host >= o.count:
            p.error(f"--{h.what} {h.host}@...: no such host; allowed: 0 to {o.count - 1}")
        if h.what == "off" and h.host == 0:
            p.error("--off 0@...: COMMAND runs there; allowed: 1 and more")
    return o


def command_line(o):
    """COMMAND as it is run on the first host."""
    if o.exec:
        return o.command
    program = os.path.realpath(os.path.join(o.build, "bin", "merganser"))
    own = o.command[0] in STARTS_ITSELF or o.command[:2] == ["topo", "bench"]
    return [program, *([] if own else ["run", "-n", ranks_of(o.command) or str(o.count), "--"]), *o.command]


def ranks_of(command):
    """What a command line says of its number of ranks; None if nothing."""
    for i, word in enumerate(command):
        if word == "--ranks" and i + 1 < len(command):
            return command[i + 1]
        if word.startswith("--ranks="):
            return word[len("--ranks="):]
    return None


def forwarder(folder):
    """The program that delays frames, made where it is missing or older than its source."""
    source, program = os.path.join(HERE, "forward.c"), os.path.join(folder, "forward")
    if os.path.exists(program) and os.path.getmtime(program) > os.path.getmtime(source):
        return program
    own = f"{program}.{os.getpid()}"
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or "cc"
    try:
        subprocess.run([compiler, "-O2", "-o", own, source], check=True)
    except (OSError, subprocess.CalledProcessError) as e:
        raise SystemExit(f"hosts: cannot compile {source}: {e}") from e
    os.replace(own, program)
    return program


def remote_shell(files, hosts):
    """A program that launchers call as they call ssh: HOST COMMAND..."""
    numbers = "\n".join(f"  {h.name} | {h.address}) pid={h.pid} ;;" for h in hosts)
    login = " ".join(f"'{n}={v}'" for n, v in settings.for_login(os.environ).items() if "'" not in v)
    along = " ".join('${%s+"%s=$%s"}' % (n, n, n) for n in settings.TAKEN_ALONG)
    path = files.write("remote", f"""#!/bin/sh
while :; do case $1 in -l | -o | -p) shift 2 ;; -*) shift ;; *) break ;; esac; done
name=$1
shift
case $name in
{numbers}
  *) echo "remote: unknown host $name" >&2; exit 1 ;;
esac
exec nsenter --target "$pid" --net --uts --mount --ipc --pid --wd="$PWD" env -i {login} {along} sh -c "$*"
""")
    os.chmod(path, 0o755)
    return path


def run_command(o, command, environment, hosts, network):
    """Runs it to its end on the first host, with what happens meanwhile. @return its exit code"""
    inside = ["nsenter", "--target", str(hosts[0].pid), "--net", "--uts", "--mount", "--ipc", f"--wd={os.getcwd()}"]
    began = time.monotonic()
    child = subprocess.Popen([*inside, *command], env=environment)
    told = []

    def stop(number, _):
        told.append(number)
        child.send_signal(signal.SIGTERM if len(told) == 1 else signal.SIGKILL)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    left = list(o.happenings)
    while True:
        try:
            child.wait(timeout=0.05)
            break
        except subprocess.TimeoutExpired:
            for h in [h for h in left if time.monotonic() - began >= h.seconds]:
                if h.happen(hosts, network):
                    left.remove(h)
    return 128 - child.returncode if child.returncode < 0 else child.returncode


def reap():
    """What has lost its parent comes to this process, the first of its namespace."""
    try:
        while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return


def inside(o, folder, program):
    """The first process of the set. @return the exit code"""
    ns.private_mounts()
    ns.call("mount", "-t", "proc", "proc", "/proc")
    root = os.path.dirname(os.path.dirname(HERE))
    files = Files(folder, {os.getcwd(), root, os.path.realpath(o.build)})
    hosts = [Host(i) for i in range(o.count)]
    files.write("etc_hosts", "127.0.0.1 localhost\n" + "".join(f"{h.address} {h.name}\n" for h in hosts))
    for h in hosts:
        h.start(files)
    network = Network(hosts, o.delay, program)
    hostfile = files.write("hostfile", "".join(f"{h.name}\n" for h in hosts))
    environment = settings.for_command(os.environ, remote_shell(files, hosts), hostfile, WAIT_LIMIT_S)
    if not o.quiet:
        print(f"hosts: {o.count} ({hosts[0].name} to {hosts[-1].name}), delay {o.delay * 1e6:g} us each way",
              file=sys.stderr, flush=True)
    code = run_command(o, command_line(o), environment, hosts, network)
    said = network.end()
    if said and not o.quiet:
        print(f"hosts: {said}", file=sys.stderr, flush=True)
    return code


def start(o):
    """Forks the first process of the set and waits for it: when it ends the kernel ends all others."""
    folder = os.path.realpath(os.path.join(o.build, "hosts", "set"))
    os.makedirs(folder, exist_ok=True)
    program = forwarder(os.path.dirname(folder)) if o.delay > 0 else ""
    me = os.getpid()
    starter = os.fork()
    if starter == 0:
        code = 1
        try:
            ns.die_with_parent(me)
            os.setpgid(0, 0)  # signals of the keyboard come through this tool, once
            ns.unshare_as_root(ns.NEWPID | ns.NEWNS | ns.NEWNET | ns.NEWUTS | ns.NEWIPC)
            first = os.fork()
            if first == 0:
                ns.die_with_parent(0)  # which has no number in here
                code = inside(o, folder, program)
            else:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, lambda n, _: os.kill(first, n))
                code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
                code = 128 - code if code < 0 else code
        except ns.NotAllowed as e:
            print(f"hosts: namespaces are not allowed here: {e}; allowed: as root, or where users may make them "
                  "(sysctl kernel.unprivileged_userns_clone, a container with the capability SYS_ADMIN)", file=sys.stderr)
            code = NOT_ALLOWED
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda n, _: os.kill(starter, n))
    code = os.waitstatus_to_exitcode(os.waitpid(starter, 0)[1])
    return 128 - code if code < 0 else code


def main(words):
    o = parse(words)
    if not o.exec and not os.access(os.path.join(o.build, "bin", "merganser"), os.X_OK):
        print(f"hosts: {o.build}/bin/merganser is no program; ./x build makes it", file=sys.stderr)
        return 2
    if shutil.which("ip") is None:
        print("hosts: there is no program ip; Debian's package iproute2 has it", file=sys.stderr)
        return NOT_ALLOWED
    return start(o)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
