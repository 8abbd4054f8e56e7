"""Generated streams and what is done to given ones: noise, phases, drift."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.sparse import csr_array

from yarrow.datasets import (
    Dataset,
    drift_chances,
    drifting,
    drifting_text,
    four_phases,
    load,
    noisy_text,
    with_noise,
)
from yarrow.errors import ParameterError


def numbered(y: list[int] | np.ndarray, name: str = "numbered") -> Dataset:
    """Rows that can be told apart: row i has the value i + 1 in its only column."""
    X = csr_array(np.arange(1.0, len(y) + 1)[:, None])
    return Dataset(name, X, np.asarray(y), "multiclass", "as given", "made up")


def test_blocks_are_the_rows_in_order():
    data = load("synthetic/gaussian rows=100 noise=0.2")
    blocks = list(data.blocks(rows=30))
    assert [len(block) for block in blocks] == [30, 30, 30, 10]
    assert np.array_equal(np.concatenate([block.y for block in blocks]), data.y)
    assert np.array_equal(np.concatenate([block.clean for block in blocks]), data.clean)
    assert np.array_equal(np.vstack([block.X.toarray() for block in blocks]), data.X.toarray())


def test_the_rotated_gaussian_is_that_of_the_paper():
    data = load("synthetic/gaussian", rows=20_000)
    X = data.X.toarray()
    covariance = np.cov(X[:, :2].T)
    (short, long), axes = np.linalg.eigh(covariance)
    assert np.allclose([short, long], [1, 100], rtol=0.05)
    assert np.allclose(np.abs(axes), np.sqrt(0.5), atol=0.01)  # turned by 45 degrees
    assert np.allclose(X[:, 2:].var(axis=0), 2, rtol=0.06)
    # The separator runs along the long axis, and nothing is on its wrong side.
    assert np.array_equal(data.y, np.sign(X[:, 1] - X[:, 0]))
    assert abs(np.corrcoef(X[:, 0] + X[:, 1], data.y)[0, 1]) < 0.03
    assert (len(data.test), data.test.clean) == (10_000, None)
    assert data.X.shape[1] == data.test.X.shape[1] == 20


@pytest.mark.parametrize("name", ["synthetic/gaussian", "synthetic/text", "synthetic/drift"])
def test_everything_follows_from_the_seed(name):
    first, again, other = (load(name, seed=seed, noise=0.1) for seed in (5, 5, 6))
    assert (first.X != again.X).nnz == 0
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.y, other.y)


@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
def test_two_classes_are_flipped(share):
    data = load("synthetic/gaussian", rows=20_000)
    noisy = with_noise(data, share, seed=3)
    flipped = noisy.y != noisy.clean
    assert abs(flipped.mean() - share) < 4 * np.sqrt(0.25 / len(data))
    assert np.array_equal(noisy.clean, data.y)
    assert np.array_equal(noisy.y[flipped], -noisy.clean[flipped])
    assert noisy.test is data.test
    named = load("synthetic/gaussian", rows=20_000, seed=0, noise=share)
    assert np.array_equal(named.y, with_noise(data, share, seed=0).y)


def test_of_many_classes_any_other_one_is_taken():
    data = numbered(np.repeat([1, 2, 3, 7], 20_000))
    noisy = with_noise(data, 0.4)
    for label in (1, 2, 3, 7):
        found = noisy.y[noisy.clean == label]
        shares = {other: (found == other).mean() for other in (1, 2, 3, 7)}
        assert abs(shares.pop(label) - 0.6) < 0.02
        assert np.allclose(list(shares.values()), 0.4 / 3, atol=0.01)


def test_noise_is_refused_where_it_means_nothing():
    with pytest.raises(ParameterError, match="one class only"):
        with_noise(numbered([1, 1]), 0.1)
    with pytest.raises(ParameterError, match="'share' parameter must be in"):
        with_noise(numbered([1, 2]), 1.5)
    with pytest.raises(ParameterError, match="has label noise already"):
        with_noise(with_noise(numbered([1, 2]), 0.1), 0.1)
    with pytest.raises(ParameterError, match="is a regression"):
        with_noise(dataclasses.replace(numbered([1, 2]), task="regression"), 0.1)


def test_four_phases_have_the_papers_chances():
    rows = 20_000
    data = numbered(np.repeat(["P1", "P2", "N1", "N2", "other"], 30_000))
    stream = four_phases(data, ["P1", "P2", "N1", "N2"], rows=rows, seed=1)
    taken = stream.X.toarray().ravel().astype(int) - 1
    assert len(set(taken.tolist())) == len(stream) == 4 * rows  # no row twice
    drawn = data.y[taken]
    assert np.array_equal(stream.y == 1, np.isin(drawn, ["P1", "P2"]))
    ends = {  # of each phase: what the paper says of its beginning and of its end
        0: ({"P1": 0.7, "N1": 0.3}, {"P1": 0.5, "N1": 0.5}),
        1: ({"P1": 0.5, "N1": 0.5}, {"P1": 0.3, "P2": 0.2, "N1": 0.5}),
        2: ({"P2": 0.5, "N1": 0.2, "N2": 0.3}, {"P2": 0.5, "N2": 0.5}),
        3: ({"P2": 0.5, "N2": 0.5}, {"P2": 0.3, "N2": 0.7}),
    }
    tenth = rows // 10
    for phase, (begin, end) in ends.items():
        part = drawn[phase * rows : (phase + 1) * rows]
        for label in ("P1", "P2", "N1", "N2"):
            early, late = begin.get(label, 0), end.get(label, 0)
            # The mean over a tenth of the phase is that in its middle.
            assert abs((part[:tenth] == label).mean() - (0.95 * early + 0.05 * late)) < 0.045
            assert abs((part[-tenth:] == label).mean() - (0.05 * early + 0.95 * late)) < 0.045


def test_four_phases_need_enough_rows():
    data = numbered(np.repeat([1, 2, 3, 4], 50))
    with pytest.raises(ParameterError, match="has only 50: take fewer rows"):
        four_phases(data, (1, 2, 3, 4), rows=100)
    with pytest.raises(ParameterError, match="must be four labels"):
        four_phases(data, (1, 2, 3, 3))


def test_drift_is_abrupt_gradual_or_comes_back():
    assert drift_chances(1000, "abrupt").tolist() == [0.0] * 500 + [1.0] * 500
    back = drift_chances(900, "recurring", periods=3)
    assert back.tolist() == [0.0] * 300 + [1.0] * 300 + [0.0] * 300
    slow = drift_chances(1000, "gradual", width=0.4)
    assert (slow[:300] == 0).all()
    assert (slow[700:] == 1).all()
    assert np.allclose(np.diff(slow[301:699]), 1 / 400)
    with pytest.raises(ParameterError, match="'kind' parameter"):
        drift_chances(10, "sudden")


def test_two_concepts_are_mixed_row_by_row():
    first, second = numbered([1] * 4000), numbered([2] * 5000)
    stream = drifting(first, second, kind="gradual", width=1.0, seed=2)
    assert len(stream) == 4000
    assert stream.X.toarray().ravel().tolist() == list(range(1, 4001))
    share = [(part == 2).mean() for part in np.split(stream.y, 4)]
    assert np.allclose(share, [1 / 8, 3 / 8, 5 / 8, 7 / 8], atol=0.05)
    wide = dataclasses.replace(second, X=csr_array((5000, 3)))
    with pytest.raises(ParameterError, match="has 1 columns, numbered 3"):
        drifting(first, wide)


def test_without_a_second_concept_the_classes_change_places():
    data = numbered([0, 1, 2, 0, 1, 2])
    assert drifting(data).y.tolist() == [0, 1, 2, 1, 2, 0]
    noisy = load("synthetic/gaussian rows=1000 noise=0.2")
    stream = drifting(noisy)
    assert np.array_equal(stream.y != stream.clean, noisy.y != noisy.clean)
    assert np.array_equal(stream.clean[500:], -noisy.clean[500:])


def test_generated_text_is_a_dataset_like_all_others():
    data = load("synthetic/text", rows=500, noise=0.2, seed=3)
    made = noisy_text(500, noise=0.2, seed=3)
    assert (data.X != made.X).nnz == 0
    assert np.array_equal(data.y, made.y)
    assert np.array_equal(data.clean, made.clean)
    phases = load("synthetic/text", rows=500, phases=4)
    assert np.array_equal(phases.y, drifting_text(500).y)
