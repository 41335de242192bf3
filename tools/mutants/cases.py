"""Runs tests with one mutant on, the shortest of those that reach it first, until one fails."""
import json
import os
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from attack.processes import Limits, Program

PATIENCE = max(1, int(os.environ.get("MERGANSER_TEST_PATIENCE", "1")))


@dataclass
class Test:
    """One test of ctest or pytest; what it took and which mutants it reached when none was on."""
    name: str
    words: list
    folder: str
    environment: dict
    seconds: float = 0
    reached: set = field(default_factory=set)

    def limit(self):
        return PATIENCE * 10 + 6 * self.seconds

    def run(self, settings, seconds):
        """Returns the exit code of the test, or the reason why it was ended."""
        with tempfile.TemporaryDirectory(prefix="m", dir="/tmp") as folder:
            environment = {**os.environ, "GTEST_FAIL_FAST": "1", "PYTHONDONTWRITEBYTECODE": "1", **self.environment,
                           "TMPDIR": folder, **settings}
            result = Program(self.words, self.folder, environment, Limits(seconds=seconds, file_size=4 << 30)).wait(grace=0)
        self.said = result.out + result.err
        return ("time" if result.hung else "memory" if result.too_large else result.code), result.seconds


def of_ctest(build, labels):
    """The tests with one of these labels, the fast ones first."""
    said = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, check=True, text=True)
    out = []
    for entry in json.loads(said.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        if set(labels) & set(properties.get("LABELS", ())) and "command" in entry:
            environment = dict(word.split("=", 1) for word in properties.get("ENVIRONMENT", ()))
            test = Test(entry["name"], entry["command"], properties.get("WORKING_DIRECTORY", str(build)), environment)
            out.append(("fast" not in properties["LABELS"], test))
    return [test for _, test in sorted(out, key=lambda pair: pair[0])]


def of_pytest(python, root, path):
    """A test for each file of the Python package's tests."""
    words = [str(python), "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    return [Test(f"python/{file.stem}", [*words, file.name], str(file.parent), {"PYTHONPATH": path})
            for file in sorted((root / "tests/python").glob("test_*.py"))]


def without_mutant(tests, numbers, longest, jobs, say):
    """Runs each with no mutant on; returns those that pass in `longest` seconds, the shortest first. Others are told."""
    size, kept = max(numbers, default=0) + 1, []

    def one(test):
        with tempfile.NamedTemporaryFile(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as reached:
            reached.truncate(size)
            for _ in range(2):  # once more: others work on this machine, too
                code, test.seconds = test.run({"MERGANSER_MUTANT": "0", "MERGANSER_MUTANT_REACHED": reached.name}, PATIENCE * 300)
                if code == 0:
                    break
            test.reached = {n for n, byte in enumerate(Path(reached.name).read_bytes()) if byte} & set(numbers)
        return code

    with ThreadPoolExecutor(jobs) as pool:
        for test, code in zip(tests, pool.map(one, tests)):
            if code != 0:
                raise RuntimeError(f"{test.name} fails without a mutant ({code}): {test.said[-1500:].decode(errors='replace')}")
            slow = test.seconds > longest * PATIENCE
            kept += [] if slow or not test.reached else [test]
            say(f"   {test.name}: {test.seconds:.1f} s, {len(test.reached)} mutants reached{', left out: too long' * slow}")
    return sorted(kept, key=lambda t: t.seconds)


def verdict(number, tests):
    """Runs the tests with this mutant on. A failure counts if the test fails twice: a loaded machine may cause one."""
    reaching, once = [t for t in tests if number in t.reached], ""
    for test in reaching:
        for again in (False, True):
            code, _ = test.run({"MERGANSER_MUTANT": str(number)}, test.limit())
            if code == 0:
                break
            once = once or f" (one failure: {test.name})"
            if again:
                return f"killed by {test.name}" + (f" ({code})" if isinstance(code, str) else "")
    return "survived" + once if reaching else "not run"


def try_all(numbers, tests, jobs, done):
    """Tells done(number, verdict) of each, as they come."""
    lock = threading.Lock()

    def one(number):
        found = verdict(number, tests)
        with lock:
            done(number, found)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            list(pool.map(one, numbers))
        except BaseException:  # what runs ends by its limits; nothing else begins
            pool.shutdown(wait=False, cancel_futures=True)
            raise
