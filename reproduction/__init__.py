"""The papers' experiments, measured again: beside the package, in no wheel.

`specs` says what is measured, as frozen data; `protocols` how, a module each with `run` and a
`REVISION` raised by hand; `engine` runs the cells and keeps them by content, then those that follow
from them (what was chosen on the first rows goes over the whole stream); findings are plain data,
claims among them decided by intervals (`decided`),
that `pages` shows. `peers` makes other libraries' learners entrants of a race.
"""
