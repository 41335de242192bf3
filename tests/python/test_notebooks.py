"""Every notebook runs to its end, says what it is to say, and draws its pictures."""
import re
from pathlib import Path

import pytest

for module in ("nbclient", "nbformat", "ipykernel", "matplotlib"):
    pytest.importorskip(module, reason=f"{module} is not here: notebooks are not executed")

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
SAYS = {
    "01_clusters_of_digits.ipynb": (r"1\d clusters, \d+% noise, adjusted Rand index 0\.[78]", 3, ["sklearn"]),
    "02_parcels_that_merge.ipynb": ("6000 parcels, 3024 of them small: 2246 merged, 3754 are left", 3, []),
    "03_latency_of_your_machine.ipynb": (r"threads\.copy +\d+\.\d\d µs", 2, ["networkx", "pandas"]),
    "04_tree_of_a_million_points.ipynb": ("two ranks find the same tree: True", 3, []),
}
"""By notebook: an expression that its output matches, how many pictures it has, what it needs besides."""


def test_every_notebook_is_run():
    assert sorted(SAYS) == sorted(path.name for path in FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("name", sorted(SAYS))
def test_a_notebook_is_stored_without_what_it_shows(name):
    import nbformat

    notebook = nbformat.read(FOLDER / name, 4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


@pytest.mark.parametrize("name", sorted(SAYS))
def test_a_notebook_runs_and_draws(name, tmp_path):
    import nbformat
    from nbclient import NotebookClient

    says, pictures, needs = SAYS[name]
    for module in needs:
        pytest.importorskip(module, reason=f"{name} needs {module}")
    notebook = nbformat.read(FOLDER / name, 4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    assert re.search(says, text), text
    assert sum("image/png" in output.get("data", {}) for output in outputs) == pictures
