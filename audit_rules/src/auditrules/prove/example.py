"""An event from a solver's model, as ordinary as the model permits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from auditrules.kernel.event import EXT4, NO_INODE, Event, FileId, VisitedName
from auditrules.model.kernel_rule import UNSET, WATCH, KernelRule, Operator, bits
from auditrules.model.rule import plain_path
from auditrules.prove import solver
from auditrules.prove.call_classes import CallClass
from auditrules.prove.formulas import (
    ARGUMENTS,
    GROUPS,
    HAS_ADDRESS,
    NUMBERS_OF_NAMES,
    OBJECT_LABELS,
    OWNERS,
    PLAIN,
    RAISED,
    RETURNED,
    SUCCESS,
    USERS,
    Atoms,
    is_inside,
)
from auditrules.prove.solver import Formula, Model, NumberTerm
from auditrules.prove.unknown_ids import numbers_for
from auditrules.prove.watch_kinds import surely_directories, unknown_paths
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

ORDINARY_CALLS = (
    "openat", "open", "unlinkat", "unlink", "renameat2", "renameat", "rename", "fchmodat", "chmod",
    "fchownat", "chown", "mkdirat", "mkdir", "truncate", "execve", "read", "getppid", "getuid",
    "setxattr", "creat", "link", "symlink", "mount", "sethostname", "kill", "ptrace", "socket",
)  # fmt: skip
"""Calls that are easy to make, the most instructive first."""

_VISITS_TWO = frozenset({"rename", "renameat", "renameat2", "link", "linkat"})
_VISITS_ONE = frozenset(ORDINARY_CALLS[:17]) - _VISITS_TWO - {"read", "getppid", "getuid"} | {
    "openat2", "open_by_handle_at", "fchmod", "fchown", "fchmodat2", "lchown", "ftruncate",
    "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "setxattr", "creat",
    "stat", "lstat", "newfstatat", "access", "faccessat", "readlink", "readlinkat", "getxattr",
    "rmdir", "mknod", "mknodat", "symlink", "symlinkat", "utime", "utimes", "utimensat", "chdir",
    "chroot", "mount", "umount2", "execveat", "statx", "truncate64", "chown32", "lchown32",
}  # fmt: skip
_OPENERS = frozenset({"open", "openat", "openat2", "creat", "socket"})
_A_DESCRIPTOR = 3  # what a program's first open returns: 0 to 2 are its standard streams
_EACCES = 13
_ERRORS = (13, 2, 1)
"""The errors of ordinary calls, the easiest to cause first."""

_MOST_ERRORS = 4095  # MAX_ERRNO: a result from -4095 to -1 is an error
_REGULAR = 0o100000
_USER = 1000  # the usual first user who logs in, so that an example looks familiar
_DEVICE = (8, 1)
_FIRST_FILE = 1000
_FIRST_PROGRAM = 5000
_FIRST_VISITED = 9000
_HIGH = 1 << 32
_ELSEWHERE = ("/tmp", "/srv", "/opt", "/home", "/var/lib", "/")  # noqa: S108  (no file)
_LEAVES = ("x", "y", "z", *(f"x{number}" for number in range(2, 100)))


@dataclass(frozen=True)
class Example:
    """An event, the files at the paths that rules name, and numbers for unresolved names.

    `asked` are the fields that the rules test. Of the watched paths of unknown kind, `directories`
    are directories in the example, and `no_directories` are not.
    """

    event: Event
    files: Mapping[str, FileId]
    resolved: Mapping[tuple[str, str], int]
    asked: frozenset[str]
    directories: frozenset[str] = frozenset()
    no_directories: frozenset[str] = frozenset()


def rank(found: CallClass) -> int:
    """Return the rank of a class's best call among the ordinary calls."""
    known = lookup.calls(found.arch)
    for position, name in enumerate(ORDINARY_CALLS):
        if name in known and found.calls >> known[name] & 1:
            return position
    return len(ORDINARY_CALLS)


def best_call(found: CallClass) -> int:
    """Return the call of a class that is easiest to make."""
    known = lookup.calls(found.arch)
    for name in ORDINARY_CALLS:
        if name in known and found.calls >> known[name] & 1:
            return known[name]
    names = lookup.call_names(found.arch)
    calls = bits(found.calls)
    return next((one for one in calls if one in names), calls[0])


def oddity(event: Event) -> int:
    """Return how unlike a real call an event is: 0 if its call can visit its files, and so on.

    It ranks examples; the search stops at an event of 0.
    """
    name = lookup.call_name(event.arch, event.call)
    most = 2 if name in _VISITS_TWO else 1 if name in _VISITS_ONE else 0
    odd = max(0, len(event.names) - most)
    odd += event.raised + (event.exit is None) + bool(event.groups)
    return 2 * odd + (name not in _VISITS_TWO | _VISITS_ONE | set(ORDINARY_CALLS))


# Wishes -----------------------------------------------------------------------------------------


def wishes(atoms: Atoms, arch: Arch, call: int) -> Iterator[Formula]:
    """Yield the wishes that make an event ordinary, the most important first.

    They are made lazily: there are many, and usually there is no event.
    """
    yield from _wishes(atoms, arch, call)


def _wishes(atoms: Atoms, arch: Arch, call: int) -> list[Formula]:
    found = [solver.negation(RAISED)]
    if "returned" in atoms.asked:
        found.append(RETURNED)
    found += _about_exit(atoms, arch, call)
    found += [solver.negation(atoms.visits(slot)) for slot in range(1, atoms.slots)]
    found += _about_places(atoms)
    # A path without a trailing slash is usually a file.
    found += [solver.negation(held) for _, held in sorted(atoms.kinds.items())]
    found += [solver.negation(held) for _, held in sorted(atoms.directories.items())]
    if atoms.paths:
        nowhere = solver.number_of(0)
        found += [
            solver.are_equal(atoms.of_name(slot, "which"), nowhere) for slot in range(atoms.slots)
        ]
    if atoms.slots:
        visits = lookup.call_name(arch, call) in _VISITS_ONE | _VISITS_TWO
        found.append(atoms.visits(0) if visits else solver.negation(atoms.visits(0)))
    asked = sorted(atoms.asked)
    if "exit" in atoms.asked and "fsuid" in atoms.asked:
        permitted = solver.negation(_among(atoms, "exit", (-1, -_EACCES)))
        found.append(solver.any_of([permitted, _among(atoms, "fsuid", (_USER,))]))
    for group in (USERS, GROUPS):
        found += [_among(atoms, what, (0, _USER)) for what in asked if what in group]
    values = [value for _, value in sorted(atoms.names.items())]
    for index, value in enumerate(values):
        found.append(solver.compare(value, Operator.GREATER, solver.number_of(2 * _USER)))
        found += [solver.negation(solver.are_equal(value, other)) for other in values[:index]]
    found += [solver.negation(member) for _, member in _members(atoms)]
    found.append(solver.negation(HAS_ADDRESS))
    found += [_among(atoms, what, range(3)) for what in asked if what in {*ARGUMENTS, "flags"}]
    usual = {"auid": _USER, "sessionid": 1, "ppid": 1, "pid": _USER, "exe": 0}
    found += [_among(atoms, what, (usual.get(what, 0),)) for what in asked if what in _OF_CALL]
    for slot in range(atoms.slots):
        found += _about_name(atoms, slot)
    return found


_OF_CALL = frozenset({*USERS, *GROUPS, *PLAIN, *ARGUMENTS, "exe", "flags"})


def _among(atoms: Atoms, what: str, values: Iterable[int]) -> Formula:
    unknown = atoms.ask(what)
    return solver.any_of(solver.are_equal(unknown, solver.number_of(value)) for value in values)


def _about_exit(atoms: Atoms, arch: Arch, call: int) -> list[Formula]:
    found: list[Formula] = []
    if "exit" in atoms.asked:
        code = atoms.ask("exit")
        failed = solver.compare(code, Operator.GREATER_OR_EQUAL, solver.number_of(-_MOST_ERRORS))
        if "success" in atoms.asked:
            found.append(solver.any_of([solver.negation(SUCCESS), solver.negation(failed)]))
        usual = _usual_exit(arch, call)
        codes = (usual, *(-error for error in _ERRORS))
        found += [_among(atoms, "exit", codes[:length]) for length in range(len(codes), 0, -1)]
    elif "success" in atoms.asked:
        found.append(SUCCESS)
    return found


def _usual_exit(arch: Arch, call: int) -> int:
    return _A_DESCRIPTOR if lookup.call_name(arch, call) in _OPENERS else 0


def _about_places(atoms: Atoms) -> list[Formula]:
    """Wish that one name is in all directories that the call is said to visit, and in no others."""
    found: list[Formula] = []
    directories = sorted(atoms.directories.items())
    for index, (one, held) in enumerate(directories):
        for other, further in directories[:index]:
            if not is_inside(one, other) and not is_inside(other, one):
                found.append(solver.negation(solver.all_of([held, further])))
        for path, number in sorted(atoms.paths.items()):
            if not is_inside(path, one) and atoms.slots:
                here = solver.are_equal(atoms.of_name(0, "which"), solver.number_of(number))
                found.append(solver.negation(solver.all_of([atoms.visits(0), here, held])))
    return found


def _about_name(atoms: Atoms, slot: int) -> list[Formula]:
    found = [atoms.leads(slot)]
    usual = {"type": _REGULAR, "devmajor": _DEVICE[0], "devminor": _DEVICE[1]}
    for what in sorted(atoms.asked & NUMBERS_OF_NAMES):
        value = UNSET if what in OBJECT_LABELS else usual.get(what, 0)
        if what == "inode":
            value = _FIRST_VISITED + slot
        elif what in OWNERS:
            owners = [solver.are_equal(atoms.of_name(slot, what), solver.number_of(_USER))]
            owners.append(solver.are_equal(atoms.of_name(slot, what), solver.number_of(0)))
            found += [solver.any_of(owners), owners[0]]
            continue
        found.append(solver.are_equal(atoms.of_name(slot, what), solver.number_of(value)))
    return found


def numbers(atoms: Atoms) -> list[NumberTerm]:
    """Return all numbers that `read` takes from a model, always in the same order."""
    of_files = sorted(atoms.asked & NUMBERS_OF_NAMES)
    of_calls = sorted(atoms.asked - NUMBERS_OF_NAMES - {"which", "returned", "success"})
    found = [solver.unknown_number(what) for what in of_calls]
    found += [value for _, value in sorted(atoms.names.items())]
    for slot in range(atoms.slots):
        which = ["which"] if atoms.paths else []
        found += [atoms.of_name(slot, what) for what in (*which, *of_files)]
    inodes = [what for what in of_files if what in {"inode", "devmajor", "devminor"}]
    return found + [atoms.of_path(path, what) for path in sorted(atoms.paths) for what in inodes]


def _members(atoms: Atoms) -> list[tuple[NumberTerm, Formula]]:
    return [atoms.members[group] for group in sorted(atoms.members, key=repr)]


# Reading a model --------------------------------------------------------------------------------


def read(
    atoms: Atoms,
    model: Model,
    found: CallClass,
    rules: Sequence[KernelRule],
    filesystem: int = EXT4,
) -> Example:
    """Return the event that a model stands for, a call of the class.

    `rules` are all rules of both sets; `filesystem` is where visited names lie.
    """
    call = best_call(found)
    reader = _Reader(atoms, model)
    files = reader.files(rules)
    programs = {index: path for path, index in atoms.programs.items()}
    code = reader.exit(found.arch, call)
    # Root is seldom refused.
    user = _USER if code in {-1, -_EACCES} else 0
    program = programs.get(reader.number("exe", 0))
    flags = (("a0", 0), ("a1", 0), ("a2", 0), ("a3", 0))
    arguments = tuple(reader.number(what, usual) for what, usual in flags)
    event = Event(
        arch=found.arch,
        call=call,
        arguments=(arguments[0], arguments[1], arguments[2], arguments[3]),
        exit=code,
        pid=reader.number("pid", _USER),
        ppid=reader.number("ppid", 1),
        uid=reader.number("uid", user),
        euid=reader.number("euid", user),
        suid=reader.number("suid", user),
        fsuid=reader.number("fsuid", user),
        gid=reader.number("gid", 0),
        egid=reader.number("egid", 0),
        sgid=reader.number("sgid", 0),
        fsgid=reader.number("fsgid", 0),
        sessionid=reader.number("sessionid", 1),
        personality=reader.number("pers", 0),
        auid=reader.number("auid", _USER),
        groups=frozenset(reader.members()),
        exe=FileId(*_DEVICE, _FIRST_PROGRAM) if program is None else files[program],
        open_flags=reader.number("flags", 0) if found.source == "flags" else None,
        socket_family=reader.family(),
        subject=reader.labels(atoms.ask, [one for one in atoms.labels if one.startswith("subj_")]),
        raised=model.holds(RAISED),
    )
    names = tuple(replace(name, filesystem=filesystem) for name in reader.names(files))
    chosen = numbers_for(rules, {name: model.value(value) for name, value in atoms.names.items()})
    texts = {str(test.value) for rule in rules for test in rule.tests("path", "dir", "exe", WATCH)}
    at = {text: files[plain_path(text)] for text in texts}
    trees = _directories(atoms, model, rules)
    others = frozenset(unknown_paths(rules)) - trees
    asked = frozenset(atoms.asked)
    return Example(replace(event, names=names), at, chosen, asked, trees, others)


def _directories(atoms: Atoms, model: Model, rules: Sequence[KernelRule]) -> frozenset[str]:
    """Return which watched paths of unknown kind are directories."""
    found = {
        path
        for path in unknown_paths(rules)
        if path in atoms.kinds and model.holds(atoms.kinds[path])
    }
    return surely_directories(rules) | found


class _Reader:
    """A model's values, usual ones where the rules ask for none."""

    def __init__(self, atoms: Atoms, model: Model) -> None:
        self.atoms, self.model = atoms, model

    def number(self, what: str, usual: int) -> int:
        if what not in self.atoms.asked:
            return usual
        return self.model.value(solver.unknown_number(what))

    def exit(self, arch: Arch, call: int) -> int | None:
        asked = self.atoms.asked
        if "returned" in asked and not self.model.holds(RETURNED):
            return None
        success = self.model.holds(SUCCESS)
        usual = _usual_exit(arch, call)
        if "exit" not in asked:
            return -_EACCES if "success" in asked and not success else usual
        code = _as_signed(self.number("exit", usual))
        if "success" in asked and success and -_MOST_ERRORS <= code < 0:
            # A result of 64 bits, an address for instance, of which rules see the lower half.
            return code % _HIGH + _HIGH
        return code

    def members(self) -> list[int]:
        members = _members(self.atoms)
        return [self.model.value(value) for value, member in members if self.model.holds(member)]

    def family(self) -> int | None:
        if "saddr_fam" not in self.atoms.asked or not self.model.holds(HAS_ADDRESS):
            return None
        return self.number("saddr_fam", 0)

    def labels(
        self, ask: Callable[[str], solver.NumberTerm], fields: Iterable[str]
    ) -> dict[str, str]:
        found: dict[str, str] = {}
        for field in fields:
            value = self.model.value(ask(field))
            texts = {index: text for text, index in self.atoms.labels[field].items()}
            if value != UNSET:
                found[field] = texts.get(value, "another")
        return found

    def files(self, rules: Sequence[KernelRule]) -> dict[str, FileId]:
        """Return the files at all plain paths that rules name, each another file."""
        found: dict[str, FileId] = {}
        places = sorted(
            {
                plain_path(str(test.value))
                for rule in rules
                for test in rule.tests("path", "dir", "exe", WATCH)
            }
        )
        for index, path in enumerate(places):
            inode = self._of_path(path, "inode", _FIRST_FILE + index)
            major = self._of_path(path, "devmajor", _DEVICE[0])
            minor = self._of_path(path, "devminor", _DEVICE[1])
            while FileId(major, minor, inode) in found.values():
                inode += _HIGH
            found[path] = FileId(major, minor, inode)
        return found

    def _of_path(self, path: str, what: str, usual: int) -> int:
        if what not in self.atoms.asked or path not in self.atoms.paths:
            return usual
        return self.model.value(self.atoms.of_path(path, what))

    def names(self, files: Mapping[str, FileId]) -> tuple[VisitedName, ...]:
        atoms = self.atoms
        slots = [slot for slot in range(atoms.slots) if self.model.holds(atoms.visits(slot))]
        watched = {index: path for path, index in atoms.paths.items()}
        open_places = {path for path, held in atoms.directories.items() if self.model.holds(held)}
        found: list[VisitedName] = []
        for slot in slots:
            which = self.model.value(atoms.of_name(slot, "which")) if atoms.paths else 0
            name = self._name(slot, watched.get(which), files)
            if name.path is None and (open_places or name.file.inode != NO_INODE):
                deepest = sorted(open_places, key=lambda path: (-len(path), path))
                name = self._place_name(name, (*deepest, *_ELSEWHERE), open_places, found)
            found.append(name)
            for place in self._missing_directories(found, open_places):
                found.append(self._place_name(name, (place,), open_places, found))
        return tuple(found)

    def _missing_directories(
        self, names: Iterable[VisitedName], wanted: Iterable[str]
    ) -> list[str]:
        """Return the wanted directories, the deepest alone, in which none of the names lies."""
        left = [place for place in wanted if not any(name.lies_in(place) for name in names)]
        return [
            place
            for place in sorted(left)
            if not any(other != place and is_inside(other, place) for other in left)
        ]

    def _place_name(
        self,
        name: VisitedName,
        places: Iterable[str],
        wanted: set[str],
        others: Sequence[VisitedName],
    ) -> VisitedName:
        """Return a name at a path in one of the places, without a path if there is none.

        The path lies in no directory but wanted ones, no rule names it, and another file has
        another.
        """
        closed = set(self.atoms.directories) - wanted
        for path in (f"{place.rstrip('/')}/{leaf}" for place in places for leaf in _LEAVES):
            here = replace(name, path=path)
            if (
                path not in self.atoms.paths
                and path not in self.atoms.programs
                and not any(is_inside(path, place) for place in closed)
                and all(other.path != path or other == here for other in others)
            ):
                return here
        return replace(name, path=None)

    def _name(self, slot: int, path: str | None, files: Mapping[str, FileId]) -> VisitedName:
        if not self.model.holds(self.atoms.leads(slot)):
            return VisitedName()
        number = self._of_name
        if path is not None:
            file = files[path]
        else:
            major = number(slot, "devmajor", _DEVICE[0])
            minor = number(slot, "devminor", _DEVICE[1])
            inode = number(slot, "inode", _FIRST_VISITED + slot)
            while FileId(major, minor, inode) in files.values() or inode == NO_INODE:
                inode += _HIGH
            file = FileId(major, minor, inode)
        fields = [one for one in OBJECT_LABELS if one in self.atoms.labels]
        return VisitedName(
            path=path,
            file=file,
            special_device=(
                number(slot, "special devmajor", 0),
                number(slot, "special devminor", 0),
            ),
            mode=number(slot, "type", _REGULAR),
            uid=number(slot, "obj_uid", 0),
            gid=number(slot, "obj_gid", 0),
            label=self.labels(lambda field: self.atoms.of_name(slot, field), fields),
        )

    def _of_name(self, slot: int, what: str, usual: int) -> int:
        if what not in self.atoms.asked:
            return usual
        return self.model.value(self.atoms.of_name(slot, what))


def _as_signed(value: int) -> int:
    return value - _HIGH if value >= _HIGH // 2 else value
