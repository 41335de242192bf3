#!/usr/bin/env python3
"""Compiles every public header alone: headers_alone.py INCLUDE_DIR COMPILER [FLAGS...]. Exit 1 names those that do not."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def compile_alone(include, header, command):
    """Included twice, so that a missing #pragma once shows as well. Returns the first error or None."""
    name = header.relative_to(include).as_posix()
    text = f'#include "{name}"\n#include "{name}"\n'
    run = subprocess.run([*command, "-I", str(include), "-fsyntax-only", "-x", "c++", "-"], input=text, text=True, capture_output=True)
    if run.returncode == 0:
        return None
    errors = [line for line in run.stderr.split("\n") if "error" in line]
    return f"{name} does not compile alone: {errors[0] if errors else run.stderr.strip()}"


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    include = Path(sys.argv[1])
    headers = sorted(include.rglob("*.hpp"))
    if not headers:
        print(f"no headers under {include}", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda header: compile_alone(include, header, sys.argv[2:]), headers)
        failed = [result for result in results if result]
    print("\n".join(failed) if failed else f"{len(headers)} headers compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
