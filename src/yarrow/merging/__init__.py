"""Models that learned apart become one: `yarrow.merge`.

`families` declares what of a learner's numbers adds up, `sums` adds it.
"""

from yarrow.merging.sums import Sums, combined, finished, merge

__all__ = ["Sums", "combined", "finished", "merge"]
