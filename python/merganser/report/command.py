"""The command line of reports and figures, and the functions that Python programs call."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from .records import Problem, read_records

NEEDED = "usage: reports need {}, which this Python lacks; pip install 'merganser[report]' brings it"
USAGE, INPUT = 2, 3
"""Exit codes, as of the command merganser: usage, and input that cannot be read or output that cannot be written."""


def _parser(verb: str) -> argparse.ArgumentParser:
    """Returns the parser of report or figures."""
    about = {"report": "Writes one page of HTML with findings, charts and tables of run records, which needs no network.",
             "figures": "Writes the charts of run records as SVG and PDF, at the width of one and of two columns."}
    parser = argparse.ArgumentParser(prog=f"merganser {verb}", description=about[verb], allow_abbrev=False)
    parser.add_argument("record", nargs="+", metavar="RECORD", help="record that --json wrote, of any verb")
    parser.add_argument("-o", "--output", required=True, metavar="FILE" if verb == "report" else "DIR",
                        help="page to write" if verb == "report" else "folder to write into")
    parser.add_argument("--by", choices=("commit", "time"), default="", help="also draw timings as a trend over commits or times")
    return parser


def write_report(paths: Iterable[str | Path], output: str | Path, by: str = "") -> tuple[int, list[Problem]]:
    """Writes the report of records to a file of HTML. Returns the number of records shown and the files that could not be. Raises
    OSError."""
    from .figures import _write
    from .page import make_page

    records, problems = read_records(paths)
    _write(Path(output), make_page(records, problems, by).encode("utf-8"))
    return len(records), problems


def main(arguments: list[str]) -> int:
    """Runs `report` or `figures`, by the first argument (report without one). Returns the exit code: 3 if no record could be read
    or a file not be written."""
    verb = "report"
    if arguments and arguments[0] in ("report", "figures"):
        verb, *arguments = arguments
    options = _parser(verb).parse_args(arguments)
    inputs = {Path(path).resolve() for path in options.record}
    if Path(options.output).resolve() in inputs:
        print(f'usage: --output: "{options.output}" is one of the records; allowed: another file', file=sys.stderr)
        return USAGE
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError as error:
        print(NEEDED.format(error.name), file=sys.stderr)
        return USAGE
    try:
        if verb == "report":
            shown, problems = write_report(options.record, options.output, options.by)
            print(f"{options.output}: {shown} record{'s' if shown != 1 else ''}")
        else:
            from .figures import write_figures

            records, problems = read_records(options.record)
            shown = len(records)
            files, more = write_figures(records, Path(options.output), options.by) if shown else ([], [])
            problems += more
            print(f"{options.output}: {len(files)} files")
    except OSError as error:
        print(f"input: {error.filename or options.output}: {error.strerror or error}", file=sys.stderr)
        return INPUT
    for problem in problems:
        print(f"not shown: {problem.label}: {problem.reason}", file=sys.stderr)
    return 0 if shown else INPUT
