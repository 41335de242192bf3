"""A set of emulated hosts: their processes, the network between them, and the program on the first of them."""
import os
import select
import signal
import subprocess
import sys
import time

from . import namespaces as ns

NETWORK = "10.77.0"
HERE = os.path.dirname(os.path.abspath(__file__))

OWN_FOLDERS = ("/tmp", "/dev/shm")  # of each host


class Host:
    """Emulated host: a process that holds the namespaces of one host, numbered from 0."""

    def __init__(self, number):
        self.number = number
        self.name = f"host{number}"
        self.address = f"{NETWORK}.{number + 1}"
        self.pid = 0
        self.ready = -1  # write end of a pipe: closing it ends the host's process

    def start(self, files):
        """Forks the process that is this emulated host. The first host shares the process ids of this process, because a
        launcher there must reach the others; they have their own, so no process of another host can be named."""
        told_r, told_w = os.pipe()
        go_r, go_w = os.pipe()
        flags = ns.NEWNS | ns.NEWUTS | ns.NEWIPC | ns.NEWNET
        middle = os.fork()
        if middle == 0:
            code = 1
            try:
                os.close(told_r)
                os.close(go_w)
                ns.unshare(flags | (ns.NEWPID if self.number > 0 else 0))
                holder = os.fork()
                if holder == 0:
                    self._live(files, told_w, go_r)
                os.write(told_w, f"{holder}\n".encode())
                code = 0
            except ns.NotAllowed as e:
                os.write(told_w, f"{e}\n".encode())
            finally:
                os._exit(code)
        os.close(told_w)
        os.close(go_r)
        os.waitpid(middle, 0)
        with os.fdopen(told_r) as told:
            said = told.readline().strip()
            if not said.isdigit():
                raise ns.NotAllowed(said or "a host could not be started")
            self.pid = int(said)
            os.set_blocking(told.fileno(), True)
            why = told.readline().strip()
        if why != "ready":
            raise ns.NotAllowed(why or f"{self.name} did not start")
        self.ready = go_w

    def _live(self, files, told, go):
        """Main function of an emulated host's process: sets up its namespaces, then reaps children until the set ends."""
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            ns.private_mounts()
            ns.set_host_name(self.name)
            if self.number > 0:
                ns.call("mount", "-t", "proc", "proc", "/proc")
            ns.fresh_sys()
            ns.call("mount", "--bind", os.path.join(files.folder, "etc_hosts"), "/etc/hosts")
            for path in OWN_FOLDERS:
                ns.fresh_folder(path, files.keep)
            ns.call("ip", "link", "set", "lo", "up")
            os.write(told, b"ready\n")
        except (ns.NotAllowed, OSError) as e:
            os.write(told, f"{e}\n".encode())
            os._exit(1)
        os.close(told)
        while True:  # until the set ends: the pipe closes
            try:
                if select.select([go], [], [], 0.5)[0]:
                    os._exit(0)
                while os.waitpid(-1, os.WNOHANG)[0] > 0:
                    continue
            except ChildProcessError:
                continue


class Files:
    """Folder of a set of emulated hosts, in memory (tmpfs) and visible to these hosts only.

    @param folder  an empty folder to mount it on
    @param keep    folders that all hosts share although they lie in one that each host has for itself
    """

    def __init__(self, folder, keep):
        self.folder = folder
        self.keep = [os.path.realpath(k) for k in keep]
        ns.call("mount", "-t", "tmpfs", "tmpfs", folder)

    def write(self, name, text):
        """Writes a file into the folder of the set of hosts and returns its path."""
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)
        return os.path.join(self.folder, name)


class Network:
    """Network switch between the emulated hosts: this process's own network namespace, with a bridge, or with the forwarder
    (forward.c) if frames are delayed."""

    def __init__(self, hosts, delay_s, forwarder):
        self.hosts = hosts
        self.forwarder = None
        ns.call("ip", "link", "set", "lo", "up")
        ports = []
        for h in hosts:
            port = f"port{h.number}"
            ns.call("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(h.pid))
            ns.call("ip", "link", "set", port, "up")
            for words in (["addr", "add", f"{h.address}/24", "dev", "eth0"], ["link", "set", "eth0", "up"]):
                ns.call("nsenter", "--target", str(h.pid), "--net", "ip", *words)
            ports.append(port)
        self._wait_for_links()
        if delay_s > 0:
            self.forwarder = subprocess.Popen(
                [forwarder, str(round(delay_s * 1e9)), *ports], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True)
            return
        ns.call("ip", "link", "add", "switch", "type", "bridge")
        ns.call("ip", "link", "set", "switch", "up")
        for port in ports:
            ns.call("ip", "link", "set", port, "master", "switch")

    def _wait_for_links(self):
        """Waits until the kernel reports the network links of all hosts as up, which it does late; communication libraries leave
        out an interface that is down."""
        waiting = list(self.hosts)
        for _ in range(500):
            waiting = [h for h in waiting if " state UP " not in subprocess.run(
                ["nsenter", "--target", str(h.pid), "--net", "ip", "-o", "link", "show", "eth0"],
                capture_output=True, text=True, check=False).stdout]
            if not waiting:
                return
            time.sleep(0.02)
        raise ns.NotAllowed(f"the link of {waiting[0].name} does not come up")

    def cut(self, number):
        """Cuts an emulated host off: no frame passes to or from it, and no host is notified, as with a cable that is pulled."""
        port = f"port{number}"
        if self.forwarder is None:
            ns.call("ip", "link", "set", port, "nomaster")
        else:
            self.forwarder.stdin.write(f"cut {number}\n")
            self.forwarder.stdin.flush()

    def end(self):
        """Ends the forwarder and returns its statistics: frames, and by how many microseconds they were late (median, most)."""
        if self.forwarder is None:
            return ""
        self.forwarder.terminate()
        try:
            words = (self.forwarder.communicate(timeout=5)[0] or "").split()
        except subprocess.TimeoutExpired:
            return "the forwarder does not end"
        if len(words) != 7:
            return f"the forwarder ended with code {self.forwarder.returncode}"
        return f"{words[1]} frames, late by {words[3]} us (median) to {words[4]} us" + (
            f", {words[6]} DROPPED" if words[6] != "0" else "")


def processes_on(host):
    """Returns (process id, program) of the MPI ranks that run on an emulated host, by ids in this process's namespace."""
    space = os.readlink(f"/proc/{host.pid}/ns/uts")
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/comm") as file:
                program = file.read().strip()
            with open(f"/proc/{entry}/environ", "rb") as file:
                rank = any(v.startswith((b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK=")) for v in file.read().split(b"\0"))
            if rank and os.readlink(f"/proc/{entry}/ns/uts") == space:
                found.append((int(entry), program))
        except OSError:
            continue  # it has ended
    return found


class HostFailure:
    """Failure of an emulated host after a given time in seconds: "cut", "kill" (one rank) or "off" (all its processes)."""

    def __init__(self, what, host, seconds):
        self.what, self.host, self.seconds = what, host, seconds

    def cause(self, hosts, network):
        """Makes the failure of the host happen. @return False if it must be tried again, since no rank runs there yet"""
        host = hosts[self.host]
        if self.what == "cut":
            network.cut(self.host)
            text = f"{host.name} is cut off"
        elif self.what == "off":
            os.kill(host.pid, signal.SIGKILL)
            text = f"{host.name} is switched off"
        else:
            ranks = processes_on(host)
            if not ranks:
                return False  # none yet
            os.kill(ranks[0][0], signal.SIGKILL)
            text = f"{ranks[0][1]} on {host.name} is killed"
        print(f"hosts: {text}", file=sys.stderr, flush=True)
        return True
