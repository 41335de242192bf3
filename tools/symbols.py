#!/usr/bin/env python3
"""Checks which symbols a shared library exports: symbols.py LIBRARY LIST [--update].

All of it must have the version MERGANSER_..., and be a name of merganser or a C function mg_...; these are compared with
LIST, one name a line (those with # are comments), which --update writes anew. Exit 1 and one line per breach.
"""
import re
import subprocess
import sys
from pathlib import Path

OURS = re.compile(r"((vtable|VTT|typeinfo|typeinfo name) for )?merganser::")
VERSION = re.compile(r"@@MERGANSER_\d+\.\d+$")


def shown(library):
    """Returns the symbols that the shared library exports, with their versions, as nm prints them, without those of versions."""
    command = ["nm", "-D", "--defined-only", "--with-symbol-versions", str(library)]
    lines = subprocess.run(command, check=True, text=True, capture_output=True).stdout.splitlines()
    fields = [line.split() for line in lines]
    return sorted(field[-1] for field in fields if field[-2] != "A")  # that is the version itself


def readable(names):
    """Returns the demangled C++ names of exported symbols, by c++filt."""
    text = subprocess.run(["c++filt"], input="\n".join(names), check=True, text=True, capture_output=True).stdout
    return text.split("\n")[: len(names)]


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    symbols = shown(arguments[0])
    names = [VERSION.sub("", s) for s in symbols]
    breaches = [f"{n}: has no version of merganser" for s, n in zip(symbols, names) if s == n]
    functions = [n for n in names if n.startswith("mg_")]
    others = [n for n in names if not n.startswith("mg_")]
    breaches += [f"{text}: is no name of merganser" for text in readable(others) if not OURS.match(text)]
    kept = Path(arguments[1])
    lines = kept.read_text().splitlines() if kept.exists() else []
    listed = [line for line in lines if line and not line.startswith("#")]
    if "--update" in sys.argv:
        listed = functions
        kept.write_text("".join(f"{line}\n" for line in [*filter(lambda line: line.startswith("#"), lines), *listed]))
    breaches += [f"{name}: is in {kept.name}, but the library has no such function" for name in sorted(set(listed) - set(functions))]
    breaches += [f"{name}: is shown, but not in {kept.name}" for name in sorted(set(functions) - set(listed))]
    if not symbols:
        breaches.append(f"{arguments[0]}: shows nothing")
    print("\n".join(breaches) if breaches else f"{len(symbols)} symbols, {len(functions)} of them C functions")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
