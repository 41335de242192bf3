"""Every example runs, and says what it is to say."""
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "python"
SAYS = {
    "01_clusters_of_points.py": "four ranks find the same tree: True",
    "02_stars.py": "volume is kept: True",
    "04_announcements.py": "rank 0 is at step 0",
    "05_measure.py": "advice for 8 bytes",
    "move_from_hdbscan.py": "predicts [",
}


@pytest.mark.parametrize("name", sorted(SAYS))
def test_an_example_says_what_it_finds(name):
    done = subprocess.run([sys.executable, FOLDER / name], capture_output=True, text=True, timeout=120 * PATIENCE)
    assert done.returncode == 0, done.stderr
    assert SAYS[name] in done.stdout


def test_the_comparison_runs_without_the_other_programs():
    command = [sys.executable, FOLDER / "compare_hdbscan.py", "--points", "600", "--dimensions", "2,8", "--data", "uniform,blobs",
               "--programs", "merganser,merganser_tree,no_such_program", "--repeat", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120 * PATIENCE)
    assert done.returncode == 0, done.stderr
    assert "not installed: no_such_program" in done.stdout
    assert "blobs, 600 points, 8D" in done.stdout and "uniform, 600 points, 2D" in done.stdout
    assert done.stdout.count("1.0000") == 8, done.stdout


@pytest.mark.parametrize("name, ranks", [("03_tree_over_mpi.py", 4), ("memberships_over_mpi.py", 2)])
def test_an_example_over_ranks_finds_the_same(name, ranks):
    mpi = pytest.importorskip("test_mpi")
    if mpi.LAUNCHER is None:
        pytest.skip("no MPI here that fits mpi4py")
    command = [mpi.LAUNCHER, "-n", str(ranks), sys.executable, "-m", "mpi4py", FOLDER / name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120 * PATIENCE, env=mpi.ENVIRONMENT)
    assert "one process finds the same: True" in done.stdout, done.stderr
