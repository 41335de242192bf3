"""The verbs of the command and their options, parsed from --help."""
import re
from dataclasses import dataclass, field

VERB = re.compile(r"^  ([a-z][a-z0-9-]*(?: [a-z][a-z0-9]*)?)  +\S")
OPTION = re.compile(r"^  (?:(-\w), )?(--[a-z][a-z0-9-]*)(?: (\S+))?(?:  .*)?$")
POSITIONAL = re.compile(r"^  ([A-Z]{2,})(?:  .*)?$")


# All verbs that classes use. A program that was built without some of the packages lacks their verbs.
KNOWN = ("announce bench", "announce demo", "announce table2", "announce table3", "bench files", "bench msf", "bench random",
         "cluster", "compare", "convert", "doctor", "figures", "flow", "gen random", "graph convert", "linkage", "msf", "report", "run",
         "topo advise", "topo bench", "topo convert", "topo extract", "topo gen", "topo replay", "topo table2", "topo tail", "verify")


class Absent(Exception):
    """A case needs a verb that the program does not have."""

    def __init__(self, verb):
        super().__init__(f"the program has no verb {verb}")
        self.verb = verb


def named(words):
    """Returns the known verb of a command, behind `run ... --` if that starts it; None if there is none."""
    if words[:1] == ["run"] and "--" in words:
        words = words[words.index("--") + 1:]
    return next((verb for verb in KNOWN if words[:len(verb.split())] == verb.split()), None)


@dataclass
class Option:
    name: str  # --json
    value: str  # FILE; empty for a flag
    letter: str = ""


@dataclass
class Verb:
    name: str  # "topo gen"
    options: list = field(default_factory=list)
    positionals: list = field(default_factory=list)


def parse_verbs(help_text):
    return [m[1] for m in map(VERB.match, help_text.splitlines()) if m]


def parse(name, help_text):
    verb = Verb(name)
    for line in help_text.splitlines():
        if m := OPTION.match(line):
            verb.options.append(Option(m[2], m[3] or "", m[1] or ""))
        elif m := POSITIONAL.match(line):
            verb.positionals.append(m[1])
    return verb
