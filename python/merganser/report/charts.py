"""The charts of all families, in the order of a report."""
from __future__ import annotations

from collections.abc import Callable

from . import announce, checks, compare, flow, forests, growth, hierarchy, links, steps, topo, trend
from .draw import Chart
from .records import Problem, Record

FAMILIES = (compare, steps, links, topo, announce, forests, hierarchy, growth, flow, checks)


_MALFORMED = (AttributeError, KeyError, IndexError, TypeError, ValueError, ZeroDivisionError)
"""Errors of values of unexpected kinds in a record."""


def _drawn(draw: Callable[[list[Record]], list[Chart]], records: list[Record], problems: dict[str, Problem]) -> list[Chart]:
    """Returns the charts that a function draws of records, without those that it cannot draw alone, which are added to the problems."""
    try:
        return draw(records)
    except _MALFORMED:
        usable = []
        for record in records:
            try:
                draw([record])
                usable.append(record)
            except _MALFORMED as error:
                problems[record.label] = Problem(record.label, f"not in the form of a {record.kind} record: {error}")
        return draw(usable)


def make_charts(records: list[Record], by: str = "") -> tuple[list[Chart], list[Problem]]:
    """Returns the charts of records. If `by` (commit or time) is not empty, trends come first, and the other charts are of the newest
    record of each series. A record whose content cannot be drawn, because values are of unexpected kinds, is left out of a family of
    charts and named as a problem.

    Raises ValueError for another `by`."""
    made: list[Chart] = []
    problems: dict[str, Problem] = {}
    if by:
        trend.check_by(by)
        made, records = _drawn(lambda some: trend.charts(some, by), records, problems), trend.newest(records)
    for family in FAMILIES:
        made += _drawn(family.charts, records, problems)
    return made, list(problems.values())
