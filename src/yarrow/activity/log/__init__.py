"""What happened and what the person said: entries, their codec, and the file that keeps them."""
