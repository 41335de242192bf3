"""Thirty sets of points by which scores are compared with hdbscan's: 2 to 10 dimensions, noise, densities, one cluster, all noise."""
import numpy as np


def make_set(number):
    """Points and parameters of one set: min_cluster_size, samples (nearest neighbours without the point itself), method, single."""
    random = np.random.default_rng(number)
    d = 2 + number % 9
    kind = ("densities", "one", "noise", "nested", "moons", "grid of blobs")[number % 6]
    if kind == "densities":
        points = [random.normal(c, s, (60 + 20 * i, d)) for i, (c, s) in enumerate(((0, 0.1), (3, 0.4), (-4, 0.8)))]
    elif kind == "one":
        points = [random.normal(0, 1, (180, d))]
    elif kind == "noise":
        points = [random.uniform(0, 1, (150, d))]
    elif kind == "nested":
        points = [random.normal(c, s, (50, d)) for c, s in ((0, 0.05), (0.6, 0.05), (0.3, 0.6), (5, 0.3), (5.8, 0.1))]
    elif kind == "moons":
        turn = random.uniform(0, np.pi, 100)
        flat = np.concatenate([np.column_stack([np.cos(turn), np.sin(turn)]), np.column_stack([1 - np.cos(turn), 0.5 - np.sin(turn)])])
        points = [np.pad(flat, ((0, 0), (0, d - 2))) + random.normal(0, 0.06, (200, d))]
    else:
        points = [random.normal(3 * np.eye(d)[i % d] * (1 + i // d), 0.2 + 0.1 * (i % 3), (35, d)) for i in range(5)]
    extent = np.concatenate(points)
    points.append(random.uniform(extent.min(axis=0), extent.max(axis=0), (0 if kind in ("one", "noise") else 30, d)))
    parameters = {
        "min_cluster_size": (5, 10, 15)[number % 3],
        "samples": (1, 4)[number // 15],
        "method": ("eom", "leaf")[number % 5 == 4],
        "single": kind == "one",
    }
    return kind, random.permutation(np.concatenate(points)), parameters


SETS = range(30)
