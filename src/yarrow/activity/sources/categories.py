"""Categories by regular expressions, as ActivityWatch has them.

A category has a name, which is a path from the general to the special, and a rule. The longest name
whose rule fits is the category of a window, and the first of those that are equally long.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from yarrow.activity.log.validation import whole
from yarrow.errors import DataError

Name = tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Category:
    """A name and, if it has a rule, a regular expression."""

    name: Name
    regex: re.Pattern[str] | None


class Categories:
    """Rules that say which category a window belongs to.

    >>> rules = Categories.read([
    ...     {"name": ["Work"], "rule": {"type": "regex", "regex": "calc|writer"}},
    ...     {"name": ["Work", "Tax"], "rule": {"regex": "tax", "ignore_case": True}},
    ... ])
    >>> rules.of("TAX 2026 - calc"), rules.of("letter - writer"), rules.of("Solitaire")
    (('Work', 'Tax'), ('Work',), None)
    """

    def __init__(self, categories: Iterable[Category] = ()) -> None:
        self.categories = list(categories)

    @classmethod
    def read(cls, settings: Iterable[Mapping[str, Any]]) -> Categories:
        """Take the list that ActivityWatch exports: `name`, and a `rule` of type regex or none."""
        found = []
        for place, setting in enumerate(settings):
            name = setting.get("name")
            if isinstance(name, str):
                name = [name]
            if (
                not isinstance(name, list | tuple)
                or not name
                or not all(isinstance(part, str) for part in name)
            ):
                raise DataError("a category needs a name, a list of words", row=place, field="name")
            rule = _rule(setting.get("rule") or {}, place)
            found.append(Category(tuple(map(whole, name)), rule))
        return cls(found)

    def write(self) -> list[dict[str, Any]]:
        """Return the list that ActivityWatch imports."""
        return [
            {
                "name": list(one.name),
                "rule": {"type": "none"}
                if one.regex is None
                else {
                    "type": "regex",
                    "regex": one.regex.pattern,
                    "ignore_case": bool(one.regex.flags & re.IGNORECASE),
                },
            }
            for one in self.categories
        ]

    def of(self, *texts: str) -> Name | None:
        """The category of a window by its texts (title, application); None if no rule fits."""
        best: Name | None = None
        for category in self.categories:
            if (
                category.regex is not None
                and (best is None or len(category.name) > len(best))
                and any(category.regex.search(text) for text in texts)
            ):
                best = category.name
        return best


def _rule(rule: Any, place: int) -> re.Pattern[str] | None:
    if not isinstance(rule, Mapping):
        raise DataError("a rule is an object with a type", row=place, field="rule")
    kind = rule.get("type", "regex" if rule.get("regex") else "none")
    if kind in (None, "none"):
        return None
    if kind != "regex" or not isinstance(rule.get("regex"), str):
        raise DataError("a rule is of type 'regex' or 'none'", row=place, field="rule")
    if not rule["regex"]:
        return None  # an empty expression would fit everything
    try:
        return re.compile(rule["regex"], re.IGNORECASE if rule.get("ignore_case") else 0)
    except re.error as error:
        raise DataError(
            f"{rule['regex']!r} is not a regular expression: {error}", row=place, field="rule"
        ) from None
