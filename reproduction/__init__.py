"""The papers' experiments, measured again: beside the package, in no wheel.

`specs` says what is measured, `protocols` how, `engine` measures it, `pages` shows it.
"""
