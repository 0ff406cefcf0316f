"""A difference between two rule sets, as a call that a guest's kernel can be asked about.

The prover's event becomes files, a process and a call; the rules are moved to a root of their own,
so that what they watch can be made there without touching the guest's own files.
"""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from auditrules.auditctl.write import UnwritableRuleError, text_of
from auditrules.kernel.event import NO_INODE, VisitedName
from auditrules.kernel.semantics import Outcome
from auditrules.model.kernel_rule import UNSET, FieldTest, FilterList, KernelRule
from auditrules.model.rule import plain_path
from auditrules.prove.formulas import NUMBERS_OF_NAMES, is_inside
from auditrules.prove.relation import Difference
from auditrules.prove.unknown_ids import resolve_ids
from auditrules.tables import lookup
from conformance.calls import (
    Argument,
    ArgumentWords,
    Call,
    Data,
    Json,
    Space,
    Step,
    Text,
    Worker,
    directory,
    fifo,
    file,
    mount,
    program,
    remove,
)
from conformance.kernel_records import key_of
from conformance.program import ProgramAnswer, carry_out
from hardcost.errors import TrialError
from hardcost.machines.machine import Machine
from hardcost.protocol.boot import Boot

_LIMIT_SECONDS = 1800.0
_AT = -100  # AT_FDCWD
_NO_FILE = 999  # a descriptor that nothing has
_TAG = 0x6000  # where the numbers begin by which calls with the same arguments are distinguished
_SHOWN = 4  # arguments in a record
_FIRST_PID = 700
_NOATIME = 0o1000000
_OPEN_FLAGS = 0o3 | 0o100 | 0o1000 | 0o2000  # the access, O_CREAT, O_TRUNC, O_APPEND
_FORMAT = 0o170000
_EPERM, _ENOENT, _EACCES = -1, -2, -13
_PLACES = frozenset({"path", "dir", "exe"})


@dataclass(frozen=True)
class Witness:
    """A call that should distinguish two rule sets, and all that it needs.

    `sets` are the lines of A and B; `expected` what they should make of it: the key, None where
    nothing is to be recorded. `result` is what the call has to come to, None if any will do.
    """

    fixture: tuple[Step, ...]
    worker: Worker
    call: Call
    sets: tuple[str, str]
    expected: tuple[str | None, str | None]
    result: int | None


@dataclass(frozen=True)
class Testimony:
    """What the kernel made of a witness' call under A and B; `complaints` are auditctl's words."""

    witness: Witness
    result: int
    found: tuple[str | None, str | None]
    complaints: str

    @property
    def confirms(self) -> bool:
        """Whether that is what was expected."""
        return self.found == self.witness.expected

    @property
    def fits(self) -> bool:
        """Whether the call came to what it had to: otherwise it was another event."""
        return self.witness.result in {None, self.result}


@dataclass(frozen=True)
class _Made:
    """A call's arguments, and what else it takes."""

    arguments: tuple[Argument, ...]
    before: tuple[Step, ...] = ()
    child: bool = False
    closes: bool = False


class _UnmadeError(Exception):
    """There is no making such an event at will."""


def witness(
    difference: Difference, a: Sequence[KernelRule], b: Sequence[KernelRule], number: int = 0
) -> Witness | None:
    """Return a call for a difference of the exit list, None if there is no making its event.

    `number` distinguishes witnesses of one guest.
    """
    try:
        return _Maker(difference, (tuple(a), tuple(b)), number).witness()
    except (_UnmadeError, UnwritableRuleError):
        return None


def expected(outcome: Outcome) -> str | None:
    """Return the key under which an event is recorded, None if it is not."""
    return outcome.key if outcome.recorded else None


class _Maker:
    """A difference while its call is put together."""

    def __init__(
        self,
        difference: Difference,
        sets: tuple[tuple[KernelRule, ...], tuple[KernelRule, ...]],
        number: int,
    ) -> None:
        if difference.list is not FilterList.EXIT:
            raise _UnmadeError
        self.difference, self.event, self.number = difference, difference.event, number
        numbers = {}
        for name, value in difference.resolved.items():
            what, _, text = name.partition(" ")
            numbers[what, text] = value
        self.root = f"/case{number}"
        self.sets = [_moved(resolve_ids(rules, numbers), self.root) for rules in sets]
        tests = [
            test
            for rules in self.sets
            for rule in rules
            for test in rule.conditions
            if isinstance(test, FieldTest)
        ]
        self._tested = {test.field for test in tests}
        self._places = [
            (test.field, plain_path(str(test.value))) for test in tests if test.field in _PLACES
        ]
        self.owner = {name.path: name for name in self.event.names if name.path is not None}

    def witness(self) -> Witness:
        event = self.event
        labelled = event.subject or any(name.label for name in event.names)
        if event.raised or labelled or event.socket_family is not None:
            raise _UnmadeError
        worker = self._worker()
        made = self._call()
        call = Call(
            name=lookup.call_name(event.arch, event.call),
            worker=0,
            arch=event.arch,
            number=event.call,
            arguments=self._tagged(made.arguments),
            child=made.child,
            closes=made.closes,
            before=made.before,
        )
        texts = ["\n".join(text_of(rule) for rule in rules) for rules in self.sets]
        outcomes = (self.difference.outcome_a, self.difference.outcome_b)
        return Witness(
            self._fixture(worker.program),
            worker,
            call,
            (texts[0], texts[1]),
            (expected(outcomes[0]), expected(outcomes[1])),
            event.exit if self._tested & {"exit", "success"} and not made.child else None,
        )

    def _worker(self) -> Worker:
        event = self.event
        ids = (event.uid, event.euid, event.suid, event.gid, event.egid, event.sgid)
        if UNSET in ids or event.fsuid not in ids[:3] or event.fsgid not in ids[3:]:
            raise _UnmadeError
        programs = {self.root + path: found for path, found in self.difference.files.items()}
        own = [path for path, found in programs.items() if found == event.exe]
        return Worker(
            pid=_FIRST_PID + self.number,
            program=own[0] if own else f"{self.root}/hardcost/worker",
            uid=ids[:3],
            gid=ids[3:],
            auid=None if event.auid == UNSET else event.auid,
            fsuid=None if event.fsuid == event.euid else event.fsuid,
            fsgid=None if event.fsgid == event.egid else event.fsgid,
            groups=tuple(sorted(event.groups)),
            personality=event.personality,
        )

    # Files ------------------------------------------------------------------------------------

    def _fixture(self, program_path: str) -> tuple[Step, ...]:
        """Return what makes all that the rules name, and what the call visits."""
        directories: set[str] = set()
        files: dict[str, Step] = {program_path: program(program_path)}
        for kind, path in self._places:
            if kind == "dir":
                directories.add(path)
            elif path not in files:
                files[path] = program(path) if kind == "exe" else self._file(path)
        for name in self.event.names:
            path = self._path(name)
            if path not in files and path not in directories and name.file.inode != NO_INODE:
                files[path] = self._file(path)
        parents = {
            parent
            for path in (*files, *directories, *(self._path(one) for one in self.event.names))
            for parent in _parents(path)
            if parent != self.root and parent.startswith(self.root)
        }
        if parents & set(files):
            raise _UnmadeError
        made = sorted(directories - {self.root} | parents)
        return (
            mount(self.root),
            *(directory(path, 0o755) for path in made),
            *(files[path] for path in sorted(files)),
        )

    def _file(self, path: str) -> Step:
        name = self.owner.get(path.removeprefix(self.root))
        if name is None:
            return file(path)
        owner, mode = (name.uid, name.gid), self._mode()
        match name.mode & _FORMAT:
            case 0o010000:
                return fifo(path, mode)
            case 0o100000:
                if lookup.call_name(self.event.arch, self.event.call).startswith("execve"):
                    if owner != (0, 0):
                        raise _UnmadeError
                    return program(path)
                return file(path, mode, owner)
            case _:
                raise _UnmadeError

    def _mode(self) -> int:
        return 0 if self.event.exit == _EACCES else 0o777

    def _path(self, name: VisitedName) -> str:
        return self.root + (name.path or "/hardcost/visited")

    # Calls ------------------------------------------------------------------------------------

    def _call(self) -> _Made:
        name = lookup.call_name(self.event.arch, self.event.call)
        makers: Mapping[str, Callable[[], _Made]] = {
            "open": lambda: self._opened(()),
            "openat": lambda: self._opened((_AT,)),
            "openat2": self._opened_how,
            "creat": lambda: self._of_file((), (0o644,), closes=True),
            "truncate": lambda: self._of_file((), (8,)),
            "chmod": lambda: self._of_file((), (0o644,)),
            "fchmodat": lambda: self._of_file((_AT,), (0o644,)),
            "chown": lambda: self._of_file((), (0, 0)),
            "lchown": lambda: self._of_file((), (0, 0)),
            "fchownat": lambda: self._of_file((_AT,), (0, 0)),
            "unlink": lambda: self._taken_away((), ()),
            "unlinkat": lambda: self._taken_away((_AT,), (0,)),
            "rename": lambda: self._two_paths(()),
            "renameat": lambda: self._two_paths((_AT,)),
            "renameat2": lambda: self._two_paths((_AT,)),
            "link": lambda: self._two_paths(()),
            "linkat": lambda: self._two_paths((_AT,)),
            "execve": self._executed,
            "sethostname": lambda: _Made((Text("name"), 4)),
            "setdomainname": lambda: _Made((Text("name"), 4)),
            "adjtimex": lambda: _Made((Space(256),)),
            "settimeofday": lambda: _Made((0, 0)),
            "mount": lambda: _Made((Text("/nowhere"), Text("/nowhere"), 0, 0)),
        }
        if name in makers:
            return makers[name]()
        if name in _PLAIN and not self.event.names:
            return _Made(self.event.arguments[: _PLAIN[name]])
        raise _UnmadeError

    def _owner(self) -> tuple[int, int]:
        """Return who owns the file that the call visits first."""
        name = next(iter(self.event.names), None)
        return (0, 0) if name is None else (name.uid, name.gid)

    def _only_path(self) -> str:
        """Return the one path that the call is given; nothing is there if it is to find nothing."""
        if len(self.event.names) > 1:
            raise _UnmadeError
        named = [self._path(name) for name in self.event.names]
        path = named[0] if named else f"{self.root}/hardcost/visited"
        return self._not_there(path) if self.event.exit == _ENOENT else path

    def _opened(self, front: tuple[Argument, ...]) -> _Made:
        flags = self.event.arguments[len(front) + 1] & _OPEN_FLAGS
        if self.event.exit == _EPERM:
            flags |= _NOATIME
        return self._of_file(front, (flags,), closes=True)

    def _opened_how(self) -> _Made:
        how = Data(struct.pack("=QQQ", (self.event.open_flags or 0) & 3, 0, 0))
        return self._of_file((_AT,), (how, 24), closes=True)

    def _of_file(
        self,
        front: tuple[Argument, ...],
        back: tuple[Argument, ...],
        *,
        closes: bool = False,
    ) -> _Made:
        path = self._only_path()
        code = self.event.exit
        if code in {_EACCES, _EPERM} and self.event.fsuid == 0:
            raise _UnmadeError
        if code == _EACCES and not any(is_inside(path, place) for _, place in self._places):
            closed = f"{self.root}/hardcost/closed"
            return _Made((*front, Text(f"{closed}/x"), *back), (directory(closed, 0),))
        if not self.event.names and code not in {_ENOENT, None}:
            # Any file will do that no rule names.
            return _Made(
                (*front, Text(path), *back),
                (file(path, self._mode(), self._owner()),),
                closes=closes,
            )
        return _Made((*front, Text(path), *back), closes=closes)

    def _not_there(self, path: str) -> str:
        """Return a path at which nothing is, and where no call makes a file either."""
        watched = any(is_inside(path, place) for _, place in self._places)
        if watched or self.difference.asked & NUMBERS_OF_NAMES:
            raise _UnmadeError  # the rules want to know something of a file that is not there
        return f"{self.root}/hardcost/missing/x"

    def _taken_away(self, front: tuple[Argument, ...], back: tuple[Argument, ...]) -> _Made:
        path = self._only_path()
        if path in {watched for _, watched in self._places} and self.event.exit == 0:
            raise _UnmadeError  # its rule would go with it
        before = (file(path, 0o777, self._owner()),) if self.event.exit == 0 else ()
        return _Made((*front, Text(path), *back), before)

    def _two_paths(self, front: tuple[Argument, ...]) -> _Made:
        back = (0,) if front else ()
        places = [self._path(name) for name in self.event.names]
        spare = [f"{self.root}/hardcost/old", f"{self.root}/hardcost/new"]
        old, new = (*places, *spare[len(places) :])[:2]
        if len(places) > 1 or any(place in self.difference.files for place in places):
            raise _UnmadeError
        if self.event.exit == _ENOENT:
            return _Made((*front, Text(self._not_there(old)), *front, Text(new), *back))
        arguments = (*front, Text(old), *front, Text(new), *back)
        return _Made(arguments, (file(old, 0o777, self._owner()), remove(new)))

    def _executed(self) -> _Made:
        words = ArgumentWords((Text("noop"), 0))
        return _Made((Text(self._only_path()), words, ArgumentWords((0,))), child=True)

    def _tagged(self, arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        """Return the arguments with a number that the call ignores: its record is known by it."""
        if len(arguments) >= _SHOWN or "a3" in self._tested:
            return arguments
        filled = (*arguments, *self.event.arguments[len(arguments) : _SHOWN - 1])
        return (*filled, _TAG + self.number)


_PLAIN: Mapping[str, int] = {
    "getppid": 0, "getuid": 0, "getpid": 0, "kill": 2, "clock_settime": 1, "setuid": 1,
    "stime": 0, "delete_module": 0, "init_module": 0, "finit_module": 0, "sched_yield": 0,
}  # fmt: skip
"""Calls without files that are made with the event's own arguments, so many of them."""


def _parents(path: str) -> list[str]:
    found: list[str] = []
    while (path := posixpath.dirname(path)) != "/":
        found.append(path)
    return found


def _moved(rules: Sequence[KernelRule], root: str) -> tuple[KernelRule, ...]:
    """Return rules whose paths lie under a root."""
    return tuple(
        replace(
            rule,
            conditions=tuple(
                replace(test, value=(root + str(test.value)).rstrip("/"))
                if isinstance(test, FieldTest) and test.field in _PLACES
                else test
                for test in rule.conditions
            ),
        )
        for rule in rules
    )


# Asking the kernel ------------------------------------------------------------------------------


def run_witnesses(
    machine: Machine,
    witnesses: Sequence[Witness],
    boot: Boot = Boot(),  # noqa: B008  (frozen)
) -> tuple[Testimony, ...]:
    """Make the witnesses' calls in one guest, each under its A and its B.

    Raises:
        TrialError: The guest did not do its job, or lost records.
    """
    answers = carry_out(machine, boot, (), _job(witnesses), _LIMIT_SECONDS)
    results = [answer["result"] for answer in answers if answer["event"] == "learned"]
    sets = [answer for answer in answers if answer["event"] == "set"]
    if (len(results), len(sets)) != (len(witnesses), 2 * len(witnesses)):
        raise TrialError("the guest's answers are not those of the witnesses")
    return tuple(
        _testimony(one, index, results[index], sets[2 * index : 2 * index + 2])
        for index, one in enumerate(witnesses)
    )


def _job(witnesses: Sequence[Witness]) -> Json:
    calls = [replace(one.call, worker=index) for index, one in enumerate(witnesses)]
    return {
        "fixture": [step.as_json() for one in witnesses for step in one.fixture],
        "paths": [],
        "workers": [one.worker.as_json() for one in witnesses],
        "calls": [call.as_json() for call in calls],
        "sets": [
            {"rules": rules, "calls": [index], "list": False}
            for index, one in enumerate(witnesses)
            for rules in one.sets
        ],
    }


def _testimony(
    one: Witness, index: int, result: int, answers: Sequence[ProgramAnswer]
) -> Testimony:
    found: list[str | None] = []
    for answer in answers:
        if answer["lost"]:
            raise TrialError(f"the kernel lost {answer['lost']} audit records")
        keys = [key_of(answer["keys"][key]) for call, key in answer["recorded"] if call == index]
        found.append(keys[0] if keys else None)
    complaints = "\n".join(answer["complaints"] for answer in answers)
    return Testimony(one, result, (found[0], found[1]), complaints)
