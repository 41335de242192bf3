"""The tests that scikit-learn and hdbscan bring for their HDBSCAN, with the estimator of this package in the place of theirs."""
import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.mark.parametrize("package", ["sklearn", "hdbscan"])
def test_each_of_their_tests_passes_or_has_a_reason(package):
    for needed in (package, "scipy", "sklearn", "pandas", "networkx", "matplotlib"):
        pytest.importorskip(needed, reason="their tests need it (checked with scikit-learn 1.9.1 and hdbscan 0.8.44)")
    paths = [str(TOOLS), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run([sys.executable, "-m", "foreign_tests", "--only", package], capture_output=True, text=True,
                          timeout=500 * PATIENCE, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{package}: " in done.stdout
