"""Two learners on one stream: intervals that cover, and tests that agree with others'."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from yarrow.errors import DataError, ParameterError
from yarrow.evaluate import (
    block_length,
    bootstrap,
    mcnemar,
    paired_comparison,
    paired_scatter,
)
from yarrow.evaluate.paired import _resampled


@pytest.mark.parametrize(("n", "length"), [(7, 1), (7, 2), (7, 3), (7, 7), (6, 3)])
def test_resamples_are_blocks_of_a_circle(n: int, length: int) -> None:
    """Every mean drawn is one that blocks put together by hand can have, equally often."""
    d = np.random.default_rng(0).normal(size=n)
    whole, rest = divmod(n, length)
    blocks = [[d[(s + i) % n] for i in range(length)] for s in range(n)]
    possible = [
        (sum(map(sum, chosen)) + sum(blocks[last][:rest])) / n
        for chosen in product(blocks, repeat=min(whole, 2))
        for last in range(n)
    ]
    means = _resampled(d, length, 20_000, np.random.default_rng(1))
    if whole <= 2:
        assert np.abs(means[:, None] - np.unique(possible)).min(axis=1).max() < 1e-12
    assert means.mean() == pytest.approx(d.mean(), abs=0.03)
    # The variance of a mean of independent blocks.
    of_blocks = np.var([sum(block) for block in blocks])
    of_rest = np.var([sum(block[:rest]) for block in blocks])
    assert means.var() == pytest.approx((whole * of_blocks + of_rest) / n**2, rel=0.05)


def dependent(chance: np.random.Generator, n: int, stay: float) -> np.ndarray:
    """A series whose neighbours correlate by `stay`, of mean 0.1 and variance 1."""
    noise = chance.normal(size=n) * np.sqrt(1 - stay**2)
    series = np.empty(n)
    now = chance.normal()
    for t in range(n):
        now = stay * now + noise[t]
        series[t] = now
    return series + 0.1


@pytest.mark.parametrize("stay", [0.0, 0.7])
def test_the_interval_covers_the_truth_as_often_as_it_says(stay: float) -> None:
    chance = np.random.default_rng(2)
    covered = simple = 0
    runs = 200
    for seed in range(runs):
        series = dependent(chance, 1000, stay)
        found = bootstrap(series, resamples=300, seed=seed)
        covered += found.low <= 0.1 <= found.high
        simple += abs(series.mean() - 0.1) <= 1.96 * series.std() / np.sqrt(1000)
    assert 0.88 <= covered / runs <= 0.99
    if stay:
        assert simple / runs < 0.75  # what an interval for independent rows would do


def test_independent_rows_have_the_usual_interval() -> None:
    wrong = np.random.default_rng(3).random(4000) < 0.2
    found = bootstrap(wrong, resamples=4000)
    half = 1.96 * wrong.std() / np.sqrt(4000)
    assert found.low == pytest.approx(wrong.mean() - half, abs=0.15 * half)
    assert found.high == pytest.approx(wrong.mean() + half, abs=0.15 * half)
    assert bootstrap(wrong, seed=1) == bootstrap(wrong, seed=1) != bootstrap(wrong, seed=2)


def test_blocks_are_longer_where_rows_depend_on_each_other() -> None:
    chance = np.random.default_rng(4)
    lengths = [
        np.mean([block_length(dependent(chance, 2000, stay)) for _ in range(10)])
        for stay in (0.0, 0.5, 0.9)
    ]
    assert lengths[0] < 6 < lengths[1] < lengths[2]
    # For this series Politis & White's (2*g^2/D)^(1/3) is known: g/sum = 2*r/(1 - r^2), D = 4/3.
    for stay in (0.5, 0.7):
        rows = 200_000
        length = np.mean([block_length(dependent(chance, rows, stay)) for _ in range(5)])
        known = (1.5 * (2 * stay / (1 - stay**2)) ** 2 * rows) ** (1 / 3)
        assert length == pytest.approx(known, rel=0.04)
    assert block_length(np.ones(100)) == block_length([1.0]) == 1


def test_p_values_are_even_where_nothing_differs() -> None:
    chance = np.random.default_rng(5)
    found = [
        bootstrap(dependent(chance, 500, 0.3) - 0.1, resamples=200, seed=s).p for s in range(150)
    ]
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_mcnemar_is_the_binomial_test_of_the_rows_where_one_is_wrong() -> None:
    chance = np.random.default_rng(6)
    for n in (5, 30, 200):
        one, other = chance.random(n) < 0.4, chance.random(n) < 0.3
        b, c = int(np.sum(one & ~other)), int(np.sum(~one & other))
        tail = stats.binom.cdf(min(b, c), b + c, 0.5)
        assert mcnemar(one, other) == pytest.approx(min(1.0, 2 * tail) if b != c else 1.0)
    assert mcnemar([True, False], [True, False]) == 1.0


def test_a_comparison_tells_the_better_one() -> None:
    chance = np.random.default_rng(7)
    hard = chance.random(3000) < 0.3
    one = hard & (chance.random(3000) < 0.8)
    other = hard & (chance.random(3000) < 0.9)
    found = paired_comparison(one, other, names=("A", "B"))
    assert found.difference == pytest.approx(one.mean() - other.mean())
    assert found.only == (int((one & ~other).sum()), int((~one & other).sum()))
    assert found.differ
    assert found.p < 0.01
    assert str(found).endswith("A is better")
    back = paired_comparison(other, one, names=("B", "A"))
    assert (back.difference, back.only) == (-found.difference, found.only[::-1])
    same = paired_comparison(one, one)
    assert (same.low, same.high, same.p, same.differ) == (0, 0, 1, False)
    values = paired_comparison(one * 1.5, other * 1.5)
    assert values.only is values.mcnemar_p is None


def test_a_long_stream_takes_blocks_of_a_ten_thousandth() -> None:
    wrong = np.random.default_rng(8).random(200_000) < 0.1
    found = bootstrap(wrong, resamples=500)
    assert found.block >= 20
    half = 1.96 * wrong.std() / np.sqrt(len(wrong))
    assert found.high - found.mean == pytest.approx(half, rel=0.25)


def test_a_scatter_has_the_tasks_that_both_have() -> None:
    errors = {"a": {"x": 0.1, "y": 0.2}, "b": {"x": 0.3}, "c": {"x": 0.2, "y": 0.2, "z": 1.0}}
    found = paired_scatter(errors, "x", "y")
    assert (found.tasks, found.points) == (["a", "c"], [(0.1, 0.2), (0.2, 0.2)])
    assert found.wins == (1, 1, 0)


def test_bad_input_gets_a_sentence() -> None:
    with pytest.raises(DataError, match="one value a row"):
        bootstrap([])
    with pytest.raises(DataError, match="row 1: The value is not finite"):
        bootstrap([1.0, np.nan])
    with pytest.raises(ParameterError, match="blocks of 1 to 3 rows"):
        bootstrap([1.0, 2.0, 3.0], block=4)
    with pytest.raises(DataError, match="differ in shape"):
        paired_comparison([True], [True, False])
    with pytest.raises(DataError, match="differ in number"):
        mcnemar([True], [True, False])
    with pytest.raises(DataError, match="truth value a row"):
        mcnemar([0.5], [True])


def test_what_a_bootstrap_takes_ends_where_it_says() -> None:
    rows = [1.0, 2.0, 3.0]
    for block in (1, 3):
        assert bootstrap(rows, block=block).block == block
    assert bootstrap(rows, resamples=1).rows == 3
    for wrong in ({"block": 0}, {"resamples": 0}, {"level": 0.0}, {"level": 1.0}):
        with pytest.raises(ParameterError, match="A bootstrap needs"):
            bootstrap(rows, **wrong)
    with pytest.raises(DataError, match="one value a row"):
        bootstrap([[1.0]])


def test_what_is_drawn_by_default() -> None:
    """Of 2,000 resamples none is as far from the mean as 0, so p is one in 2,001."""
    values = 10 + np.random.default_rng(0).normal(size=100)
    assert bootstrap(values).p == paired_comparison(values, 0 * values).p == 1 / 2001
    found = bootstrap(values, block=1)
    assert found.level == 0.95
    assert found == bootstrap(values, block=1, level=0.95, resamples=2000, seed=0)
    assert (found.low, found.high) == tuple(
        np.quantile(_resampled(values, 1, 2000, np.random.default_rng(0)), [0.025, 0.975])
    )


def test_short_and_even_streams_have_blocks_of_one_row() -> None:
    walk = [1.4, 1.5, 1.9, 3.0, 3.8, 4.4, 4.0, 3.0]
    assert block_length(walk[:7]) == 1  # fewer than eight rows do not say
    assert block_length(walk) == 2
    assert block_length([]) == 1


def test_the_verdict_is_told_for_either_side() -> None:
    chance = np.random.default_rng(9)
    worse, better = chance.random(2000) < 0.4, chance.random(2000) < 0.2
    told = str(paired_comparison(worse, better, names=("A", "B"), level=0.9))
    assert told.endswith("; B is better")
    assert " 90 % interval +" in told
    assert str(paired_comparison(worse, worse)).endswith("no significant difference")


def textbook_length(d: np.ndarray) -> int:
    """Politis & White's choice for the circular bootstrap, sum by sum."""
    n, centred = len(d), d - d.mean()
    run = max(5, int(np.ceil(np.sqrt(np.log10(n)))))
    most = min(int(np.ceil(np.sqrt(n))) + run, n - 1)
    covariance = [float(np.dot(centred[: n - k], centred[k:])) / n for k in range(most + 1)]
    limit = 2 * np.sqrt(np.log10(n) / n)
    large = [k for k in range(1, most + 1) if abs(covariance[k] / covariance[0]) >= limit]
    calm = [m for m in range(most - run + 1) if not any(m < k <= m + run for k in large)]
    width = min(max(2 * (calm[0] if calm else large[-1]), 1), most)
    total = weighted = 0.0
    for k in range(-width, width + 1):
        flat_top = min(1.0, 2 * (1 - abs(k) / width))
        total += flat_top * covariance[abs(k)]
        weighted += flat_top * abs(k) * covariance[abs(k)]
    if total <= 0:
        return 1
    length = (2 * weighted**2 / (4 / 3 * total**2) * n) ** (1 / 3)
    return int(min(max(1, np.ceil(length)), np.ceil(min(3 * np.sqrt(n), n / 3))))


@pytest.mark.parametrize("n", [8, 9, 13, 40, 150, 1200])
def test_the_length_of_blocks_is_that_of_the_textbook(n: int) -> None:
    chance = np.random.default_rng(n)
    series = [dependent(chance, n, stay) for stay in (0.0, 0.5, 0.9, 0.99) for _ in range(20)]
    found = [block_length(d) for d in series]
    assert found == [textbook_length(d) for d in series]
    assert n < 10 or len(set(found)) > 1
