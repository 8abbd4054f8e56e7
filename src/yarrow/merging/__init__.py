"""Models that learned apart become one: `yarrow.merge`.

`layout` says which feature and which class stands where, `sums` what of a loop's numbers adds up,
`difference` puts both together.
"""

from yarrow.merging.difference import Difference, merge

__all__ = ["Difference", "merge"]
