"""Predict rows, then learn them: once for learners of every kind and rows from everywhere.

`batch` is what rows come in, `results` what is said of them, `delay` when labels arrive, `adapters`
how a learner of this package or another is used, `driver` the loop itself; `core_stream` is the
core's own loop over files, its fast path.
"""
