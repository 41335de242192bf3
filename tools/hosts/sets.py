"""Creation of a set of hosts, running of a command on it, and its end with all that runs in it."""
import os
import shutil
import signal
import subprocess
import sys
import time

from . import namespaces as ns
from . import settings
from .hosts import HERE, OWN_FOLDERS, Files, Host, Network

NOT_ALLOWED = 77
WAIT_LIMIT_S = 60  # of a rank that hears nothing, where the user sets none: a host may be cut off


class Set:
    """Set of emulated hosts with the network between them and their files. Made in the first process of its namespaces.

    @param folder   an empty folder to mount the files on
    @param program  the forwarder, if there is a delay
    """

    def __init__(self, folder, count, delay_s, program, build):
        ns.private_mounts()
        ns.call("mount", "-t", "proc", "proc", "/proc")
        self.files = Files(folder, shared_folders(build))
        self.hosts = [Host(i) for i in range(count)]
        self.files.write("etc_hosts", "127.0.0.1 localhost\n" + "".join(f"{h.address} {h.name}\n" for h in self.hosts))
        for h in self.hosts:
            h.start(self.files)
        self.network = Network(self.hosts, delay_s, program)

    def environment(self):
        """Returns the environment of a command on the first emulated host that starts ranks on all hosts of the set."""
        hostfile = self.files.write("hostfile", "".join(f"{h.name}\n" for h in self.hosts))
        return settings.for_command(os.environ, remote_shell(self.files, self.hosts), hostfile, WAIT_LIMIT_S)

    def run(self, command, environment, failures=()):
        """Runs a command to its end on the first emulated host, with failures of hosts at their times. @return its exit code"""
        began = time.monotonic()
        child = subprocess.Popen([*ns.entering(self.hosts[0].pid), *command], env=environment)
        told = []

        def stop(number, _):
            told.append(number)
            child.send_signal(signal.SIGTERM if len(told) == 1 else signal.SIGKILL)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, stop)
        left = list(failures)
        while True:
            try:
                child.wait(timeout=0.05)
                break
            except subprocess.TimeoutExpired:
                self._reap(child)
                for h in [h for h in left if time.monotonic() - began >= h.seconds]:
                    if h.cause(self.hosts, self.network):
                        left.remove(h)
        return 128 - child.returncode if child.returncode < 0 else child.returncode

    def _reap(self, child):
        """Reaps orphaned processes of the hosts, which come to this process as the first one of its PID namespace."""
        own = {child.pid, self.network.forwarder.pid if self.network.forwarder else 0}
        try:
            while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
                if ended.si_pid in own:
                    return
                os.waitpid(ended.si_pid, 0)
        except ChildProcessError:
            return


def shared_folders(build):
    """Returns the folders (sources, build, working folder) that all emulated hosts share although they may lie in /tmp or
    /dev/shm, which each has for itself."""
    return {os.getcwd(), os.path.dirname(os.path.dirname(HERE)), os.path.realpath(build)}


def not_shared(command, build):
    """Returns the first file named in a command line that lies in a folder which each host has for itself; None if there is
    none."""
    shared = [os.path.realpath(s) for s in shared_folders(build)]
    for word in command:
        path = os.path.realpath(word.partition("=")[2] if word.startswith("-") and "=" in word else word)
        own = any(path.startswith(folder + "/") for folder in OWN_FOLDERS)
        if own and not any(path == s or path.startswith(s + "/") for s in shared):
            return path
    return None


def forwarder(folder):
    """Returns the path of the program (forward.c) that delays frames between hosts, compiled if it is missing or out of date."""
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
    """Writes the script that MPI launchers call in place of ssh (HOST COMMAND...), which enters a host's namespaces, and returns
    its path."""
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


def start(tool, build, body, count, delay_s=0.0):
    """Forks the first process of a set of emulated hosts and waits for it: when it ends the kernel ends all others.

    @param tool  its name, for messages
    @param body  called with the Set; gives the exit code
    @return the exit code; NOT_ALLOWED, with a line on standard error, where the system allows no namespaces
    """
    folder = os.path.realpath(os.path.join(build, "hosts", "set"))
    os.makedirs(folder, exist_ok=True)
    program = forwarder(os.path.dirname(folder)) if delay_s > 0 else ""
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
                code = body(Set(folder, count, delay_s, program, build))
            else:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, lambda n, _: os.kill(first, n))
                code = ended(first)
        except ns.NotAllowed as e:
            print(f"{tool}: namespaces are not allowed here: {e}; allowed: as root, or where users may make them "
                  "(sysctl kernel.unprivileged_userns_clone, a container with the capability SYS_ADMIN)", file=sys.stderr)
            code = NOT_ALLOWED
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda n, _: os.kill(starter, n))
    return ended(starter)


def ended(child):
    """Waits for a child process. @return its exit code, 128 + number for a signal"""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 128 - code if code < 0 else code
