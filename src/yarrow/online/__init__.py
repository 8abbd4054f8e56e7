"""Predict rows, then learn them: once for learners of every kind and rows from everywhere.

`batch` is what rows come in, `results` what is said of them, `ledger` the account of it, `delay`
when labels arrive. `learners` and `adapters` use any learner of this package or another. `driver`
is the loop itself, `progressive` one call of an estimator; `prediction` does not learn. Of files,
`core_stream` is the core's own loop, the fast path; `file_batches` and `batch_stream` read and
learn a batch at a time. `pairs` and `query_stream` are for rankings.
"""
