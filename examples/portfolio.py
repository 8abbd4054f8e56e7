"""Online portfolio selection: exponentiated gradient, and its regret (Helmbold et al. 1998).

Each day the shares of the wealth that the stocks hold are set anew, before the prices are known.
The best constant rebalanced portfolio, found when all is over, is what it is held against: its
lead in the logarithm of the wealth is at most sqrt(T*ln(N)/2)/low, where low is the least that a
stock returned on any day beside the best stock of that day.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def market(days: int, seed: int) -> np.ndarray:
    """What a unit of money in each of five stocks is worth a day later; drawn, not a real market.

    One stock does nothing, two go up and down against each other, two wander.
    """
    chance = np.random.default_rng(seed)
    swing = 0.05 * np.resize([1, -1], days) + chance.normal(0, 0.01, days)
    wander = chance.normal([0.0004, -0.0002], [0.012, 0.02], (days, 2))
    steps = np.column_stack([np.zeros(days), swing, -swing, wander])
    return np.exp(np.clip(steps, -0.1, 0.1))


def exponentiated_gradient(returns: np.ndarray, eta: float) -> np.ndarray:
    """Return the growth of the wealth on each day; a stock's share grows with what it returned."""
    days, stocks = returns.shape
    shares, growth = np.full(stocks, 1 / stocks), np.empty(days)
    for day, today in enumerate(returns):
        growth[day] = shares @ today
        shares = shares * np.exp(eta * today / growth[day])
        shares /= shares.sum()
    return growth


def best_constant(returns: np.ndarray) -> np.ndarray:
    """Return the shares that, restored each day, would have earned most."""
    stocks = returns.shape[1]
    found = minimize(
        lambda shares: -np.log(returns @ shares).sum(),
        np.full(stocks, 1 / stocks),
        jac=lambda shares: -(returns / (returns @ shares)[:, None]).sum(axis=0),
        bounds=[(0, 1)] * stocks,
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
    )
    shares: np.ndarray = np.clip(found.x, 0, 1)
    return shares / shares.sum()


def main(days: int = 2_000, seed: int = 0) -> tuple[float, float]:
    """Trade through one market; return the regret and what the theorem allows."""
    returns = market(days, seed)
    stocks = returns.shape[1]
    low = float((returns / returns.max(axis=1, keepdims=True)).min())
    eta = 2 * low * np.sqrt(2 * np.log(stocks) / days)
    earned = np.log(exponentiated_gradient(returns, eta)).sum()
    shares = best_constant(returns)
    best = np.log(returns @ shares).sum()
    single = np.log(returns).sum(axis=0).max()
    allowed = float(np.sqrt(days * np.log(stocks) / 2) / low)
    print(f"wealth after {days} days, from 1: exponentiated gradient {np.exp(earned):.2f}")
    print(f"best single stock {np.exp(single):.2f}, best constant portfolio {np.exp(best):.2f}")
    print(f"regret in log wealth {best - earned:.2f}, allowed {allowed:.2f}")
    return float(best - earned), allowed


if __name__ == "__main__":
    main()
