"""Every measure under every policy has the bits that version 0.1 gave, on shared and generated data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import version_01
from test_digests import SAME_LIBRARY

STORED = json.loads(Path(__file__).with_name("digests-0.1.json").read_text())
# What was mended since: (measure, policy) and why.
_ASPECTS = "0.1 counted a target several times that one tied document meets in several aspects"
CHANGED = {
    (measure, policy): _ASPECTS
    for measure in ("DR", "Diversity")
    for policy in ("ties=average", "ties=bounds")
}


@pytest.mark.skipif(not SAME_LIBRARY, reason="logarithms of another library may differ in a bit")
@pytest.mark.parametrize("name", version_01.COLLECTIONS)
def test_values_of_measures(shared_data, name):
    stored = STORED["collections"][name]
    computed = version_01.digests(name, shared_data, STORED["labels"])
    different = {
        (measure, policy)
        for policy, _ in version_01.policies()
        for measure, digest in stored.get(policy, stored["default"]).items()
        if computed.get(policy, computed["default"])[measure] != digest
    }
    assert different == (set(CHANGED) if name == "generated" else set())


def test_good_gain():
    computed = version_01.gain_digests(list(STORED["good_gain"]["{}"]))
    assert computed == STORED["good_gain"]
