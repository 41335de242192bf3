"""Merge policies: text, keywords, JSON; steps under a policy; what they report; predicate and mask; refusals."""
import copy
import gc
import json
import pickle
import weakref

import merganser
import numpy as np
import pytest
from merganser import Clusterer, InputError, MergePolicy, Parcels, Schema, UsageError

THIN = "crowded:8->4, same:species, within:1cell, place:member, conserve:momentum+energy"


def plasma(n=2000, seed=1, schema=None):
    """Parcels of two species with momenta, and a column for masks."""
    rng = np.random.default_rng(seed)
    rules = {"ux": "mean", "uy": "mean", "uz": "mean", "species": "largest", "chosen": "largest"}
    parcels = Parcels(Schema(schema or rules), n)
    parcels["position"], parcels["volume"] = rng.random((n, 3)), rng.random(n) * 1e-3 + 1e-4
    for name in ("ux", "uy", "uz"):
        parcels[name] = rng.normal(size=n)
    parcels["species"] = rng.integers(0, 2, n)
    return parcels


def test_text_keywords_and_json_say_the_same(tmp_path):
    text = MergePolicy(THIN)
    words = MergePolicy(crowded="8->4", same=["species"], within="1cell", place="member", conserve=["momentum", "energy"])
    members = {"crowded": "8->4", "same": ["species"], "within": "1cell", "place": "member", "conserve": "momentum+energy",
               "pairs": None, "stars": True, "level": False}
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(members), encoding="utf-8")
    assert text == words == MergePolicy.from_json(json.dumps(members)) == MergePolicy.from_file(path)
    assert str(text) == THIN and MergePolicy(str(text)) == text and hash(text) == hash(words)
    assert text != MergePolicy("crowded:8->4") and text != MergePolicy(THIN, step=1) and text != THIN
    assert str(MergePolicy("crowded:8->4", place="heaviest", seed=7)) == "crowded:8->4, place:heaviest, seed:7"
    assert str(MergePolicy(phase={"ux": 0.1, "uy": 2})) == "phase:ux*0.1+uy*2"
    assert MergePolicy(small=np.float64(0.25), members=np.int64(3)) == MergePolicy("small:0.25, members:3")
    assert MergePolicy() == MergePolicy(" ") and str(MergePolicy()) == "" and MergePolicy("mask:m").mask == "m"
    assert repr(MergePolicy("pairs", step=3)) == "MergePolicy('pairs', step=3)"


@pytest.mark.parametrize("policy", [MergePolicy(), MergePolicy(THIN, step=2), MergePolicy("within:1", allowed=all)])
def test_policies_are_copied_and_pickled(policy):
    for other in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy), copy.copy(policy)):
        assert other == policy and str(other) == str(policy) and other.step == policy.step


@pytest.mark.parametrize("name", ["step", "allowed", "mask"])
def test_a_policy_cannot_be_changed(name):
    policy = MergePolicy("within:1", step=2, allowed=all)
    before = getattr(policy, name)
    with pytest.raises(AttributeError):
        setattr(policy, name, 3)
    assert getattr(policy, name) == before


@pytest.mark.parametrize("make, message", [
    (lambda: MergePolicy("crowd:8->4"), "'crowd:8->4'; allowed: the parts small, mask, crowded"),
    (lambda: MergePolicy("crowded:4->8"), "1 <= TARGET <= MAX"),
    (lambda: MergePolicy("pairs,"), "has an empty part"),
    (lambda: MergePolicy("within:"), "a value behind the colon"),
    (lambda: MergePolicy("pairs", pairs=True), "two parts 'pairs'"),
    (lambda: MergePolicy("stars", pairs=True), "both say what merges"),
    (lambda: MergePolicy(crowded=True), "crowded:MAX->TARGET"),
    (lambda: MergePolicy(same=""), "'same' is an empty text"),
    (lambda: MergePolicy(same=["a+b"]), "one column an item, without a plus sign"),
    (lambda: MergePolicy(phase={"a*3+b": 2}), "one column an item, without a plus sign"),
    (lambda: MergePolicy(mask="a,b"), "a name without commas, plus signs"),
    (lambda: MergePolicy(same=object()), "text, a number, true, or a list of texts"),
    (lambda: MergePolicy(nothing=1), "'nothing:1'"),
    (lambda: MergePolicy(small=float("nan")), "positive"),
    (lambda: MergePolicy(allowed=all), "a predicate without within"),
    (lambda: MergePolicy("friends:1, within:1"), "friends with within"),
    (lambda: MergePolicy(step=-1), "policy: step: -1"),
])
def test_bad_policies_are_refused(make, message):
    with pytest.raises(UsageError) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize("text, message", [
    ("[]", "no JSON object"), ("{", "no JSON"), ('{"same": {"a": 1}}', "'same' is an object"),
    ('{"within": ""}', "'within' is an empty text"), ('{"within": 1, "within": 2}', "two parts 'within'"),
])
def test_bad_json_is_refused(text, message):
    with pytest.raises(ValueError) as caught:
        MergePolicy.from_json(text, "p.json")
    assert message in str(caught.value)
    if "two parts" not in message:
        assert isinstance(caught.value, InputError) and str(caught.value).startswith("p.json: ")


def test_toml_says_what_json_does(tmp_path):
    pytest.importorskip("tomllib", reason="Python reads TOML from 3.11 on")
    path = tmp_path / "policy.toml"
    path.write_text('crowded = "8->4"\nsame = ["species"]\nwithin = "1cell"\nplace = \'member\'\nsmall = false\n'
                    'conserve = "momentum+energy"\n', encoding="utf-8")
    assert MergePolicy.from_file(path) == MergePolicy(THIN)
    for bad, error in (("same", InputError), ("[same]\na = 1", InputError), ("within = 1\nwithin = 2", InputError),
                       ("within = 2026-11-26", InputError), ("within = nan", UsageError), ("colour = 1", UsageError)):
        path.write_text(bad, encoding="utf-8")
        with pytest.raises(error):
            MergePolicy.from_file(path)


def test_wrong_types_are_refused():
    for make in (lambda: MergePolicy(7), lambda: MergePolicy(allowed="x"), lambda: MergePolicy(step=0.5),
                 lambda: Clusterer(plasma(3), 2, box=(0, 1), policy=7)):
        with pytest.raises(TypeError):
            make()


def test_the_help_documents_every_part():
    with pytest.raises(UsageError) as caught:
        MergePolicy("no-part")
    parts = str(caught.value).split("allowed: the parts ")[1].split(", ")
    assert len(parts) == 24
    first_words = [line.split()[0].split(":")[0].rstrip(",") for line in MergePolicy.__doc__.splitlines() if line.strip()]
    assert set(parts) <= set(first_words)


def test_a_policy_thins_and_conserves_what_it_says():
    parcels = plasma()
    volume, u = parcels["volume"], np.stack([parcels[c] for c in ("ux", "uy", "uz")], axis=1)
    report = Clusterer(parcels, 4, box=(0, 1), periodic=True, policy=THIN).step()
    found = report["policy"]
    assert found["rounds"] > 1 and found["settled"] is True and report["after"] == len(parcels) < 2000
    np.testing.assert_allclose(found["weight_before"], volume.sum(), rtol=1e-13)
    np.testing.assert_allclose(found["momentum_before"], volume @ u, rtol=1e-10)
    np.testing.assert_allclose(found["energy_before"], (volume * (u**2).sum(1)).sum() / 2, rtol=1e-13)
    for name in ("weight", "momentum", "energy"):
        np.testing.assert_allclose(found[f"{name}_after"], found[f"{name}_before"], rtol=1e-10)
    volume, u = parcels["volume"], np.stack([parcels[c] for c in ("ux", "uy", "uz")], axis=1)
    np.testing.assert_allclose(found["energy_after"], (volume * (u**2).sum(1)).sum() / 2, rtol=1e-12)


KNOWN = {
    "": "938c03d911586c2209e419cd1f0b6a45",
    "crowded:6->4, within:1cell, place:member, seed:3": "da8d0bb833ff99c395d489a13d56bede",
    "small, pairs, within:0.5spacing, members:3, rounds:2": "dfddf60e3152b0a66d07eb6a9428c5f7",
    "crowded:6->4, greedy:2, split:4, along:axis": "3ba1ad92f6e9cb83b3792d3380a0bb00",
}
"""Digests after two steps, the same in tests/capi/policy_test.cpp: every language gives these bits."""


@pytest.mark.parametrize("policy", KNOWN)
def test_steps_give_the_known_bits(policy):
    parcels = merganser.random_parcels(8, box=(0, 1), per_cell=8, small_fraction=0.5, min_volume_ratio=20, seed=1)
    clusterer = Clusterer(parcels, 8, box=(0, 1), periodic=True, min_volume_ratio=20, policy=policy)
    clusterer.step()
    report = clusterer.step()
    assert parcels.digest == KNOWN[policy], report


def test_without_a_policy_a_step_is_what_it_was():
    digests = set()
    for given in ({}, {"policy": None}, {"policy": ""}, {"policy": MergePolicy()}, {"policy": "small, stars"}):
        parcels = plasma()
        report = Clusterer(parcels, 4, box=(0, 1), **given).step()
        assert report["policy"]["rounds"] == 0 and report["merged"] > 0
        digests.add(parcels.digest)
    assert len(digests) == 1


def test_the_mask_is_an_array_or_the_column():
    chosen = np.random.default_rng(2).random(2000) < 0.3
    one, other = plasma(), plasma()
    clusterer = Clusterer(one, 4, box=(0, 1), policy="mask:chosen, within:2cell")
    assert (one["id"] == np.arange(2000)).all() and clusterer.step(chosen)["small"] == chosen.sum()
    other["chosen"] = chosen
    Clusterer(other, 4, box=(0, 1), policy="mask:chosen, within:2cell").step()
    assert one.digest == other.digest and len(one) < 2000
    with pytest.raises(UsageError, match="small: given with policy ''; allowed"):
        Clusterer(plasma(), 4, box=(0, 1)).step(chosen)
    with pytest.raises(InputError, match="small"):
        clusterer.step(chosen)  # as many as there were
    with pytest.raises(TypeError, match="bool"):
        clusterer.step(np.ones(len(one)))


def test_a_predicate_keeps_results_out_of_a_region():
    def outside(place):
        assert isinstance(place, tuple) and len(place) == 3
        return np.bool_(place[0] < 0.4 or place[0] > 0.6)

    free, kept = plasma(), plasma()
    Clusterer(free, 4, box=(0, 1), min_volume_ratio=2, policy="within:1cell").step()
    before = kept["position"][:, 0]
    clusterer = Clusterer(kept, 4, box=(0, 1), min_volume_ratio=2, policy=MergePolicy("within:1cell", allowed=outside))
    report = clusterer.step()
    inside = kept["position"][:, 0]
    inside = inside[(inside >= 0.4) & (inside <= 0.6)]
    assert report["policy"]["refused"] > 0 and len(kept) < 2000 and kept.digest != free.digest
    assert np.isin(inside, before).all()  # only parcels that have not merged


def test_an_error_of_the_predicate_is_raised():
    def broken(place):
        raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        Clusterer(plasma(), 4, box=(0, 1), min_volume_ratio=2, policy=MergePolicy("within:1", allowed=broken)).step()


def test_parcels_stay_after_an_error_of_the_predicate_which_is_raised_once():
    calls = []

    def seldom(place):
        calls.append(place)
        if len(calls) == 50:
            raise KeyError("fifty")
        return True

    parcels = plasma()
    volume = parcels["volume"].sum()
    clusterer = Clusterer(parcels, 4, box=(0, 1), min_volume_ratio=2, policy=MergePolicy("within:1cell", allowed=seldom))
    with pytest.raises(KeyError, match="fifty"):
        clusterer.step()
    assert 1000 < len(parcels) < 2000 and len(calls) == 50
    np.testing.assert_allclose(parcels["volume"].sum(), volume, rtol=1e-13)
    assert clusterer.step()["merged"] > 0 and len(calls) > 50
    np.testing.assert_allclose(parcels["volume"].sum(), volume, rtol=1e-13)


def test_parcels_stay_after_an_error_of_a_column():
    parcels = plasma()
    parcels["species"] = np.where(np.arange(2000) == 70, 0.5, 1)
    clusterer, digest = Clusterer(parcels, 4, box=(0, 1), policy="same:species"), parcels.digest
    for _ in range(2):
        with pytest.raises(InputError, match="a column of same is 0.5"):
            clusterer.step()
        assert len(parcels) == 2000 and parcels.digest == digest


@pytest.mark.parametrize("steps", [None, 0, 1])
def test_a_predicate_that_is_a_method_does_not_keep_its_object(steps):
    class Simulation:
        def __init__(self):
            self.policy = MergePolicy("within:1cell", allowed=self.inside)
            if steps is not None:
                self.clusterer = Clusterer(plasma(200), 4, box=(0, 1), min_volume_ratio=2, policy=self.policy)
                for _ in range(steps):
                    assert self.clusterer.step()["policy"]["refused"] == self.calls > 0

        calls = 0

        def inside(self, place):
            self.calls += 1
            return False

    alive = weakref.ref(Simulation())
    gc.collect()
    assert alive() is None


def test_a_clusterer_keeps_its_predicate():
    clusterer = Clusterer(plasma(), 4, box=(0, 1), min_volume_ratio=2,
                          policy=MergePolicy("within:1cell", allowed=lambda place: False))
    clusterer.policy = None
    gc.collect()
    report = clusterer.step()
    assert report["merged"] == 0 and report["policy"]["refused"] > 0


def test_steps_of_two_runs_are_those_of_one():
    whole, first = plasma(), plasma()
    clusterer = Clusterer(whole, 4, box=(0, 1), policy="crowded:8->4, place:member")
    assert [clusterer.policy_step, clusterer.step()["policy"]["rounds"] > 0, clusterer.policy_step] == [0, True, 1]
    clusterer.distribute()
    clusterer.step()
    half = Clusterer(first, 4, box=(0, 1), policy="crowded:8->4, place:member")
    half.step()
    Clusterer(first, 4, box=(0, 1), policy=MergePolicy("crowded:8->4, place:member", step=half.policy_step)).step()
    assert whole.digest == first.digest


def test_policies_that_do_not_fit_the_parcels_are_refused():
    for policy, message in (("same:ux", "centre or largest"), ("mask:nothing", "nothing"), ("small:1, greedy:16", "greedy")):
        with pytest.raises(UsageError, match=message):
            Clusterer(plasma(), 4, box=(0, 1), policy=policy)


def test_friends_merge_to_one_parcel_a_group():
    parcels = plasma()
    groups = merganser.friends_of_friends(parcels, "0.5spacing", same="species", box=(0, 1), periodic=True)
    report = Clusterer(parcels, 4, box=(0, 1), periodic=True, policy="friends:0.5spacing, same:species").step()
    assert report["after"] == len(parcels) == len(groups.id) and sorted(parcels["id"]) == groups.id.tolist()
    order = np.argsort(parcels["id"])
    np.testing.assert_array_equal(parcels["volume"][order], groups.mass)
    np.testing.assert_array_equal(parcels["position"][order], groups.centre)


def test_cells_with_few_parcels_split():
    parcels = plasma(400)
    before = parcels.to_dict()
    clusterer = Clusterer(parcels, 4, box=(0, 1), policy=MergePolicy("none", split=20, along="velocity"))
    report = clusterer.step()
    assert report["policy"]["split"] == len(parcels) - len(before["id"]) > 0
    assert parcels["volume"].sum() == pytest.approx(before["volume"].sum(), rel=1e-12)
    assert (parcels["id"] >= 2**62).sum() == report["policy"]["split"]
    with pytest.raises(InputError, match="ids below"):
        Clusterer(parcels, 4, box=(0, 1), policy="none, split:20").step()
