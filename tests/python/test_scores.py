"""Scores of clusters and points: against their definitions in plain Python, on any number of ranks, and after pickle."""
import pickle

import merganser
import numpy as np
import pytest
import references
from merganser import HDBSCAN
from score_sets import SETS, make_set


def fit(number, **more):
    """Points of a set, and an HDBSCAN fitted to them."""
    _, points, given = make_set(number)
    parameters = {"min_cluster_size": given["min_cluster_size"], "min_samples": given["samples"] + 1,
                  "cluster_selection_method": given["method"], "allow_single_cluster": given["single"], **more}
    return points, HDBSCAN(**parameters).fit(points)


def selected_of(fitted):
    return fitted.condensed_tree_.selected + len(fitted.labels_)


@pytest.mark.parametrize("number", SETS)
def test_scores_are_those_of_the_definition(number):
    points, fitted = fit(number, store_centers="both")
    rows, selected = fitted.condensed_tree_.to_numpy(), selected_of(fitted)
    assert np.allclose(fitted.outlier_scores_, references.outlier_scores(rows), rtol=0, atol=1e-12)
    assert np.allclose(fitted.cluster_persistence_, references.persistences(rows, selected, fitted.labels_), rtol=0, atol=1e-12)
    expected = references.exemplars(rows, selected)
    assert [numbers.tolist() for numbers in fitted.exemplar_indices_] == expected
    assert len(fitted.exemplars_) == len(expected)
    assert all(np.array_equal(a, points[b]) for a, b in zip(fitted.exemplars_, expected))
    edges = fitted.minimum_spanning_tree_.to_numpy()
    assert fitted.relative_validity_ == pytest.approx(references.relative_validity(edges, fitted.labels_), abs=1e-12)
    between = references.distances_of(points)
    for label in range(len(selected)):
        inside = np.flatnonzero(fitted.labels_ == label)
        weights = fitted.probabilities_[inside]
        assert np.allclose(fitted.centroids_[label], np.average(points[inside], weights=weights, axis=0))
        assert np.array_equal(fitted.weighted_cluster_centroid(label), fitted.centroids_[label])
        sums = (between[np.ix_(inside, inside)] * weights).sum(axis=1)
        assert np.isclose(sums[(points[inside] == fitted.medoids_[label]).all(axis=1)].min(), sums.min())
        assert np.array_equal(fitted.weighted_cluster_medoid(label), fitted.medoids_[label])


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("ranks", [2, 3])
def test_scores_are_the_same_on_ranks_that_are_threads(number, ranks):
    _, alone = fit(number, store_centers="both")
    _, ours = fit(number, store_centers="both", ranks=ranks)
    for name in ("outlier_scores_", "cluster_persistence_", "relative_validity_", "centroids_", "medoids_"):
        assert np.array_equal(getattr(ours, name), getattr(alone, name)), name
    assert all(map(np.array_equal, ours.exemplars_, alone.exemplars_))
    assert np.array_equal(ours.minimum_spanning_tree_.to_numpy(), alone.minimum_spanning_tree_.to_numpy())
    assert np.array_equal(ours.dbscan_clustering(0.4), alone.dbscan_clustering(0.4))


def test_points_at_one_place_have_no_outlier_score_and_others_the_greatest():
    points = np.concatenate([np.repeat([[0.0, 0.0], [5.0, 5.0]], 10, axis=0), [[0.3, 0.0], [5.0, 5.4]]])
    fitted = HDBSCAN(min_cluster_size=5, min_samples=3).fit(points)
    scores = fitted.outlier_scores_
    assert scores[:20].tolist() == [0.0] * 20 and scores[20:].tolist() == [1.0, 1.0]
    assert fitted.cluster_persistence_.tolist() == [1.0, 1.0]
    members = merganser.all_points_membership_vectors(fitted)
    assert np.isfinite(members).all() and np.allclose(members[:20].max(axis=1), 1)


@pytest.mark.parametrize("height", [0.0, 0.1, 0.5, 2.0, np.inf])
def test_dbscan_clustering_is_a_cut_without_small_clusters(height):
    points, fitted = fit(0)
    reach = references.reachability(references.distances_of(points), fitted.min_samples)
    labels = fitted.dbscan_clustering(height, 4)
    near = reach <= height
    for i in range(0, len(points), 7):  # what can be reached by steps of at most the height
        group, new = {i}, {i}
        while new:
            new = {int(j) for k in new for j in np.flatnonzero(near[k])} - group
            group |= new
        assert (labels[i] >= 0) == (len(group) >= 4)
        if len(group) >= 4:
            assert set(np.flatnonzero(labels == labels[i])) == group
    assert fitted.dbscan_clustering(height, 1).min(initial=0) >= 0


def test_numbers_out_of_range_are_refused_with_their_names():
    _, fitted = fit(0)
    with pytest.raises(merganser.UsageError, match="cut_distance: -1.0; allowed: 0 and more"):
        fitted.dbscan_clustering(-1)
    with pytest.raises(merganser.UsageError, match="cut_distance: nan"):
        fitted.dbscan_clustering(np.nan)
    with pytest.raises(merganser.UsageError, match="min_cluster_size: 0"):
        fitted.dbscan_clustering(1, 0)
    with pytest.raises(merganser.UsageError, match="cluster_id: -1; allowed: labels from 0 to below"):
        fitted.weighted_cluster_centroid(-1)
    with pytest.raises(AttributeError, match="not fitted"):
        HDBSCAN().outlier_scores_


def test_a_fit_to_distances_has_all_scores_but_coordinates():
    points, alone = fit(5)
    fitted = HDBSCAN(metric="precomputed", **{name: alone.get_params()[name] for name in ("min_cluster_size", "min_samples")})
    fitted.fit(references.distances_of(points))
    assert np.allclose(fitted.outlier_scores_, alone.outlier_scores_)
    assert np.allclose(fitted.relative_validity_, alone.relative_validity_)
    assert list(map(list, fitted.exemplar_indices_)) == list(map(list, alone.exemplar_indices_))
    with pytest.raises(merganser.UsageError, match="coordinates"):
        fitted.exemplars_
    with pytest.raises(merganser.UsageError, match="coordinates"):
        fitted.minimum_spanning_tree_.plot()
    assert hasattr(alone, "exemplars_") and not hasattr(fitted, "exemplars_")


def test_a_fit_on_workers_has_no_scores_which_hasattr_tells():
    fitted = HDBSCAN().fit(fit(0)[0])
    fitted._clusters = fitted._rows = fitted._points = None  # as after a fit to an array of dask
    for name in ("outlier_scores_", "cluster_persistence_", "exemplars_", "exemplar_indices_", "relative_validity_",
                 "minimum_spanning_tree_"):
        assert not hasattr(fitted, name)
        with pytest.raises(merganser.UsageError, match="array of dask"):
            getattr(fitted, name)


def test_the_persistence_of_a_selected_root_may_be_above_1():
    points = np.array([0, 1, 2, 3, 4, 6, 8, 10, 12.0])[:, None]  # the last four are noise, and count in the root's stability
    fitted = HDBSCAN(min_cluster_size=5, min_samples=1, allow_single_cluster=True).fit(points)
    assert fitted.labels_.tolist() == [0] * 5 + [-1] * 4 and fitted.cluster_persistence_.tolist() == [7 / 5]
    assert "may be above 1" in HDBSCAN.cluster_persistence_.__doc__


@pytest.mark.parametrize("container", [np.array, "pandas", "transposed", list])
def test_what_is_computed_later_does_not_depend_on_what_becomes_of_the_points(container):
    points, fitted = fit(0)
    fresh, own = points[:40] + 0.01, points.copy()
    if container == "pandas":
        own = pytest.importorskip("pandas").DataFrame(own)
    elif container == "transposed":
        own = np.asfortranarray(own)
    else:
        own = container(own)
    mine = HDBSCAN(**fitted.get_params()).fit(own)
    if container is list:
        for row in own:
            row *= 0
    else:
        own *= 0
    for a, b in zip(merganser.approximate_predict(mine, fresh), merganser.approximate_predict(fitted, fresh)):
        assert np.array_equal(a, b)
    assert np.array_equal(merganser.all_points_membership_vectors(mine), merganser.all_points_membership_vectors(fitted))
    assert all(map(np.array_equal, mine.exemplars_, fitted.exemplars_))
    for given in (mine.outlier_scores_, mine.cluster_persistence_, mine.exemplars_[0], mine.exemplar_indices_[0]):
        with pytest.raises(ValueError, match="read-only"):
            given[0] = 7
    mine.exemplars_.clear()
    assert len(mine.exemplars_) == len(fitted.exemplars_)


def test_scores_follow_the_last_fit_and_survive_pickle():
    points, fitted = fit(0)
    before = fitted.outlier_scores_
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.outlier_scores_, before)
    assert np.array_equal(again.minimum_spanning_tree_.to_numpy(), fitted.minimum_spanning_tree_.to_numpy())
    assert again.relative_validity_ == fitted.relative_validity_
    assert all(map(np.array_equal, again.exemplars_, fitted.exemplars_))
    assert np.array_equal(merganser.all_points_membership_vectors(again), merganser.all_points_membership_vectors(fitted))
    for a, b in zip(merganser.approximate_predict(again, points[:9]), merganser.approximate_predict(fitted, points[:9])):
        assert np.array_equal(a, b)
    fitted.fit(points[::2])
    assert len(fitted.outlier_scores_) == len(points[::2])
    assert len(fitted.minimum_spanning_tree_.to_numpy()) == len(points[::2]) - 1


def test_the_spanning_tree_has_the_forms_of_hdbscans():
    networkx, pandas = pytest.importorskip("networkx"), pytest.importorskip("pandas")
    points, fitted = fit(0)
    tree = fitted.minimum_spanning_tree_
    rows = tree.to_numpy()
    assert rows.shape == (len(points) - 1, 3) and (np.diff(rows[:, 2]) >= 0).all()
    reach = references.reachability(references.distances_of(points), fitted.min_samples)
    assert np.allclose(rows[:, 2], [w for w, _, _ in references.tree_of(reach)])
    frame = tree.to_pandas()
    assert list(frame.columns) == ["from", "to", "distance"] and isinstance(frame, pandas.DataFrame)
    assert np.array_equal(frame.to_numpy(), rows)
    graph = tree.to_networkx()
    assert networkx.is_tree(graph) and graph.number_of_nodes() == len(points)
    assert graph.nodes[3]["data"] == tuple(points[3])
    a, b, w = rows[5]
    assert graph.edges[int(a), int(b)]["weight"] == w


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_spanning_tree_is_drawn(dimension):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    points = np.random.default_rng(1).normal(size=(40, dimension))
    points[1] = points[0]
    figure, axis = pyplot.subplots()
    assert HDBSCAN(min_samples=1).fit(points).minimum_spanning_tree_.plot(axis=axis, edge_cmap="magma", colorbar=False) is axis
    assert len(axis.collections[0].get_segments()) == 39
    assert np.isfinite(axis.collections[0].get_linewidths()).all()
    pyplot.close(figure)
