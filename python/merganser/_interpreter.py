"""Raises ImportError when the package is imported in a sub-interpreter.

The extension registers its Python types once per process. Registered again, by a sub-interpreter, they would replace those of
the main interpreter, whose calls would then fail or crash.
"""
from __future__ import annotations

import sys


def _is_main() -> bool:
    """Returns True in the main interpreter of the process, and where Python gives no answer."""
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
