"""Everything that is saved: one codec, one registry of classes, one kind of file."""
