"""Refuses the import in sub-interpreters.

The extension keeps the types that it shows to Python once for the process: made a second time, in a sub-interpreter, they
would take the place of those of the main interpreter, whose calls then fail or crash.
"""
from __future__ import annotations

import sys


def _is_main() -> bool:
    """Whether this is the main interpreter of the process; True where Python does not tell."""
    try:
        if sys.version_info >= (3, 13):
            import _interpreters

            return _interpreters.get_current()[0] == _interpreters.get_main()[0]
        import _xxsubinterpreters

        return _xxsubinterpreters.get_current() == _xxsubinterpreters.get_main()
    except ImportError:
        return True


if not _is_main():
    raise ImportError("merganser: imported in a sub-interpreter; allowed: the main interpreter of a process. Nothing was loaded",
                      name=__package__)
