"""Beyond 16 dimensions every pair is compared: what it costs is told before, and can be refused."""
import merganser
import numpy as np
import pytest
from merganser import _forecast

POINTS = np.random.default_rng(4).random((300, 17))


class Refused(Exception):
    pass


def refuse(forecast):
    raise Refused(f"{forecast.points} are too many")


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_forecast_is_seen_once_before_the_work(ranks):
    seen = []
    merganser.euclidean_tree(POINTS, min_samples=4, ranks=ranks, forecast=seen.append)
    (forecast,) = seen
    assert isinstance(forecast, merganser.PairsForecast)
    assert (forecast.points, forecast.dimension, forecast.distances) == (300, 17, 300 * 299 / 2 + 300 * 300)
    assert forecast.seconds > 0 and forecast.rank_bytes >= 300 / ranks * 17 * 8


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_the_callable_raises_refuses_the_work(ranks):
    with pytest.raises(Refused, match="300 are too many"):
        merganser.euclidean_tree(POINTS, ranks=ranks, forecast=refuse)
    assert merganser.euclidean_tree(POINTS, ranks=ranks).components == 1


def test_up_to_16_dimensions_nothing_is_asked():
    assert merganser.euclidean_tree(POINTS[:, :16], forecast=refuse, most_distances=1).components == 1


def test_more_distances_than_allowed_are_refused_by_the_name_of_the_option():
    with pytest.raises(merganser.UsageError, match=r"44,850 distances .* up to 44,849, or more with most_distances"):
        merganser.euclidean_tree(POINTS, most_distances=44849)
    assert merganser.euclidean_tree(POINTS, most_distances=44850).components == 1


def test_a_long_search_warns_and_a_short_one_does_not(monkeypatch, recwarn):
    merganser.euclidean_tree(POINTS)
    assert not [w for w in recwarn if w.category is UserWarning]
    monkeypatch.setattr(_forecast, "_LONG", 0.0)
    with pytest.warns(UserWarning, match="17 dimensions: every pair is compared, 4.48e\\+04 distances"):
        merganser.euclidean_tree(POINTS)


def test_a_warning_that_is_made_an_error_refuses(monkeypatch):
    monkeypatch.setattr(_forecast, "_LONG", 0.0)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="every pair"):
            merganser.euclidean_tree(POINTS)


@pytest.mark.parametrize("bad, error", [({"most_distances": 0}, ValueError), ({"most_distances": 1.5}, TypeError),
                                        ({"forecast": 3}, TypeError)])
def test_bad_options_are_refused(bad, error):
    with pytest.raises(error, match=next(iter(bad))):
        merganser.euclidean_tree(POINTS, **bad)


def test_estimators_tell_and_refuse_too():
    seen = []
    model = merganser.HDBSCAN(forecast=seen.append).fit(POINTS)
    assert {f.distances for f in seen} == {300 * 299 / 2 + 300 * 300}  # the tree and its lists of nearest points, once
    seen.clear()
    merganser.approximate_predict(model, POINTS[:7])
    assert seen and seen[-1].distances == 2 * 300 * 7
    for kind in (merganser.HDBSCAN, merganser.SingleLinkage):
        with pytest.raises(Refused):
            kind(forecast=refuse).fit(POINTS)
        with pytest.raises(merganser.UsageError, match="most_distances"):
            kind(most_distances=1000).fit(POINTS)
