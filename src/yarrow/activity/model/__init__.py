"""The recogniser: a fold over the entries of the log."""
