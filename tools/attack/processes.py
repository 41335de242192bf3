"""Runs programs under limits and tracks all their descendants, by a mark in their environment."""
import ctypes
import itertools
import os
import resource
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
    """Resource limits of a program; None is the machine's own."""
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
    rss_kib: int  # 0: no more than this tool itself, of which a new process counts as a copy
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
    """Returns the ids of the living processes that carry a mark."""
    wanted = f"{MARK}={mark}\0".encode()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and wanted in _read(f"/proc/{name}/environ") + b"\0" and process_state(int(name)) not in "ZX":
            found.append(int(name))
    return found


def process_state(pid):
    stat = _read(f"/proc/{pid}/stat")
    return chr(stat[stat.rfind(b")") + 2]) if b")" in stat else "X"


def process_command(pid):
    return _read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()[:200]


def rss_kib(pid):
    words = _read(f"/proc/{pid}/statm").split()
    return int(words[1]) * (os.sysconf("SC_PAGE_SIZE") // 1024) if len(words) > 1 else 0


def shared_files(pids):
    """Returns the files of /dev/shm that processes have mapped."""
    found = set()
    for pid in pids:
        for line in _read(f"/proc/{pid}/maps").splitlines():
            at = line.find(b"/dev/shm/")
            if at >= 0:
                found.add(line[at:].removesuffix(b" (deleted)").decode(errors="surrogateescape"))
    return found


def children_alive(mark, grace):
    """Returns the processes that still carry the mark after `grace` seconds, in which others may end by themselves."""
    end = time.monotonic() + grace
    while True:
        pids = marked(mark)
        if not pids or time.monotonic() > end:
            return pids
        time.sleep(0.05)


class OutOfTime(Exception):
    """The time for all cases is over: programs that still run are ended, and not judged."""


class Exhausted(Exception):
    """The machine has no more processes or threads: no fault of the program, and nothing to judge."""


class Reader(threading.Thread):
    """Reader of a pipe with the output of a program: a file would be subject to limits on the size of files."""

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
    """Running program under limits, with all its descendants."""

    def __init__(self, words, cwd, environment, limits, stopped=False, deadline=None):
        self.words, self.limits, self.deadline = words, limits, deadline
        self.mark = f"{os.getpid()}-{next(_numbers)}"
        self.began = time.monotonic()
        if stopped:  # stands still just before it becomes the program: its process id is known, and it has done nothing
            words = ["/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh", *words]
        try:
            self.process = subprocess.Popen(limits.words() + words, cwd=cwd, env={**environment, MARK: self.mark},
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                            start_new_session=True)
            self.out, self.err = Reader(self.process.stdout), Reader(self.process.stderr)
        except (BlockingIOError, RuntimeError) as e:
            self.end_all()
            raise Exhausted from e
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
        """Sends a signal to one process of this program, and records the files of /dev/shm that it has mapped, for wait()."""
        self.shared |= shared_files(self.processes())
        self.signal_at = time.monotonic()
        self.signalled = whom
        try:
            os.kill(pid, number)
            return True
        except ProcessLookupError:
            return False

    def wait(self, grace=2.0, until=None):
        """Waits for the end, or ends the program after the limit (or `until` seconds from now); then looks for what is left."""
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
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rss = usage.ru_maxrss if usage.ru_maxrss > own else 0
        os.close(self.descriptor)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        left = [] if hung or too_large else children_alive(self.mark, grace)
        commands = [process_command(pid) for pid in left]
        self.end_all()
        for reader in (self.out, self.err):
            reader.join(5)
        return Result(self.words, self.process.returncode, self.out.content, self.err.content, ended_at - self.began, rss, hung,
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
    """Watch of folders (inotify) that records all names that appear while a program runs, however short they exist."""
    CREATED, MOVED = 0x100, 0x80

    def __init__(self, folders):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.folders = {self.libc.inotify_add_watch(self.descriptor, os.fsencode(f), self.CREATED | self.MOVED): f
                        for f in folders}

    def wait(self, seconds):
        return bool(select.select([self.descriptor], [], [], max(0, seconds))[0])

    def names(self):
        """Returns (folder, name) of all that appeared since the last call."""
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
