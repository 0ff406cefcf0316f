"""The claim of a proof about two sets of rules, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from auditrules.kernel.event import Event, FileId
from auditrules.kernel.semantics import FilterDecision, Outcome
from auditrules.model.kernel_rule import FilterList


@dataclass(frozen=True)
class Relation:
    """How two sets have to agree.

    Without any of these: for every event the same is recorded, under the same key, with the same
    files and receivers of signals, also if another part of the kernel (such as an LSM denial)
    requests the record.
    `ignore_keys`: the key does not matter. `no_b32`: there are no 32-bit calls. `at_least`: B
    records what A records, and may record more; the keys are compared where a rule of A records.
    `ignore_raised`: no other part of the kernel requests records, so `never` equals no rule.
    """

    ignore_keys: bool = False
    no_b32: bool = False
    at_least: bool = False
    ignore_raised: bool = False

    def agree(self, a: Outcome, b: Outcome) -> bool:
        """Say whether the outcomes of A and B for one event satisfy the relation."""
        if a.recorded != b.recorded and not (self.at_least and b.recorded):
            return False
        if not a.recorded and not b.recorded:
            return self._raised_alike(a, b)
        if not a.recorded or not b.recorded:
            return True
        if not self._lists_alike(a, b):
            return False
        if self.ignore_keys or (self.at_least and a.decision is not FilterDecision.ALWAYS):
            return True
        return a.key == b.key

    def _raised_alike(self, a: Outcome, b: Outcome) -> bool:
        """Say whether a record that requests a dropped one is itself written by both, or by B."""
        lacking = a.requested and a.raised and not b.raised
        return not lacking and (self.at_least or not (b.requested and b.raised and not a.raised))

    def _lists_alike(self, a: Outcome, b: Outcome) -> bool:
        """Say whether two records list the same files and receivers, or B's lists all of A's."""
        if self.at_least:
            return all(one in b.names for one in a.names) and (b.receivers or not a.receivers)
        return (a.names, a.receivers) == (b.names, b.receivers)


@dataclass(frozen=True)
class Difference:
    """One event that two sets treat differently, checked against `semantics`.

    `files` says which files lie at the paths that the rules name. `resolved` are the numbers chosen
    for unresolved users and groups, `directories` the watched paths of unknown kind that are
    directories in the example, `no_directories` the others. `asked` are the
    fields that the rules ask about the call, as `Atoms` calls them. For lists other than `exit`,
    `list` says which, and `record_type` is the type of the record that is to be written.
    """

    event: Event
    files: Mapping[str, FileId]
    outcome_a: Outcome
    outcome_b: Outcome
    resolved: Mapping[str, int] = field(default_factory=dict)
    list: FilterList = FilterList.EXIT
    record_type: int | None = None
    asked: frozenset[str] = frozenset()
    directories: tuple[str, ...] = ()
    no_directories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Assumption:
    """A condition under which an answer holds."""

    code: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Result:
    """The result of a proof.

    `equal` says whether the relation holds; None means unknown, and `reason` says why. The answer
    holds under `assumptions`. `classes` is the number of classes of calls, `solved` the number of
    those that needed the solver.
    """

    equal: bool | None
    relation: Relation
    assumptions: tuple[Assumption, ...] = ()
    difference: Difference | None = None
    reason: str = ""
    classes: int = 0
    solved: int = 0


class ProverError(RuntimeError):
    """The prover found a difference that `semantics` does not confirm: a bug in the prover."""
