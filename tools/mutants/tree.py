"""A copy of the project whose sources have mutants behind switches, and its build."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from .sites import rewritten

HERE = Path(__file__).resolve().parent
# With the flags of .ci/run, in the same place of the tree: a compiler cache has what is not mutated. Of mutants, switch.hpp switches
# warnings off.
OPTIONS = ["-DMERGANSER_EXAMPLES=OFF", "-DMERGANSER_FORTRAN=OFF", "-DMERGANSER_WERROR=ON"]


class Failed(Exception):
    """An error that the command reports in one line."""


def put(path, content):
    """Writes what is not there already: what did not change is not built again."""
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return True
    return False


class Tree:
    def __init__(self, root, folder):
        self.root, self.source, self.build = root, folder / "source", folder / "source/build"
        self.log = folder / "build.log"

    def copy(self, except_below=()):
        """The files of the checkout; those of a module that is mutated next are written by mutate()."""
        listed = subprocess.run(["git", "-C", self.root, "ls-files", "-z", "-co", "--exclude-standard"], capture_output=True, check=True)
        names = {n for n in listed.stdout.decode().split("\0") if n and (self.root / n).is_file()}
        for folder, below, files in os.walk(self.source):
            if Path(folder) == self.source:
                below[:] = [n for n in below if n != self.build.name]
            for path in (Path(folder) / n for n in files):
                if path.relative_to(self.source).as_posix() not in names:
                    path.unlink()
        for name in names:
            if not (name.startswith(except_below) and (self.source / name).is_file()):
                put(self.source / name, (self.root / name).read_bytes())
            if not (self.source / name).stat().st_mode & 0o100 and (self.root / name).stat().st_mode & 0o100:
                shutil.copymode(self.root / name, self.source / name)

    def configure(self, folders, **options):
        settings = [f"-DMERGANSER_{name.upper()}={'ON' if value else 'OFF'}" for name, value in options.items()]
        done = subprocess.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", *OPTIONS, *settings,
                               f"-DMERGANSER_TEST_FOLDERS={';'.join(folders)}"], capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"configuring failed: {done.stderr.strip()[-1000:]}")

    def mutate(self, sites, folders, language):
        """Writes the files of these folders, with these sites behind switches."""
        by_path = {}
        for site in sites:
            by_path.setdefault(site.path, []).append(site)
        for folder in folders:
            for path in sorted(p for p in (self.root / folder).rglob("*") if p.is_file()):
                name = path.relative_to(self.root).as_posix()
                text = path.read_bytes().decode("latin-1")
                if name in by_path:
                    text = rewritten(text, by_path[name], language)
                    if language == "c++":
                        first, rest = text.split("\n", 1)
                        text = f'{first}\n#include "{HERE}/switch.hpp"\n#line 2\n{rest}'
                put(self.source / name, text.encode("latin-1"))

    def compile(self, targets, jobs):
        """The lines of the sources with errors, as {path: lines}; none if all was built."""
        done = subprocess.run(["ninja", "-C", self.build, "-k", "0", "-j", str(jobs), *targets], capture_output=True, text=True,
                              errors="replace")
        self.log.write_text(done.stdout)
        if done.returncode == 0:
            return {}
        found = lines_with_errors(done.stdout, self.source, self.build)
        if found:
            return found
        raise Failed(f"the copy does not compile, and no line of it is named: {self.log}")

    def python_errors(self, folders):
        """Writes the Python files of these folders, with these sites behind switches."""
        found = {}
        for path in (p for folder in folders for p in (self.source / folder).rglob("*.py")):
            try:
                compile(path.read_bytes(), path, "exec")
            except SyntaxError as e:
                found[path.relative_to(self.source).as_posix()] = {e.lineno}
        return found


def lines_with_errors(said, source, build):
    """{path: lines} of the sources that a compiler names. An error in a header of others names the line here that leads to it."""
    for pattern in (" error:", ""):
        found = {}
        for name, line in re.findall(rf"^(?:In file included from |\s+from )?([^\s:]+):(\d+)[:,](?:\d+:)?{pattern}", said, re.M):
            path = (build / name).resolve()  # a compiler cache makes names relative
            if source in path.parents and build not in path.parents:
                found.setdefault(path.relative_to(source).as_posix(), set()).add(int(line))
        if found:
            return found
    return {}


def to_drop(sites, lines, texts):
    """Sites at the lines with errors: where several are, those of the fewest lines."""
    out = set()
    for path, numbers in lines.items():
        for number in numbers:
            at = [(texts(s).count("\n"), s.number) for s in sites
                  if s.path == path and s.line <= number <= s.line + texts(s).count("\n")]
            out |= {n for height, n in at if height == min(at)[0]}
    return out
