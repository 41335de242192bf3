"""Campaigns: the cases of a study are simulated in succession, and stored in its record one by one, so that it can be continued."""
import hashlib
import json
import os
import sys
from dataclasses import dataclass
from typing import Callable

from . import runner, steps
from .results import write

SCHEMA = "merganser-simulated-study"
VERSION = 1
REACHED_LIMIT = 4  # exit code


@dataclass(frozen=True)
class Case:
    """One simulation of a study: a number of ranks with all that its result depends on.

    @param series  description of the cases that differ in their number of ranks only
    @param key     everything that the result depends on, besides the program and the machine
    @param run     function without arguments; returns the result, as JSON can represent it
    @param cannot  reason why it cannot be simulated, or empty
    """
    series: str
    ranks: int
    key: dict
    run: Callable
    cannot: str = ""


@dataclass(frozen=True)
class Study:
    """Study of simulated ranks: a named set of cases.

    @param about     description in one line
    @param defaults  defaults of command-line options that the study changes, by name
    @param cases     cases(o): the cases for parsed options, in ascending order of ranks within a series
    @param text      text(results): formats the results of the cases that were simulated
    """
    about: str
    defaults: dict
    cases: Callable
    text: Callable


def say(text):
    """Prints a line of progress or error of ./x simulate on standard error."""
    print(text, file=sys.stderr, flush=True)


def fingerprint(path):
    """Returns 16 hexadecimal digits that identify the contents of the simulated program, as part of the keys of a study's cases."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:16]


def known(path, name):
    """Returns the finished cases of an existing study record, by key; nothing if there is no file.

    @throws Failed  for a file that is not a record of this study, since it would be overwritten
    """
    if not path or not os.path.exists(path):
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        if record["schema"] != SCHEMA or record["schema_version"] != VERSION or record["study"] != name:
            raise ValueError(f"it is {record['schema']} {record['schema_version']}, study {record.get('study')}")
        return {json.dumps(c["key"], sort_keys=True): c for c in record["cases"] if "result" in c}
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise runner.Failed(f"--json {path}: no record of study {name} ({e}); allowed: one to go on with, or a new file", 2) from e


def simulated(case, what):
    """Simulates a case of a study. @return its entry for the study record  @throws Failed  unless it merely reached a limit of time
    or memory"""
    if case.cannot:
        say(f"{what}: not simulated: {case.cannot}")
        return {"not_done": case.cannot}
    try:
        result = case.run()
    except runner.Failed as e:
        if e.code != REACHED_LIMIT:
            raise runner.Failed(f"{what}: {e}", e.code) from e
        say(f"{what}: not done: {e}")
        return {"not_done": str(e)}
    say(f"{what}: done in {result['real_s']:.1f} s, {result['peak_bytes'] / 2**20:,.0f} MiB")
    return {"result": result}


def run(study, o, words):
    """Simulates the cases of a study that its record lacks, writes the record after every case, and prints the table. @return the
    exit code"""
    before = known(o.json, o.study)
    program = fingerprint(steps.simulated_program(o))
    cases = study.cases(o)
    keys = [{"machine": o.machine, "program": program, "series": c.series, "ranks": c.ranks, **c.key} for c in cases]
    entries = [before.pop(json.dumps(key, sort_keys=True), None) for key in keys]  # None: not done yet
    kept = sum(e is not None for e in entries)
    ended = {}

    def record():
        if o.json:
            write(o.json, {"schema": SCHEMA, "schema_version": VERSION, "study": o.study, "about": study.about,
                           "arguments": without_paths(words), "cases": [e for e in entries if e is not None]})

    for i, (case, key) in enumerate(zip(cases, keys)):
        if entries[i] is not None:
            continue
        what = f"{o.study} {i + 1}/{len(cases)}: {o.machine}, {case.ranks:,} ranks, {case.series}"
        if case.series in ended:
            outcome = {"not_done": f"not tried, since {ended[case.series]:,} ranks were not done"}
            say(f"{what}: {outcome['not_done']}")
        else:
            say(what)
            outcome = simulated(case, what)
        if "not_done" in outcome:
            ended.setdefault(case.series, case.ranks)
        entries[i] = {"key": key, **outcome}
        record()
    record()
    if kept:
        say(f"{o.study}: {kept} of {len(cases)} cases were in {o.json} already")
    if before:
        say(f"{o.study}: {len(before)} cases of another program or other options were dropped from {o.json}")
    results = [c["result"] for c in entries if "result" in c]
    print(study.text(results) if results else "no case was done")
    missing = [c for c in entries if "not_done" in c]
    for c in missing:
        print(f"{c['key']['ranks']:,} ranks, {c['key']['series']}: {c['not_done']}")
    return REACHED_LIMIT if any("not tried" in c["not_done"] or "(--" in c["not_done"] for c in missing) else 0


def without_paths(words):
    """Returns the command line for a study record, with paths reduced to file names, since folders of this machine are not part of it."""
    kept = []
    for word in words:
        kept.append(os.path.basename(word) if os.sep in word else word)
    return kept
