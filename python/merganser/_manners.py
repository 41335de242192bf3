"""What scikit-learn's tools ask of estimators besides fitting: output containers, metadata routing, a picture in notebooks."""
from __future__ import annotations

import html
import inspect
from typing import Any

from ._errors import UsageError

_OUTPUTS = (None, "default", "pandas", "polars")
"""Values of set_output(transform=...) in scikit-learn."""


class Manners:
    """Part of the estimators' interface that scikit-learn's pipelines, searches and notebooks use. Nothing of scikit-learn is
    imported unless one of its functions calls."""

    def set_output(self, *, transform: str | None = None) -> Any:
        """Accepts scikit-learn's choice of the container that transform() returns, and returns the estimator: a clusterer has no
        transform(), and labels are arrays always. Raises UsageError for another container."""
        if transform not in _OUTPUTS:
            raise UsageError(f"transform: {transform!r}; allowed: {', '.join(map(repr, _OUTPUTS))}")
        return self

    def get_metadata_routing(self) -> Any:
        """Returns scikit-learn's MetadataRequest of this estimator: what set_fit_request() requests of the arguments of fit()
        besides X and y. Needs scikit-learn."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        wanted = getattr(self, "_fit_request", {})
        for name in _metadata_names(type(self)):
            request.fit.add_request(param=name, alias=wanted.get(name))
        return request

    def set_fit_request(self, **wanted: Any) -> Any:
        """Requests arguments of fit() besides X and y from scikit-learn's metadata routing: name=True, False, None, or the name
        that callers have for it. Returns the estimator. Raises UsageError for arguments that fit() has not."""
        known = _metadata_names(type(self))
        for name in wanted:
            if name not in known:
                raise UsageError(f"set_fit_request: {name!r}; allowed: {', '.join(known) or 'none, fit() takes X and y alone'}")
        self._fit_request = {**getattr(self, "_fit_request", {}), **wanted}
        return self

    def __sklearn_clone__(self) -> Any:
        """Returns an unfitted estimator with the same parameters and metadata requests, for scikit-learn's clone()."""
        from sklearn.base import clone

        fresh = type(self)(**{name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()})
        if hasattr(self, "_fit_request"):
            fresh._fit_request = dict(self._fit_request)
        return fresh

    def _repr_html_(self) -> str:
        """Returns the estimator for notebooks, as HTML: its class, whether it is fitted, and a table of its parameters."""
        first = inspect.signature(type(self).__init__).parameters
        rows = "".join(
            f"<tr><td>{'<b>' if changed else ''}{html.escape(name)}{'</b>' if changed else ''}</td>"
            f"<td><code>{html.escape(repr(value)[:200])}</code></td></tr>"
            for name, value, changed in ((name, value, repr(value) != repr(first[name].default))
                                         for name, value in self.get_params(deep=False).items()))
        fitted = "fitted" if self.__sklearn_is_fitted__() else "not fitted"
        return (f"<details><summary><b>{type(self).__name__}</b> ({fitted})</summary>"
                f"<table><tbody>{rows}</tbody></table></details>")


def _metadata_names(kind: type) -> list[str]:
    """Returns the names of the arguments of an estimator's fit() besides self, X and y."""
    return [name for name in inspect.signature(kind.fit).parameters if name not in ("self", "X", "y")]
