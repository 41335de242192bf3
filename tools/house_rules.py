#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not: python3 tools/house_rules.py [ROOT]. Exit 1 and one line per breach."""
import re
import subprocess
import sys
from pathlib import Path

# Which rooms a room may use. CMakeLists.txt links the same rooms; that is checked too.
ROOMS = {
    "base": "",
    "stats": "base",
    "comm": "base",
    "kernels": "base comm",
    "geometry": "base",
    "announce": "base comm geometry",
    "parcels": "base geometry",
    "links": "base comm",
    "nearest": "base comm geometry parcels links",
    "io": "base comm geometry parcels",
    "graphs": "base comm",
    "topology": "base stats comm kernels graphs",
    "msf": "base comm geometry nearest links graphs",
    "cluster": "base comm geometry parcels links nearest",
    "flow": "base comm geometry announce parcels cluster",
    "studies": "base stats comm graphs msf topology",
    "capi": "base stats comm kernels geometry announce parcels links graphs topology msf cluster",
    "trace": "",
}
# Rooms that are no library of their own.
NO_LIBRARY = {"trace"}
# Whose private headers (src/ROOM/) a room may use besides its own: kernels talk to the
# libraries that comm has started, studies draw the very graphs of a paper.
INSIDE = {"kernels": "comm", "studies": "graphs"}
MAX_LINES = 450
CODE = {".cpp", ".hpp", ".h", ".c"}
SHORT = CODE | {".f90", ".F90", ".py", ".sh", ".cmake", ".in", ""}
TEXT = SHORT | {".txt", ".md", ".json"}
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|\b(place" r"holder|not im" r"plemented|st" r"ub)\b")
LIBRARY_TALKS = re.compile(
    r"std::(cout|cerr|clog)\b|\b(fmt|std)::print|(?<![\w:])(std::)?(printf|fprintf|vprintf|puts|fputs|putchar)\s*\("
)
LIBRARY_ENDS = re.compile(r"(?<![\w.>:])(std::|::)?(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\(|\b(MPI_Abort|shmem_global_exit)\s*\(")
# A text that a shell reads can come from outside; programs are started from argument vectors (apps/frame/process.hpp).
SHELL = re.compile(r"(?<![\w.>])(std::|::)?(popen|system|wordexp)\s*\(")
SHELL_WORD = re.compile(r'"(/usr)?(/bin/)?(ba|da)?sh"')
SHELL_FREE = ("src/", "apps/", "include/")
# comm::abort, which main() calls, must end every process of a job.
MAY_END = {"include/merganser/comm/runtime.hpp"}
MAY_END_ROOM = ("src/comm/", "src/trace/")
# Only base/output_file writes files; other programs must not decide where a name leads.
WRITES_FILES = re.compile(r"\bO_TRUNC\b|\bO_CREAT\b(?!.*\bO_EXCL\b)|\b(std::)?(ofstream|fopen|creat|mkstemp|tmpfile|tmpnam)\b|\bweakly_canonical\b")
WRITTEN_BY = "base/output_file.hpp"
MESSAGE_PASSING = re.compile(r'^\s*#\s*include\s*[<"](?:mpp/)?(mpi|mpi-ext|shmem|shmemx)\.h[>"]')
MAY_PASS_MESSAGES = (
    "src/comm/", "src/kernels/", "src/trace/", "include/merganser/comm/mpi.hpp",
    "tests/comm/", "tests/kernels/", "tests/trace/", "tests/capi/", "tests/simulate/", "tools/simulate/", "examples/",
)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]*)"')
# Names of these rooms stand in merganser itself, because users of every other room need them; those of another room in
# merganser::ROOM, those of the command in merganser::app. Private ones may stand deeper.
COMMON = {"base", "stats", "geometry", "parcels", "cluster"}
NAMESPACE = re.compile(r"^(?:inline )?namespace (merganser(?:::\w+)*)")
# One form of including: the path from include/ or from the root of the tree.
ROOTS = ("merganser/", "src/", "apps/", "python/src/", "tests/", "examples/")


def files(root):
    """Tracked and new files of a checkout, or all of a plain folder without those of builds in it."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"], capture_output=True)
    top = subprocess.run(["git", "-C", str(root), "rev-parse", "--show-toplevel"], capture_output=True, text=True)
    if listed.returncode == 0 and Path(top.stdout.strip()).resolve() == root.resolve():
        names = listed.stdout.decode().split("\0")
        return sorted(root / n for n in names if n and (root / n).is_file())
    own = [p for p in root.iterdir() if p.name != ".git" and not (p.is_dir() and p.name.startswith("build"))]  # as .gitignore
    return sorted(p for top in own for p in [top, *top.rglob("*")] if p.is_file() and ".git" not in p.parts)


def without_comments_and_strings(text):
    """The same lines, with comments and the insides of strings blanked."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()) if m.group()[0] == "/" else '""', text)


def room_of(name):
    parts = name.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[:2] == ["include", "merganser"] and len(parts) > 3:
        return parts[2]
    return None


def check_include(name, room, included):
    """A quoted include: its form, and whose header it is."""
    if name.startswith("examples/"):  # made to be copied: its own headers by their place, the library's in <>
        if included.startswith(ROOTS) or included.startswith("."):
            yield f'include "{included}": an example includes its own headers by their place, <merganser/...>, and no other'
        return
    if not included.startswith(ROOTS):
        yield f'include "{included}": write the path from include/ or from the root of the tree: {" ".join(ROOTS)}'
        return
    if included.startswith("python/") and not name.startswith("python/"):
        yield f"{included} is not for {name.split('/')[0]}/"
        return
    if included.startswith(("apps/", "tests/", "examples/")):
        if not name.startswith(("apps/", "tests/")) or (name.startswith("apps/") and included.startswith("tests/")):
            yield f"{included} is not for {name.split('/')[0]}/"
        return
    parts = included.split("/")
    used = parts[1] if len(parts) > 2 else None
    if name.startswith("tests/"):
        return
    if included.startswith("src/") and (room is None or used not in (room, INSIDE.get(room))):
        yield f"{included} is private to room {used}"
    elif room is not None and used in ROOMS and used != room and used not in ROOMS[room].split():
        yield f"room {room} may not use {used}; allowed: {ROOMS[room] or 'none'}"


def check_namespace(room, below):
    """The names below merganser of a namespace that a file of a room opens."""
    if room in COMMON:
        if below and below[0] not in ("detail", "HWY_NAMESPACE", room):
            yield f"room {room} has its names in merganser, private ones in merganser::detail or merganser::{room}"
    elif below[:1] != [room]:
        yield f"room {room} has its names in merganser::{room}"


def check_code(name, text):
    lines = text.split("\n")
    code = without_comments_and_strings(text).split("\n")
    room = room_of(name)
    if room is not None and room not in ROOMS:
        yield 1, f"room {room} is not in the table; known: {' '.join(ROOMS)}"
        room = None
    for number, (line, bare) in enumerate(zip(lines, code), 1):
        if MESSAGE_PASSING.match(line) and not name.startswith(MAY_PASS_MESSAGES):
            yield number, f"only comm, kernels and trace include {MESSAGE_PASSING.match(line)[1]}.h"
        if room is not None or name.startswith("apps/"):
            if WRITES_FILES.search(bare):
                yield number, f"{WRITES_FILES.search(bare)[0]} may write where a link leads; files are written by {WRITTEN_BY}"
        if name.startswith(SHELL_FREE) and (SHELL.search(bare) or SHELL_WORD.search(line)):
            yield number, "no shell: start programs from argument vectors, by start_process() of apps"
        if NAMESPACE.match(bare) and (room is not None or name.startswith("apps/")):
            for what in check_namespace(room or "app", NAMESPACE.match(bare)[1].split("::")[1:]):
                yield number, what
        if INCLUDE.match(line) and not MESSAGE_PASSING.match(line):
            for what in check_include(name, room, INCLUDE.match(line)[1]):
                yield number, what
        if room is None:
            continue
        if LIBRARY_TALKS.search(bare):
            yield number, "the library never prints"
        if LIBRARY_ENDS.search(bare) and name not in MAY_END and not name.startswith(MAY_END_ROOM):
            yield number, "the library never ends the program; throw an error of base/error.hpp"
    if name.endswith(".hpp") and "#pragma once" not in text and "HWY_TARGET_TOGGLE" not in text:
        yield 1, "a header starts with #pragma once"


def check_rooms_of_cmake(text):
    for number, line in enumerate(text.split("\n"), 1):
        room = re.match(r"\s*merganser_room\((\w+)(?:\s+USES\s+([a-z ]+?))?(?:\s+(?:NOT_INSTALLED|PIECES))*\)", line)
        if room and (room[2] or "").split() != ROOMS.get(room[1], "?").split():
            yield number, f"room {room[1]} links \"{room[2] or ''}\", the table says \"{ROOMS.get(room[1], 'no such room')}\""


def check(root):
    breaches = []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        if path.suffix not in TEXT or name == "LICENSE":
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found = []
        count = text.count("\n")
        if count > MAX_LINES and (path.suffix in SHORT or path.name == "CMakeLists.txt"):
            found.append((count, f"{count} lines; at most {MAX_LINES}, split by idea"))
        if not name.startswith(("CHANGELOG", "docs/decisions/")):
            for number, line in enumerate(text.split("\n"), 1):
                if UNFINISHED.search(line):
                    found.append((number, f"mark of unfinished work: {UNFINISHED.search(line)[0]}"))
        if path.suffix in CODE:
            found += check_code(name, text)
        if name == "CMakeLists.txt":
            found += check_rooms_of_cmake(text)
        breaches += [f"{name}:{number}: {what}" for number, what in found]
    return breaches


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    if not root.is_dir():
        print(f"no such folder: {root}", file=sys.stderr)
        return 2
    breaches = check(root)
    print("\n".join(breaches) if breaches else "no rule of the house is broken")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
