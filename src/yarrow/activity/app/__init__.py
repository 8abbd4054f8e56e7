"""The program around the recogniser: the session, its page, and what goes in and out."""
