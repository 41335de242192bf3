"""Arrays of dask: in this process, on workers that are no ranks of one MPI, and on those that dask-mpi has started."""
import subprocess
import sys

import numpy as np
import pytest
from merganser import HDBSCAN
from patience import PATIENCE

da = pytest.importorskip("dask.array", reason="needs dask")

random = np.random.default_rng(5)
BLOBS = np.concatenate([random.normal(c, 0.1, (60, 2)) for c in ((0, 0), (3, 0), (0, 3))])


def test_without_a_cluster_the_array_is_computed_in_this_process():
    found = HDBSCAN(min_cluster_size=10).fit(da.from_array(BLOBS, chunks=(50, 1)))
    assert np.array_equal(found.labels_, HDBSCAN(min_cluster_size=10).fit(BLOBS).labels_)


def test_workers_that_cannot_talk_to_each_other_are_refused_in_words():
    distributed = pytest.importorskip("distributed", reason="needs distributed")
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None):
        with pytest.raises(ValueError, match=r"no ranks of one MPI; allowed: .*dask-mpi.*X\.compute\(\)"):
            HDBSCAN(min_cluster_size=10).fit(da.from_array(BLOBS, chunks=(50, 2)))


PROGRAM = """
import dask_mpi
dask_mpi.initialize(nthreads=1, dashboard=False, exit=True)
import importlib.util
import dask.array as da, distributed, numpy as np
from merganser import HDBSCAN, SingleLinkage
random = np.random.default_rng(5)
blobs = np.concatenate([random.normal(c, 0.1, (60, 2)) for c in ((0, 0), (3, 0), (0, 3))])
with distributed.Client() as client:
    client.wait_for_workers(2)
    x = da.from_array(blobs, chunks=(25, 2)).persist()
    distributed.wait(x)
    places = client.who_has(x)
    found = HDBSCAN(min_cluster_size=10).fit(x)
    alone = HDBSCAN(min_cluster_size=10).fit(blobs)
    assert found.labels_.chunks[0] == x.chunks[0]
    assert np.array_equal(found.labels_.compute(), alone.labels_)
    assert np.array_equal(found.probabilities_.compute(), alone.probabilities_)
    if importlib.util.find_spec("pyarrow"):  # or dask has no data frames
        frame = x.to_dask_dataframe(columns=["x", "y"])
        assert np.array_equal(HDBSCAN(min_cluster_size=10).fit(frame).labels_.compute(), alone.labels_)
    single = SingleLinkage(3).fit(x)
    assert np.array_equal(single.labels_.compute(), SingleLinkage(3).fit(blobs).labels_)
    assert single.n_clusters_ == 3
    try:
        found.set_params(min_samples=1000).fit(x)
    except ValueError:
        print("refused")
    assert not hasattr(found, "labels_"), "labels of the fit before one that failed"
    # One worker alone finds that its block holds texts.
    bad = da.map_blocks(lambda block, block_info=None: np.full(block.shape, "words") if block_info[0]["chunk-location"][0] == 0
                        else block, x, dtype=float).persist()
    try:
        HDBSCAN(min_cluster_size=10).fit(bad)
    except (TypeError, ValueError) as error:
        print("told" if "an array of <U5" in str(error) else error)
    def fails(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 0:
            raise OSError("unreadable")
        return block
    try:
        HDBSCAN(min_cluster_size=10).fit(da.map_blocks(fails, x, dtype=float))
    except OSError as error:
        print(error)
    holders = {worker for workers in places.values() for worker in workers}
    print("clustered on", len(holders), "workers")
"""


def test_workers_of_dask_mpi_cluster_the_blocks_that_they_hold(tmp_path):
    for package in ("distributed", "dask_mpi", "mpi4py"):
        pytest.importorskip(package, reason=f"needs {package}")
    mpi = pytest.importorskip("test_mpi")
    if mpi.LAUNCHER is None:
        pytest.skip("no MPI here that fits mpi4py")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [mpi.LAUNCHER, "-n", "4", sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120 * PATIENCE, env=mpi.ENVIRONMENT)
    assert done.stdout.split() == ["refused", "told", "unreadable", "clustered", "on", "2", "workers"], done.stderr
