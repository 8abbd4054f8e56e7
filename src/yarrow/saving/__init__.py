"""Everything that is saved: one codec, one registry of classes, one kind of file.

`save` writes the raw state (scales not folded in, penalties not yet paid), so that going on is
exact; `export` writes settled weights that are not zero. Both are safetensors with a digest for
each tensor, written beside and renamed; an export may be JSON or text, too. `load` reads them all.

A file is a stranger's: what it may say is declared (`schema`) beside what writes it and checked
before a model exists; only classes of `registry` are made of it; sizes are compared with the file
before memory is asked for. The state of a core model is read by core/saved_state.hpp, which takes
each array by its name, type, shape and range, and holds them against each other.
"""
