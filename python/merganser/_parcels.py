"""Parcels: their container, merge steps (Clusterer), and stars among points in arrays of the caller's."""
from __future__ import annotations

from typing import Any, Iterable, Mapping, NamedTuple

import numpy as np

from . import _core
from ._arrays import to_array, parse_box, line, mask, number, plain_array, reals, rows, whole
from ._errors import InputError, UsageError, WrongTypeError
from ._pickles import reduce_parcels
from ._policies import MergePolicy, to_policy
from ._schema import Schema
from ._team import open_team

_SITE = ("x", "y", "z", "volume")
"""Columns of parcels besides the id and the attributes of the schema."""


class Parcels:
    """Container of this process's parcels, in the library's memory; columns are copied to and from NumPy arrays.

        parcels = Parcels(Schema.epic(), n)
        parcels["position"] = points            # (n, 3); also "x", "y", "z", "volume", "id", and every attribute
        parcels["buoyancy"] += 0.1

    New parcels have volume 1, ids 0, 1, ..., and 0 in all other columns.
    """

    def __init__(self, schema: Schema | None = None, n: int = 0):
        self._schema = Schema.epic() if schema is None else schema
        if not isinstance(self._schema, Schema):
            raise WrongTypeError(f"schema: a {type(schema).__name__}; allowed: a merganser.Schema")
        for name in ("id", "position", *_SITE):
            if name in self._schema.attributes:
                raise UsageError(f"schema: an attribute {name!r}; allowed: other names than those of the columns of all parcels")
        self._core = _core.parcels(self._schema._core, whole(n, "n", 0, 2**31 - 1))

    @classmethod
    def _of(cls, core: _core.ParcelsFound) -> Parcels:
        """Wraps a container of parcels of the extension."""
        self = cls.__new__(cls)
        self._core = core
        self._schema = Schema.__new__(Schema)
        self._schema._core = core.schema
        return self

    @property
    def schema(self) -> Schema:
        """Schema of these parcels: their attributes and merge rules."""
        return self._schema

    __reduce__ = reduce_parcels

    def __len__(self) -> int:
        return len(self._core)

    def _components(self, name: str) -> list[tuple[str, int]]:
        """Returns the columns of the extension's container, as (name, component), that a column of this class consists of."""
        if not isinstance(name, str):
            raise WrongTypeError(f"parcels: a {type(name).__name__} for a column; allowed: a name")
        if name == "position":
            return [("x", 0), ("y", 0), ("z", 0)]
        known = self._schema.attributes
        return [(name, c) for c in range(known[name][1])] if name in known else [(name, 0)]

    def __getitem__(self, name: str) -> np.ndarray:
        """Returns a copy of a column of this process's parcels: (n,), or (n, c) for an attribute of c components."""
        if name == "id":
            return self._core.ids()
        parts = self._components(name)
        if len(parts) == 1:
            return self._core.get(*parts[0])
        return np.stack([self._core.get(*part) for part in parts], axis=1)

    def __setitem__(self, name: str, values: Any) -> None:
        """Sets a column of this process's parcels from an array, (n,) or (n, c), or from one number for all. Raises InputError for
        other shapes."""
        n = len(self)
        if name == "id":
            self._core.set_ids(line(values, "id", np.int64, n))
            return
        parts = self._components(name)
        if np.ndim(values) == 0:
            values = np.full((n, len(parts)) if len(parts) > 1 else n, number(values, name))
        if len(parts) == 1:
            self._core.set(*parts[0], line(values, name, np.float64, n))
            return
        array = to_array(values, name)
        if array.shape != (n, len(parts)):
            raise InputError(f"{name}: an array of shape {array.shape}; allowed: ({n}, {len(parts)})")
        for column, part in enumerate(parts):
            self._core.set(*part, line(array[:, column], name, np.float64, n))

    def resize(self, n: int) -> None:
        """Sets the number of this process's parcels: removes the last ones, or appends new ones with ids above all others here."""
        self._core.resize(whole(n, "n", 0, 2**31 - 1))

    @property
    def digest(self) -> str:
        """Digest of these parcels: 32 hexadecimal digits of an order-independent hash of ids and all values, bit by bit."""
        return self._core.digest()

    def to_dict(self) -> dict[str, np.ndarray]:
        """Returns copies of all columns of this process's parcels by name, for pandas and xarray."""
        names = ["id", *_SITE, *self._schema.attributes]
        return {name: self[name] for name in names}

    def to_pandas(self) -> Any:
        """Returns a copy of this process's parcels as a pandas.DataFrame, a row for each.

        The columns are `id`, x, y, z, volume, and every component of the attributes by its name in files.

        `attrs["units"]` and `attrs["rules"]` have units and merge rules by column. Raises InputError without the package pandas.
        """
        from ._frames import to_pandas

        return to_pandas(self)

    def to_xarray(self) -> Any:
        """Returns a copy of this process's parcels as an xarray.Dataset over the dimension `parcel`, with coordinates id, x, y, z.

        An attribute of several components has a second dimension, `NAME_component`. Each variable has `units` and `merge_rule` in
        its attributes. Raises InputError without the package xarray.
        """
        from ._frames import to_xarray

        return to_xarray(self)

    def to_parquet(self, path: Any) -> None:
        """Writes this process's parcels as a file of Parquet, with the columns of to_pandas(), whole or not at all.

        Units and merge rules are metadata of the fields. Raises InputError without the package pyarrow, or if it cannot be written.
        """
        from ._frames import to_parquet

        to_parquet(self, path)

    def __repr__(self) -> str:
        return f"<merganser.Parcels: {len(self)}, {self._schema!r}>"


class Clusterer:
    """Merge steps on a container of parcels: every small parcel merges with its nearest, whole stars at once.

        clusterer = Clusterer(parcels, (64, 64, 64), box=(0, 1), periodic=[True, True, False])
        report = clusterer.step()               # a record: before, small, merged, after, seconds, ...
        Clusterer(parcels, 64, box=(0, 1), policy="crowded:32->16, place:member").step()["policy"]["rounds"]

    `policy`, a MergePolicy or its text, says who merges with whom; None is the rule below, EPIC's.

    A parcel is small if its volume is below cell volume / min_volume_ratio (None: 40, the default for files without it; of a
    file: `record["min_volume_ratio"]`). With `comm` the parcels are this rank's; they are sent to the ranks that own their
    positions by the constructor and, to neighbours, before each step. The resulting parcels do not depend on the number of
    ranks. The constructor is collective; step() communicates with neighbours only. After parcels have moved farther than to
    neighbouring blocks, call distribute().
    """

    def __init__(self, parcels: Parcels, cells: Iterable[int], *, box: Any, periodic: Any = False,
                 min_volume_ratio: float | None = None, policy: MergePolicy | str | None = None, comm: Any = None,
                 shape: str = "auto", model: str = "auto"):
        if not isinstance(parcels, Parcels):
            raise WrongTypeError(f"parcels: a {type(parcels).__name__}; allowed: merganser.Parcels")
        self.parcels = parcels
        if not isinstance(shape, str):
            raise WrongTypeError(f"shape: a {type(shape).__name__}; allowed: a text")
        lower, extent, flags = parse_box(_given(box), periodic, 3)
        ratio = number(40 if min_volume_ratio is None else min_volume_ratio, "min_volume_ratio")
        if not ratio > 0:
            raise UsageError(f"min_volume_ratio: {ratio}; allowed: above 0")
        self.policy: MergePolicy = to_policy(policy)
        """Merge policy of the steps."""
        self._core = _core.clusterer(open_team(comm, 1, model), parcels._core, lower, extent, flags, _checked_cells(cells),
                                     ratio, shape, self.policy._core, self.policy.allowed)

    def step(self, small: Any = None) -> dict[str, Any]:
        """Makes one merge step. Called by every rank.

        `small`, only with a policy of the part mask:COLUMN, has a bool for each of this rank's parcels in their present order: True
        for those that look for a partner. It is written to that column; None leaves what is there.

        Returns counts and times of this rank by name; `clusters` counts stars by their number of members, `policy` has what a
        policy adds: rounds, settled (whether they sufficed), answers, refused, winding, undone, split, and sums of weight, energy and
        momentum before and after.

        An invalid value (a volume, a shape, a column of the policy) is an InputError before anything has changed: on every rank where
        steps have collectives (`friends`, `within` in spacings), else on the rank that holds it alone, while its neighbours wait
        for that rank: end the job, or check values before the step.
        """
        if small is not None:
            if not self.policy.mask:
                raise UsageError(f"small: given with policy {str(self.policy)!r}; allowed: with a policy of the part mask:COLUMN")
            self.parcels[self.policy.mask] = mask(small, "small", len(self.parcels)).astype(np.float64)
        return self._core.step()

    @property
    def policy_step(self) -> int:
        """Number of the next step in the key of the policy's random numbers, for `step` of the MergePolicy of a later run."""
        return self._core.policy_step

    def distribute(self) -> None:
        """Sends every parcel to the rank that owns its position, however far it has moved. Collective."""
        self._core.distribute()


def _given(box: Any) -> Any:
    """Returns the box of a grid. Raises UsageError for None, which would be the unit cube."""
    if box is None:
        raise UsageError("box: None; allowed: (lower, upper), each a number or 3 numbers")
    return box


def _checked_cells(cells: Any) -> list[int]:
    """Returns the numbers of cells of a grid of parcels along three axes, from a number or one per axis. Raises UsageError."""
    given = [cells] * 3 if np.ndim(cells) == 0 else list(cells)
    if len(given) != 3:
        raise UsageError(f"cells: {cells!r}; allowed: a number, or one for each of 3 axes")
    return [whole(c, "cells", 1, 2**20) for c in given]


def random_parcels(cells: Any, *, box: Any, per_cell: int = 20, small_fraction: float = 0.5, min_volume_ratio: float = 20,
                   seed: int = 42, rank: int = 0, ranks: int = 1) -> Parcels:
    """Generates random parcels with EPIC's attributes in the block of `rank` of `ranks`. Local.

    The union over all ranks does not depend on their number.

    Parameters
    ----------
    cells
        Cells of the grid, a number or one per axis.
    box
        (lower, upper), each a number or one per axis.
    per_cell
        Parcels per cell.
    small_fraction
        Fraction of small parcels, 0 to 1.
    min_volume_ratio
        Cell volume / smallest volume that is not small.
    seed
        Seed of the random numbers.
    rank, ranks
        Block that is generated, and number of blocks.

    Returns
    -------
    Parcels
        Parcels of the block.
    """
    lower, extent, _ = parse_box(_given(box), False, 3)
    ranks = whole(ranks, "ranks", 1)
    return Parcels._of(_core.random_parcels(lower, extent, _checked_cells(cells), whole(per_cell, "per_cell", 1),
                                            number(small_fraction, "small_fraction"),
                                            number(min_volume_ratio, "min_volume_ratio"), whole(seed, "seed", 0, 2**63 - 1),
                                            whole(rank, "rank", 0, ranks - 1), ranks))


class Merged(NamedTuple):
    """Result of Stars.merge(): the m points of this rank that stay after its stars have merged."""

    points: np.ndarray
    """Coordinates of the points that stay, (m, d)."""
    volume: np.ndarray
    """Volumes of the points that stay, (m,); of a centre the sum over its star."""
    attributes: dict[str, np.ndarray]
    """Merged attributes of the points that stay, by name, (m,) or (m, c)."""
    kept: np.ndarray
    """Positions of these points in the arrays that were passed to stars()."""


class Stars:
    """Stars among points: the centre that each point merges into. Positions are indices of the arrays that a rank passed."""

    def __init__(self, core: Any, points: np.ndarray, comm: bool):
        self._core, self._points = core, points
        self.centre: np.ndarray = core.centre
        """Position of the centre of each point, in the arrays of the centre's rank; its own for a point that stays."""
        self.rank: np.ndarray | None = core.rank if comm else None
        """Rank of the centre of each point; None without a communicator."""
        self.sends: np.ndarray = core.sends
        """Positions of points whose centre is on another rank, in the order in which migrate() sends their rows."""
        self.receives: np.ndarray = core.receives
        """Position of the centre, on this rank, of each row that migrate() receives."""
        self.ids: np.ndarray = core.ids
        """Id of each point of this rank, by which ties between equal distances are broken."""

    def migrate(self, array: Any) -> np.ndarray:
        """Sends the row of each point in `sends` to the rank of its centre. Collective.

        Parameters
        ----------
        array
            One row per point of this rank; the dtype and the shape of rows must be the same on every rank.

        Returns
        -------
        ndarray
            One row for each of `receives`, in that order.
        """
        array = np.ascontiguousarray(plain_array(array, "migrate"))
        if array.ndim == 0 or len(array) != len(self.centre) or array.dtype.hasobject:
            raise InputError(f"migrate: an array of shape {array.shape} and {array.dtype}; allowed: a row of numbers for "
                             f"each of {len(self.centre)} points")
        width = int(np.prod(array.shape[1:], dtype=np.int64)) * array.itemsize
        raw = np.frombuffer(array.tobytes(), np.uint8) if array.size == 0 else array.reshape(-1).view(np.uint8)
        came = self._core.migrate(raw.reshape(len(array), width))
        return came.reshape(-1).view(array.dtype).reshape(len(self.receives), *array.shape[1:])

    def merge(self, volume: Any, attributes: dict[str, Any] | None = None, schema: Schema | None = None) -> Merged:
        """Merges the stars of this rank's points. Collective.

        Parameters
        ----------
        volume
            Volumes of this rank's points, (n,), 1e-120 to 1e120.
        attributes
            Attributes of this rank's points by name, (n,) or (n, c).
        schema
            Merge rule of each attribute; None: means weighted by volume.

        Returns
        -------
        Merged
            Points that stay, with merged volumes and attributes.

        Raises
        ------
        InputError
            For arrays of other shapes than the schema's, and volumes out of range.
        """
        n, d = self._points.shape
        if attributes is not None and not isinstance(attributes, Mapping):
            raise WrongTypeError(f"attributes: a {type(attributes).__name__}; allowed: a dict of arrays by name")
        if schema is not None and not isinstance(schema, Schema):
            raise WrongTypeError(f"schema: a {type(schema).__name__}; allowed: a merganser.Schema")
        columns = {name: reals(values, name) for name, values in (attributes or {}).items()}
        widths = {name: 1 if c.ndim == 1 else c.shape[-1] for name, c in columns.items()}
        if schema is None:
            schema = Schema({name: ("mean", width) for name, width in widths.items()})
        wanted = {name: components for name, (_, components) in schema.attributes.items()}
        if wanted != widths or any(c.ndim not in (1, 2) or len(c) != n for c in columns.values()):
            shapes = {name: c.shape for name, c in columns.items()}
            raise InputError(f"attributes: arrays of shapes {shapes}; allowed: those of {schema!r}, each with {n} rows")
        volume = line(volume, "volume", np.float64, n)
        bad = np.flatnonzero(~((volume >= 1e-120) & (volume <= 1e120)))
        if len(bad):
            raise InputError(f"volume: row {bad[0]}: {volume[bad[0]]}; allowed: 1e-120 to 1e120")
        table = np.zeros((n, 5 + sum(wanted.values())))
        table[:, :d], table[:, 3], table[:, 4] = self._points, volume, self.ids.view(np.float64)
        at = 5
        for name, width in wanted.items():
            table[:, at:at + width] = columns[name].reshape(n, width)
            at += width
        out, kept = self._core.merge(schema._core, table, self.migrate(table))
        found, at = {}, 5
        for name, width in wanted.items():
            found[name] = out[:, at:at + width].reshape(len(out), *columns[name].shape[1:]).copy()
            at += width
        return Merged(out[:, :d].copy(), out[:, 3].copy(), found, kept)

    def __repr__(self) -> str:
        return f"<merganser.Stars: {len(self.centre)} points, {np.count_nonzero(self._leaves())} of them merge>"

    def _leaves(self) -> np.ndarray:
        """Returns a mask of this rank's points, True for those that merge into a centre."""
        elsewhere = np.zeros(len(self.centre), bool)
        elsewhere[self.sends] = True
        return elsewhere | (self.centre != np.arange(len(self.centre)))


def stars(points: Any, small: Any, *, ids: Any = None, box: Any = None, periodic: Any = False, block: Any = None,
          comm: Any = None, ranks: int = 1, model: str = "auto") -> Stars:
    """Computes stars among points: links every small point to its nearest other point, and prunes the links until no centre merges
    itself.

    Collective with `comm`. The stars depend neither on the number of ranks nor on the order of the points.

    Parameters
    ----------
    points
        (n, 2) or (n, 3); float64 in C order is read in place. With `comm` this rank's share, at any positions.
    small
        One bool per point: True for points that merge with their nearest, which may be small or not.
    ids
        One integer per point, distinct over all ranks, which break ties between equal distances. None: consecutive, in the order of
        the ranks.
    box
        (lower, upper), required if an axis is periodic; points outside of it are wrapped on periodic axes, and an error on others.
        None: the bounding box.
    periodic
        True, False or one per axis.
    block
        (lower, upper) of this rank's part of the box, if it contains all of the rank's points: then ranks communicate with
        neighbours only, and no point is sent. Needs comm and box.
    comm
        Communicator of mpi4py; None: this process.
    ranks
        Number of ranks that are threads of this process, without `comm`.
    model
        Communication model; "auto" measures the models.

    Returns
    -------
    Stars
        Centre of each point of this rank.

    Raises
    ------
    InputError
        For points that are not finite or outside of the box, and for equal ids.
    """
    array = rows(points, "points")
    n, d = array.shape
    if d not in (2, 3):
        raise InputError(f"points: {d} coordinates each; allowed: 2 or 3")
    given = None if box is None else parse_box(box, periodic, d)
    if box is None:
        parse_box(None, periodic, d)
    corners = None
    if block is not None:
        if comm is None or box is None:
            raise UsageError("block: given without comm or box; allowed: with both")
        lower, extent, _ = parse_box(block, False, d)
        floor = [0.0] * (3 - d)
        corners = [lower + floor, [a + e for a, e in zip(lower, extent)] + [1.0] * (3 - d)]
    numbers = None if ids is None else line(ids, "ids", np.int64, n)
    core = _core.stars(open_team(comm, ranks, model), array, mask(small, "small", n), numbers, given, corners)
    return Stars(core, array, comm is not None)
