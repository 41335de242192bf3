"""Metrics by the names that scikit-learn and SciPy have for them: by which search of the library each is computed, after which
transformation of the rows, or by which distances of all pairs."""
from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple

import numpy as np

from ._arrays import nearly_equal, number
from ._errors import InputError, UsageError

SEARCHED = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "manhattan": "manhattan",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "chebyshev": "chebyshev",
    "infinity": "chebyshev",
    "haversine": "great_circle",
    "cosine": "cosine",
    "correlation": "correlation",
}
"""Metrics that the library searches, by the names that scikit-learn has for them. Others are reduced to these by a transformation
of the rows (minkowski, seuclidean, mahalanobis, hamming of bits), or compare all pairs."""

_WEIGHTED = ("euclidean", "l2", "manhattan", "l1", "cityblock", "minkowski", "p")
"""Metrics that take weights of the columns, metric_params={"w": ...}."""
_PARAMETERS = {"minkowski": ("p", "w"), "p": ("p", "w"), "seuclidean": ("V",), "mahalanobis": ("V", "VI"),
               "precomputed": ("max_distance",), **{name: ("w",) for name in _WEIGHTED[:5]}}
"""Parameters that metrics take in metric_params, by the names of the metrics."""


class Metric(NamedTuple):
    """Metric of an estimator, as parse_metric() returns it."""

    search: str | None
    """Name of the library's metric by which the transformed rows are searched; None: all pairs are compared by `between`."""
    scale: np.ndarray | None = None
    """Factors of the columns, (d,), or matrix (d, d) that multiply rows before the search; None: rows stay as they are."""
    between: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    """Distances of all pairs of two sets of points, given by coordinate: (d, m) and (d, n) to (m, n)."""
    single: Callable[[np.ndarray, np.ndarray], float] | None = None
    """Distance of two points, a callable of the user."""
    brute: bool = False
    """True where scikit-learn compares all pairs for this metric, and so merges equal heights in another order."""

    def transform(self, rows: np.ndarray) -> np.ndarray:
        """Returns the rows, (n, d), as they are searched: multiplied by `scale`. Raises InputError for other numbers of columns."""
        if self.scale is None:
            return rows
        if len(self.scale) != rows.shape[1]:
            raise InputError(f"metric_params: parameters of {len(self.scale)} columns; allowed: of the {rows.shape[1]} of X")
        if self.scale.ndim == 1:
            return rows * self.scale
        out = np.zeros(rows.shape)
        for column, factors in enumerate(self.scale):  # one order of additions, whatever the number of rows
            out += rows[:, column, None] * factors
        return out

    def distances(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Returns the distances of all rows of `a`, (m, d), to all rows of `b`, (n, d): (m, n)."""
        if self.single is not None:
            return np.array([[float(self.single(x, y)) for y in b] for x in a]).reshape(len(a), len(b))
        if self.between is not None:
            return self.between(np.ascontiguousarray(a.T), np.ascontiguousarray(b.T))
        return _SEARCHED_DISTANCES[self.search](self.transform(a).T, self.transform(b).T)


def parse_metric(name: Any, parameters: Any = None, p: Any = None) -> Metric:
    """Returns the metric of an estimator's parameters metric, metric_params and p (of minkowski).

    Raises UsageError for unknown metrics and parameters, and for values out of range.
    """
    given = {} if parameters is None else parameters
    if not isinstance(given, dict):
        raise UsageError(f"metric_params: {parameters!r}; allowed: None, {{}}, or a dict of the metric's parameters")
    if callable(name):
        return Metric(None, single=functools.partial(name, **given) if given else name, brute=True)
    if not isinstance(name, str) or name not in METRICS:
        raise UsageError(f"metric: {name!r}; allowed: {', '.join(METRICS)}, a callable")
    allowed = _PARAMETERS.get(name, ())
    for key in given:
        if key not in allowed:
            raise UsageError(f"metric_params: {key!r} with metric {name!r}; allowed: {', '.join(allowed) or 'None, {}'}")
    if name in ("minkowski", "p"):
        return _minkowski(given.get("p", p), given.get("w"))
    if name == "seuclidean":
        return Metric("euclidean", np.sqrt(1 / _positive(_needed(given, "V", name), "V", least=_LEAST_VARIANCE)))
    if name == "mahalanobis":
        return Metric("euclidean", _whitening(given))
    if name in _PAIRS:
        return Metric(None, between=_PAIRS[name], brute=name == "yule")
    if name == "precomputed":
        return Metric(None)
    return _weighted(SEARCHED[name], given.get("w"))._replace(brute=name in ("cosine", "correlation"))


def _needed(given: dict[str, Any], key: str, name: str) -> Any:
    """Returns a parameter that a metric does not go without. Raises UsageError if it is missing."""
    if given.get(key) is None:
        raise UsageError(f"metric_params: no {key!r} with metric {name!r}; allowed: {{{key!r}: ...}}")
    return given[key]


_LEAST_VARIANCE = 1e-300
"""Least variance of a column: that of smaller ones has no inverse in float64, or one that is not precise."""


def _numbers(values: Any, key: str) -> np.ndarray:
    """Returns a parameter of a metric as an array of float64. Raises UsageError for what are no real numbers, and for numbers that
    are not finite."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of several lengths
        array = np.asarray(None)
    if array.dtype.kind not in "fiub":
        raise UsageError(f"metric_params: {key!r} {values!r}; allowed: an array of real numbers")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise UsageError(f"metric_params: {key!r} with {array[~np.isfinite(array)][0]}; allowed: finite numbers")
    return array


def _positive(values: Any, key: str, *, least: float = 0) -> np.ndarray:
    """Returns a parameter of a metric with a number per column. Raises UsageError for numbers below `least`."""
    array = _numbers(values, key)
    if array.ndim != 1 or (array < least).any():
        limit = "from 0" if least == 0 else f"above 0 (from {least})"
        raise UsageError(f"metric_params: {key!r} {values!r}; allowed: a finite number {limit} per column")
    return array


def _weighted(search: str, w: Any) -> Metric:
    """Returns the Euclidean or Manhattan metric with weights `w` of the columns, or another one without."""
    if w is None:
        return Metric(search)
    weights = _positive(w, "w")
    return Metric(search, weights if search == "manhattan" else np.sqrt(weights))


def _minkowski(p: Any, w: Any) -> Metric:
    """Returns the Minkowski metric of exponent p, by default 2, with weights `w` of the columns: for 1, 2 and infinity those of the
    library, else all pairs are compared."""
    p = 2.0 if p is None else number(p, "p")
    if not p >= 1:
        raise UsageError(f"p: {p}; allowed: from 1 (minkowski is no metric below)")
    if p == np.inf:
        if w is not None:
            raise UsageError("metric_params: 'w' with p of infinity; allowed: without, or finite p")
        return Metric("chebyshev")
    if p in (1, 2):
        return _weighted("manhattan" if p == 1 else "euclidean", w)
    return Metric(None, between=functools.partial(_power_distances, p=p, w=None if w is None else _positive(w, "w")))


def _whitening(given: dict[str, Any]) -> np.ndarray:
    """Returns the matrix by which rows are multiplied so that their Euclidean distances are Mahalanobis distances, from the
    covariance V or its inverse VI. Raises UsageError unless it is symmetric and positive definite."""
    key = "VI" if given.get("VI") is not None else "V"
    matrix = _numbers(_needed(given, key, "mahalanobis"), key)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]
    if not square or not nearly_equal(matrix, matrix.T):
        raise UsageError(f"metric_params: {key!r} of shape {matrix.shape}{', not symmetric' if square else ''}; allowed: a symmetric "
                         "matrix (d, d)")
    if np.abs(matrix).max(initial=0) < _LEAST_VARIANCE:
        raise UsageError(f"metric_params: {key!r} of numbers up to {np.abs(matrix).max(initial=0)}; allowed: from {_LEAST_VARIANCE}")
    try:
        inverse = matrix if key == "VI" else np.linalg.inv(matrix)
        if not np.isfinite(inverse).all():
            raise UsageError(f"metric_params: the inverse of {key!r} leaves the range of float64; allowed: a covariance that has one")
        return np.linalg.cholesky(inverse)
    except np.linalg.LinAlgError:
        raise UsageError(f"metric_params: {key!r} is not positive definite; allowed: a covariance, or its inverse") from None


def _power_distances(a: np.ndarray, b: np.ndarray, p: float, w: np.ndarray | None) -> np.ndarray:
    """Returns the Minkowski distances of all pairs of points, given by coordinate, added axis by axis. Pairs whose powers leave the
    range of float64 are scaled by their greatest difference; others are not, since scaling would round equal sums differently."""
    if w is not None and len(w) != len(a):
        raise InputError(f"metric_params: 'w' of {len(w)} columns; allowed: of the {len(a)} of X")
    total = np.zeros((a.shape[1], b.shape[1]))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for axis, (x, y) in enumerate(zip(a, b)):
            term = np.abs(x[:, None] - y) ** p
            total += term if w is None else w[axis] * term
        i, j = np.nonzero(~((total > 1e-290) & (total < 1e300)))
        distances = total ** (1 / p)
        if len(i):
            distances[i, j] = _scaled_power_distances(a[:, i], b[:, j], p, np.ones(len(a)) if w is None else w ** (1 / p))
    return distances


def _scaled_power_distances(a: np.ndarray, b: np.ndarray, p: float, factors: np.ndarray) -> np.ndarray:
    """Returns the Minkowski distances of pairs of points, (d, n) and (d, n) by coordinate, whose differences are multiplied by
    factors of the axes: the powers are of differences divided by the greatest of the pair, so that they neither vanish nor
    overflow."""
    axes = np.flatnonzero(factors)  # a difference beyond float64 on an axis of weight 0 counts nothing
    apart = np.abs(a[axes] - b[axes]) * factors[axes, None]
    greatest = apart.max(axis=0, initial=0)
    within = (greatest > 0) & np.isfinite(greatest)
    ratios = np.divide(apart, greatest, out=np.zeros_like(apart), where=within)
    total = np.zeros(len(greatest))
    for ratio in ratios:
        total += ratio ** p
    return np.where(within, greatest * total ** (1 / p), greatest)


def _canberra(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns the Canberra distances of all pairs: the sum of |x - y| / (|x| + |y|), 0 where both are 0."""
    total = np.zeros((a.shape[1], b.shape[1]))
    for x, y in zip(a, b):
        with np.errstate(over="ignore"):
            apart, size = np.abs(x[:, None] - y), np.abs(x)[:, None] + np.abs(y)
        i, j = np.nonzero(np.isinf(size))  # a quarter of these numbers has the same ratio, exactly
        apart[i, j], size[i, j] = np.abs(x[i] / 4 - y[j] / 4), np.abs(x[i] / 4) + np.abs(y[j] / 4)
        total += np.divide(apart, size, out=np.zeros_like(apart), where=size > 0)
    return total


def _braycurtis(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns the Bray-Curtis distances of all pairs: the sum of |x - y| by that of |x| + |y|, as scikit-learn (SciPy has |x + y|),
    0 for two rows of zeros."""
    apart, size = np.zeros((a.shape[1], b.shape[1])), np.zeros((a.shape[1], b.shape[1]))
    with np.errstate(over="ignore"):
        for x, y in zip(a, b):
            apart += np.abs(x[:, None] - y)
            size += np.abs(x)[:, None] + np.abs(y)
    i, j = np.nonzero(np.isinf(size))
    if len(i):  # a power of two below the number of axes scales their sums into range
        scale = 2.0 ** -(len(a).bit_length() + 2)
        x, y = a[:, i] * scale, b[:, j] * scale
        apart[i, j], size[i, j] = np.abs(x - y).sum(axis=0), (np.abs(x) + np.abs(y)).sum(axis=0)
    return np.divide(apart, size, out=np.zeros_like(apart), where=size > 0)


def _hamming(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns the Hamming distances of all pairs of points of any numbers: the share of the coordinates that differ."""
    differ = np.zeros((a.shape[1], b.shape[1]))
    for x, y in zip(a, b):
        differ += x[:, None] != y
    return differ / len(a)


def _bits(ratio: Callable[[np.ndarray, np.ndarray, np.ndarray, int], tuple[Any, Any]]) -> Callable[..., np.ndarray]:
    """Returns a metric of bits (coordinates that are not 0 are 1). `ratio` returns numerator and denominator from the numbers of
    bits that both points have, that one has, that neither has, and of all; 0 / 0 is 0."""

    def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        x, y = ((side != 0).astype(np.float64) for side in (a, b))  # counts are whole numbers, exact in any order of additions
        both = x.T @ y
        first = x.sum(axis=0)[:, None] - both
        second = y.sum(axis=0) - both
        top, bottom = ratio(both, first, second, len(a))
        bottom = np.broadcast_to(np.asarray(bottom, dtype=np.float64), both.shape)
        return np.divide(top, bottom, out=np.zeros_like(both), where=bottom > 0)

    return between


def _yule(tt: np.ndarray, tf: np.ndarray, ft: np.ndarray, n: int) -> tuple[Any, Any]:
    """Returns numerator and denominator of the Yule distance."""
    half = tf * ft
    return 2 * half, tt * (n - tt - tf - ft) + half


_PAIRS = {
    "hamming": _hamming,
    "jaccard": _bits(lambda tt, tf, ft, n: (tf + ft, tt + tf + ft)),
    "dice": _bits(lambda tt, tf, ft, n: (tf + ft, 2 * tt + tf + ft)),
    "rogerstanimoto": _bits(lambda tt, tf, ft, n: (2 * (tf + ft), n + tf + ft)),
    "russellrao": _bits(lambda tt, tf, ft, n: (n - tt, n)),
    "sokalmichener": _bits(lambda tt, tf, ft, n: (2 * (tf + ft), n + tf + ft)),
    "sokalsneath": _bits(lambda tt, tf, ft, n: (tf + ft, 0.5 * tt + tf + ft)),
    "yule": _bits(_yule),
    "braycurtis": _braycurtis,
    "canberra": _canberra,
}
"""Metrics by which all pairs are compared, with the distances of pairs of points given by coordinate."""

METRICS = (*SEARCHED, "minkowski", "p", "seuclidean", "mahalanobis", *_PAIRS, "precomputed")
"""Names of all metrics of the estimators."""


def _great_circle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns the angles between all pairs of places, given by latitude and longitude."""
    latitude, longitude = (np.sin((a[axis][:, None] - b[axis]) / 2) ** 2 for axis in (0, 1))
    return 2 * np.arcsin(np.sqrt(latitude + np.cos(a[0])[:, None] * np.cos(b[0]) * longitude))


def _half_chord(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns the cosine distances of all pairs: half the squared chord of the points divided by their lengths."""
    x, y = (side / np.sqrt((side**2).sum(axis=0)) for side in (a, b))
    return ((x[:, :, None] - y[:, None]) ** 2).sum(axis=0) / 2


_SEARCHED_DISTANCES = {
    "euclidean": lambda a, b: np.sqrt(((a[:, :, None] - b[:, None]) ** 2).sum(axis=0)),
    "manhattan": lambda a, b: np.abs(a[:, :, None] - b[:, None]).sum(axis=0),
    "chebyshev": lambda a, b: np.abs(a[:, :, None] - b[:, None]).max(axis=0),
    "great_circle": _great_circle,
    "cosine": _half_chord,
    "correlation": lambda a, b: _half_chord(a - a.mean(axis=0), b - b.mean(axis=0)),
    "hamming": lambda a, b: (a[:, :, None] != b[:, None]).mean(axis=0),
}
"""Distances of all pairs of a few points by the metrics that the library searches, for medoids."""


def of_bits(metric: Metric, rows: np.ndarray) -> Metric:
    """Returns the metric by which rows are searched: for Hamming distances of rows of 0 and 1 the library's, which needs no
    comparison of all pairs up to 16 columns."""
    if metric.between is _hamming and ((rows == 0) | (rows == 1)).all():
        return metric._replace(search="hamming", between=None)
    return metric
