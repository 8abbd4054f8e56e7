"""The laboratory of the activity recogniser: lives made up, and what it is held against."""
