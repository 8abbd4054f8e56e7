"""Speed of Yarrow beside its peers and beside hand-written loops: ``python -m benchmarks.run``."""
