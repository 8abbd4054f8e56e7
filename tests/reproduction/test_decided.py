"""Claims are decided by intervals: yes, no, or not to be told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from reproduction.decided import above_zero, interval, within
from reproduction.findings import DATA, POWER


def test_the_interval_is_that_of_students_t():
    values = np.random.default_rng(0).normal(0.3, 1, 12)
    expected = ttest_1samp(values, 0).confidence_interval(0.95)
    assert interval(values) == pytest.approx((expected.low, expected.high))
    assert interval([4.0]) == (-np.inf, np.inf)


def claim(*differences, **more):
    return above_zero("It is.", differences, "", trials="some", otherwise=DATA, **more)


def test_a_claim_holds_only_if_each_difference_is_above_zero():
    sure, unsure, against = [1.0, 1.1, 0.9, 1.0], [1.0, -1.0, 0.5, -0.4], [-1.0, -1.1, -0.9, -1.0]
    assert claim(sure).holds
    assert not claim(sure, unsure).holds
    assert claim(sure, unsure).why == POWER
    assert claim(sure, unsure, against).why == DATA
    assert claim([0.0, 0.0]).why == DATA  # no difference at all is an answer


def test_several_looks_at_chance_do_not_contradict_a_claim():
    random = np.random.default_rng(1)
    found = [claim(*random.normal(size=(20, 30))).why for _ in range(200)]
    assert found.count(DATA) < 15


def test_within_asks_for_both_sides():
    def similar(values):
        return within("Alike.", [values], 1.0, "", trials="some")

    assert similar([0.1, -0.2, 0.1, 0.0]).holds
    assert not similar([0.9, 1.3, 0.8, 1.2]).holds
    assert not similar([-1.9, -2.1, -2.0]).holds
