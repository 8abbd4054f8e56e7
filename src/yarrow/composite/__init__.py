"""Estimators made of other learners: what `experts`, `bandit` and `feedback` stand on."""
