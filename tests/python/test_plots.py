"""Pictures: what is drawn is what the trees say."""
import numpy as np
import pytest
from merganser import HDBSCAN, plots

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
matplotlib.use("Agg")

random = np.random.default_rng(5)
BLOBS = np.concatenate([random.normal(c, 0.1, (60, 2)) for c in ((0, 0), (3, 0), (0, 3))])


@pytest.fixture
def axis():
    from matplotlib import pyplot

    figure, axis = pyplot.subplots()
    yield axis
    figure.canvas.draw()
    pyplot.close(figure)


def test_a_condensed_tree_has_a_bar_per_cluster_and_a_colour_per_label(axis):
    fitted = HDBSCAN(min_cluster_size=10).fit(BLOBS)
    tree = fitted.condensed_tree_
    assert tree.plot(axis=axis) is axis
    bars, branches = axis.collections
    assert len(bars.get_paths()) == len(tree.tree.parent)
    assert len(branches.get_segments()) == len(tree.tree.parent) - 1
    assert len(np.unique(bars.get_facecolors(), axis=0)) == 3 + 1
    assert sorted(text.get_text() for text in axis.texts) == ["0", "1", "2"]
    for cluster, path in enumerate(bars.get_paths()):
        width, depth = np.ptp(path.vertices, axis=0)
        assert width == pytest.approx(tree.tree.size[cluster])
        assert path.vertices[:, 1].min() == pytest.approx(tree.tree.birth[cluster])


def test_clusters_side_by_side_do_not_overlap(axis):
    fitted = HDBSCAN(min_cluster_size=4, cluster_selection_method="leaf").fit(random.random((500, 2)))
    fitted.condensed_tree_.plot(axis=axis)
    bars = axis.collections[0].get_paths()
    parent = fitted.condensed_tree_.tree.parent
    for c in np.unique(parent):
        children = [i for i in range(1, len(parent)) if parent[i] == c]
        spans = sorted((bars[i].vertices[:, 0].min(), bars[i].vertices[:, 0].max()) for i in children)
        assert all(left[1] <= right[0] for left, right in zip(spans, spans[1:]))


def test_points_at_one_place_can_be_drawn(axis):
    fitted = HDBSCAN().fit(np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 8, axis=0))
    fitted.condensed_tree_.plot(axis=axis, select_clusters=False)
    assert np.isfinite(axis.get_ylim()).all()


def test_a_dendrogram_has_a_bracket_per_join_and_all_points_in_its_leaves(axis):
    rows = HDBSCAN(min_samples=1).fit(BLOBS).single_linkage_tree_.to_numpy()
    plots.dendrogram(rows, axis=axis, leaves=180, least=1)
    assert len(axis.collections[0].get_segments()) == 179
    assert sum(int(text.get_text()) for text in axis.get_xticklabels()) == 180
    top = max(segment[:, 1].max() for segment in axis.collections[0].get_segments())
    assert top == pytest.approx(rows[-1, 2])


@pytest.mark.parametrize("least", [5, None])
def test_a_dendrogram_can_leave_out_small_parts(axis, least):
    rows = HDBSCAN(min_samples=1).fit(BLOBS).single_linkage_tree_.to_numpy()
    plots.dendrogram(rows, axis=axis, leaves=3, least=least or 20, log=True)
    assert len(axis.collections[0].get_segments()) == 2
    assert sorted(int(text.get_text()) for text in axis.get_xticklabels()) == [60, 60, 60]


def test_joins_at_infinite_height_are_dotted_and_one_point_is_no_error(axis):
    rows = np.array([[0, 1, 0.5, 2], [2, 3, 0.75, 2], [4, 5, np.inf, 4]])
    plots.dendrogram(rows, axis=axis)
    solid, dotted = axis.collections
    assert (len(solid.get_segments()), len(dotted.get_segments())) == (2, 1)
    assert np.isfinite(np.concatenate([*solid.get_segments(), *dotted.get_segments()])).all()
    plots.dendrogram(np.zeros((0, 4)), axis=axis)
