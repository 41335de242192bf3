"""The command line of reports and figures, and the functions that Python programs call."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from .records import Problem, read_records

NEEDED = "usage: reports and pictures need {}, which this Python lacks; pip install 'altair>=5' 'vl-convert-python>=1.6' brings it"
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
    parser.add_argument("--by", choices=("commit", "time"), default="",
                        help="draw timings as a trend over commits or times first, and the newest records in the other charts")
    return parser


def write_report(paths: Iterable[str | Path], output: str | Path, by: str = "") -> tuple[int, list[Problem]]:
    """Writes the report of records to a file of HTML. Returns the number of records shown and the files that could not be. Raises
    OSError."""
    from .figures import _write
    from .page import make_page

    records, problems = read_records(paths)
    _write(Path(output), make_page(records, problems, by).encode("utf-8"))
    return len(records), problems


def _has_needed() -> bool:
    """Returns True if the libraries of charts are installed; else says on standard error what is missing."""
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError as error:
        print(NEEDED.format(error.name), file=sys.stderr)
        return False
    return True


def _picture(arguments: list[str]) -> int:
    """Draws one record, or converts a drawing: what --picture of the commands calls. Returns the exit code. Without arguments it only
    checks that the libraries are there."""
    parser = argparse.ArgumentParser(prog="python -m merganser.report picture", allow_abbrev=False, description="Draws what --picture "
                                     "of a verb draws, from its record, or converts a drawing: to SVG, PNG or PDF.")
    parser.add_argument("source", nargs="?", metavar="SOURCE", help="record (JSON), or drawing (.svg); without it only the libraries "
                                                                    "that are needed are looked for")
    parser.add_argument("-o", "--output", metavar="FILE", help="picture to write, by suffix: .svg, .png or .pdf")
    options = parser.parse_args(arguments)
    if (options.source is None) != (options.output is None):
        parser.error("SOURCE and --output are given together, or neither")
    if not _has_needed():
        return USAGE
    if options.source is None:
        print("ready")
        return 0
    from .picture import write_picture

    try:
        write_picture(options.source, options.output)
    except OSError as error:
        print(f"input: {error.filename or options.output}: {error.strerror or error}", file=sys.stderr)
        return INPUT
    except ValueError as error:
        print(f"input: {error}", file=sys.stderr)
        return INPUT
    print(f"{options.output}: drawn")
    return 0


def main(arguments: list[str]) -> int:
    """Runs `report`, `figures` or `picture`, by the first argument (report without one). Returns the exit code: 3 if no record could
    be read or a file not be written."""
    verb = "report"
    if arguments and arguments[0] == "picture":
        return _picture(arguments[1:])
    if arguments and arguments[0] in ("report", "figures"):
        verb, *arguments = arguments
    options = _parser(verb).parse_args(arguments)
    inputs = {Path(path).resolve() for path in options.record}
    if Path(options.output).resolve() in inputs:
        print(f'usage: --output: "{options.output}" is one of the records; allowed: another file', file=sys.stderr)
        return USAGE
    if not _has_needed():
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
