"""./x mutants MODULE [--count 100] [--seed 1] [--list] [--only N,N...|survivors] [--resume]

Changes the code of a module in so many places, drawn at random by the seed, and tells which changes no test notices.
Modules: comm, kernels, msf, topology, python (python/merganser; ./x python installs the package first).

All mutants are compiled at once, each behind a switch, into a copy of the project (build-mutants), whose tests are then run with
one mutant on at a time: MERGANSER_MUTANT=N. First they are run with none on: all must pass, and it is noted which test reaches
which mutant. A mutant gets the tests that reach it, the shortest first, until one fails twice, which kills it; to take over
10 s + 6 times what it took (MERGANSER_TEST_PATIENCE=4: 40 s), or too much memory, is to fail, and told apart. What no test reaches counts as survived, and is told apart ("not run").
What tests reach can depend on time, so a mutant in such a place may count as not run.

Mutated: < <= > >= == != && || + - * / += -= *= /= ++ -- (the neighbour or the opposite), conditions of if and while (negated),
whole numbers (n + 1), statements that call or assign (left out), returned numbers (+ 1) and truths (negated). In C++ only what
stands in the files of src (not in public headers), in bodies of functions that are not constexpr, and nothing that is thrown: texts
of errors are left out since they say nothing of correctness. Texts and reports otherwise are mutated. A place whose mutant does not
compile is replaced by the next. Mutants that change nothing anybody can see are not known as such, and count as survived.

A run writes tests/mutants/MODULE.tsv. --only N,N runs these of the list again, --only survivors those that survived, and both
write their lines anew; --list only lists. A smaller count is the beginning of a larger one: --resume takes the lines that are there
for done. Ends with 1 if less than 80 % were killed."""
import argparse
import hashlib
import json
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from . import cases, report
from .sites import Site, drawn
from .tree import Failed, Tree, to_drop

ROOT = Path(__file__).resolve().parents[2]
# Which folders are mutated, which targets have them, labels of tests that are run, and the programs of these.
MODULES = {
    "comm": (["src/comm"], ["merganser_comm"], ["comm", "links", "announce"],
             ["test_comm", "test_comm_set_up_test", "test_links", "test_announce"]),
    "cluster": (["src/cluster"], ["merganser_cluster"], ["cluster"], ["test_cluster", "test_cluster_soak"]),
    "kernels": (["src/kernels"], ["merganser_kernels"], ["kernels"],
                ["test_kernels", "test_kernels_exchange_calls_test", "test_kernels_pair_delays_test"]),
    "msf": (["packages/graph/src/msf"], ["merganser_msf"], ["msf", "mnd", "graph_capi"], ["test_msf", "test_mnd", "test_graph_capi"]),
    "topology": (["packages/topology/src"], ["merganser_topology", "merganser_trace"], ["topology", "topology_capi", "trace", "topology_apps"],
                 ["test_topology", "test_topology_capi", "test_trace", "test_topology_apps"]),
    "python": (["python/merganser"], [], [], []),
}
FOLDERS = sorted({label for _, _, labels, _ in MODULES.values() for label in labels})  # one configuration for all
ENOUGH = 80  # percent


def parse(arguments):
    p = argparse.ArgumentParser(prog="./x mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                usage=argparse.SUPPRESS)
    p.add_argument("module", choices=sorted(MODULES))
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--seed", default="1")
    p.add_argument("--list", action="store_true")
    p.add_argument("--only", help="numbers of the list, with commas between, or survivors")
    p.add_argument("--resume", action="store_true")
    p.add_argument("--jobs", type=int, default=2, help="mutants at a time [2]")
    p.add_argument("--longest", type=float, default=20, help="tests that take more seconds are left out [20]")
    p.add_argument("--folder", type=Path, default=ROOT / "build-mutants", help=argparse.SUPPRESS)
    o = p.parse_args(arguments)
    if o.count < 1 or o.jobs < 1:
        p.error(f"--count {o.count} --jobs {o.jobs}; allowed: from 1")
    if o.only and o.only != "survivors" and not all(n.isdigit() for n in o.only.split(",")):
        p.error(f'--only "{o.only}"; allowed: 3,17 or survivors')
    return o


def all_sites(o, tree, say):
    """Returns the sites of the module, from a list beside the build if neither its code nor the search for sites changed."""
    folders, targets, _, _ = MODULES[o.module]
    digest = hashlib.sha256()
    finders = [Path(__file__).with_name(f"{name}.py") for name in ("sites", "cpp", "python")]
    for path in finders + sorted(p for f in folders for p in (ROOT / f).rglob("*") if p.is_file() and p.suffix != ".pyc"):
        digest.update(path.read_bytes())
    kept = o.folder / f"{o.module}-{digest.hexdigest()[:16]}.json"
    if not kept.is_file():
        say("Reading the code")
        tree.mutate([], folders, "c++")  # as it is
        if targets:
            from . import cpp
            found = cpp.Finder(str(tree.source), folders).parse(tree.build / "compile_commands.json", targets)
        else:
            from . import python
            found = python.sites_below(ROOT, folders)
        kept.write_text(json.dumps([asdict(site) for site in found]))
    return drawn([Site(**entry) for entry in json.loads(kept.read_text())], o.module, o.seed)


def build(o, tree, order, refused, say):
    """The first sites of the order that compile, built."""
    folders, _, _, programs = MODULES[o.module]
    texts = {s.path: (ROOT / s.path).read_bytes().decode("latin-1") for s in order}
    while True:
        chosen = [s for s in order if s.number not in refused][:o.count]
        if o.list:
            return chosen
        tree.mutate(chosen, folders, "c++" if programs else "python")
        say(f"Building {len(chosen)} mutants ({len(refused)} others do not compile)")
        lines = tree.compile(programs, o.jobs) if programs else tree.python_errors(folders)
        drop = to_drop(chosen, lines, lambda s: texts[s.path][s.start:s.end])
        if lines and not drop:
            raise Failed(f"errors in lines without mutants: {tree.log}")
        if not drop:
            return chosen
        refused |= drop


def python_tests(o, tree):
    """Those of the installed package, with the mutated files in place of its own."""
    python = ROOT / "build-python/venv/bin/python"
    if not python.exists():
        raise Failed(f"{python} is not there; ./x python makes it")
    installed = subprocess.run([python, "-c", "import merganser; print(merganser.__path__[0])"], cwd="/", capture_output=True,
                               text=True, check=True).stdout.strip()
    folder = o.folder / "python"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(installed, folder / "merganser")
    shutil.copytree(tree.source / "python/merganser", folder / "merganser", dirs_exist_ok=True)
    shutil.copy(Path(__file__).with_name("python_switch.py"), folder / "sitecustomize.py")
    return cases.of_pytest(python, ROOT, str(folder))


def run(o, say):
    folders, targets, labels, programs = MODULES[o.module]
    table = ROOT / "tests/mutants" / f"{o.module}.tsv"
    o.folder = o.folder.resolve()
    tree = Tree(ROOT, o.folder)
    o.folder.mkdir(exist_ok=True)
    tree.copy(except_below=tuple(f"{f}/" for f in folders))
    if programs:
        # Plug-ins are tested in the shared library; much of topology by the command.
        tree.configure(FOLDERS, shared=o.module == "comm", apps=o.module == "topology")
    order = all_sites(o, tree, say)
    texts = {s.path: (ROOT / s.path).read_bytes().decode("latin-1") for s in order}
    old = report.read(table, o, order, texts)
    chosen = build(o, tree, order, {n for n, v in old.items() if v == report.REFUSED}, say)
    if o.list:
        print("\n".join(report.line(s, texts, old.get(s.number, "")) for s in chosen))
        return 0
    numbers = {s.number for s in chosen}
    wanted = set(numbers)
    if o.only == "survivors":
        wanted &= {n for n, v in old.items() if report.survived(v)}
    elif o.only:
        wanted = {int(n) for n in o.only.split(",")}
        if wanted - numbers:
            raise Failed(f"--only {sorted(wanted - numbers)[0]}; allowed: numbers that --list tells")
    elif o.resume:
        wanted -= set(old)
    # Tests start up to 512 threads, whose stacks of 8 MiB count as data.
    resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    say("Running the tests without a mutant")
    tests = cases.of_ctest(tree.build, labels) if programs else python_tests(o, tree)
    tests = cases.without_mutant(tests, sorted(numbers), o.longest, o.jobs, print)
    verdicts = {n: v for n, v in old.items() if n not in wanted and (n in numbers or v == report.REFUSED)}
    verdicts |= {s.number: report.REFUSED for s in order if s.number < max(numbers) and s.number not in numbers}
    by_number, began = {s.number: s for s in order}, time.monotonic()

    def done(number, found):
        verdicts[number] = found
        print(f"[{len([n for n in wanted if n in verdicts])}/{len(wanted)} {time.monotonic() - began:.0f} s] "
              f"{report.line(by_number[number], texts, found)}", flush=True)
        if numbers <= set(verdicts) or o.resume or not o.only:
            report.write(table, o, order, texts, verdicts)

    say(f"Running them with each of {len(wanted)} mutants")
    cases.try_all(sorted(wanted), tests, o.jobs, done)
    print("\n".join(report.survivors(order, texts, verdicts)))
    print(report.summary(o, order, verdicts))
    return 0 if report.killed_percent(verdicts) >= ENOUGH else 1


def main(arguments):
    o = parse(arguments)
    try:
        return run(o, lambda what: print(f"== {what}", flush=True))
    except (Failed, RuntimeError) as e:
        print(f"mutants: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
