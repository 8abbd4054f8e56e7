"""Mean ranks against scipy and Demsar's example."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import critical_difference, mean_ranks

#: Demsar 2006, Table 6: AUC of four ways to prune a tree, on 14 sets
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_demsars_example_comes_out() -> None:
    found = mean_ranks(DEMSAR, ["C4.5", "m", "cf", "m+cf"], higher_is_better=True)
    assert found.mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
    at_ten = mean_ranks(DEMSAR, higher_is_better=True, level=0.10)
    assert at_ten.critical_difference == pytest.approx(1.12, abs=5e-3)
    assert found.p == pytest.approx(stats.friedmanchisquare(*DEMSAR.T).pvalue)
    assert found.groups == [["m+cf", "m", "cf", "C4.5"]]
    assert at_ten.groups == [["3", "1", "2"], ["2", "0"]]


@pytest.mark.parametrize("learners", [3, 6])
def test_friedmans_test_is_scipys(learners: int) -> None:
    errors = np.random.default_rng(0).integers(0, 8, (12, learners)) / 10  # many are equal
    found = mean_ranks(errors)
    statistic, p = stats.friedmanchisquare(*errors.T)
    assert found.statistic == pytest.approx(statistic)
    assert found.p == pytest.approx(p)
    assert found.mean_ranks == pytest.approx(stats.rankdata(errors, axis=1).mean(axis=0))


def test_two_learners_and_equal_ones() -> None:
    found = mean_ranks({"A": [0.1] * 9 + [0.3], "B": [0.2] * 10})
    assert found.mean_ranks == pytest.approx([1.1, 1.9])
    assert found.critical_difference == pytest.approx(1.96 / np.sqrt(10), abs=1e-3)
    assert found.groups == []
    alike = mean_ranks(np.zeros((5, 3)))
    assert (alike.statistic, alike.p, alike.mean_ranks) == (0, 1, [2, 2, 2])
    certain = mean_ranks([[1, 2, 3]] * 8)
    assert certain.p_iman_davenport == 0


def test_friedmans_p_values_are_even_where_nothing_differs() -> None:
    chance = np.random.default_rng(1)
    found = [mean_ranks(chance.random((20, 4))) for _ in range(60)]
    assert stats.kstest([ranks.p_iman_davenport for ranks in found], "uniform").pvalue > 0.01


def test_nemenyis_constants() -> None:
    # Demsar 2006, Table 5 (a)
    for learners, q in zip((2, 3, 5, 10), (1.960, 2.343, 2.728, 3.164), strict=True):
        constant = critical_difference(learners, 1) / np.sqrt(learners * (learners + 1) / 6)
        assert constant == pytest.approx(q, abs=1e-3)


def test_bad_input_gets_a_sentence() -> None:
    with pytest.raises(DataError, match="tasks by learners"):
        mean_ranks([[1.0]])
    with pytest.raises(DataError, match="B has no error on task 1"):
        mean_ranks([[1.0, 2.0], [1.0, np.nan]], ["A", "B"])
    with pytest.raises(DataError, match="3 learners, but 2 columns"):
        mean_ranks([[1.0, 2.0]], ["A", "B", "C"])
    with pytest.raises(DataError, match="the same tasks"):
        mean_ranks({"A": [1.0], "B": [1.0, 2.0]})
    with pytest.raises(ParameterError, match="two learners"):
        critical_difference(1, 5)
