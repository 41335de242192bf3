"""Errors of the library, below those that Python has for the same."""


class Error(Exception):
    """Base of every error that merganser raises of its own. A message says what, the value, and what is allowed."""


class UsageError(Error, ValueError):
    """The caller asks for what makes no sense: a bad option, argument or combination of them."""


class InputError(Error, ValueError):
    """Data is bad, or cannot be read or written: points, graphs, parcels, files."""


class VerificationError(Error):
    """A result is not what it must be."""


class CommError(Error, RuntimeError):
    """Ranks cannot talk: a library that fails, a wait in vain."""
