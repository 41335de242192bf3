"""Description of a case: a command with its files, the conditions it must meet, and the smaller cases it can be shrunk to."""
import copy
import os
import shlex
from dataclasses import dataclass, field

DOCUMENTED = (0, 1, 2, 3, 4, 5)
WROTE = (0, 1, 5)  # exit codes with which outputs are complete: the work was done, its answer may be "no"


@dataclass
class Part:
    """Words of a command that belong together, as --ranks 3; the shrinker may remove optional parts."""
    words: list
    optional: bool = False


@dataclass
class Case:
    """A command and its files. Names are relative to the case's folder, as work/in.nc; the program runs in work."""
    what: str = ""  # one line: what is unusual in it
    verb: str = ""
    parts: list = field(default_factory=list)
    files: dict = field(default_factory=dict)  # name -> bytes, or a Recipe
    folders: list = field(default_factory=list)
    links: dict = field(default_factory=dict)
    hard_links: dict = field(default_factory=dict)
    inputs: list = field(default_factory=list)  # must keep their bytes
    outputs: list = field(default_factory=list)  # may change if the exit code says that the work was done
    old_or_new: bool = False  # outputs may be new whatever the exit code: what ended the run may have come after them
    read_again: list = field(default_factory=list)  # commands that must be able to read the outputs then
    codes: tuple = DOCUMENTED
    environment: dict = field(default_factory=dict)
    limits: dict = field(default_factory=dict)
    launch: int = 0  # processes under `merganser run`; 0: alone
    endless: bool = False  # may have work for hours: it is interrupted, and must end then
    racy: bool = False  # depends on the moment: is not shrunk, and is tried several times when replayed
    memory_kib: int = None  # None: in proportion to the inputs
    data: dict = field(default_factory=dict)

    def words(self):
        mine = [word for part in self.parts for word in part.words]
        return (["run", "-n", str(self.launch), "--"] if self.launch else []) + mine

    def line(self):
        variables = [f"{k}={quoted(v)}" for k, v in self.environment.items() if v is not None]
        return " ".join(variables + ["merganser"] + [quoted(shown(w)) for w in self.words()])

    def bytes_of_inputs(self):
        return sum(len(c if isinstance(c, bytes) else c.bytes()) for c in self.files.values())


def quoted(word):
    """Quotes a word for a shell, in printable characters."""
    if word.isprintable() and word.isascii():
        return shlex.quote(word)
    text = os.fsencode(word).decode("latin-1").encode("unicode_escape").decode().replace("'", "\\'")
    return f"$'{text}'"


def shown(word):
    return word if len(word) <= 200 else f"{word[:60]}...({len(word)} characters)...{word[-20:]}"


@dataclass
class Recipe:
    """Bytes made from a base by steps, which the shrinker can remove one by one. `build(steps)` returns the bytes."""
    build: object
    steps: list
    made: bytes = None

    def bytes(self):
        if self.made is None:
            self.made = self.build(self.steps)
        return self.made

    def smaller(self):
        for i in range(len(self.steps)):
            if len(self.steps) > 1:
                yield Recipe(self.build, self.steps[:i] + self.steps[i + 1:])


@dataclass
class Finding:
    """One violated condition: `kind` groups findings, `text` describes this one."""
    kind: str
    text: str


def smaller_cases(case):
    """Yields cases with less in them, the largest reduction first."""
    def changed(**what):
        new = copy.copy(case)
        for name, value in what.items():
            setattr(new, name, value)
        return new

    for i, part in enumerate(case.parts):
        if part.optional:
            yield changed(parts=case.parts[:i] + case.parts[i + 1:])
    if case.launch > 1:
        yield changed(launch=case.launch - 1)
    for i, part in enumerate(case.parts):
        for k, word in enumerate(part.words):
            if len(word) > 64:
                new = Part(part.words[:k] + [word[:len(word) // 2]] + part.words[k + 1:], part.optional)
                yield changed(parts=case.parts[:i] + [new] + case.parts[i + 1:])
    for name, content in case.files.items():
        if isinstance(content, Recipe):
            for recipe in content.smaller():
                yield changed(files={**case.files, name: recipe})
