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


def test_brackets_of_a_dendrogram_stand_on_the_middles_of_their_parts(axis):
    rows = HDBSCAN(min_samples=1).fit(BLOBS).single_linkage_tree_.to_numpy()
    plots.dendrogram(rows, axis=axis, leaves=180, least=1)
    brackets = axis.collections[0].get_segments()
    middles = {(round((b[1, 0] + b[2, 0]) / 2, 6), round(b[1, 1], 9)) for b in brackets}
    feet = [(round(x, 6), round(y, 9)) for b in brackets for x, y in (b[0], b[3])]
    assert {foot for foot in feet if foot[1] > 0} <= middles
    assert sorted(foot[0] for foot in feet if foot[1] == 0) == list(range(180)), "leaves stand side by side"
    low, high = axis.get_xlim()
    assert -1 < low < 0 and 179 < high < 180


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_all_brackets_lie_within_the_axes(axis, scale):
    rows = HDBSCAN(min_samples=1).fit(scale * BLOBS).single_linkage_tree_.to_numpy()
    plots.dendrogram(rows, axis=axis, leaves=10, least=2, log=True)
    heights = np.concatenate([segment[:, 1] for segment in axis.collections[0].get_segments()])
    heights = heights[heights > 0]  # a bracket stands on its parts, also on those that are not drawn further
    low, high = axis.get_ylim()
    assert 0.5 * heights.min() < low < heights.min() and heights.max() < high < 1.5 * heights.max()
    axis.clear()
    plots.dendrogram(rows, axis=axis, leaves=10, least=2)
    assert axis.get_ylim()[0] == 0 and heights.max() < axis.get_ylim()[1] < 1.5 * heights.max()


def test_clusters_have_the_colours_that_are_given(axis):
    from matplotlib.colors import to_rgba

    fitted = HDBSCAN(min_cluster_size=10).fit(BLOBS)
    colors = ["#ff0000", "#00ff00", "#0000ff"]
    for given in ({"colors": colors}, {"selection_palette": colors}, {"colors": colors, "selection_palette": ["k"]}):
        axis.clear()
        fitted.condensed_tree_.plot(axis=axis, **given)
        faces = axis.collections[0].get_facecolors()
        for label, cluster in enumerate(fitted.condensed_tree_.selected):
            assert tuple(faces[cluster]) == to_rgba(colors[label])


def test_a_spanning_tree_is_drawn_over_its_points_with_short_edges_wide(axis):
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [5.0, 2.0]])
    tree = HDBSCAN(min_cluster_size=2, min_samples=1).fit(points).minimum_spanning_tree_
    tree.plot(axis=axis, edge_linewidth=3, colorbar=False)
    edges, places = axis.collections
    lengths = np.array([np.hypot(*(b - a)) for a, b in edges.get_segments()])
    assert sorted(lengths) == [1, 2, 4] and sorted(edges.get_array()) == [1, 2, 4]
    assert np.array(edges.get_linewidths()) == pytest.approx(3 * (np.log(4 / lengths) + 1))
    assert np.asarray(places.get_offsets()) == pytest.approx(points)
