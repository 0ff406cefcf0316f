"""Classes of a benchmark's rules that no control carries out, with what is known of their cost.

`rule_classes.toml` has the classes, each with its reason and patterns of the rules' ids.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from importlib import resources
from typing import Literal

_FILE = "rule_classes.toml"


@dataclass(frozen=True)
class RuleClass:
    """A class of rules that no control carries out: its name, and what is known of its cost."""

    kind: str
    cost: Literal["none", "unknown"]
    reason: str
    rules: tuple[re.Pattern[str], ...]

    def has(self, rule: str) -> bool:
        """Say whether a rule belongs to it."""
        return any(pattern.match(rule) for pattern in self.rules)


def class_of(rule: str) -> RuleClass | None:
    """Return the first class that names a rule, by its id without the content's prefix."""
    return next((one for one in classes() if one.has(rule)), None)


@cache
def classes() -> tuple[RuleClass, ...]:
    """Return the classes in the order of precedence."""
    text = resources.files("hardcost.profiles.importers.scap").joinpath(_FILE).read_text("utf-8")
    return tuple(
        RuleClass(
            one["kind"],
            one["cost"],
            one["reason"],
            tuple(re.compile(translate(pattern)) for pattern in one["rules"]),
        )
        for one in tomllib.loads(text)["class"]
    )
