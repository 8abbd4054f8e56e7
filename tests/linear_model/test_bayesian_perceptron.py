"""The Bayesian Perceptron: posterior moments by numerical integration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_model.oracles import EXACT, binary_stream, placed, planes, with_constant
from scipy.integrate import quad
from scipy.special import erfcx, log_ndtr, ndtr

from yarrow.linear_model import BayesianPerceptron


def posterior(m, v, noise):
    """Mean and variance of t ~ N(m, v) after a label that is right with Phi(t/noise)."""
    deviation = np.sqrt(v)

    def weight(e):  # of t = m + deviation*e, up to a factor that keeps it representable
        return np.exp(log_ndtr((m + deviation * e) / noise) - 0.5 * e**2 - top)

    grid = np.linspace(-60, 60, 20001)
    top = 0.0
    logs = log_ndtr((m + deviation * grid) / noise) - 0.5 * grid**2
    top, peak = logs.max(), grid[logs.argmax()]
    moments = [
        quad(lambda e, k=k: (e - peak) ** k * weight(e), peak - 12, peak + 12, limit=300)[0]
        for k in range(3)
    ]
    mean = moments[1] / moments[0]
    return m + deviation * (peak + mean), v * (moments[2] / moments[0] - mean**2)


@settings(max_examples=60)
@given(
    mean=st.floats(-30, 30),
    deviation=st.floats(-4, 2).map(np.exp),
    noise=st.floats(-2, 2).map(np.exp),
    x=st.floats(0.05, 3),
    label=st.sampled_from([-1, 1]),
)
def test_moments_are_the_posterior_s(mean, deviation, noise, x, label):
    """With one weight nothing is approximated but the shape; from any state, far or near."""
    model = BayesianPerceptron(noise, fit_intercept=False, **EXACT)
    model = placed(model, np.array([0.0, mean]), np.array([1.0, deviation**2]))
    model.partial_fit([[x]], [label])
    m, v = posterior(label * x * mean, x * x * deviation**2, noise)
    after = planes(model)[1, :, 0]
    assert after[0] == pytest.approx(label * m / x, rel=1e-6, abs=1e-9)
    assert after[1] == pytest.approx(v / x**2, rel=1e-5)
    assert after[1] <= deviation**2


def test_a_row_of_several_features_has_the_posterior_s_variances():
    """Moments by integration over all weights, on a grid: what the projected form stands for."""
    grid = np.stack(np.meshgrid(*[np.linspace(-8, 8, 401)] * 2, indexing="ij"), axis=-1)
    mean, variance, x = np.array([0.3, -0.5]), np.array([1.0, 0.4]), np.array([0.8, 1.5])
    weights = mean + grid * np.sqrt(variance)
    mass = np.exp(-0.5 * (grid**2).sum(-1)) * ndtr(-weights @ x / 0.7)
    mass /= mass.sum()
    expected = (mass[..., None] * weights).sum((0, 1))
    spread = (mass[..., None] * (weights - expected) ** 2).sum((0, 1))
    model = BayesianPerceptron(0.7, fit_intercept=False, **EXACT)
    model = placed(model, np.append(0.0, mean), np.append(1.0, variance))
    model.partial_fit([x], [-1])
    np.testing.assert_allclose(planes(model)[1:, 0, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(planes(model)[1:, 1, 0], spread, rtol=1e-6)


@pytest.mark.parametrize(
    "u", [*np.linspace(-12, 12, 97), -8 - 1e-12, -8 + 1e-12, 1e-300, -1e6, -1e3, -25, 20, 37]
)
def test_the_slope_of_log_phi_to_twelve_digits(u):
    """Seen in a weight that begins at 0, where nothing hides it, and in what its variance loses."""
    model = BayesianPerceptron(noise=1, fit_intercept=False, **EXACT)
    model = placed(model, np.array([0.0, 2 * u, 0.0]), np.array([1.0, 1.0, 2.0]))  # tau = 2
    model.partial_fit([[1.0, 1.0]], [1])
    mean, variance = planes(model)[2, :, 0]
    h = np.sqrt(2 / np.pi) / erfcx(-u / np.sqrt(2))
    assert mean == pytest.approx(h, rel=1e-12, abs=0)
    bend = h * (h + u) if u > -100 else 1 - u**-2.0 + 6 * u**-4.0  # no digits left by the first
    assert variance == pytest.approx(2 - bend, rel=1e-12, abs=0)


@pytest.mark.parametrize("margin", [-1e6, -1e3, -40.0, 40.0, 1e3, 1e6])
def test_extreme_margins_are_no_trouble(margin):
    model = BayesianPerceptron(fit_intercept=False, **EXACT)
    model = placed(model, np.array([0.0, margin]), np.array([1.0, 1.0]))
    model.partial_fit([[1.0]], [1])
    mean, variance = planes(model)[1, :, 0]
    if margin > 0:
        assert (mean, variance) == (margin, 1.0)
    else:  # the likelihood is that of a Gaussian half-way, Phi(t) ~ exp(-t^2/2)
        assert mean == pytest.approx(margin / 2, rel=1e-2)
        assert variance == pytest.approx(0.5, rel=1e-2)


def test_probabilities_are_the_model_s_own():
    X, y = binary_stream(61, rows=100, noise=0.0)
    model = BayesianPerceptron(0.5, **EXACT).partial_fit(X, y)
    rows = with_constant(X)
    mu, s = planes(model)[:, :2, model._model.plane(0)[1][1]].T
    expected = ndtr(rows @ mu / np.sqrt(0.25 + rows**2 @ s))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=1e-9)
    calibrated = model.clone({"probabilities": "calibrated"}).partial_fit(X, y)
    assert not np.allclose(calibrated.predict_proba(X)[:, 1], expected, atol=1e-3)


def test_probabilities_are_honest_where_the_model_is_true():
    """Labels drawn as the model thinks: its probabilities then match the frequencies."""
    random = np.random.default_rng(62)
    X = random.normal(size=(4000, 10))
    y = np.where(ndtr(X @ random.normal(size=10)) > random.random(4000), 1, -1)
    model = BayesianPerceptron(fit_intercept=False, classes=[-1, 1]).partial_fit(X[:3000], y[:3000])
    p = model.predict_proba(X[3000:])[:, 1]
    right = y[3000:] == 1
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        bin_ = (p >= low) & (p < low + 0.2)
        assert bin_.sum() > 30
        assert abs(right[bin_].mean() - p[bin_].mean()) < 3 * 0.5 / np.sqrt(bin_.sum())


def test_a_weight_divides_the_noise_squared():
    X, y = binary_stream(63)
    weighted = BayesianPerceptron(2.0, **EXACT)
    weighted.partial_fit(X, y, sample_weight=np.full(len(y), 4.0))
    plain = BayesianPerceptron(1.0, **EXACT).partial_fit(X, y)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-12)


def test_zero_rows_and_a_single_class():
    model = BayesianPerceptron(fit_intercept=False, **EXACT)
    model.partial_fit(np.zeros((3, 2)), [1, 1, 1])
    assert model.n_updates_ == 0
    model.partial_fit(np.ones((3, 2)), [1, 1, 1])
    assert model.predict(np.ones((1, 2))).tolist() == [1]
    assert model.predict_proba(np.ones((1, 2))).tolist() == [[1.0]]
