"""Toy data, as scikit-learn's comparison of clusterers has it, and parameters to cluster it with: 32 cases.

python tests/python/toys.py FILE writes small versions, rounded to integers, with scikit-learn's labels: the data of
tests/msf/grow_test.cpp. It sets NPY_DISABLE_CPU_FEATURES, because the labels depend on NumPy's argsort, and that on the
processor.
"""

import os
import sys

PARAMETERS = (
    {"min_cluster_size": 5},
    {"min_cluster_size": 15},
    {"min_cluster_size": 10, "min_samples": 3},
    {"min_cluster_size": 5, "min_samples": 10, "cluster_selection_method": "leaf"},
)


def toys(points=500):
    """Eight sets of points by name, each axis with mean 0 and standard deviation 1. Needs scikit-learn."""
    import numpy as np
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    seed = 30
    skewed, _ = datasets.make_blobs(n_samples=points, random_state=170)
    sets = {
        "circles": datasets.make_circles(n_samples=points, factor=0.5, noise=0.05, random_state=seed)[0],
        "moons": datasets.make_moons(n_samples=points, noise=0.05, random_state=seed)[0],
        "blobs": datasets.make_blobs(n_samples=points, random_state=seed)[0],
        "no structure": np.random.RandomState(seed).rand(points, 2),
        "skewed": skewed @ [[0.6, -0.6], [-0.4, 0.8]],
        "varied": datasets.make_blobs(n_samples=points, cluster_std=[1.0, 2.5, 0.5], random_state=170)[0],
        "iris": datasets.load_iris().data,
        "wine": datasets.load_wine().data,
    }
    return {name: StandardScaler().fit_transform(x) for name, x in sets.items()}


def write_small(path):
    """Per set: name, points, dimension, integers; per case: smallest cluster, samples, leaf, labels, sum of probabilities."""
    import numpy as np
    from sklearn.cluster import HDBSCAN

    with open(path, "w", encoding="ascii") as out:
        for name, points in toys(160).items():
            x = np.rint(points[:, :4] * 2000)
            print(name.replace(" ", "_"), *x.shape, file=out)
            for row in x.astype(int):
                print(*row, file=out)
            for p in PARAMETERS:
                found = HDBSCAN(copy=True, **p).fit(x)
                leaf = int(p.get("cluster_selection_method") == "leaf")
                samples = p.get("min_samples", p["min_cluster_size"])
                labels = "".join("." if label < 0 else chr(ord("a") + label) for label in found.labels_)
                print(p["min_cluster_size"], samples, leaf, labels, f"{found.probabilities_.sum():.9f}", file=out)


if __name__ == "__main__":
    missing = "AVX2 AVX512_SKX AVX512_ICL AVX512_SPR X86_V3 X86_V4"
    if os.environ.get("NPY_DISABLE_CPU_FEATURES") != missing:
        os.environ["NPY_DISABLE_CPU_FEATURES"] = missing
        os.execv(sys.executable, [sys.executable, *sys.argv])
    write_small(sys.argv[1])
