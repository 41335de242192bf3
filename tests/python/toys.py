"""Toy data, as scikit-learn's comparison of clusterers has it, and parameters to cluster it with: 32 cases.

python tests/python/toys.py FILE writes small versions, rounded to integers, with scikit-learn's labels: tests/data/hdbscan/toys.txt;
python tests/python/toys.py --ties FILE writes sets with many equal distances (12 sets, 4 choices of parameters each):
tests/data/hdbscan/ties.txt. Both are data of tests/msf/grow_test.cpp; written with scikit-learn 1.9.1 and NumPy 2.4. It sets NPY_DISABLE_CPU_FEATURES, because the labels depend on NumPy's argsort, and that on the
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


TIE_PARAMETERS = (
    {"min_cluster_size": 2, "min_samples": 1},
    {"min_cluster_size": 3, "min_samples": 2},
    {"min_cluster_size": 5},
    {"min_cluster_size": 3, "min_samples": 3, "cluster_selection_method": "leaf"},
)


def ties(copies=3, points=60):
    """Sets of points with many equal distances by name: parts of lattices, whole numbers, two decimals, corners of a cube."""
    import numpy as np

    sets = {}
    for seed in range(copies):
        random = np.random.default_rng(seed)
        axes = np.meshgrid(*[np.arange(float(side)) for side in ((10, 9), (5, 5, 4), (12, 8))[seed % 3]])
        lattice = np.stack(axes, axis=-1).reshape(-1, len(axes))
        sets[f"lattice_{seed}"] = lattice[np.sort(random.permutation(len(lattice))[:points])]
        sets[f"whole_{seed}"] = random.integers(0, 12, (points, 2 + seed % 2)).astype(float)
        sets[f"decimals_{seed}"] = np.round(random.random((points, 2)), 2)
        corners = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], dtype=float)
        sets[f"corners_{seed}"] = corners[random.permutation(8)[:7]]
    return sets


def write_small(path, sets, parameters):
    """Per set: name, points, dimension, coordinates; per case: smallest cluster, samples, leaf, labels, sum of probabilities."""
    import numpy as np
    from sklearn.cluster import HDBSCAN

    with open(path, "w", encoding="ascii") as out:
        for name, x in sets.items():
            print(name.replace(" ", "_"), *x.shape, file=out)
            for row in x:
                print(*(f"{value:.17g}" if value % 1 else int(value) for value in row), file=out)
            for p in parameters:
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
    if sys.argv[1] == "--ties":
        write_small(sys.argv[2], ties(), TIE_PARAMETERS)
    else:
        import numpy

        write_small(sys.argv[1], {name: numpy.rint(x[:, :4] * 2000) for name, x in toys(160).items()}, PARAMETERS)
