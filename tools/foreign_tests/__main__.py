"""Runs the public tests of scikit-learn's and hdbscan's HDBSCAN, from the installed packages, with merganser's in place of theirs.

    PYTHONPATH=tools python -m foreign_tests [--only sklearn|hdbscan] [--keep DIR]

Needs merganser, scikit-learn, hdbscan, pytest, pandas, networkx and matplotlib. The test files are copied out of the packages,
unchanged, beside a conftest.py that puts merganser's estimator into the packages' namespaces (adapters.py). Prints how many tests
pass, and why each other one does not, from reasons.tsv; exit code 1 if a test fails without a reason there, or passes with one
(other than that something is missing).
"""
from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = {"sklearn": "cluster/tests/test_hdbscan.py", "hdbscan": "tests/test_hdbscan.py"}
"""Test file of each package, from the folder of the package."""


def find_test_file(package: str) -> Path:
    """Returns the path of a package's tests of HDBSCAN. Raises SystemExit if the package or the file is not installed."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"foreign_tests: no package {package}; allowed: after pip install {package}")
    path = Path(found.origin).parent / FILES[package]
    if not path.exists():
        raise SystemExit(f"foreign_tests: {path}: no such file; allowed: a package that has its tests")
    return path


def read_reasons() -> dict[tuple[str, str], tuple[str, str]]:
    """Returns the kind and the reason of each test that is known not to pass, by package and name of the test."""
    rows = [line.split("\t") for line in (HERE / "reasons.tsv").read_text().splitlines() if line and not line.startswith("#")]
    return {(package, name): (kind, reason) for package, name, kind, reason in rows}


def run(package: str, folder: Path) -> dict[str, str]:
    """Runs a package's tests in a folder. Returns the outcome of each test by name: passed, failed or skipped."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_theirs.py").write_text(find_test_file(package).read_text())
    (folder / "conftest.py").write_text(f"import adapters\n\nadapters.install({package!r})\n"
                                        "pytest_plugins = ['sklearn.conftest']\n" if package == "sklearn" else
                                        f"import adapters\n\nadapters.install({package!r})\n")
    report = folder / "report.xml"
    paths = [str(HERE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line", "-W", "ignore",
                    f"--junitxml={report}", "test_theirs.py"], cwd=folder, check=False, stdout=subprocess.DEVNULL,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "Agg"})
    outcomes = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        failed = [child for child in case if child.tag in ("failure", "error")]
        outcomes[case.get("name")] = "skipped" if "skipped" in kinds else "failed" if failed else "passed"
        if failed:
            print(f"  {case.get('name')}: {(failed[0].get('message') or '').splitlines()[0][:160]}", file=sys.stderr)
    return outcomes


def report(package: str, outcomes: dict[str, str], reasons: dict[tuple[str, str], tuple[str, str]]) -> bool:
    """Prints the result of a package's tests. Returns True if each test passes, is skipped, or has a reason."""
    counts = {kind: sum(outcome == kind for outcome in outcomes.values()) for kind in ("passed", "failed", "skipped")}
    missing = sum(outcome == "failed" and reasons.get((package, name), ("",))[0] == "missing" for name, outcome in outcomes.items())
    told = len(outcomes) - counts["skipped"]
    print(f"{package}: {counts['passed']} of {told} pass ({100 * counts['passed'] / max(1, told):.1f} %), "
          f"{counts['skipped']} skipped by the package; of the {counts['failed']} that fail {missing} need what is not there yet")
    fine = True
    for name, outcome in sorted(outcomes.items()):
        kind, reason = reasons.get((package, name), ("", ""))
        if outcome == "failed":
            print(f"  {name}: {kind + ': ' + reason if kind else 'NO REASON'}")
        if outcome == "failed" and not kind:
            fine = False
        if outcome == "passed" and kind:
            print(f"  {name}: passes, in spite of {kind}: {reason}")
            fine &= kind == "missing"
    return fine


def main() -> int:
    """Runs the tests of both packages and returns the exit code."""
    parser = argparse.ArgumentParser(prog="foreign_tests", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=FILES, help="run the tests of one package")
    parser.add_argument("--keep", metavar="DIR", help="folder for the copies of the tests and their reports")
    options = parser.parse_args()
    reasons, fine = read_reasons(), True
    with tempfile.TemporaryDirectory() as temporary:
        for package in [options.only] if options.only else FILES:
            fine &= report(package, run(package, Path(options.keep or temporary) / package), reasons)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
