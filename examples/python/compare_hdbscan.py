"""HDBSCAN* beside fast_hdbscan, hdbscan and scikit-learn, and its spanning tree beside quitefastmst: times and results, in one run.

    python examples/python/compare_hdbscan.py --points 2^17 --dimensions 3,8,10,16
    python examples/python/compare_hdbscan.py --points 20000 --dimensions 8 --data blobs,digits --repeat 5

Every program that is installed clusters the same points, one after the other, again and again (interleaved), each in a
process of its own with one thread; shown are the medians of user CPU and wall clock time, with what each imports and compiles
at its first call left out (it gets 500 points before: "first call" is their user CPU), and the adjusted Rand index of its labels
with merganser's; of the programs that compute the tree alone the sum of its weights, relative to merganser's.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys

PROGRAMS = ("merganser", "fast_hdbscan", "hdbscan", "sklearn", "merganser_tree", "quitefastmst")
TREES = ("merganser_tree", "quitefastmst")  # compute the tree of mutual reachability distances alone
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
SAMPLES = 10  # as scikit-learn counts, the point itself included
LEAST = 40  # points of a cluster


def make_points(data, count, dimension):
    """Generates or loads points, (n, d). `digits` are scikit-learn's images of 64 numbers, projected onto their principal axes and
    repeated with a little noise up to `count`."""
    import numpy as np

    random = np.random.default_rng(12)
    if data == "uniform":
        return random.random((count, dimension))
    if data == "blobs":
        centres = random.random((50, dimension))
        return centres[random.integers(50, size=count)] + 0.01 * random.standard_normal((count, dimension))
    if data == "digits":
        from sklearn.datasets import load_digits

        images = load_digits().data
        images = images - images.mean(axis=0)
        axes = np.linalg.svd(images, full_matrices=False)[2][:dimension]
        flat = images @ axes.T
        times = -(-count // len(flat))
        return (np.repeat(flat, times, axis=0) + 0.5 * random.standard_normal((times * len(flat), dimension)))[:count]
    return np.load(data)[:count]


class Tree:
    """Estimator of a spanning tree, whose labels are the weights of the edges."""

    def __init__(self, weights_of):
        self.weights_of = weights_of

    def fit(self, points):
        self.labels_ = self.weights_of(points)
        return self


def clusterer(program):
    """Returns an estimator of a program, with parameters that mean the same in all of them."""
    if program == "merganser_tree":
        from merganser import euclidean_tree

        return Tree(lambda points: euclidean_tree(points, min_samples=SAMPLES).weights)
    if program == "quitefastmst":
        from quitefastmst import mst_euclid

        return Tree(lambda points: mst_euclid(points, SAMPLES - 1)[0])
    if program == "merganser":
        from merganser import HDBSCAN

        return HDBSCAN(min_cluster_size=LEAST, min_samples=SAMPLES, ties=os.environ.get("TIES", "sequential"))
    if program == "fast_hdbscan":
        from fast_hdbscan import HDBSCAN

        return HDBSCAN(min_cluster_size=LEAST, min_samples=SAMPLES - 1)
    if program == "hdbscan":
        from hdbscan import HDBSCAN

        return HDBSCAN(min_cluster_size=LEAST, min_samples=SAMPLES - 1, core_dist_n_jobs=1, approx_min_span_tree=False)
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=LEAST, min_samples=SAMPLES, n_jobs=1, copy=True)


def serve(program, data, count, dimension):
    """Clusters once for every line of standard input, in a process of its own: saves the labels in the file that the line names
    and prints user CPU and wall clock time."""
    import resource
    import time

    import numpy as np

    points = make_points(data, count, dimension)
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    clusterer(program).fit(points[:500])  # what is compiled at the first call is compiled now
    print(resource.getrusage(resource.RUSAGE_SELF).ru_utime - start, flush=True)
    for line in sys.stdin:
        wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        found = clusterer(program).fit(points)
        after = resource.getrusage(resource.RUSAGE_SELF)
        wall = time.perf_counter() - wall
        np.save(line.strip(), found.labels_)
        print(json.dumps([after.ru_utime - before.ru_utime, wall]), flush=True)


class Server:
    """Process that clusters with one program on request."""

    def __init__(self, program, data, count, dimension, folder):
        self.program, self.labels, self.times, self.problem = program, os.path.join(folder, program + ".npy"), [], None
        environment = {**os.environ, **{name: "1" for name in THREADS}, "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, __file__, "--serve", program, "--data", data, "--points", str(count), "--dimensions",
                   str(dimension)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        first = self.process.stdout.readline().strip()
        self.first = float(first) if first else float("nan")
        if not first:
            self.problem = "does not start"

    def run_once(self):
        if self.problem:
            return
        self.process.stdin.write(self.labels + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer:
            self.times.append(json.loads(answer))
        else:
            self.problem = "ended"

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def compare(data, count, dimension, programs, repeat):
    """Runs all programs on one set of points, interleaved, and prints a table."""
    import tempfile

    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        servers = [Server(program, data, count, dimension, folder) for program in programs]
        for _ in range(repeat):
            for server in servers:
                server.run_once()
        for server in servers:
            server.end()
        print(f"\n{data}, {count:,} points, {dimension}D, min_samples {SAMPLES}, min_cluster_size {LEAST}, {repeat} runs")
        print(f"  {'':14}{'user CPU':>10}{'first call':>12}{'wall':>10}{'CPU ratio':>11}{'index':>9}{'clusters':>10}{'noise':>10}")
        for server in servers:
            first = next(other for other in servers if (other.program in TREES) == (server.program in TREES))
            if server.problem or not server.times:
                print(f"  {server.program:14} {server.problem}")
                continue
            user, wall = (statistics.median(t[i] for t in server.times) for i in (0, 1))
            labels = np.load(server.labels)
            base = statistics.median(t[0] for t in first.times) if first.times else 0
            ratio = user / base if base > 0 else float("nan")  # a few hundred points take less than a tick of the clock
            line = f"  {server.program:14}{user:>8.2f} s{server.first:>10.2f} s{wall:>8.2f} s{ratio:>10.1f}x"
            if server.program in TREES:
                share = labels.sum() / np.load(first.labels).sum() if first.times else float("nan")
                print(f"{line}{share:>9.6f}")
                continue
            index = rand_index(labels, np.load(first.labels)) if first.times else float("nan")
            print(f"{line}{index:>9.4f}{labels.max() + 1:>10}{(labels < 0).sum():>10,}")


def rand_index(a, b):
    """Returns the adjusted Rand index: 1 for equal partitions, about 0 for independent ones. Noise counts as a cluster."""
    import numpy as np

    a, b = np.unique(a, return_inverse=True)[1], np.unique(b, return_inverse=True)[1]
    both = np.unique(a * (b.max() + 1) + b, return_counts=True)[1]

    def pairs(counts):
        counts = counts.astype(np.float64)
        return (counts * (counts - 1) / 2).sum()

    rows, columns, all_pairs = pairs(np.bincount(a)), pairs(np.bincount(b)), pairs(np.array([len(a)]))
    chance = rows * columns / all_pairs
    most = (rows + columns) / 2
    return 1.0 if most == chance else (pairs(both) - chance) / (most - chance)


def parse_count(text):
    base, power, exponent = text.partition("^")
    return int(base) ** int(exponent) if power else int(base)


def parse_dimensions(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=parse_count, default=2**14, help="number of points, 2^14 too")
    parser.add_argument("--dimensions", "--dimension", type=parse_dimensions, default=[3], help="numbers of axes, with commas")
    parser.add_argument("--data", default="uniform,blobs,digits", help="uniform, blobs, digits or files .npy, with commas")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve, options.data, options.points, options.dimensions[0])
    wanted = options.programs.split(",")
    programs = [name for name in wanted if importlib.util.find_spec(name.removesuffix("_tree"))]
    missing = [name for name in wanted if name not in programs]
    print("not installed:", ", ".join(missing) if missing else "none of those asked for")
    for data in options.data.split(","):
        if data == "digits" and not importlib.util.find_spec("sklearn"):
            print("\ndigits: left out, it is a data set of scikit-learn")
            continue
        for dimension in options.dimensions:
            compare(data, options.points, dimension, programs, options.repeat)
    return None


if __name__ == "__main__":
    main()
