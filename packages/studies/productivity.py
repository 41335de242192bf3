#!/usr/bin/env python3
"""Counts the code of each communication model: python3 packages/studies/productivity.py [--json] [ROOT].

Lines are those with code on them, calls those of MPI and OpenSHMEM in the backends. As in the study that the numbers are compared
with, calls that initialise or finalise the library, allocate or free are left out. The algorithm is written once for all models;
of it the lines and the calls of the communication contract are counted.
"""
import argparse
import json
import re
import sys
from pathlib import Path

BACKENDS = "src/comm/backends"
SHARED = {"mpi": "shared by p2p, neighborhood, rma", "openshmem": "shmem"}  # folders of backends
ORDER = ["threads", "p2p", "neighborhood", "rma", SHARED["mpi"], "shmem"]
DETAIL = "src/comm/detail"
ALGORITHM = ["packages/graph/src/msf/partition.cpp", "packages/graph/src/mnd"]
CODE = {".cpp", ".hpp"}

CALL = re.compile(r"\b(MPI_[A-Z]\w*|shmem_\w+)\s*\(")
UNCOUNTED = re.compile(
    r"MPI_(Init\w*|Query_thread|Finalize\w*|Abort|Alloc_mem|Free_mem|Win_allocate\w*|Win_create\w*|\w+_free)$"
    r"|MPI_(Comm|Win|Request|Status|Message|Datatype|Info|Group|Op|Aint|Errhandler)$"  # types
    r"|shmem_(init\w*|finalize|global_exit|malloc\w*|calloc|align|realloc|free|query_thread)$"
)
KINDS = [
    ("collective", r"MPI_I?(neighbor_|all|barrier|bcast|reduce|gather|scatter|scan|exscan)\w*"
                   r"|MPI_Dist_graph\w*|shmem_\w*(barrier|sync|collect|reduce|_to_all|broadcast|alltoall)\w*"),
    ("messages", r"MPI_(I?m?r?recv|I?[sbr]?send|m?probe|im?probe|test|wait|start|send_init|recv_init|cancel)\w*"),
    ("one_sided", r"MPI_(r?put|r?get|r?accumulate|r?get_accumulate|fetch_and_op|compare_and_swap|win_\w+)"
                  r"|shmem_(?!info)\w*(put|get|atomic|fence|quiet|ptr|test|wait|signal|set_lock|clear_lock)\w*"
                  r"|shmem_\w+_[pg]"),
]
CONTRACT = re.compile(
    r"(?:\.|->)(?:post|step|inbox|outbox|records|put|fetch_or|sync|sync_any|pull|take|barrier|all_reduce|all_gather|all_to_all"
    r"|mailbox|segment|plan|stream|subset)\s*(?:<[\w:]+>)?\s*\(|(?:\.|->)get\s*\((?!\s*\))"
)


def code_lines(text):
    """Returns the lines of a C++ file with code on them, without comments and the contents of strings."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    bare = pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()) if m.group()[0] == "/" else '""', text)
    return [line for line in bare.split("\n") if line.strip()]


def call_kind(call):
    """Returns the kind of an MPI or OpenSHMEM call by its name: a key of KINDS, or "other"."""
    for kind, pattern in KINDS:
        if re.fullmatch(pattern, call, re.I):
            return kind
    return "other"


def count_files(paths):
    """Counts C++ files, their lines of code, and their calls of MPI and OpenSHMEM by kind and by name."""
    calls = {"total": 0, "messages": 0, "one_sided": 0, "collective": 0, "other": 0}
    names = {}
    lines = 0
    for path in paths:
        code = code_lines(path.read_text())
        lines += len(code)
        for call in CALL.findall("\n".join(code)):
            if UNCOUNTED.match(call):
                continue
            calls["total"] += 1
            calls[call_kind(call)] += 1
            names[call] = names.get(call, 0) + 1
    return {"files": len(paths), "lines": lines, "calls": calls, "names": dict(sorted(names.items()))}


def code_files(folder):
    """Returns the C++ files below a folder, sorted."""
    return sorted(p for p in folder.rglob("*") if p.suffix in CODE)


def count_models(root):
    """Counts lines and calls in the backend of each communication model, and in the files that several models share."""
    groups = {}
    for path in code_files(root / BACKENDS):
        parts = path.relative_to(root / BACKENDS).parts
        model = path.stem if len(parts) == 1 else SHARED.get(parts[0], parts[0])
        groups.setdefault(model, []).append(path)
    groups = dict(sorted(groups.items(), key=lambda g: ORDER.index(g[0]) if g[0] in ORDER else len(ORDER)))
    if (root / DETAIL).is_dir():
        groups["shared by all"] = code_files(root / DETAIL)
    return [{"model": model, **count_files(paths)} for model, paths in groups.items()]


def count_algorithm(root):
    """Counts lines, and calls of the communication contract, in each file of the spanning forest algorithm."""
    parts = []
    for name in ALGORITHM:
        path = root / name
        if not path.exists():
            continue
        for file in code_files(path) if path.is_dir() else [path]:
            code = code_lines(file.read_text())
            calls = len(CONTRACT.findall("\n".join(code)))
            parts.append({"part": file.relative_to(root).as_posix(), "lines": len(code), "calls": calls})
    return parts


def table(rows):
    """Formats rows of equal length: the first column left-aligned, the others right-aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths)))
                     for row in rows)


def report(counted):
    """Formats the counts of communication models and of the algorithm as two tables."""
    kinds = ["total", "messages", "one_sided", "collective", "other"]
    rows = [["model", "files", "lines", "calls", *kinds[1:]]]
    for m in counted["models"]:
        rows.append([m["model"], str(m["files"]), str(m["lines"]), *(str(m["calls"][k]) for k in kinds)])
    parts = [["algorithm, for all models", "lines", "calls of the contract"]]
    parts += [[p["part"], str(p["lines"]), str(p["calls"])] for p in counted["algorithm"]]
    return table(rows) + "\n\n" + table(parts)


def main():
    """Counts a source tree and prints the tables, or JSON. Returns the exit code: 2 if the folder is no source tree."""
    parser = argparse.ArgumentParser(description="counts lines and library calls of each communication model")
    parser.add_argument("--json", action="store_true", help="print JSON, with every call by name")
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parents[2], type=Path)
    o = parser.parse_args()
    if not (o.root / BACKENDS).is_dir():
        print(f"no folder {o.root / BACKENDS}: not the root of the source tree", file=sys.stderr)
        return 2
    counted = {"models": count_models(o.root), "algorithm": count_algorithm(o.root)}
    print(json.dumps(counted) if o.json else report(counted))
    return 0


if __name__ == "__main__":
    sys.exit(main())
