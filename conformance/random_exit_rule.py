"""A random rule of the exit list that is aimed at a call."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from auditrules.auditctl.translate import COMPARABLE
from auditrules.kernel.event import NO_INODE, Event, VisitedName
from auditrules.kernel.field_tests import permissions
from auditrules.model.kernel_rule import UNSET
from auditrules.tables import lookup
from conformance.files_and_workers import (
    ABSENT,
    DIRECTORIES,
    FIELD,
    FILES,
    LINKED,
    PROGRAMS,
    SYMLINKS,
    THROUGH_LINKS,
    WORKERS,
)

WATCHED = (*FILES, *DIRECTORIES, *ABSENT, *SYMLINKS, *THROUGH_LINKS[1:])
"""What rules name as a file."""

TREES = (*DIRECTORIES, *FILES, ABSENT[0], *LINKED, *THROUGH_LINKS)
"""What rules name as a directory; a file is a tree of one."""

_WATCHABLE = frozenset(WATCHED)
_HIT = 0.85  # of the conditions, so many hold for the call at which a rule is aimed
_ORDERED = ("=", "!=", "<", "<=", ">", ">=")
_KEYS = ("k1", "k2", "k3", "long-key_name", r"with\ space", "plus+sign", "dot.key")
_PIDS = tuple(worker.pid for worker in WORKERS)
_LABELS = (
    "subj_role=unconfined", "subj_role!=unconfined", "subj_type=x", "subj_user!=x", "obj_type=x",
    "obj_role!=x",
)  # fmt: skip
_MASK_BITS = 2048
_CLASS_BITS = range(2032, _MASK_BITS)
_USUAL_CALLS = 450
_SIGN_BIT = 1 << 31


def happens(chance: random.Random, share: float) -> bool:
    """Draw: yes in this share of the cases."""
    return chance.random() < share


def watchable(event: Event) -> list[str]:
    """Return where the files lie that a call visited, of those that rules may name."""
    return [name.path for name in event.names if name.path in _WATCHABLE and name.path]


def contested(event: Event) -> bool:
    """Say whether a call visited two files or more that rules may name."""
    return len(set(watchable(event))) > 1


def letters(chance: random.Random, event: Event) -> str:
    """Return permissions, mostly with one that the call stands for."""
    drawn = {letter for letter in "rwxa" if happens(chance, 0.3)}
    bits = {"r": 4, "w": 2, "x": 1, "a": 8}
    held = [letter for letter, bit in bits.items() if permissions(event) & bit]
    if held and happens(chance, _HIT):
        drawn.add(chance.choice(held))
    return "".join(sorted(drawn)) or "wa"


def keys(chance: random.Random) -> list[str]:
    """Return the words for no key, one or two."""
    drawn = chance.sample(_KEYS, chance.choice((0, 0, 1, 1, 1, 2)))
    return [f"{chance.choice(('-k ', '-F key='))}{key}" for key in drawn]


class Aimed:
    """A rule while it is drawn; a rule can have one path, tree or inode, and one program."""

    def __init__(self, chance: random.Random, event: Event, hit: float = _HIT) -> None:
        self.chance, self.event, self.hit = chance, event, hit
        self.located = self.with_program = False

    def text_of_file(self) -> str:
        """Return a line on a file, with few conditions beside."""
        chance = self.chance
        listed = "never,exit" if happens(chance, 0.25) else "always,exit"
        place = self._located(("path", "path", "inode", "dir")) or ""
        # One on a file, of which there may be another that the call visited.
        beside = [self._file() or ""] if happens(chance, 0.3) else []
        fields = [place, *beside, *self._fields(chance.choice((0, 0, 1)))]
        chance.shuffle(fields)
        fields = [field for field in fields if field]
        named = keys(chance) if happens(chance, 0.6) else []
        if named and place.startswith("-F inode"):
            fields.append("-S all")
        return " ".join([chance.choice(("-a", "-a", "-A")), listed, *fields, *named])

    def text_with(self, beginning: str) -> str | None:
        """Return a line before all others with a condition that begins so, if one is drawn."""
        fields = self._fields(1)
        if self.event.call >= _MASK_BITS or not fields or not fields[0].startswith(beginning):
            return None
        return f"-A always,exit -F arch={self.event.arch} -S {self.event.call} {fields[0]}"

    def text(self) -> str:
        """Return a line."""
        chance = self.chance
        action = "never" if happens(chance, 0.25) else "always"
        words = ["-A" if happens(chance, 0.2) else "-a"]
        words.append(f"{action},exit" if happens(chance, 0.8) else f"exit,{action}")
        arch, of_arch = self._arch()
        calls = self._calls(arch)
        fields = self._fields(chance.choice((0, 1, 1, 2, 2, 3, 4)) if calls else 3)
        named = keys(chance)
        allowing = ("-F perm=", "-F path=", "-F dir=", "-F exe")
        if named and not calls and not any(word.startswith(allowing) for word in fields):
            calls = ["-S all"]
        order = (calls, fields) if happens(chance, 0.5) else (fields, calls)
        return " ".join([*words, *of_arch, *order[0], *order[1], *named])

    def _arch(self) -> tuple[lookup.Arch, list[str]]:
        """Return by which architecture names are read, and the words that say so."""
        own: lookup.Arch = self.event.arch
        other: lookup.Arch = "b32" if own == "b64" else "b64"
        kind = self.chance.choices(("own", "other", "not other", "none"), (50, 6, 10, 34))[0]
        if kind == "own":
            return own, [f"-F arch={own}"]
        if kind == "none":
            return "b64", []
        return other, [f"-F arch{'=' if kind == 'other' else '!='}{other}"]

    def _calls(self, arch: lookup.Arch) -> list[str]:
        """Return which calls it names, mostly this one among them."""
        chance = self.chance
        kind = chance.choices(("none", "all", "some"), (12, 8, 80))[0]
        if kind != "some":
            return ["-S all"] if kind == "all" else []
        numbers = [chance.randrange(_USUAL_CALLS) for _ in range(chance.choice((0, 0, 1, 3)))]
        if happens(chance, 0.05):
            numbers.append(chance.choice(_CLASS_BITS))
        if self.event.call < _MASK_BITS and happens(chance, self.hit):
            numbers.append(self.event.call)
        names = lookup.call_names(arch)
        shown = [
            names[number] if number in names and happens(chance, 0.7) else str(number)
            for number in numbers or [self.event.call % _USUAL_CALLS]
        ]
        return [f"-S {','.join(shown)}"] if happens(chance, 0.5) else [f"-S {it}" for it in shown]

    def _fields(self, count: int) -> list[str]:
        family = 1 if self.event.socket_family is None else 8
        makers: dict[Callable[[], str | None], int] = {
            self._id: 6, self._process: 4, self._result: 3, self._file: 5, self._located: 7,
            self._program: 3, self._permissions: 3, self._compared: 4, self._family: family,
            self._argument: 4, self._label: 2,
        }  # fmt: skip
        drawn = self.chance.choices(list(makers), list(makers.values()), k=count)
        return [text for maker in drawn if (text := maker()) is not None]

    # Conditions, each as its words; None where the call has nothing of the kind ---------------

    def _holding(self, value: int) -> tuple[str, int]:
        """Return an operator and a number that most often holds for a value."""
        operator = self.chance.choice((*_ORDERED, "=", "="))
        if not happens(self.chance, self.hit):
            return operator, self.chance.choice((0, 1, 33, 1000, UNSET - 1))
        if operator == "=":
            return operator, value
        if operator == "!=":
            return operator, self.chance.choice((7, 1234))
        nearer = {"<": (1, 1000), "<=": (0, 1), ">": (-1, -1), ">=": (0, -1)}[operator]
        return operator, min(max(value + self.chance.choice(nearer), 0), UNSET - 1)

    def _id(self) -> str:
        name = self.chance.choice(
            ("uid", "euid", "suid", "fsuid", "gid", "gid", "egid", "egid", "sgid", "fsgid", "auid")
        )
        if name == "auid" and happens(self.chance, 0.5):
            unset = self.chance.choice(("unset", "-1", "4294967295"))
            return f"-F auid{self.chance.choice(('=', '!='))}{unset}"
        value = getattr(self.event, name)
        if name in {"gid", "egid"} and self.event.groups and happens(self.chance, 0.7):
            group = self.chance.choice(sorted(self.event.groups))
            return f"-F {name}{self.chance.choice(('=', '=', '!='))}{group}"
        operator, number = self._holding(value)
        return f"-F {name}{operator}{number}"

    def _process(self) -> str:
        choice = self.chance.choice
        match choice(("pid", "ppid", "sessionid", "pers")):
            case "pid":
                # That of a child is another each time.
                pid = self.event.pid if self.event.pid in _PIDS else choice(_PIDS)
                return choice((f"-F pid={pid}", f"-F pid!={pid}", "-F pid>3", "-F pid<999999"))
            case "ppid":
                return f"-F ppid{choice(('=', '!='))}{choice((1, 501, 502))}"
            case "sessionid":
                number = self.event.sessionid
                shown = "unset" if number == UNSET else str(number)
                return f"-F sessionid{choice(('=', '!=', '>=', '<='))}{shown}"
            case _:
                number = choice((self.event.personality, 0, 8, 0x40008))
                return f"-F pers{choice((*_ORDERED, '&', '&='))}{number}"

    def _result(self) -> str:
        returned = self.event.exit or 0
        names = {number: name for name, number in lookup.errors().items()}
        if happens(self.chance, 0.35):
            operator = self.chance.choice(("=", "!="))
            holds = self.event.success == (operator == "=")
            return f"-F success{operator}{int(holds == happens(self.chance, self.hit))}"
        if -returned in names and happens(self.chance, 0.7):
            shown = self.chance.choice((f"-{names[-returned]}", str(returned)))
            return f"-F exit{self.chance.choice(('=', '=', '!=', '>=', '<='))}{shown}"
        operator, number = self._holding(returned & UNSET)
        return f"-F exit{operator}{number if number < _SIGN_BIT else number - (1 << 32)}"

    def _file(self) -> str | None:
        if not self.event.names:
            return None
        name: VisitedName = self.chance.choice(self.event.names)
        kind = self.chance.choice(("devmajor", "devminor", "obj_uid", "obj_gid", "filetype"))
        if kind == "filetype":
            kinds = {number: text for text, number in lookup.FILE_TYPES.items()}
            shown = kinds.get(name.mode & 0o170000, "socket")
            if not happens(self.chance, self.hit):
                shown = self.chance.choice(sorted(lookup.FILE_TYPES))
            return f"-F filetype{self.chance.choice(('=', '=', '!='))}{shown}"
        value = {
            "devmajor": self.chance.choice((name.file.major, name.special_device[0])),
            "devminor": self.chance.choice((name.file.minor, name.special_device[1])),
            "obj_uid": name.uid,
            "obj_gid": name.gid,
        }[kind]
        operator, number = self._holding(value)
        if kind == "devminor" and happens(self.chance, 0.2):
            operator = self.chance.choice(("&", "&="))
        return f"-F {kind}{operator}{number}"

    def _located(
        self, kinds: Sequence[str] = ("path", "dir", "dir", "inode", "inode!")
    ) -> str | None:
        """Return a path, a tree or an inode."""
        if self.located:
            return None
        self.located = True
        kind = self.chance.choice(kinds)
        hit = happens(self.chance, self.hit)
        found = [name for name in self.event.names if name.file.inode != NO_INODE]
        choices: Sequence[str | int]
        if kind in {"inode", "inode!"}:
            numbers = [name.file.inode for name in found if name.path in _WATCHABLE]
            choices = numbers if hit and numbers else range(2, 70)
        elif kind == "path":
            paths = watchable(self.event)
            choices = paths if hit and paths else WATCHED
        else:
            above = [top for top in DIRECTORIES if any(name.lies_in(top) for name in found)]
            inner = [top for top in above if top != FIELD]
            if inner and happens(self.chance, 0.85):
                above = inner
            if any(name.lies_in(f"{FIELD}/dir") for name in found):
                above = [*above, *LINKED, *THROUGH_LINKS]
            choices = above if hit and above else TREES
        place = self.chance.choice(choices)
        slash = "/" if kind == "dir" and place in DIRECTORIES and happens(self.chance, 0.2) else ""
        return f"-F {kind}={place}{slash}"

    def _program(self) -> str | None:
        if self.with_program:
            return None
        self.with_program = True
        return (
            f"-F exe{self.chance.choice(('=', '!='))}{self.chance.choice((*PROGRAMS, ABSENT[0]))}"
        )

    def _permissions(self) -> str:
        return f"-F perm={letters(self.chance, self.event)}"

    def _compared(self) -> str:
        pair = list(self.chance.choice(sorted(COMPARABLE)))
        self.chance.shuffle(pair)
        return f"-C {pair[0]}{self.chance.choice(('=', '!='))}{pair[1]}"

    def _family(self) -> str | None:
        if self.event.socket_family is None:
            return None
        return f"-F saddr_fam{self.chance.choice(('=', '!=', '>', '<='))}{self.event.socket_family}"

    def _label(self) -> str:
        return f"-F {self.chance.choice(_LABELS)}"

    def _argument(self) -> str:
        index = self.chance.randrange(4)
        value = self.event.arguments[index] & UNSET
        operator, number = self._holding(value)
        if happens(self.chance, 0.4):
            operator = self.chance.choice(("&", "&="))
            number = self.chance.choice((value, 1, 3, 64))
        if number >= _SIGN_BIT:
            return f"-F a{index}{operator}{number - (1 << 32)}"
        return f"-F a{index}{operator}{self.chance.choice((str(number), f'0x{number:x}'))}"
