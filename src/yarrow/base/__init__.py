"""What estimators stand on: those of the core, and those that learn in Python."""
