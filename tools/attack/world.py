"""State shared by all cases: the program, its verbs, valid inputs, and the present slowness of the machine."""
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from . import samples, verbs
from .processes import Limits, Program

MODELS = ("p2p", "neighborhood", "rma", "shmem")
# Settings of the launcher and its libraries are not among them: `merganser run` sets these.
KEPT = ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")


class World:
    def __init__(self, program, scratch=None, keep=None):
        self.program = os.path.abspath(program)
        self.keep_samples = keep and os.path.join(keep, "samples")
        self.scratch = tempfile.mkdtemp(prefix="merganser-attack-", dir=scratch)
        self.lock = threading.RLock()
        self.made = {}
        self.running = []
        self.end = math.inf  # when what still runs is given up
        self.quiet_s = None
        self.scaled_at = 0
        self.scale_now = 1.0
        self.verbs = self.read_verbs()
        self.absent = [name for name in verbs.KNOWN if name not in self.verbs]
        self.launches = shutil.which("mpirun") is not None and "run" in self.verbs

    def deadline(self):
        return self.end

    def close(self):
        for program in self.running:
            if program.process.returncode is None:
                program.end_all()
        if "attack.epic" in sys.modules:
            sys.modules["attack.epic"].close()
        shutil.rmtree(os.fsencode(self.scratch), ignore_errors=True)

    def environment(self, folder, more=()):
        mine = {**{name: os.environ[name] for name in KEPT if name in os.environ},
                "HOME": os.path.join(folder, "home"), "TMPDIR": os.path.join(folder, "tmp")}
        for name, value in dict(more).items():
            mine.pop(name, None)
            if value is not None:
                mine[name] = value.replace("{folder}", folder)
        return mine

    def scale(self):
        """Returns how many times slower than a quiet machine this one is now: from its load, and from the time of a start."""
        with self.lock:
            if time.monotonic() > self.scaled_at + 5:
                began = time.monotonic()
                subprocess.run([self.program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
                took = time.monotonic() - began
                self.quiet_s = min(self.quiet_s or 0.1, took, 0.1)
                load = os.getloadavg()[0] / (os.cpu_count() or 1)
                self.scale_now = min(30.0, max(1.0, load, took / max(self.quiet_s, 0.03)))
                self.scaled_at = time.monotonic()
            return self.scale_now

    def read_verbs(self):
        found = {}
        names = verbs.parse_verbs(self.ask(["--help"]))
        for name in names:
            found[name] = verbs.parse(name, self.ask([*name.split(), "--help"]))
        return found

    def require(self, words):
        """Validates that the program has the verb of a command. @throws Absent if it has not"""
        verb = verbs.named(words)
        if verb in self.absent:
            raise verbs.Absent(verb)

    def ask(self, words):
        return subprocess.run([self.program, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                              check=False, env=self.environment(self.scratch)).stdout.decode(errors="replace")

    def sample(self, name):
        """Returns valid bytes by name, made once. See samples.py."""
        with self.lock:
            if name not in self.made:
                timed = name in samples.RECORDS
                self.made[name] = self.same_again(name) if timed and self.keep_samples else samples.make(name, self)
            return self.made[name]

    def same_again(self, name):
        """Returns a sample that holds times from the last call with this program, so that a case can be repeated exactly."""
        about = os.stat(self.program)
        path = os.path.join(self.keep_samples, f"{about.st_mtime_ns:x}", name)
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            for old in os.listdir(self.keep_samples):
                if old != f"{about.st_mtime_ns:x}":
                    shutil.rmtree(os.path.join(self.keep_samples, old), ignore_errors=True)
            with open(path + ".new", "wb") as file:
                file.write(samples.make(name, self))
            os.replace(path + ".new", path)
        with open(path, "rb") as file:
            return file.read()

    def make(self, words, name, given=()):
        """Returns the bytes that the program writes to the file `name` when called with these words where the files `given` are."""
        self.require(words)
        folder = tempfile.mkdtemp(prefix="sample-", dir=self.scratch)
        try:
            for one, content in dict(given).items():
                with open(os.path.join(folder, one), "wb") as file:
                    file.write(content)
            done = subprocess.run([self.program, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=120, check=False, env=self.environment(folder, {"TMPDIR": folder}))
            if done.returncode != 0:
                raise RuntimeError(f"no sample: merganser {' '.join(words)}: exit {done.returncode}, {done.stderr[:300]!r}")
            with open(os.path.join(folder, name), "rb") as file:
                return file.read()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def start(self, case, folder, stopped=False):
        self.require(case.words())
        return self.keep(Program([self.program, *case.words()], folder.at("work"),
                                 self.environment(folder.path, case.environment), Limits(**case.limits), stopped, self.deadline))

    def keep(self, program):
        """Registers a running program, so that none outlives this tool."""
        with self.lock:
            self.running = [p for p in self.running if p.process.returncode is None] + [program]
        return program

    def run(self, words, folder, seconds=20):
        """Runs one more command in the folder of a case and returns its result."""
        self.require(words)
        program = Program([self.program, *words], folder.at("work"), self.environment(folder.path),
                          Limits(seconds=seconds * self.scale()), deadline=self.deadline)
        return self.keep(program).wait()
