"""A cheaper set of rules, and its proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from auditrules.load.loaded_set import LoadedSet
from auditrules.load.preflight import MissingPath, missing_paths
from auditrules.load.root import Root
from auditrules.optimize import output
from auditrules.optimize.optimize import Optimised
from auditrules.optimize.releases import proofs
from auditrules.prove.relation import Result
from auditrules.tables.lookup import Release


@dataclass(frozen=True)
class Cheaper:
    """The cheaper set that `program` made of `rules`, by the words `verb`.

    `proved` are the releases of Linux under which it records the same. All changes together would
    save the mean call `thorough_saves_more` instructions more.
    """

    made: Optimised
    rules: LoadedSet
    proved: tuple[Release, ...]
    thorough_saves_more: float
    program: str
    verb: str

    @property
    def content(self) -> str:
        """The new file."""
        rules = self.rules
        target, left_out = rules.target.target, rules.left_out_assumptions()
        return output.text(self.made, rules.readings, target, self.proved, left_out, self.verb)

    @property
    def root(self) -> Root | None:
        """The file system of the machine that the rules are for, if it is known."""
        return self.rules.target.paths.root

    @property
    def refused(self) -> tuple[MissingPath, ...]:
        """The paths that the kernel of that machine would need, and does not find."""
        missing = () if self.root is None else missing_paths(self.made.rules, self.root)
        return tuple(one for one in missing if one.refused is not None)


def by_release(made: Optimised, rules: LoadedSet) -> Mapping[Release, Result]:
    """Return whether a new file records the same as the old, by release of Linux."""
    target = rules.target.target
    content = output.text(made, rules.readings, target)
    relation = made.options.relation
    return proofs(content, rules.parts, target, relation, agreed=made.agreed)


def is_unchanged(made: Optimised) -> bool:
    """Say whether the rules and their order are unchanged."""
    order = [line.origins for line in made.lines]
    changed = made.dropped or any(line.done for line in made.lines)
    return not changed and order == sorted(order) and not any(one.prepend for one in made.original)
