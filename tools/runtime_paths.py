#!/usr/bin/env python3
"""Checks where the loader looks for libraries of what was built: runtime_paths.py PATH...

Reads the RUNPATH and RPATH of every ELF program and library below the paths, which are files, folders or wheels. An empty
part means the folder in which the program is started, a relative one a folder below it: whoever can write there decides what
is run. Exit 1 and one line per breach, also where there is nothing to look at.
"""
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LINKED = (2, 3)  # ET_EXEC, ET_DYN
SAFE = re.compile(r"/|\$(ORIGIN|\{ORIGIN\})(/|$)")


def is_linked(path):
    """Returns True if a file is an ELF program or shared library, by its header; object files have no RUNPATH."""
    try:
        with open(path, "rb") as file:
            head = file.read(18)
    except OSError:  # gone: another process tidies up after itself
        return False
    order = "little" if head[5:6] == b"\x01" else "big"
    return head[:4] == b"\x7fELF" and int.from_bytes(head[16:18], order) in LINKED


def linked_files(paths):
    """Yields the ELF programs and shared libraries below these paths; links are not followed."""
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in files if file.is_file() and not file.is_symlink() and is_linked(file))


def entries(path):
    """Returns pairs (name of the entry, its text) of an ELF file's RUNPATH and RPATH, as readelf prints them."""
    run = subprocess.run(["readelf", "-dW", path], check=True, capture_output=True, text=True, errors="replace",
                         env={**os.environ, "LC_ALL": "C"})
    return re.findall(r"\((RUNPATH|RPATH)\)[^\[]*\[(.*)\]", run.stdout)


def breaches(path, shown):
    """Yields a line for each part of an ELF file's RUNPATH or RPATH that is empty or relative."""
    for name, text in entries(path):
        for part in text.split(":"):
            if not SAFE.match(part):
                yield f'{shown}: {name} "{text}": part "{part}"; allowed: absolute folders, and $ORIGIN with what follows'


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    found, count = [], 0
    for argument in map(Path, arguments):
        with tempfile.TemporaryDirectory() as unpacked:
            root = argument
            if argument.suffix == ".whl":
                zipfile.ZipFile(argument).extractall(unpacked)
                root = Path(unpacked)
            for file in linked_files([root]):
                count += 1
                shown = file if root is argument else argument / file.relative_to(root)
                found += breaches(file, shown)
    if count == 0:
        found.append(f"{' '.join(arguments)}: no program and no library is there")
    print("\n".join(found) if found else f"{count} programs and libraries: no empty and no relative part in RUNPATH or RPATH")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
