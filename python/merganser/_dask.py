"""Clustering of dask arrays on the workers that hold their blocks, if the workers are ranks of one MPI job (dask-mpi).

Every worker searches with its own blocks; only the tree (24 bytes per point) is gathered, not the points. Workers that are
not ranks of one MPI job cannot communicate within a task: that is an error, and no rows are copied implicitly.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import rows as rows_of
from ._errors import UsageError
from ._pairs import raise_on_all


def is_dask(X: Any) -> bool:
    """Returns True if the data X of an estimator are an array or data frame of dask."""
    return hasattr(X, "__dask_graph__") and (hasattr(X, "chunks") or hasattr(X, "to_dask_array"))


def dask_client(X: Any) -> Any:
    """Returns the client of the distributed cluster that would compute X; None if dask computes in this process."""
    try:
        from distributed import default_client
    except ImportError:
        return None
    try:
        return default_client()
    except ValueError:
        return None


def fit_on_workers(estimator: Any, X: Any, client: Any) -> tuple[Any, Any]:
    """Fits an estimator on the workers that hold X. Returns labels and probabilities as dask arrays with the chunks of X.

    The calling process holds no rows. Raises UsageError unless all workers are ranks of one MPI job.
    """
    import dask.array as da

    X = X.to_dask_array(lengths=True) if hasattr(X, "to_dask_array") else X
    if X.ndim != 2:
        raise UsageError(f"X: an array of dask with {X.ndim} dimensions; allowed: 2")
    X = X.rechunk({1: -1}).persist()
    if any(np.isnan(size) for size in X.chunks[0]):
        X = X.compute_chunk_sizes()
    shares = _shares(X, client)
    params = {name: value for name, value in estimator.get_params().items() if name not in ("comm", "ranks")}
    ranks = sorted(share.rank for share in shares)
    tasks = [
        client.submit(_fit_share, type(estimator), params, ranks, share.offsets, *share.blocks, workers=[share.worker],
                      pure=False, retries=0)
        for share in shares
    ]
    place = {block: (task, i) for share, task in zip(shares, tasks) for i, block in enumerate(share.numbers)}
    found = []
    for which, dtype in ((0, np.int64), (1, np.float64)):
        parts = []
        for block, size in enumerate(X.chunks[0]):
            task, i = place[block]
            part = client.submit(_select_block, task, which, i, pure=False)
            parts.append(da.from_delayed(part, shape=(size,), dtype=dtype))
        found.append(da.concatenate(parts))
    client.gather([client.submit(_completed, task, pure=False) for task in tasks])  # errors of workers are raised here
    return found[0], found[1]


class _Share:
    """Blocks of a dask array X that one worker, a rank of MPI, fits: their numbers, futures, and first rows."""

    def __init__(self, worker: str, rank: int):
        self.worker, self.rank = worker, rank  # dask's address of the worker, its rank in MPI_COMM_WORLD
        self.numbers: list[int] = []
        """Number of each block in X."""
        self.blocks: list[Any] = []
        """Future of each block."""
        self.offsets: list[int] = []
        """Number of the first row of each block in X."""


def _shares(X: Any, client: Any) -> list[_Share]:
    """Assigns every block of a dask array to a worker that holds it, or to the one with fewest. Raises UsageError if the workers
    are not ranks of one MPI job."""
    from distributed import futures_of, wait

    wait(X)
    for future in futures_of(X):
        if future.status == "error":
            future.result()  # raises it: the task of its worker would not run, and the others would wait for that one for ever
    ranks = client.run(_rank)
    sizes = {size for _, size in ranks.values()}
    numbers = [rank for rank, _ in ranks.values()]
    if None in numbers or len(sizes) != 1 or len(set(numbers)) != len(numbers):
        raise UsageError(
            f"X: an array of dask on {len(ranks)} workers that are no ranks of one MPI; allowed: workers that dask-mpi has "
            "started, or X.compute(), which copies all rows to this process"
        )
    shares = {worker: _Share(worker, rank) for worker, (rank, _) in ranks.items()}
    future_of = {future.key: future for future in futures_of(X)}
    holders = client.who_has(list(future_of.values()))
    offsets = np.concatenate([[0], np.cumsum(X.chunks[0])])
    for block, (key,) in enumerate(X.__dask_keys__()):
        held = [worker for worker in holders.get(key, ()) if worker in shares]
        share = shares[held[0]] if held else min(shares.values(), key=lambda s: len(s.blocks))
        share.numbers.append(block)
        share.blocks.append(future_of[key])
        share.offsets.append(int(offsets[block]))
    return list(shares.values())


def _rank() -> tuple[int | None, int]:
    """Returns the rank of this dask worker in MPI_COMM_WORLD and the number of ranks; (None, 0) if it was started alone."""
    import sys

    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not mpi.Is_initialized() or mpi.COMM_WORLD.size == 1:
        return None, 0
    return mpi.COMM_WORLD.rank, mpi.COMM_WORLD.size


def _fit_share(kind: type, params: dict[str, Any], ranks: list[int], offsets: list[int], *blocks: Any) -> tuple[Any, Any]:
    """Fits an estimator on this dask worker to its blocks of X. Collective over the workers that are `ranks` of MPI_COMM_WORLD.

    Returns labels and probabilities, each a list by block. `offsets` are the numbers of the blocks' first rows in X.
    """
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    group = world.Get_group().Incl(ranks)
    comm = world.Create_group(group)
    try:
        arrays = _agreed(comm, lambda: [rows_of(block, "X") for block in blocks])
        columns = comm.allreduce(arrays[0].shape[1] if arrays else 0, op=MPI.MAX)
        rows, ids = _agreed(comm, lambda: _joined(arrays, columns, offsets))
        sizes = [len(array) for array in arrays]
        estimator = kind(**params, comm=comm)
        estimator._ids = ids
        estimator.fit(rows)
        cuts = np.cumsum(sizes)[:-1]
        probabilities = getattr(estimator, "probabilities_", np.ones(len(rows)))
        return np.split(estimator.labels_, cuts), np.split(probabilities, cuts)
    finally:
        comm.Free()
        group.Free()


def _agreed(comm: Any, work: Callable[[], Any]) -> Any:
    """Returns work() of this worker. Collective over comm: if it raises on any worker, every worker raises, that one its own error
    and the others an InputError with its text, since they would wait for it for ever."""
    found, failure = None, None
    try:
        found = work()
    except Exception as error:  # of any kind: raise_on_all() raises it again
        failure = error
    raise_on_all(comm, failure)
    return found


def _joined(arrays: list[np.ndarray], columns: int, offsets: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the rows of all blocks of this worker, (rows, columns), and their numbers in X. `offsets` are those of the blocks' first
    rows."""
    rows = arrays[0] if len(arrays) == 1 else np.concatenate([np.empty((0, columns)), *arrays])
    ids = [np.arange(o, o + len(array)) for o, array in zip(offsets, arrays)]
    return rows, np.concatenate([*ids, np.empty(0, dtype=np.int64)]).astype(np.uint64)


def _select_block(found: tuple[Any, Any], which: int, place: int) -> np.ndarray:
    """Returns, on a dask worker, one block of a result of _fit_share(): of labels (`which` 0) or of probabilities (1)."""
    return found[which][place]


def _completed(found: tuple[Any, Any]) -> bool:
    """Returns True once a dask worker has fitted its share: waiting for this small result raises the worker's errors."""
    return True
