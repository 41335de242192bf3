"""The charts of all families, in the order of a report."""
from __future__ import annotations

from . import announce, checks, compare, flow, forests, growth, hierarchy, links, steps, topo, trend
from .draw import Chart
from .records import Problem, Record

FAMILIES = (compare, steps, links, topo, announce, forests, hierarchy, growth, flow, checks)


def make_charts(records: list[Record], by: str = "") -> tuple[list[Chart], list[Problem]]:
    """Returns the charts of records. If `by` (commit or time) is not empty, trends come first, and the other charts are of the newest
    record of each series. A record whose content cannot be drawn, because values are of unexpected kinds, is left out of a family of
    charts and named as a problem."""
    made: list[Chart] = []
    if by:
        made, records = trend.charts(records, by), trend.newest(records)
    problems: dict[str, Problem] = {}
    for family in FAMILIES:
        try:
            made += family.charts(records)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError, ZeroDivisionError):
            usable = []
            for record in records:
                try:
                    family.charts([record])
                    usable.append(record)
                except (AttributeError, KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
                    problems[record.label] = Problem(record.label, f"not in the form of a {record.kind} record: {error}")
            made += family.charts(usable)
    return made, list(problems.values())
