"""Runs programs under limits and knows every process that came of them, by a mark in their environment."""
import ctypes
import itertools
import os
import select
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field

MARK = "MERGANSER_ATTACK_MARK"
READ_AT_MOST = 4 << 20  # bytes of standard output and error that are looked at
RSS_AT_MOST_KIB = 3 << 20
_numbers = itertools.count()


@dataclass
class Limits:
    """What a program may take; None is what the machine allows."""
    seconds: float = 20
    address_space: int = None
    file_size: int = 1 << 30
    open_files: int = None
    processes: int = None
    rss_kib: int = RSS_AT_MOST_KIB  # one process above this is ended: the machine belongs to others too
    user: int = None  # uid to run as, where the caller may change it

    def words(self):
        pairs = [("as", self.address_space), ("fsize", self.file_size), ("nofile", self.open_files), ("nproc", self.processes)]
        user = [] if self.user is None else ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]
        return ["prlimit", "--core=0"] + [f"--{name}={value}" for name, value in pairs if value is not None] + ["--"] + user


@dataclass
class Result:
    """How a program ended. `code` is negative for a signal, as in subprocess."""
    words: list
    code: int
    out: bytes
    err: bytes
    seconds: float
    rss_kib: int
    hung: bool = False
    too_large: bool = False
    left: list = field(default_factory=list)  # commands of processes that outlived it
    shared: list = field(default_factory=list)  # its files in /dev/shm that outlived it
    after_signal: float = None  # seconds from the signal to the end
    signalled: str = ""  # whom a signal was sent to


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read(READ_AT_MOST)
    except OSError:
        return b""


def marked(mark):
    """Ids of the living processes that carry a mark."""
    wanted = f"{MARK}={mark}\0".encode()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and wanted in _read(f"/proc/{name}/environ") + b"\0" and state_of(int(name)) not in "ZX":
            found.append(int(name))
    return found


def state_of(pid):
    stat = _read(f"/proc/{pid}/stat")
    return chr(stat[stat.rfind(b")") + 2]) if b")" in stat else "X"


def command_of(pid):
    return _read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()[:200]


def rss_kib(pid):
    words = _read(f"/proc/{pid}/statm").split()
    return int(words[1]) * (os.sysconf("SC_PAGE_SIZE") // 1024) if len(words) > 1 else 0


def shared_files(pids):
    """Files of /dev/shm that processes have mapped."""
    found = set()
    for pid in pids:
        for line in _read(f"/proc/{pid}/maps").splitlines():
            at = line.find(b"/dev/shm/")
            if at >= 0:
                found.add(line[at:].removesuffix(b" (deleted)").decode(errors="surrogateescape"))
    return found


def children_alive(mark, grace):
    """Those that still carry the mark after `grace` seconds: what ends by itself in that time is not meant."""
    end = time.monotonic() + grace
    while True:
        pids = marked(mark)
        if not pids or time.monotonic() > end:
            return pids
        time.sleep(0.05)


class OutOfTime(Exception):
    """The time for all cases is over: what still runs is ended, and not judged."""


class Reader(threading.Thread):
    """Takes what comes through a pipe: a file would be met by limits on the size of files."""

    def __init__(self, pipe):
        super().__init__(daemon=True)
        self.pipe, self.content = pipe, b""
        self.start()

    def run(self):
        with self.pipe:
            while block := self.pipe.read1(65536):
                if len(self.content) < READ_AT_MOST:
                    self.content += block


class Program:
    """A program that runs."""

    def __init__(self, words, cwd, environment, limits, stopped=False, deadline=None):
        self.words, self.limits, self.deadline = words, limits, deadline
        self.mark = f"{os.getpid()}-{next(_numbers)}"
        self.began = time.monotonic()
        if stopped:  # stands still just before it becomes the program: its process id is known, and it has done nothing
            words = ["/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh", *words]
        self.process = subprocess.Popen(limits.words() + words, cwd=cwd, env={**environment, MARK: self.mark},
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True)
        self.out, self.err = Reader(self.process.stdout), Reader(self.process.stderr)
        self.pid = self.process.pid
        self.descriptor = os.pidfd_open(self.pid)
        self.shared = set()
        self.signal_at = None
        self.signalled = ""

    def processes(self):
        return marked(self.mark)

    def ended(self, seconds):
        return bool(select.select([self.descriptor], [], [], max(0, seconds))[0])

    def signal(self, pid, number, whom=""):
        """To one process of this program; what it has mapped of /dev/shm is looked for after the end."""
        self.shared |= shared_files(self.processes())
        self.signal_at = time.monotonic()
        self.signalled = whom
        try:
            os.kill(pid, number)
            return True
        except ProcessLookupError:
            return False

    def wait(self, grace=2.0, until=None):
        """Until the end, or ends it after the limit (or `until` seconds from now); then looks for what is left."""
        end = self.began + self.limits.seconds if until is None else time.monotonic() + until
        too_large = False
        while not self.ended(min(0.1, end - time.monotonic())):
            too_large = rss_kib(self.pid) > self.limits.rss_kib
            if too_large or time.monotonic() > end:
                break
            if self.deadline is not None and time.monotonic() > self.deadline():
                self.end_all()
                self.process.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
                os.close(self.descriptor)
                raise OutOfTime
        hung = not too_large and not self.ended(0)
        if hung or too_large:
            self.end_all()
        _, status, usage = os.wait4(self.pid, 0)
        ended_at = time.monotonic()
        os.close(self.descriptor)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        left = [] if hung or too_large else children_alive(self.mark, grace)
        commands = [command_of(pid) for pid in left]
        self.end_all()
        for reader in (self.out, self.err):
            reader.join(5)
        return Result(self.words, self.process.returncode, self.out.content, self.err.content, ended_at - self.began, usage.ru_maxrss, hung,
                      too_large, commands, sorted(f for f in self.shared if os.path.exists(f)),
                      None if self.signal_at is None else ended_at - self.signal_at, self.signalled)

    def end_all(self):
        """Ends every process that carries the mark, and no other."""
        for _ in range(100):
            pids = marked(self.mark)
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if not pids:
                return
            time.sleep(0.05)


class Watch:
    """Tells the names that appear in folders while a program runs, however short they live (inotify)."""
    CREATED, MOVED = 0x100, 0x80

    def __init__(self, folders):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.folders = {self.libc.inotify_add_watch(self.descriptor, os.fsencode(f), self.CREATED | self.MOVED): f
                        for f in folders}

    def wait(self, seconds):
        return bool(select.select([self.descriptor], [], [], max(0, seconds))[0])

    def names(self):
        """(folder, name) of all that appeared since the last call."""
        found = []
        try:
            while data := os.read(self.descriptor, 65536):
                at = 0
                while at < len(data):
                    length = int.from_bytes(data[at + 12:at + 16], "little")
                    name = data[at + 16:at + 16 + length].rstrip(b"\0")
                    found.append((self.folders.get(int.from_bytes(data[at:at + 4], "little")), os.fsdecode(name)))
                    at += 16 + length
        except BlockingIOError:
            pass
        return found

    def close(self):
        os.close(self.descriptor)
