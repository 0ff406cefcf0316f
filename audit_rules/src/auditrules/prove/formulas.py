"""Conditions as formulas over an unknown event.

Each quantity of the event that a condition tests becomes an unknown of that name. Relations that
always hold are `laws`, collected for the unknowns that are used.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from auditrules.kernel.event import FORMAT
from auditrules.model.kernel_rule import UNSET, Condition, FieldTest, IdComparison, Operator
from auditrules.model.rule import plain_path
from auditrules.prove import solver
from auditrules.prove.call_classes import OPENED_FOR, Source
from auditrules.prove.solver import Formula, NumberTerm

USERS = ("uid", "euid", "suid", "fsuid", "auid")
GROUPS = ("gid", "egid", "sgid", "fsgid")
OBJECT_LABELS = ("obj_user", "obj_role", "obj_type", "obj_lev_low", "obj_lev_high")
OF_FILES = frozenset({"devmajor", "devminor", "inode", "obj_uid", "obj_gid", *OBJECT_LABELS})
OWNERS = frozenset({"obj_uid", "obj_gid"})
PLAIN = ("pid", "ppid", "sessionid", "pers")
ARGUMENTS = ("a0", "a1", "a2", "a3")

IS_DIRECTORY = "is-directory"
"""The field of a condition that no kernel knows: whether a directory lies at a path (`kinds`)."""

_BIND = 2  # SYS_BIND of linux/net.h, the first argument of `socketcall`
_MOST_ERRORS = 4095  # MAX_ERRNO: a result from -4095 to -1 is an error
_OTHER = 0
_NO_LABEL = UNSET


class UnsupportedError(Exception):
    """Formulas can't express a condition."""


def is_inside(path: str, directory: str) -> bool:
    """Say whether a plain path is a directory or lies below it."""
    return directory in {"/", path} or path.startswith(f"{directory}/")


@dataclass
class Atoms:
    """The unknowns of one event, and the laws between them.

    `slots` is the number of names that it may visit. `asked` are the tested fields.
    """

    source: Source
    slots: int
    paths: dict[str, int] = field(default_factory=dict)
    directories: dict[str, Formula] = field(default_factory=dict)
    programs: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, Formula] = field(default_factory=dict)
    names: dict[tuple[str, str], NumberTerm] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)
    members: dict[int | str, tuple[NumberTerm, Formula]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    _known: dict[tuple[Condition, int | None], Formula] = field(default_factory=dict)

    def without_names(self) -> Atoms:
        """Return the unknowns of the same event as a set sees it that hides all its names."""
        return replace(self, slots=0, paths={}, directories={}, _known={})

    def visits(self, slot: int) -> Formula:
        """Return whether the call visits that many names and one more."""
        return solver.truth(f"visited {slot}")

    def of_name(self, slot: int, what: str) -> NumberTerm:
        """Return a number of a visited name."""
        self.asked.add(what)
        return solver.unknown_number(f"{what} of name {slot}")

    def of_path(self, path: str, what: str) -> NumberTerm:
        """Return a number of the file at a watched path."""
        return solver.unknown_number(f"{what} of {path}")

    def ask(self, what: str) -> NumberTerm:
        """Return a number of the call or its task."""
        self.asked.add(what)
        return solver.unknown_number(what)

    def leads(self, slot: int) -> Formula:
        """Return whether a visited name leads to a file."""
        return solver.truth(f"name {slot} leads to a file")

    def holds(self, condition: Condition, slot: int | None = None) -> Formula:
        """Return when a condition holds: for the call, or for the file that a name led to.

        Raises:
            UnsupportedError: Formulas can't express it.
        """
        key = (condition, slot)
        if key not in self._known:
            if isinstance(condition, IdComparison):
                self._known[key] = self._comparison_formula(condition)
            else:
                self._known[key] = self._test_formula(condition, slot)
        return self._known[key]

    def all_hold(self, conditions: Sequence[Condition], slot: int | None) -> Formula:
        """Return when all of the conditions hold."""
        return solver.all_of(self.holds(condition, slot) for condition in conditions)

    # Conditions -------------------------------------------------------------------------------

    def _test_formula(self, test: FieldTest, slot: int | None) -> Formula:
        kind = test.field
        if kind in OF_FILES:
            if slot is not None:
                return self._of_file(test, slot)
            return self._of_any(lambda one: self._of_file(test, one))
        if kind in USERS or kind in GROUPS:
            return self._id(test)
        if kind in PLAIN or kind in ARGUMENTS:
            return solver.compare(self.ask(kind), test.operator, self.value(test))
        if kind.startswith("subj_"):
            return self._label(test, self.ask(kind))
        readers: dict[str, Callable[[FieldTest, int | None], Formula]] = {
            "exit": self._exit,
            "success": self._success,
            "loginuid_set": self._is_set,
            "saddr_fam": self._family,
            "perm": self._permission,
            "path": self._path,
            "dir": self._directory,
            "exe": self._program,
            IS_DIRECTORY: self._kind,
            "filetype": self._type,
        }
        if kind not in readers:
            raise UnsupportedError(f"the prover does not support the field {kind}")
        return readers[kind](test, slot)

    def value(self, test: FieldTest) -> NumberTerm:
        """Return the value of a test: an unknown, but always the same, for a name's number."""
        if isinstance(test.value, int):
            return solver.number_of(test.value)
        what = "group" if test.field.endswith("gid") else "user"
        found = solver.unknown_number(f"{what} {test.value}")
        self.names[what, test.value] = found
        return found

    def _id(self, test: FieldTest) -> Formula:
        value = self.value(test)
        held = solver.compare(self.ask(test.field), test.operator, value)
        if test.field not in {"gid", "egid"}:
            return held
        if test.operator is Operator.EQUAL:
            return solver.any_of([held, self._member(test, value)])
        if test.operator is Operator.NOT_EQUAL:
            return solver.all_of([held, solver.negation(self._member(test, value))])
        return held

    def _member(self, test: FieldTest, value: NumberTerm) -> Formula:
        """Return whether a value is among the task's supplementary groups."""
        if test.value not in self.members:
            self.members[test.value] = (value, solver.truth(f"member of {test.value!r}"))
        return self.members[test.value][1]

    def _exit(self, test: FieldTest, _slot: int | None) -> Formula:
        self.asked.add("returned")
        held = solver.compare(self.ask("exit"), test.operator, self.value(test))
        return solver.all_of([RETURNED, held])

    def _success(self, test: FieldTest, _slot: int | None) -> Formula:
        self.asked |= {"returned", "success"}
        mark = solver.either_number(SUCCESS, solver.number_of(1), solver.number_of(2))
        wanted = solver.number_of(1 if test.value else 2)
        return solver.all_of([RETURNED, solver.compare(mark, test.operator, wanted)])

    def _is_set(self, test: FieldTest, _slot: int | None) -> Formula:
        unset = solver.are_equal(self.ask("auid"), solver.number_of(UNSET))
        mark = solver.either_number(unset, solver.number_of(0), solver.number_of(1))
        return solver.compare(mark, test.operator, self.value(test))

    def _family(self, test: FieldTest, _slot: int | None) -> Formula:
        held = solver.compare(self.ask("saddr_fam"), test.operator, self.value(test))
        return solver.all_of([HAS_ADDRESS, held])

    def _permission(self, test: FieldTest, _slot: int | None) -> Formula:
        if test.operator is not Operator.EQUAL or not isinstance(test.value, int):
            raise UnsupportedError("the prover supports perm only with =")
        match self.source:
            case int():
                return solver.constant(value=bool(self.source & test.value))
            case "bind":
                return solver.are_equal(self.ask("a0"), solver.number_of(_BIND))
            case _:
                flags = self.ask(self.source)
                wanted = test.value
                return solver.any_of(
                    solver.low_bits(flags, 2, bits)
                    for bits, access in enumerate(OPENED_FOR)
                    if access & wanted
                )

    def _path(self, test: FieldTest, slot: int | None) -> Formula:
        if slot is None or test.operator is not Operator.EQUAL:
            raise UnsupportedError("the prover supports path only with = in a bucket")
        path = plain_path(str(test.value))
        index = self.paths.setdefault(path, len(self.paths) + 1)
        return solver.are_equal(self.of_name(slot, "which"), solver.number_of(index))

    def _directory(self, test: FieldTest, _slot: int | None) -> Formula:
        path = plain_path(str(test.value))
        if not self.slots:
            return solver.constant(value=test.operator is not Operator.EQUAL)
        held = self.directories.setdefault(path, solver.truth(f"in {path}"))
        return held if test.operator is Operator.EQUAL else solver.negation(held)

    def _kind(self, test: FieldTest, _slot: int | None) -> Formula:
        """Return whether a directory lies at a path, whatever a call visits."""
        path = str(test.value)
        held = self.kinds.setdefault(path, solver.truth(f"{path} is a directory"))
        return held if test.operator is Operator.EQUAL else solver.negation(held)

    def _program(self, test: FieldTest, _slot: int | None) -> Formula:
        index = self.programs.setdefault(plain_path(str(test.value)), len(self.programs) + 1)
        held = solver.are_equal(self.ask("exe"), solver.number_of(index))
        return held if test.operator is Operator.EQUAL else solver.negation(held)

    def _type(self, test: FieldTest, _slot: int | None) -> Formula:
        kind = self.value(test)
        held = self._of_any(
            lambda slot: solver.all_of(
                [self.leads(slot), solver.are_equal(self.of_name(slot, "type"), kind)]
            )
        )
        return held if test.operator is Operator.EQUAL else solver.negation(held)

    def _of_file(self, test: FieldTest, slot: int) -> Formula:
        kind = test.field
        if kind in OBJECT_LABELS:
            return self._label(test, self.of_name(slot, kind))
        numbers = [kind]
        if kind in {"devmajor", "devminor"}:
            numbers.append(f"special {kind}")
        return solver.any_of(
            solver.compare(self.of_name(slot, what), test.operator, self.value(test))
            for what in numbers
        )

    def _of_any(self, held: Callable[[int], Formula]) -> Formula:
        """Return whether something holds of any visited name."""
        return solver.any_of(
            solver.all_of([self.visits(slot), held(slot)]) for slot in range(self.slots)
        )

    def _label(self, test: FieldTest, label: NumberTerm) -> Formula:
        """Compare a part of a label: a number for each text that is known, one for no label."""
        if test.operator not in {Operator.EQUAL, Operator.NOT_EQUAL}:
            raise UnsupportedError(f"the prover supports no order among values of {test.field}")
        texts = self.labels.setdefault(test.field, {})
        index = texts.setdefault(str(test.value), len(texts) + 1)
        equal = solver.are_equal(label, solver.number_of(index))
        if test.operator is Operator.EQUAL:
            return equal
        return solver.negation(
            solver.any_of([equal, solver.are_equal(label, solver.number_of(_NO_LABEL))])
        )

    def _comparison_formula(self, condition: IdComparison) -> Formula:
        left = self.ask(condition.left)
        if condition.right in OWNERS:
            return self._of_any(
                lambda slot: solver.compare(
                    left, condition.operator, self.of_name(slot, condition.right)
                )
            )
        return solver.compare(left, condition.operator, self.ask(condition.right))

    # Laws -------------------------------------------------------------------------------------

    def laws(self) -> list[Formula]:
        """Return the laws between the unknowns that are used."""
        found = [
            solver.implies(self.visits(slot), self.visits(slot - 1))
            for slot in range(1, self.slots)
        ]
        for slot in range(self.slots):
            found += self._laws_of_name(slot)
        found += self._laws_of_directories()
        found += [
            solver.negation(solver.are_equal(name, solver.number_of(UNSET)))
            for name in self.names.values()
        ]
        found += [
            solver.implies(solver.are_equal(value, other), _alike(member, further))
            for value, member in self.members.values()
            for other, further in self.members.values()
            if member is not further
        ]
        if {"exit", "success"} <= self.asked:
            error = solver.compare(
                solver.unknown_number("exit"),
                Operator.GREATER_OR_EQUAL,
                solver.number_of(-_MOST_ERRORS),
            )
            found.append(solver.any_of([SUCCESS, error]))
        return found

    def no_files(self) -> list[Formula]:
        """Return the formula that holds where rules hide every file that a call visits."""
        leading = [solver.negation(self.leads(slot)) for slot in range(self.slots)]
        return [*leading, *(solver.negation(held) for held in self.directories.values())]

    def _laws_of_name(self, slot: int) -> list[Formula]:
        numbers = sorted(self.asked & NUMBERS_OF_NAMES)
        which = solver.unknown_number(f"which of name {slot}")
        found = [
            solver.compare(which, Operator.LESS_OR_EQUAL, solver.number_of(len(self.paths))),
        ]
        nothing = [solver.are_equal(which, solver.number_of(_OTHER))]
        for what in numbers:
            empty = UNSET if what == "inode" or what in OBJECT_LABELS else 0
            nothing.append(solver.are_equal(self.of_name(slot, what), solver.number_of(empty)))
        found.append(solver.any_of([self.leads(slot), solver.all_of(nothing)]))
        if "type" in numbers:
            # A file's type is the upper four bits of sixteen (S_IFMT, linux/stat.h).
            kind = self.of_name(slot, "type")
            found.append(solver.low_bits(kind, 12, 0))
            found.append(solver.compare(kind, Operator.LESS_OR_EQUAL, solver.number_of(FORMAT)))
        for path, index in self.paths.items():
            # A call that visits one file twice finds the same owner, type and label both times.
            same_file = [
                solver.are_equal(self.of_name(slot, what), self.of_path(path, what))
                for what in numbers
            ]
            here = solver.are_equal(which, solver.number_of(index))
            found.append(solver.implies(here, solver.all_of(same_file)))
        return found

    def _laws_of_directories(self) -> list[Formula]:
        """Return that a file in a tree is in the trees around it; the next one is enough."""
        found = [solver.implies(held, self.visits(0)) for held in self.directories.values()]
        for directory, held in self.directories.items():
            around = (
                self._next_directory(posixpath.dirname(directory)) if directory != "/" else None
            )
            if around is not None:
                found.append(solver.implies(held, around))
        for path, index in self.paths.items():
            around = self._next_directory(path)
            if around is None:
                continue
            for slot in range(self.slots):
                here = solver.are_equal(self.of_name(slot, "which"), solver.number_of(index))
                found.append(solver.implies(solver.all_of([self.visits(slot), here]), around))
        return found

    def _next_directory(self, path: str) -> Formula | None:
        """Return whether the call visits the next directory asked for, from a path upwards."""
        while path not in self.directories and path != "/":
            path = posixpath.dirname(path)
        return self.directories.get(path)


def _alike(left: Formula, right: Formula) -> Formula:
    return solver.all_of([solver.implies(left, right), solver.implies(right, left)])


NUMBERS_OF_NAMES = frozenset({
    *OF_FILES, "special devmajor", "special devminor", "type", "filesystem",
})  # fmt: skip
"""What is asked of visited names, but for which of the watched files they are."""

RETURNED = solver.truth("returned")
SUCCESS = solver.truth("success")
HAS_ADDRESS = solver.truth("has an address")
RAISED = solver.truth("raised")
