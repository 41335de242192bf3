"""How calls behave beside their results: Ctrl-C, threads, errors, memory, what an import costs."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import merganser
import numpy as np
import pytest
from patience import PATIENCE


def run(code, **more):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120 * PATIENCE, **more)


INTERRUPTED = """
import os, signal, threading, time, sys
import numpy as np, merganser
signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts in the background of a shell ignores it
points = np.random.default_rng(1).random((3_000_000, 3))
threading.Timer(0.5, lambda: (globals().update(sent=time.time()), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    merganser.euclidean_tree(points, ranks=RANKS)
except KeyboardInterrupt:
    print(time.time() - sent)
    assert merganser.euclidean_tree(points[:1000]).components == 1
else:
    print("not interrupted")
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_ctrl_c_ends_a_long_call_within_about_a_second(ranks):
    done = run(INTERRUPTED.replace("RANKS", str(ranks)))
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 3  # 1 s where nothing else runs


@pytest.mark.parametrize("first", ["main", "sub"])
def test_an_import_in_a_sub_interpreter_is_refused_and_leaves_the_main_one_as_it_was(first):
    code = """
try:
    import _xxsubinterpreters as interpreters
    make, run = interpreters.create, interpreters.run_string
except ImportError:  # Python 3.13 and later
    import _interpreters
    make, run = lambda: _interpreters.create("legacy"), _interpreters.run_string
if FIRST == "main":
    import merganser
for _ in range(2):
    run(make(), '''
try:
    import merganser
except ImportError as error:
    assert "allowed: the main interpreter" in str(error), error
else:
    raise AssertionError("imported")
import sys
assert not [name for name in sys.modules if name.startswith(("merganser", "numpy"))]
''')
import merganser, numpy as np
points = np.random.default_rng(1).random((100, 3))
assert merganser.euclidean_tree(points).components == 1
assert len(merganser.stars(points, np.ones(100, bool)).centre) == 100
try:
    merganser.stars(points, np.ones(100, bool), ids=np.zeros(100, int))
except merganser.InputError:
    print("fine")
"""
    done = run(code.replace("FIRST", repr(first)))
    assert done.stdout.strip() == "fine", done.stdout + done.stderr


def test_a_handler_that_raises_is_heard():
    code = """
import signal, threading, os, numpy as np, merganser
class Enough(Exception): pass
def handler(*_): raise Enough
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try: merganser.euclidean_tree(np.random.default_rng(1).random((3_000_000, 3)))
except Enough: print("enough")
"""
    done = run(code)
    assert done.stdout.strip() == "enough", done.stderr


def test_other_threads_run_meanwhile():
    points = np.random.default_rng(1).random((200_000, 3))
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    merganser.euclidean_tree(points)
    stop.set()
    thread.join()
    assert len(ticks) > 5


def test_calls_from_several_threads_do_not_meet():
    points = np.random.default_rng(1).random((5000, 3))
    expected = merganser.euclidean_tree(points).digest
    found = []
    threads = [threading.Thread(target=lambda: found.append(merganser.euclidean_tree(points).digest)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [expected] * 4


def test_errors_are_pythons_too():
    assert issubclass(merganser.UsageError, ValueError) and issubclass(merganser.UsageError, merganser.Error)
    assert issubclass(merganser.InputError, ValueError) and issubclass(merganser.InputError, merganser.Error)
    assert issubclass(merganser.CommError, RuntimeError) and issubclass(merganser.CommError, merganser.Error)
    with pytest.raises(merganser.InputError, match="finite"):
        merganser.euclidean_tree(np.full((3, 3), np.nan))


def test_arrays_are_not_kept_and_results_own_their_memory():
    points = np.random.default_rng(1).random((1000, 3))
    before = sys.getrefcount(points)
    forest = merganser.euclidean_tree(points)
    assert sys.getrefcount(points) == before
    weights, edges, tree = forest.weights, forest.edges, merganser.hdbscan(forest).tree
    lambdas, digest = tree.lambda_, forest.digest
    del forest, tree
    gc.collect()
    assert weights.flags.owndata or weights.base is not None
    assert len(weights) == len(edges) == 999 and len(lambdas) == 1000 and len(digest) == 32
    assert np.isfinite(weights.sum())


def test_importing_takes_no_optional_package():
    code = ("import sys, merganser; "
            "print([m for m in ('mpi4py', 'scipy', 'sklearn', 'matplotlib', 'pandas', 'networkx') if m in sys.modules])")
    assert run(code).stdout.strip() == "[]"


def test_the_version_is_the_packages():
    from importlib.metadata import version

    assert merganser.__version__ == version("merganser")


def test_types_are_told():
    folder = os.path.dirname(merganser.__file__)
    assert os.path.exists(os.path.join(folder, "py.typed"))
    with open(os.path.join(folder, "_core.pyi")) as file:
        assert "def euclidean_tree(" in file.read()


def test_a_signal_that_is_ignored_does_not_end_a_call():
    previous = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        assert merganser.euclidean_tree(np.random.default_rng(1).random((300_000, 3))).components == 1
    finally:
        signal.signal(signal.SIGUSR1, previous)


@pytest.mark.parametrize("names", [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
                                   ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")])
def test_ranks_that_are_threads_run_in_a_process_that_a_launcher_has_started(names):
    code = """
import numpy as np, merganser
points = np.random.default_rng(1).random((500, 3))
assert merganser.euclidean_tree(points, ranks=3).digest == merganser.euclidean_tree(points).digest
print(len(merganser.stars(points, points[:, 0] < 0.3, ranks=2).centre))
"""
    done = run(code, env={**os.environ, names[0]: "1", names[1]: "4"})
    assert done.stdout.strip() == "500", done.stderr


def test_no_library_is_looked_for_where_somebody_works():
    tool = Path(__file__).resolve().parents[2] / "tools" / "runtime_paths.py"
    done = subprocess.run([sys.executable, tool, Path(merganser.__file__).parent], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
