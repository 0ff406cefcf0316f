"""The facts about the machine that audit rules are for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from auditrules.auditctl.translate import Target
from auditrules.load import watched_paths
from auditrules.load.known_paths import KnownPaths
from auditrules.model.rule import Rule
from auditrules.tables.lookup import OLDEST, Auditctl, Release


@dataclass(frozen=True)
class RuleTarget:
    """The facts about the machine that rules are for."""

    users: Mapping[str, int]
    groups: Mapping[str, int]
    paths: KnownPaths
    release: Release = OLDEST
    auditctl: Auditctl = "3.0.9"

    @property
    def target(self) -> Target:
        """The facts that auditctl would know there; the kind of an unknown path stays open."""
        return self._target(self.paths.is_directory)

    def _target(self, is_directory: Callable[[str], bool | None]) -> Target:
        return Target(self.users, self.groups, is_directory, self.release, self.auditctl)

    def likely(self, rules: Sequence[Rule]) -> Callable[[str], bool]:
        """Return a function that says whether a watched path is a directory, guessing by name.

        A trailing slash, here or on the same path in another rule, counts as part of the name.
        """
        directories = frozenset(watched_paths.paths(rules)[0])

        def likely(path: str) -> bool:
            known = self.paths.is_directory(path)
            if known is not None:
                return known
            bare = path.rstrip("/") or "/"
            return (
                path.endswith("/") or bare in directories or watched_paths.reason(bare) is not None
            )

        return likely

    def likely_target(self, rules: Sequence[Rule]) -> Target:
        """Return the target, with the kind of each unknown watched path guessed."""
        return self._target(self.likely(rules))


NOWHERE = RuleTarget({"root": 0}, {"root": 0}, KnownPaths())
"""A machine about which nothing is known."""
