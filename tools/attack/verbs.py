"""The verbs of the command and their options, as --help tells them."""
import re
from dataclasses import dataclass, field

VERB = re.compile(r"^  ([a-z][a-z0-9-]*(?: [a-z][a-z0-9]*)?)  +\S")
OPTION = re.compile(r"^  (?:(-\w), )?(--[a-z][a-z0-9-]*)(?: (\S+))?(?:  .*)?$")
POSITIONAL = re.compile(r"^  ([A-Z]{2,})(?:  .*)?$")


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


def verbs_of(help_text):
    return [m[1] for m in map(VERB.match, help_text.splitlines()) if m]


def parse(name, help_text):
    verb = Verb(name)
    for line in help_text.splitlines():
        if m := OPTION.match(line):
            verb.options.append(Option(m[2], m[3] or "", m[1] or ""))
        elif m := POSITIONAL.match(line):
            verb.positionals.append(m[1])
    return verb
