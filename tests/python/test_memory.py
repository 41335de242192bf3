"""Tests of the memory that HDBSCAN takes, in a process of its own."""
import subprocess
import sys
from pathlib import Path

import pytest

from patience import PATIENCE

STATUS = Path("/proc/self/status").read_text() if Path("/proc/self/status").exists() else ""
MOST = 260  # bytes per point in 3D, coordinates included
PROGRAM = """
import sys
import numpy as np
import merganser

def peak():
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])

def cluster(points):
    fitted = merganser.HDBSCAN(min_cluster_size=40, min_samples=10).fit(points)
    labels, strengths = merganser.all_points_membership_vectors(fitted, top_k=5)
    assert labels.shape == strengths.shape == (len(points), 5) and fitted.exact_order_
    return fitted

def points(n):
    random = np.random.default_rng(3)
    return random.random((100, 3))[random.integers(100, size=n)] + 0.01 * random.standard_normal((n, 3))

cluster(points(2000))  # what is loaded at the first call
before, n = peak(), 200_000
fitted = cluster(points(n))
assert fitted.labels_.max() >= 20
print((peak() - before) / n)
"""


@pytest.mark.skipif("VmHWM" not in STATUS, reason="/proc/self/status does not tell the peak of memory")
def test_fit_and_greatest_memberships_take_little_memory_per_point():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300 * PATIENCE)
    assert done.returncode == 0, done.stderr
    assert 100 < float(done.stdout) < MOST, f"{done.stdout} bytes per point; allowed: below {MOST}"
