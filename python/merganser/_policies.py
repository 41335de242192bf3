"""Merge policies: who merges with whom, how many, where the result goes, what is conserved."""
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Callable, Iterable

import numpy as np

from . import _core
from ._arrays import whole
from ._errors import InputError, UsageError, WrongTypeError


class MergePolicy:
    """Merge policy of a Clusterer: who looks for a partner, with whom, how many merge, where the result goes, what is conserved.

        MergePolicy("crowded:32->16, same:species, within:1cell, place:member, conserve:momentum+energy")
        MergePolicy(crowded="32->16", same=["species"], within="1cell", place="member")     # the same parts as keywords
        MergePolicy.from_file("policy.json")                                                # {"crowded": "32->16", ...}

    The parts are independent. A part that is not named has its default, and MergePolicy() is EPIC's policy. A part without a value
    is True as a keyword; values that are joined by plus signs may be lists, those of `phase` a dict of factors. With every policy
    the parcels after a step have the same bits on any number of ranks, and in any order of parcels.

    Who looks for a partner, one of:

    small, small:V         Parcels below cell volume / min_volume_ratio, or below volume V. Default. Known from EPIC, and from
                           chombo-discharge with a least weight.
    mask:COLUMN            Parcels whose column is not 0; Clusterer.step(small) fills it.
    crowded:32->16         In cells with more than 32 parcels the lightest, until no cell has more, never below 16 by their own.
                           Known from chombo-discharge, WarpX, PIConGPU, super-droplet models.
    crowded:32->16@2cell   The same in cells of another size: @LENGTH.

    With whom:

    phase:ux*0.1+uy*0.1    Nearest in position and up to 3 columns times a factor. Known from Smilei and WarpX, there by bins of
                           momentum.
    same:species+group     Only partners with equal integer columns, merged by "centre" or "largest". WarpX: one species a call.
    within:1cell           Only partners at most that far apart: LENGTH. Known from chombo-discharge, in cells.
    stars                  All whose nearest is the centre, cut to stars. Default. Known from EPIC.
    pairs                  Mutual nearest pairs. Known from chombo-discharge.
    greedy:K               Pairs by distance, each with K fall-backs, 0 to 15. Known from chombo-discharge.

    How many:

    members:8              A merged parcel holds at most 8 of the parcels before the step.
    weight:1e6             A merged parcel has at most that volume. Known from WarpX (target weight).
    rounds:100             At most that many rounds in a step (100).
    allowed                A function of the place (x, y, z) that tells whether a merged parcel may be there, as in an embedded
                           boundary. Known from chombo-discharge. Keyword only; needs `within`. It must be the same on every rank,
                           depend on the place alone, and not call merganser.

    Instead of looking and stars, one of:

    friends:0.2spacing     Friends of friends: everything connected by distances up to LENGTH is one group and becomes one parcel.
                           Known from enzo-e and from scikit-learn's DBSCAN with min_samples=1.
    level:1.5, level:1.5/8 Levelling thinning to 1.5 times the mean weight, in cells of at least 8 parcels. Known from WarpX.

    Where parcels split, after merging:

    none                   No parcel looks for a partner: nothing merges, for a step that only splits.
    split:8                In cells with fewer than 8 parcels, but one at least, the heaviest split until a cell has 8. Known from WarpX,
                           chombo-discharge, super-droplet models.
    along:random           random: both children at a random distance. Default. velocity: along the momentum. axis: along the
                           longest axis of the ellipsoid, as in EPIC.
    ids:N                  Ids of new parcels start at N (2^62).

    Where the result goes, what is conserved:

    place:member           centroid: mean by weight. Default. Known from EPIC and WarpX. member: place of one member, drawn with
                           probability proportional to weight. Known from chombo-discharge. heaviest; centre.
    conserve:momentum      Columns of momentum merge by their mean; the kinetic energy lost is reported.
    conserve:momentum+energy   Two parcels remain of N, with momentum and kinetic energy. Known from WarpX (velocity coincidence
                           thinning).
    momentum:ux+uy+uz      Columns of the momentum per unit of weight (those of an attribute `momentum`, else ux, uy, uz).
    mass:COLUMN            Column of the rest mass, equal between partners (1).
    relativistic:C         Speed of light in units of momentum / mass (not relativistic).
    seed:7                 Seed of the random numbers (0).

    A LENGTH is a number in units of the box, or has behind it `cell` (shortest edge of a grid cell) or `spacing` (cube root of the
    volume of the box over the number of parcels before the step). docs/merge-policies.md has the rules and costs.

    Parameters
    ----------
    text
        Parts separated by commas, as str() gives them.
    allowed
        Predicate on the place of a merged parcel; None: everywhere. If it raises, no further place of this rank is allowed in that
        step, and Clusterer.step() raises the exception on this rank after the step, which ends well on the others.
    step
        Number of the next step in the key of the random numbers; Clusterer.policy_step after the last one of an earlier run.
    **parts
        Parts as keywords, beside those of the text; None and False: not given.

    Raises
    ------
    UsageError
        For a part that is unknown, given twice, out of range or excluded by another.
    """

    __slots__ = ("_allowed", "_core", "_parts", "_step")

    def __init__(self, text: str = "", *, allowed: Callable[[tuple[float, float, float]], bool] | None = None, step: int = 0,
                 **parts: Any):
        if not isinstance(text, str):
            raise WrongTypeError(f"policy: a {type(text).__name__}; allowed: text")
        self._assign((*_split(text), *_to_parts(parts, "policy")), allowed, step)

    def _assign(self, parts: tuple[tuple[str, str], ...], allowed: Any, step: Any) -> None:
        """Sets parts (name, value), the values texts, predicate and number of the step. Raises UsageError for an invalid policy."""
        if allowed is not None and not callable(allowed):
            raise WrongTypeError(f"policy: allowed: a {type(allowed).__name__}; allowed: a function of a place, or None")
        self._allowed = allowed
        self._step = whole(step, "policy: step", 0, 2**63 - 1)
        self._parts = parts
        self._core = _core.PolicyFound(list(self._parts), allowed is not None, self._step)

    @classmethod
    def from_json(cls, text: str, name: str = "policy", *, allowed: Any = None, step: int = 0) -> MergePolicy:
        """Returns the merge policy of a JSON object with a member for each part, as `merganser cluster --policy @FILE` reads it.

        Values are text, a number, a list for values that are joined by plus signs, or true for a part without a value; null and
        false: the part is not given. `name` begins the messages of errors. Raises InputError for other JSON.
        """
        try:
            found = json.loads(text, object_pairs_hook=lambda pairs: _Members(pairs))
        except ValueError as error:
            raise InputError(f"{name}: no JSON: {error}") from None
        if not isinstance(found, _Members):
            raise InputError(f'{name}: no JSON object; allowed: {{"PART": VALUE, ...}}')
        return cls._of(_to_parts(found.pairs, name, InputError), allowed, step)

    @classmethod
    def from_file(cls, path: str | os.PathLike, *, allowed: Any = None, step: int = 0) -> MergePolicy:
        """Returns the merge policy of a JSON file: see from_json(); or, if its name ends in .toml, of a TOML file with a key for
        each part, which needs Python 3.11. Raises OSError for a file that cannot be read."""
        text = Path(path).read_text(encoding="utf-8")
        if Path(path).suffix != ".toml":
            return cls.from_json(text, str(path), allowed=allowed, step=step)
        return cls._of(_to_parts(_read_toml(text, str(path)), str(path), InputError), allowed, step)

    @classmethod
    def _of(cls, parts: Any, allowed: Any = None, step: int = 0) -> MergePolicy:
        """Returns a merge policy of parts (name, value), the values texts."""
        self = cls.__new__(cls)
        self._assign(tuple(parts), allowed, step)
        return self

    @property
    def allowed(self) -> Callable[[tuple[float, float, float]], bool] | None:
        """Predicate on the place of a merged parcel, None for none. Read only, as all of a policy: make another one instead."""
        return self._allowed

    @property
    def step(self) -> int:
        """Number of the next step in the key of the random numbers. Read only."""
        return self._step

    @property
    def mask(self) -> str:
        """Column of the part `mask`, by whose values Clusterer.step() takes lookers; empty without that part."""
        return self._core.mask

    def __str__(self) -> str:
        return self._core.text

    def __repr__(self) -> str:
        more = "" if self.allowed is None else f", allowed={self.allowed!r}"
        more += f", step={self.step}" if self.step else ""
        return f"MergePolicy({str(self)!r}{more})"

    def __eq__(self, other: Any) -> bool:
        """Returns whether two policies say the same: equal text, number of the step, and predicate."""
        if not isinstance(other, MergePolicy):
            return NotImplemented
        return (str(self), self.step, self.allowed) == (str(other), other.step, other.allowed)

    def __hash__(self) -> int:
        return hash((str(self), self.step))

    def __reduce__(self) -> Any:
        return (MergePolicy._of, (self._parts, self.allowed, self.step))


def _read_toml(text: str, name: str) -> dict[str, Any]:
    """Returns the keys and values of a policy in TOML. Raises InputError for a text that is no TOML, and tables; UsageError without
    a reader of TOML. `name` begins the messages of errors."""
    try:
        import tomllib
    except ModuleNotFoundError:
        raise UsageError(f"{name}: TOML is read from Python 3.11 on; allowed: JSON") from None
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: no TOML: {error}") from None
    for part, value in found.items():
        if isinstance(value, dict):
            raise InputError(f"{name}: '{part}' is a table; allowed: text, a number, true, or a list of texts")
    return found


class _Members:
    """Members of a JSON object in their order, names that repeat included, which a dict would drop."""

    def __init__(self, pairs: list[tuple[str, Any]]):
        self.pairs = pairs


def to_policy(policy: Any) -> MergePolicy:
    """Returns the merge policy of an argument `policy`: a MergePolicy, its text, or None for the default."""
    if isinstance(policy, MergePolicy):
        return policy
    if policy is None or isinstance(policy, str):
        return MergePolicy(policy or "")
    raise WrongTypeError(f"policy: a {type(policy).__name__}; allowed: a merganser.MergePolicy, or its text")


def _split(text: str) -> list[tuple[str, str]]:
    """Splits the text of a policy into parts (name, value), without judging them. Raises UsageError for an empty part or value."""
    if not text.strip():
        return []
    parts = []
    for piece in text.split(","):
        name, colon, value = (s.strip() for s in piece.partition(":"))
        if not name and not colon:
            raise UsageError(f"policy: '{text}' has an empty part; allowed: NAME or NAME:VALUE")
        if colon and not value:
            raise UsageError(f"policy: '{piece.strip()}'; allowed: a value behind the colon")
        parts.append((name, value))
    return parts


def _to_parts(given: Any, where: str, error: type[Exception] = UsageError) -> list[tuple[str, str]]:
    """Converts the values of parts, from keywords or JSON, to texts: (name, value). `where` begins messages of errors."""
    parts = []
    for name, value in given.items() if isinstance(given, dict) else given:
        if value is None or value is False:
            continue
        at = f"{where}: '{name}'"
        if value is True:
            parts.append((name, ""))
            continue
        if isinstance(value, dict):
            _refuse_plus((column for column in map(str, value) if "+" in column), at, error)
            text = "+".join(f"{column}*{_value_text(factor, at, error)}" for column, factor in value.items())
        elif isinstance(value, (list, tuple)):
            items = [_value_text(item, at, error) for item in value]
            _refuse_plus((item for item in items if "+" in item and "*" not in item), at, error)
            text = "+".join(items)
        else:
            text = _value_text(value, at, error)
            if not text.strip():
                raise error(f"{at} is an empty text; allowed: True, or a value")
        parts.append((name, text))
    return parts


def _refuse_plus(columns: Iterable[str], where: str, error: type[Exception]) -> None:
    """Raises an error for the first of `columns`, which have a plus sign and would be read as two columns."""
    for column in columns:
        raise error(f"{where} has the item {json.dumps(column)}; allowed: one column an item, without a plus sign")


def _value_text(value: Any, where: str, error: type[Exception]) -> str:
    """Returns a text or number as the text of a policy's value. Raises an error for another value."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return repr(value.item() if isinstance(value, np.generic) else value)
    shown = json.dumps(value, default=repr) if not isinstance(value, _Members) else "an object"
    raise error(f"{where} is {shown}; allowed: text, a number, true, or a list of texts")
