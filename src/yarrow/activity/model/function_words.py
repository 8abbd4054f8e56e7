"""Words that build sentences in any text, whatever it is about.

They count like all others where weights are learned, but no reason and no rule is made of them:
whoever reads "how to" on a hundred pages about programs still writes letters to people. Lists are
short and of seven languages; for all other words and languages, `rules` asks the person's history.
"""

from yarrow.lazy import listed

FUNCTION_WORDS = frozenset(
    word for line in listed("yarrow.activity.model", "function_words.txt") for word in line
)
