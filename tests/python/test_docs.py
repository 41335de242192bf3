"""What docs/python.md shows runs as it stands there, block after block."""
import re
from pathlib import Path

import merganser
import numpy as np
import pytest

sparse = pytest.importorskip("scipy.sparse", reason="the document shows SciPy's matrices")

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(), re.S | re.M)


def names(folder):
    """What the document takes for given."""
    rng = np.random.default_rng(1)
    n = 2000
    given = {
        "merganser": merganser, "np": np, "n": n, "comm": None,
        "points": rng.random((n, 3)), "new_points": rng.random((10, 3)),
        "volume": 0.02 * rng.random(n) + 1e-4, "salt": rng.random(n), "any_array_with_a_row_per_point": rng.random((n, 4)),
        "matrix": sparse.random_array((50, 50), density=0.1, rng=rng, format="csr"),
        "bytes_between_ranks": sparse.csr_array(np.array([[0, 8.0], [8.0, 0]])),
        "u": np.arange(9), "v": np.arange(1, 10), "w": np.ones(9),
    }
    merganser.write_graph(folder / "web.mtx", merganser.generate_graph("rmat:6:4"))
    try:
        merganser.write_parcels(folder / "x_0000000001_parcels.nc", merganser.random_parcels(2, box=(0, 1)), box=(0, 1), cells=2)
    except merganser.InputError as error:
        pytest.skip(str(error))
    return given


def test_blocks_of_the_document_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = names(tmp_path)
    assert len(BLOCKS) >= 4
    for block in BLOCKS:
        exec(compile(block, f"docs/python.md: {block.splitlines()[0]}", "exec"), known)
    assert (known["found"].records[0]["p50_ns"] > 0) and len(known["labels"]) == known["n"]
