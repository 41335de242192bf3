"""Beside the package hdbscan, where it is installed: every score on thirty sets; without it, values of some sets that it gave.

`python test_beside_hdbscan.py` writes these values to data/hdbscan_scores.json. hdbscan counts one neighbour less in min_samples. With
1 there, 2 here, mutual reachability distances are plain ones and have no ties, so that both find one tree. With more there are
ties, which each undoes in its own order; formulas are then compared on hdbscan's tree.
"""
import json
import warnings
from pathlib import Path

import merganser
import numpy as np
import pytest
import references
from merganser import HDBSCAN, _core
from score_sets import SETS, make_set

DATA = Path(__file__).parent / "data" / "hdbscan_scores.json"
KEPT = (0, 4, 8, 9, 20)


def theirs(points, given, **more):
    hdbscan = pytest.importorskip("hdbscan", reason="the comparison needs hdbscan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hdbscan, hdbscan.HDBSCAN(
            min_cluster_size=given["min_cluster_size"], min_samples=given["samples"], cluster_selection_method=given["method"],
            allow_single_cluster=given["single"], approx_min_span_tree=False, gen_min_span_tree=True, **more).fit(points)


def ours(points, given, **more):
    return HDBSCAN(min_cluster_size=given["min_cluster_size"], min_samples=given["samples"] + 1,
                   cluster_selection_method=given["method"], allow_single_cluster=given["single"], **more).fit(points)


def tree_of(rows):
    """hdbscan's condensed tree as an object of the extension."""
    n = rows["parent"].min()
    count = rows["parent"].max() - n + 1
    parent, size, birth = np.zeros(count, dtype=np.int64), np.full(count, n), np.zeros(count)
    inner, outer = rows[rows["child"] >= n], rows[rows["child"] < n]
    at = inner["child"] - n
    parent[at], size[at], birth[at] = inner["parent"] - n, inner["child_size"], inner["lambda_val"]
    cluster_of, lambdas = np.zeros(n, dtype=np.uint32), np.zeros(n)
    cluster_of[outer["child"]], lambdas[outer["child"]] = outer["parent"] - n, outer["lambda_val"]
    return _core.make_condensed_tree(parent, size, birth, cluster_of, lambdas), cluster_of, lambdas, n


def equal(a, b, rtol=0, atol=1e-12):
    assert np.shape(a) == np.shape(b)
    assert np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True), np.abs(np.subtract(a, b)).max()


def order_of(a, b):
    """For each label of b the label of a that the same points have; the clusters are the same."""
    pairs = {(int(x), int(y)) for x, y in zip(a, b)}
    assert len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})
    assert (-1, -1) in pairs or all(x >= 0 for x, _ in pairs)
    return np.array([x for x, y in sorted(pairs, key=lambda pair: pair[1]) if y >= 0], dtype=int)


def equal_memberships(mine, other, labels):
    """Memberships of clusters in another order. What noise adds up to is relative to the first of several clusters that part from it at
    one lambda, so that it depends on the order."""
    inside = labels >= 0
    equal(mine[inside], other[inside])
    equal(mine / mine.sum(axis=1, keepdims=True), other / other.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("number", SETS)
def test_formulas_on_the_tree_of_hdbscan_give_its_values(number):
    _, points, given = make_set(number)
    hdbscan, other = theirs(points, given)
    rows = other.condensed_tree_.to_numpy()
    tree, cluster_of, lambdas, n = tree_of(rows)
    equal(_core.outlier_scores(tree), other.outlier_scores_)
    edges = other.minimum_spanning_tree_.to_numpy()
    labels = other.labels_.astype(np.int64)
    count = labels.max() + 1
    equal(_core.relative_validity(edges[:, :2].astype(np.int64), edges[:, 2].copy(), labels, count), other.relative_validity_)
    selected = (np.array(other.condensed_tree_._select_clusters(), dtype=int) - n).astype(np.uint32)
    root = given["single"] and count == 1
    equal(_core.persistences(tree, np.zeros(1, dtype=np.uint32) if root else selected,
                             np.bincount(labels[labels >= 0], minlength=count).astype(float)), other.cluster_persistence_)
    index = hdbscan.validity.validity_index(points, labels, metric="minkowski", p=2)
    equal(merganser.validity_index(points, labels), index)
    if count == 0 or len(rows[rows["child"] >= n]) == 0:
        return  # hdbscan has no prediction data of a single cluster that does not split
    other.generate_prediction_data()
    begin, numbers = _core.exemplars(tree, selected)
    for label, exemplars in enumerate(other.exemplars_):
        mine = points[numbers[begin[label]:begin[label + 1]]]
        assert np.array_equal(np.sort(mine, axis=0), np.sort(exemplars, axis=0))
    tables = _core.Memberships(tree, selected, begin, points[numbers], "euclidean")
    equal(tables.of(points, cluster_of, lambdas, False, None, 1), hdbscan.all_points_membership_vectors(other))


@pytest.mark.parametrize("number", [0, 3, 4, 9, 11, 16, 21, 28])
def test_memberships_of_new_points_differ_by_a_rounding_to_32_bits(number):
    _, points, given = make_set(number)
    hdbscan, other = theirs(points, given)
    other.generate_prediction_data()
    rows, data = other.condensed_tree_.to_numpy(), other.prediction_data_
    tree, cluster_of, lambdas, n = tree_of(rows)
    clusters = np.array(other.condensed_tree_._select_clusters(), dtype=int)
    begin, numbers = _core.exemplars(tree, (clusters - n).astype(np.uint32))
    tables = _core.Memberships(tree, (clusters - n).astype(np.uint32), begin, points[numbers], "euclidean")
    fresh = np.random.default_rng(number).normal(points.mean(axis=0), points.std(axis=0), (25, points.shape[1]))
    distance, near = data.tree.query(fresh, k=2 * given["samples"])
    found = [hdbscan.prediction._find_neighbor_and_lambda(near[i], distance[i], data.core_distances, given["samples"])
             for i in range(len(fresh))]
    joined = np.array([neighbour for neighbour, _ in found])
    depth = np.minimum([lam for _, lam in found], lambdas[joined])
    mine = tables.of(fresh, cluster_of[joined], depth, True, None, 1)
    for i, row in enumerate(hdbscan.membership_vector(other, fresh)):
        to = np.array([np.linalg.norm(some - fresh[i], axis=1).min() for some in other.exemplars_])
        cluster = n + cluster_of[joined[i]]
        equal(references.memberships(rows, clusters, to, cluster, depth[i], True, rounded=True), row, atol=1e-9)
        equal(references.memberships(rows, clusters, to, cluster, depth[i], True), mine[i], atol=1e-9)


@pytest.mark.parametrize("number", [n for n in SETS if n < 15])
def test_without_ties_every_attribute_is_that_of_hdbscan(number):
    _, points, given = make_set(number)
    hdbscan, other = theirs(points, given)
    fitted = ours(points, given)
    order = order_of(other.labels_, fitted.labels_)
    equal(fitted.probabilities_, other.probabilities_)
    equal(fitted.outlier_scores_, other.outlier_scores_)
    equal(fitted.cluster_persistence_, other.cluster_persistence_[order])
    equal(fitted.relative_validity_, other.relative_validity_)
    equal(fitted.minimum_spanning_tree_.to_numpy()[:, 2], np.sort(other.minimum_spanning_tree_.to_numpy()[:, 2]))
    height = np.sort(fitted.minimum_spanning_tree_.to_numpy()[:, 2])[100:102].mean()
    order_of(other.dbscan_clustering(height, 5), fitted.dbscan_clustering(height, 5))
    for label, theirs_label in enumerate(order):
        equal(fitted.weighted_cluster_centroid(label), other.weighted_cluster_centroid(theirs_label))
        equal(fitted.weighted_cluster_medoid(label), other.weighted_cluster_medoid(theirs_label))
    if given["single"]:
        return  # hdbscan takes the lowest cluster of labelled points for the root in its prediction data
    other.generate_prediction_data()
    assert all(np.array_equal(np.sort(fitted.exemplars_[i], axis=0), np.sort(other.exemplars_[j], axis=0))
               for i, j in enumerate(order))
    equal_memberships(merganser.all_points_membership_vectors(fitted), hdbscan.all_points_membership_vectors(other)[:, order],
                      fitted.labels_)


@pytest.mark.parametrize("number", [n for n in SETS if n < 15 and n % 6 != 1])
@pytest.mark.parametrize("persistence", [0.05, 0.5, 3.0])
def test_clusters_that_do_not_persist_are_merged_as_in_hdbscan(number, persistence):
    _, points, given = make_set(number)
    _, other = theirs(points, given, cluster_selection_persistence=persistence)
    fitted = ours(points, given, cluster_selection_persistence=persistence)
    order = order_of(other.labels_, fitted.labels_)
    # hdbscan rounds lambdas to 32 bits as soon as the threshold is above 0.
    equal(fitted.probabilities_, other.probabilities_, atol=1e-6)
    equal(fitted.cluster_persistence_, other.cluster_persistence_[order], atol=1e-6)
    mine, rows = fitted.condensed_tree_.to_numpy(), other.condensed_tree_.to_numpy()
    equal(np.sort(mine["lambda_val"]), np.sort(rows["lambda_val"]), rtol=1e-6)
    assert sorted(mine["child_size"]) == sorted(rows["child_size"])


@pytest.mark.parametrize("number", KEPT)
def test_values_that_hdbscan_gave_come_back(number):
    kept = json.loads(DATA.read_text(encoding="utf-8"))[str(number)]
    points, labels = np.array(kept["points"]), np.array(kept["labels"])
    fitted = ours(points, kept["given"])
    order = order_of(labels, fitted.labels_)
    equal(fitted.probabilities_, kept["probabilities"])
    equal(fitted.outlier_scores_, kept["outlier_scores"])
    equal(fitted.cluster_persistence_, np.array(kept["persistence"])[order])
    equal(fitted.relative_validity_, kept["relative_validity"])
    if len(order) != 1:
        equal(merganser.validity_index(points, fitted.labels_), kept["validity_index"])
    if len(order):
        for i, j in enumerate(order):
            equal(np.sort(fitted.exemplars_[i], axis=0), np.sort(np.array(kept["exemplars"][j]), axis=0))
        equal_memberships(merganser.all_points_membership_vectors(fitted), np.array(kept["memberships"])[:, order], fitted.labels_)


def write_values():
    """Writes what hdbscan gives for every other point of some sets."""
    out = {}
    for number in KEPT:
        _, points, given = make_set(number)
        points, given = points[::2].round(6), {**given, "samples": 1}
        hdbscan, other = theirs(points, given)
        value = {"given": given, "points": points.tolist(), "labels": other.labels_.tolist(),
                 "probabilities": other.probabilities_.tolist(), "outlier_scores": other.outlier_scores_.tolist(),
                 "persistence": other.cluster_persistence_.tolist(), "relative_validity": float(other.relative_validity_)}
        if other.labels_.max() >= 0:
            value["validity_index"] = float(hdbscan.validity.validity_index(points, other.labels_, metric="minkowski", p=2))
            other.generate_prediction_data()
            value["exemplars"] = [some.tolist() for some in other.exemplars_]
            value["memberships"] = hdbscan.all_points_membership_vectors(other).tolist()
        else:
            value["validity_index"] = 0.0
        out[number] = value
    DATA.write_text(json.dumps(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_values()
