#!/usr/bin/env python3
"""Compiles every public header alone: headers_alone.py INCLUDE_DIR... [OPTIONS] COMPILER [FLAGS...].

All folders are searched for what a header includes.

--except HEADER  leave it out
--refused TEXT   instead: all must be refused with an error that holds the text before any other
Exit 1 names those that do not.
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def compile_alone(name, command):
    """Compiles a public header included twice, so that a missing #pragma once shows as well. Returns the first error or None."""
    text = f'#include "{name}"\n#include "{name}"\n'
    run = subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], input=text, text=True, capture_output=True)
    if run.returncode == 0:
        return None
    errors = [line for line in run.stderr.split("\n") if "error:" in line]
    return f"{name} does not compile alone: {errors[0] if errors else run.stderr.strip()}"


def refused(name, command, reason):
    """Checks that the preprocessor refuses a public header with an #error that holds `reason`. Returns what is wrong or None."""
    text = f'#include "{name}"\n'
    run = subprocess.run([*command, "-E", "-x", "c++", "-"], input=text, text=True, capture_output=True)
    errors = [line for line in run.stderr.split("\n") if "error:" in line]
    if errors and reason in errors[0]:
        return None
    return f"{name} is not refused with \"{reason}\": {errors[0] if errors else 'no error'}"


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    folders, command = [Path(sys.argv[1])], sys.argv[2:]
    while command and Path(command[0]).is_dir():
        folders.append(Path(command.pop(0)))
    left_out = set()
    reason = None
    while command[:1] in (["--except"], ["--refused"]) and len(command) > 2:
        if command[0] == "--except":
            left_out.add(command[1])
        else:
            reason = command[1]
        command = command[2:]
    if not command:
        print(__doc__, file=sys.stderr)
        return 2
    headers = sorted({h.relative_to(folder).as_posix() for folder in folders for h in folder.rglob("*.hpp")} - left_out)
    if not headers:
        print(f"no headers under {' '.join(map(str, folders))}", file=sys.stderr)
        return 2
    command += [word for folder in folders for word in ("-I", str(folder))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        look = compile_alone if reason is None else lambda name, c: refused(name, c, reason)
        results = pool.map(lambda name: look(name, command), headers)
        failed = [result for result in results if result]
    print("\n".join(failed) if failed else f"{len(headers)} headers {'compile alone' if reason is None else 'are refused'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
