"""Calls of several threads at once, on one object and on many; what callbacks and signals raise; announcements and steps beside."""
import concurrent.futures
import contextvars
import gc
import signal
import threading
import weakref

import merganser
import numpy as np
import pytest

random = np.random.default_rng(21)
POINTS = random.random((2000, 3))
SMALL = random.random(2000) < 0.4
WIDE = random.random((150, 18))


def at_once(*calls, each=4):
    """Results of all calls, each made `each` times, all begun at one moment on threads of their own."""
    gate = threading.Barrier(each * len(calls))

    def run(call):
        gate.wait()
        return call()

    with concurrent.futures.ThreadPoolExecutor(each * len(calls)) as pool:
        return [f.result(timeout=120) for f in [pool.submit(run, call) for call in calls for _ in range(each)]]


def test_different_functions_called_at_once_give_what_they_give_alone():
    graph = merganser.generate_graph("gnm:10:8")
    calls = (
        lambda: merganser.euclidean_tree(POINTS, min_samples=4, ranks=2).digest,
        lambda: merganser.minimum_spanning_forest(graph, ranks=3).digest,
        lambda: merganser.stars(POINTS, SMALL, ranks=2).centre.tolist(),
        lambda: merganser.HDBSCAN(10).fit(POINTS[:500]).labels_.tolist(),
        lambda: merganser.cut(merganser.linkage(merganser.euclidean_tree(POINTS[:300])), count=7).tolist(),
    )
    expected = [call() for call in calls for _ in range(3)]
    assert at_once(*calls, each=3) == expected


def test_one_forest_serves_many_threads_from_its_first_use_on():
    alone = merganser.euclidean_tree(POINTS, min_samples=3)
    expected = [alone.digest, alone.edges.tolist(), alone.weights.tolist(), merganser.linkage(alone).tolist(),
                merganser.hdbscan(alone, 8).labels.tolist(), merganser.hdbscan(alone, 8, ties="sequential").labels.tolist()]
    for _ in range(3):
        forest = merganser.euclidean_tree(POINTS, min_samples=3, ranks=3)  # not sorted yet
        found = at_once(lambda: forest.digest, lambda: forest.edges.tolist(), lambda: forest.weights.tolist(),
                        lambda: merganser.linkage(forest).tolist(), lambda: merganser.hdbscan(forest, 8).labels.tolist(),
                        lambda: merganser.hdbscan(forest, 8, ties="sequential").labels.tolist(), each=2)
        assert found[::2] == found[1::2] == expected


def test_errors_of_one_thread_stay_with_it():
    bad = POINTS.copy()
    bad[1234, 2] = np.nan

    def refused():
        with pytest.raises(merganser.InputError, match="point 1234 "):
            merganser.euclidean_tree(bad, ranks=2)
        return "refused"

    expected = merganser.euclidean_tree(POINTS).digest
    assert at_once(refused, lambda: merganser.euclidean_tree(POINTS).digest) == ["refused"] * 4 + [expected] * 4


def test_stars_merge_on_many_threads():
    found = merganser.stars(POINTS, SMALL)
    volume = random.random(2000) + 0.1
    expected = found.merge(volume, {"a": volume})
    for merged in at_once(lambda: found.merge(volume, {"a": volume}), each=6):
        assert (merged.points == expected.points).all() and (merged.attributes["a"] == expected.attributes["a"]).all()


def test_parcels_may_be_looked_at_while_they_merge():
    parcels = merganser.random_parcels(8, box=(0, 1), per_cell=8, seed=2)
    once = merganser.random_parcels(8, box=(0, 1), per_cell=8, seed=2)
    clusterer = merganser.Clusterer(parcels, 8, box=(0, 1))
    stop, seen = threading.Event(), []

    def when_free(call):
        while True:
            try:
                return call()
            except merganser.UsageError as error:
                assert str(error) == "parcels: in use by another thread; allowed: one call at a time"

    def look():
        while not stop.is_set():
            seen.append(len(when_free(lambda: parcels["volume"])))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        reports = [when_free(clusterer.step) for _ in range(3)]
    finally:
        stop.set()
        thread.join()
    assert set(seen) <= {reports[0]["before"], *(r["after"] for r in reports)}
    other = merganser.Clusterer(once, 8, box=(0, 1))
    assert [other.step()["after"] for _ in range(3)] == [r["after"] for r in reports] and once.digest == parcels.digest


class Refused(Exception):
    """Carries an object, to see when it is freed."""


@pytest.mark.parametrize("error", [Refused, KeyboardInterrupt, SystemExit, ZeroDivisionError, merganser.InputError, MemoryError])
@pytest.mark.parametrize("ranks", [1, 3])
def test_whatever_a_callback_raises_comes_out_as_it_is(error, ranks):
    raised = []

    def refuse(forecast):
        raised.append(error("too much"))
        raise raised[0]

    calls = (lambda: merganser.euclidean_tree(WIDE, forecast=refuse, ranks=ranks),
             lambda: merganser.gather_points(WIDE, min_samples=3, forecast=refuse, ranks=ranks),
             lambda: merganser.HDBSCAN(forecast=refuse, ranks=ranks).fit(WIDE),
             lambda: merganser.SingleLinkage(forecast=refuse, ranks=ranks).fit(WIDE))
    for call in calls:
        raised.clear()
        with pytest.raises(error) as found:
            call()
        assert found.value is raised[0] and len(raised) == 1
    assert merganser.euclidean_tree(WIDE, ranks=ranks).components == 1


@pytest.mark.parametrize("ranks", [1, 2])
def test_callbacks_and_what_they_raise_are_freed(ranks):
    class Callback:
        def __call__(self, forecast):
            if self.raises:
                raise Refused(self)

    for raises in (False, True):
        callback = Callback()
        callback.raises = raises
        gone = weakref.ref(callback)
        try:
            merganser.euclidean_tree(WIDE, forecast=callback, ranks=ranks)
        except Refused:
            assert raises
        del callback
        gc.collect()
        assert gone() is None


def test_a_callback_may_call_the_library_itself():
    seen = []

    def look(forecast):
        seen.append(merganser.euclidean_tree(WIDE[:, :3]).digest)

    found = merganser.euclidean_tree(WIDE, forecast=look, ranks=2)
    assert seen == [merganser.euclidean_tree(WIDE[:, :3]).digest] and found.digest == merganser.euclidean_tree(WIDE).digest


def test_each_thread_has_its_own_callback():
    def one(limit):
        def refuse(forecast):
            if forecast.points > limit:
                raise Refused(limit)

        try:
            return merganser.euclidean_tree(WIDE, forecast=refuse, ranks=2).components
        except Refused as error:
            return error.args[0]

    assert at_once(lambda: one(10), lambda: one(149), lambda: one(150), each=3) == [10] * 3 + [149] * 3 + [1] * 3


@pytest.mark.parametrize("where", ["the main thread", "another"])
def test_a_signal_during_a_call_runs_its_handler(where):
    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(threading.current_thread() is threading.main_thread()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        if where == "another":
            thread = threading.Thread(target=lambda: merganser.euclidean_tree(random.random((60_000, 3))))
            thread.start()
            while thread.is_alive():
                thread.join(0.01)
        else:
            found = merganser.euclidean_tree(np.tile(POINTS, (40, 1)) + np.arange(80_000)[:, None], ranks=2)
            assert found.total_edges == 79_999
        while not heard:
            signal.pause()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert all(heard)


def test_arrays_live_as_long_as_they_are_looked_at():
    forest = merganser.euclidean_tree(POINTS[:200], min_samples=3)
    edges, tree = forest.edges, merganser.hdbscan(forest, 4).tree
    lambdas, clusters = tree.lambda_, tree.cluster_of
    kept = edges.copy(), lambdas.copy(), clusters.copy()
    del forest, tree
    for _ in range(3):
        gc.collect()
        merganser.euclidean_tree(random.random((300, 3)))  # what would take freed memory
    for now, then in zip((edges, lambdas, clusters), kept):
        np.testing.assert_array_equal(now, then)
        assert not now.flags.writeable
        with pytest.raises(ValueError):
            now[0] = 1


def test_announcements_come_after_their_time_in_the_order_they_were_made():
    for options in ({}, {"network": "torus", "dimension": 2}, {"network": "hypercube"}, {"network": "debruijn", "dimension": 2}):
        network = merganser.Announcements(**options)
        assert network.time_to_live == 1 and network.now == 0 and network.step() == []
        given = [b"", b"\x00\xff", bytearray(b"abc"), memoryview(b"defg")]
        ids = [network.announce(m, topic, immediate=topic % 2 == 1) for topic, m in enumerate(given)]
        assert ids == [(0, i) for i in range(4)]
        heard = network.step()
        expected = [(0, i, 1, i, bytes(m)) for i, m in enumerate(given)]
        assert [(a.origin, a.counter, a.announced, a.topic, a.bytes) for a in heard] == expected
        assert network.step() == [] and network.now == 3
        counts = network.statistics()
        assert (counts["steps"], counts["announced"], counts["delivered"]) == (3, 4, 4)
        assert all(type(count) is int for count in counts.values())


@pytest.mark.parametrize("call, error, text", [
    (lambda: merganser.Announcements(network=3), TypeError, "network: a int; allowed: a name"),
    (lambda: merganser.Announcements(network="star"), merganser.UsageError, ".*star"),
    (lambda: merganser.Announcements(dimension=0), merganser.UsageError, "dimension: 0; allowed: from 1 to 30"),
    (lambda: merganser.Announcements(dimension=31), merganser.UsageError, "dimension: 31"),
    (lambda: merganser.Announcements(dimension=2.0), TypeError, "dimension: a float"),
    (lambda: merganser.Announcements(max_bytes=0), merganser.UsageError, f"max_bytes: 0; allowed: from 1 to {2**40}"),
    (lambda: merganser.Announcements(model="p2p"), merganser.UsageError, "model: 'p2p'"),
    (lambda: merganser.Announcements().announce("text"), TypeError, "message: a str; allowed: bytes"),
    (lambda: merganser.Announcements().announce(None), TypeError, "message: a NoneType"),
    (lambda: merganser.Announcements().announce(b"", 0xFF00), merganser.UsageError, "topic: 65280; allowed: from 0 to 65279"),
    (lambda: merganser.Announcements().announce(b"", 1.0), TypeError, "topic: a float"),
    (lambda: merganser.Announcements(max_bytes=3).announce(b"four"), merganser.UsageError, ".*4"),
])
def test_announcements_are_refused_by_name(call, error, text):
    with pytest.raises(error, match=f"^{text}"):
        call()


def test_the_limits_of_an_announcement_are_themselves_allowed():
    network = merganser.Announcements(max_bytes=3)
    network.announce(b"abc", 0xFEFF)
    assert [(a.topic, a.bytes) for a in network.step()] == [(0xFEFF, b"abc")]


def test_results_do_not_depend_on_the_context_of_a_call():
    found = contextvars.copy_context().run(lambda: merganser.stars(POINTS, SMALL, ranks=2).centre)
    assert (found == merganser.stars(POINTS, SMALL).centre).all()
