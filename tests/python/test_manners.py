"""What users of scikit-learn and hdbscan expect of estimators: parameters without effect, routing, pictures, pickles, plots."""
import pickle
import warnings

import merganser
import numpy as np
import pytest
from merganser import HDBSCAN, SingleLinkage, _manners

random = np.random.default_rng(4)
BLOBS = np.concatenate([random.normal(c, 0.1, (40, 2)) for c in ((0, 0), (3, 0), (0, 3))])


def test_parameters_without_effect_are_named_in_one_warning():
    with pytest.warns(UserWarning) as told:
        found = HDBSCAN(8, prediction_data=True, gen_min_span_tree=False, core_dist_n_jobs=4, approx_min_span_tree=True,
                        match_reference_implementation=False, memory="cache", p=2, algorithm="boruvka_kdtree").fit(BLOBS)
    (warning,) = told
    for name in ("prediction_data", "gen_min_span_tree", "core_dist_n_jobs", "approx_min_span_tree", 
                 "match_reference_implementation", "memory", "p", "algorithm='boruvka_kdtree'"):
        assert f"{name} (" in str(warning.message) + " (" and name in str(warning.message)
    assert str(warning.message).startswith("HDBSCAN: without effect here: prediction_data (predictions need no preparation), ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (HDBSCAN(8, metric="minkowski", p=2).fit(BLOBS).labels_ == found.labels_).all()


@pytest.mark.parametrize("wrong", [{"min_cluster_size": "5"}, {"min_samples": 2.5}, {"alpha": "1"}, {"cluster_selection_epsilon": None},
                                   {"max_cluster_size": 3.0}, {"leaf_size": None}, {"forecast": 7}, {"model": None}], ids=str)
def test_parameters_of_a_wrong_type_are_caught_as_type_errors_and_as_scikit_learns(wrong):
    for kind in (TypeError, ValueError, merganser.UsageError):  # scikit-learn's and hdbscan's are ValueErrors
        with pytest.raises(kind, match=f"^{next(iter(wrong))}: a "):
            HDBSCAN(**{"min_cluster_size": 8, "min_samples": 3, **wrong}).fit(BLOBS)


def test_attributes_before_a_fit_are_caught_as_attribute_errors_and_as_scikit_learns():
    for kind in (AttributeError, ValueError, merganser.UsageError):  # scikit-learn's NotFittedError is both of the first
        with pytest.raises(kind, match="HDBSCAN: not fitted; allowed: after fit"):
            HDBSCAN().approximate_predict(BLOBS)
        with pytest.raises(kind, match="SingleLinkage: not fitted; allowed: after fit"):
            SingleLinkage().single_linkage_tree_
    assert not hasattr(HDBSCAN(), "condensed_tree_")


@pytest.mark.parametrize("algorithm, metric", [("kd_tree", "cosine"), ("ball_tree", "precomputed"), ("prims_kdtree", len),
                                               ("boruvka_balltree", "correlation"), ("kd_tree", "haversine")])
def test_search_trees_take_no_metric_that_scikit_learns_does_not(algorithm, metric):
    with pytest.raises(merganser.UsageError, match=f"^algorithm: '{algorithm}'; .* is not a valid metric for a .*Tree-based"):
        HDBSCAN(algorithm=algorithm, metric=metric).fit(BLOBS)


def test_pipelines_set_outputs_and_route_metadata():
    sklearn = pytest.importorskip("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    expected = make_pipeline(StandardScaler(), HDBSCAN(8)).fit_predict(BLOBS)
    pipeline = make_pipeline(StandardScaler(), HDBSCAN(8)).set_output(transform="default")
    assert (pipeline.fit_predict(BLOBS) == expected).all()
    with sklearn.config_context(enable_metadata_routing=True):
        assert (make_pipeline(StandardScaler(), HDBSCAN(8)).fit_predict(BLOBS) == expected).all()
    for kind in (HDBSCAN, SingleLinkage):
        assert kind().get_metadata_routing().fit.requests.keys() == set(_manners._metadata_names(kind))
        assert kind().set_output(transform="pandas").set_fit_request().get_params() == kind().get_params()
        with pytest.raises(merganser.UsageError, match="set_fit_request: 'groups'; allowed: "):
            kind().set_fit_request(groups=True)
        with pytest.raises(merganser.UsageError, match="transform: 'xarray'; allowed: None, 'default', 'pandas', 'polars'"):
            kind().set_output(transform="xarray")


def test_requests_of_metadata_are_kept_by_clones():
    base = pytest.importorskip("sklearn.base")

    class Weighted(HDBSCAN):
        def fit(self, X, y=None, sample_weight=None):
            return super().fit(X)

    made = Weighted(8).set_fit_request(sample_weight="w")
    clone = base.clone(made)
    assert clone.get_metadata_routing().fit.requests == {"sample_weight": "w"} and clone.get_params() == made.get_params()


def test_notebooks_show_parameters():
    text = HDBSCAN(8, metric="cosine")._repr_html_()
    assert "<b>HDBSCAN</b> (not fitted)" in text and "<b>min_cluster_size</b>" in text and "&#x27;cosine&#x27;" in text
    assert "(fitted)" in SingleLinkage().fit(BLOBS)._repr_html_() and "<script>" not in HDBSCAN(metric="<script>")._repr_html_()
    pipeline = pytest.importorskip("sklearn.pipeline")
    assert "HDBSCAN" in pipeline.make_pipeline(HDBSCAN())._repr_html_()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_forests_results_and_parcels_are_pickled(protocol):
    def again(one):
        return pickle.loads(pickle.dumps(one, protocol))

    order = random.permutation(len(BLOBS))
    for forest in (merganser.euclidean_tree(BLOBS, min_samples=4), merganser.euclidean_tree(BLOBS[order], ids=order, ranks=2),
                   merganser.minimum_spanning_forest((4, [0, 1], [1, 2], np.array([3, -5]))),
                   merganser.minimum_spanning_forest((4, [0, 1], [1, 2], np.array([2**63, 1], dtype=np.uint64))),
                   merganser.euclidean_tree(BLOBS[:0])):
        other = again(forest)
        assert (other.digest, other.vertices, other.own) == (forest.digest, forest.vertices, forest.own)
        assert other.edges.tolist() == forest.edges.tolist() and other.weights.dtype == forest.weights.dtype
        if forest.components == 1:
            assert (merganser.hdbscan(other, 5).labels == merganser.hdbscan(forest, 5).labels).all()
    result = merganser.hdbscan(merganser.euclidean_tree(BLOBS, min_samples=4), 5)
    copied = again(result)
    for ours, theirs in zip(copied[:2], result[:2]):
        np.testing.assert_array_equal(ours, theirs)
    for name in ("parent", "size", "birth", "cluster_of", "lambda_", "stabilities"):
        np.testing.assert_array_equal(getattr(copied.tree, name), getattr(result.tree, name))
    parcels = merganser.random_parcels((2, 2, 2), box=(0, 1))
    other = again(parcels)
    assert other.digest == parcels.digest and other.schema == parcels.schema == again(parcels.schema)
    named = merganser.Parcels(merganser.Schema({"salt": "mean", "colour": ("largest", 3)}), 3)
    named["colour"] = np.arange(9.0).reshape(3, 3)
    assert again(named).to_dict()["colour"].tolist() == named["colour"].tolist()


def test_states_of_condensed_trees_are_checked():
    tree = merganser.hdbscan(merganser.euclidean_tree(BLOBS), 5).tree
    parent, size, birth, cluster_of, lambda_, weights = tree.__getstate__()
    assert len(weights) == 0  # one each
    ones = np.ones(len(lambda_))
    for bad in ((parent + 1, size, birth, cluster_of, lambda_, weights), (parent, size[:1], birth, cluster_of, lambda_, weights),
                (parent, size, birth, cluster_of + np.uint32(len(parent)), lambda_, weights),
                (parent, size, birth, cluster_of, lambda_, ones[1:]), (parent, size, birth, cluster_of, lambda_, -ones)):
        with pytest.raises(merganser.InputError, match="condensed tree: "):
            merganser.CondensedTree.__new__(merganser.CondensedTree).__setstate__(bad)
    weighted = merganser.CondensedTree.__new__(merganser.CondensedTree)
    weighted.__setstate__((parent, size, birth, cluster_of, lambda_, 2 * ones))
    assert tree.weights is None and (pickle.loads(pickle.dumps(weighted)).weights == 2).all()


def test_plots_take_hdbscans_options():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fitted = HDBSCAN(8).fit(BLOBS)
    for given, bars in (({"selection_palette": ("r", "g", "b"), "cmap": "Reds"}, 2), ({"cmap": "none", "colorbar": False}, 1),
                        ({"log_size": True, "leaf_separation": 3, "max_rectangles_per_icicle": 4}, 1),
                        ({"cmap": "viridis", "colorbar": False}, 1)):
        figure, axis = plt.subplots()
        assert fitted.condensed_tree_.plot(axis=axis, **given) is axis and len(figure.axes) == bars
        plt.close(figure)
    for given, bars in (({"cmap": "Reds"}, 2), ({"vary_line_width": False, "truncate_mode": "lastp", "p": 10, "cmap": "none"}, 1),
                        ({"vary_line_width": True, "cmap": "viridis", "colorbar": False}, 1)):
        figure, axis = plt.subplots()
        assert fitted.single_linkage_tree_.plot(axis=axis, **given) is axis and len(figure.axes) == bars
        plt.close(figure)
    with pytest.raises(merganser.UsageError, match="truncate_mode: 'level'; allowed: None, 'lastp'"):
        fitted.single_linkage_tree_.plot(truncate_mode="level")


def test_dendrograms_become_graphs():
    networkx = pytest.importorskip("networkx")
    graph = HDBSCAN(8).fit(BLOBS).single_linkage_tree_.to_networkx()
    assert networkx.is_arborescence(graph) and graph.nodes[2 * 120 - 2]["size"] == 120
    assert all(data["weight"] >= 0 for *_, data in graph.edges(data=True))


def test_text_and_missing_values_are_refused_by_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(BLOBS, columns=["a", "b"])
    for values, error, text in (
            (["x"] * 120, TypeError, "column 'c', row 0: the text 'x'; allowed: numbers"),
            (pandas.Series(["x"] * 120, dtype="category"), TypeError, "column 'c', row 0: the text 'x'"),
            (pandas.Series(["x"] * 120, dtype="string"), TypeError, "column 'c', row 0: the text 'x'"),
            (pandas.Series([1.5] * 119 + [pandas.NA], dtype="Float64"), merganser.InputError,
             "column 'c': 1 missing values, the first in row 119"),
            (pandas.Series([1] * 119 + [pandas.NA], dtype=object), merganser.InputError, "column 'c': 1 missing values"),
            (pandas.Series([True] * 119 + [None], dtype="boolean"), merganser.InputError, "column 'c': 1 missing values"),
            (pandas.to_datetime("2020-01-01"), TypeError, "column 'c': of datetime64")):
        for kind in (HDBSCAN, SingleLinkage):
            with pytest.raises(error, match=f"X: {text}"):
                kind().fit(frame.assign(c=values))


@pytest.mark.parametrize("name", ["check_clusterer_compute_labels_predict", "check_clustering",
                                  "check_estimators_partial_fit_n_features", "check_non_transformer_estimators_n_iter"])
@pytest.mark.parametrize("kind", [HDBSCAN, SingleLinkage])
def test_checks_of_clusterers_that_derive_from_scikit_learns_mixin_pass_too(kind, name):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    check = getattr(checks, name, None)
    if check is None:
        pytest.skip("another version of scikit-learn")
    check(kind.__name__, kind())


@pytest.mark.parametrize("single", [False, True])
def test_clusters_born_above_a_distance_are_not_selected_as_in_hdbscan(single):
    theirs = pytest.importorskip("hdbscan", reason="the comparison needs hdbscan")
    points = np.concatenate([random.normal(c, 0.2, (30, 2)) for c in ((1, 0), (-1, 0), (-1, 1.2), (1, 1.2), (6, 6))])
    for most in (0.1, 0.3, 0.5, 1.0, 2.0, 20.0, np.inf):
        given = {"min_cluster_size": 6, "cluster_selection_epsilon_max": most, "allow_single_cluster": single}
        other = theirs.HDBSCAN(min_samples=4, algorithm="generic", **given).fit(points).labels_
        ours = HDBSCAN(min_samples=5, **given).fit(points).labels_
        pairs = set(zip(ours.tolist(), other.tolist()))
        assert len({a for a, _ in pairs if a >= 0}) == len({b for _, b in pairs if b >= 0})
        assert np.mean((ours < 0) == (other < 0)) > 0.95
    forest = merganser.euclidean_tree(points, min_samples=5)
    assert merganser.hdbscan(forest, 6, epsilon_max=0.0).labels.max() == -1
    for kind, name in ((lambda x: merganser.hdbscan(forest, 6, epsilon_max=x), "epsilon_max"),
                       (lambda x: HDBSCAN(6, cluster_selection_epsilon_max=x).fit(points), "cluster_selection_epsilon_max")):
        with pytest.raises(merganser.UsageError, match=f"^{name}: -1; allowed: numbers from 0, or infinity"):
            kind(-1)
