"""Exceptions of the library, derived from Python's own where there is a fitting one."""


class Error(Exception):
    """Base class of the library's exceptions. A message states what is wrong, the value, and what is allowed."""


class UsageError(Error, ValueError):
    """An invalid option or argument, or an invalid combination of them."""


class WrongTypeError(UsageError, TypeError):
    """An argument of a wrong type: a ValueError too, as scikit-learn's and hdbscan's errors of parameters are."""


class UnavailableError(UsageError, AttributeError):
    """A result that an estimator does not have before fit(), or after the kind of fit that it had, so that hasattr() is False for its
    property; a ValueError too, as scikit-learn's NotFittedError is."""


class InputError(Error, ValueError):
    """Invalid data, or data that cannot be read or written: points, graphs, parcels, files."""


class VerificationError(Error):
    """A computed result, such as a spanning forest, failed verification."""


class CommError(Error, RuntimeError):
    """Communication between ranks failed, or a wait for another rank timed out."""
