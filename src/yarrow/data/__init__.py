"""Data as all learners take it, whatever it came as."""
