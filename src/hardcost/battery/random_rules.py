"""Random sets of audit rules, each rule aimed at a call so that many of them match.

Conditions are drawn from what is known of the call's event: most of them hold, some just miss. The
same seed gives the same sets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hardcost.auditrules.event import NO_INODE
from hardcost.auditrules.kernelrule import UNSET
from hardcost.auditrules.semantics import permissions
from hardcost.auditrules.tables import lookup
from hardcost.auditrules.translate import COMPARABLE
from hardcost.battery.field import ABSENT, DIRECTORIES, FILES, PROGRAMS, SYMLINKS
from hardcost.battery.run import Wanted

if TYPE_CHECKING:
    import random

    from hardcost.auditrules.event import Event, Name

_MOST_RULES = 20
_HIT = 0.85  # of the conditions, so many hold for the call at which a rule is aimed
_ORDERED = ("=", "!=", "<", "<=", ">", ">=")
_KEYS = ("k1", "k2", "k3", "long-key_name", r"with\ space", "plus+sign", "dot.key")
_TMPFS = 0x01021994
_SPOILT = (
    "-a always,exit -S open -F uid>=1000 -F perm!=r",
    "-a always,exit -F path=/field/f1 -F dir=/field/dir",
    "-a always,exit -F path=/field/f1 -F inode=5",
    "-a always,exit -S nosuchcall",
    "-a always,exit -F uid=nobodyknows -F nofield=1",
    "-a always,exit -F exe=/field/prog -F exe=/yard/prog",
    "-w field/f1 -p wa",
    "-a always,exit -F filetype>file -S all",
    "-a always,task -F path=/field/f1",
    "-a always,exit -C uid!=gid -S all",
    "-a always,exit -F auid&1000 -S all",
)


@dataclass(frozen=True)
class Drawing:
    """What sets are drawn from: a source of chance, and the calls' events."""

    chance: random.Random
    events: Sequence[Event]

    def rule_set(self, calls: int, index: int = 0) -> Wanted:
        """Return a set with calls, so many of them, at which its rules are aimed."""
        made = self.chance.sample(range(len(self.events)), min(calls, len(self.events)))
        few = self.chance.random() < 0.3  # noqa: PLR2004  (three in ten)
        count = self.chance.randint(1, 4 if few else _MOST_RULES)
        lines: list[str] = []
        for _ in range(count):
            lines.append(self._line(self.events[self.chance.choice(made)], lines))
        return Wanted("\n".join(lines) + "\n", tuple(sorted(made)))

    def _line(self, event: Event, earlier: Sequence[str]) -> str:
        draw = self.chance.random()
        if earlier and draw < 0.02:  # noqa: PLR2004  (the kernel refuses most repetitions)
            return self.chance.choice(earlier)
        if draw < 0.03:  # noqa: PLR2004
            return self.chance.choice(_SPOILT)
        if draw < 0.045:  # noqa: PLR2004
            return self._of_another_list()
        if draw < 0.2:  # noqa: PLR2004
            return self._watch(event)
        return _Aimed(self.chance, event).text()

    def _of_another_list(self) -> str:
        action = self.chance.choice(("never", "never", "always"))
        return self.chance.choice((
            f"-a {action},filesystem -F fstype={_TMPFS}",
            f"-a {action},filesystem -F fstype!={_TMPFS}",
            f"-a {action},filesystem -F fstype=tracefs",
            f"-a {action},user -F uid=1000",
        ))  # fmt: skip

    def _watch(self, event: Event) -> str:
        paths = [name.path for name in event.names if name.path in _WATCHABLE]
        anything = self.chance.random() > _HIT or not paths
        path = self.chance.choice(_WATCHED if anything else paths)
        words = [f"-w {path}"]
        if self.chance.random() < 0.8:  # noqa: PLR2004
            words.append(f"-p {_letters(self.chance, event)}")
        return " ".join([*words, *_keys(self.chance)])


_WATCHED = (*FILES, *DIRECTORIES, *ABSENT, *SYMLINKS)
_WATCHABLE = frozenset(_WATCHED)


class _Aimed:
    """A rule of the exit list that is aimed at a call."""

    def __init__(self, chance: random.Random, event: Event) -> None:
        self.chance, self.event = chance, event
        self.place = ""  # path, dir or inode: a rule can have one

    def text(self) -> str:
        """Return the line."""
        chance = self.chance
        action = "never" if chance.random() < 0.25 else "always"  # noqa: PLR2004
        words = ["-A" if chance.random() < 0.2 else "-a"]  # noqa: PLR2004
        words.append(f"{action},exit" if chance.random() < 0.8 else f"exit,{action}")  # noqa: PLR2004
        arch, words_of_arch = self._arch()
        calls = self._calls(arch)
        fields = self._fields(chance.choice((0, 1, 1, 2, 2, 3, 4)) if calls else 2)
        keys = _keys(chance)
        named = any(word.startswith(("-F perm=", "-F path=", "-F dir=", "-F exe")) for word in fields)
        if keys and not calls and not named:
            calls = ["-S all"]
        if chance.random() < 0.5:  # noqa: PLR2004
            return " ".join([*words, *words_of_arch, *calls, *fields, *keys])
        return " ".join([*words, *words_of_arch, *fields, *calls, *keys])

    def _arch(self) -> tuple[lookup.Arch, list[str]]:
        """Return by which architecture names are read, and the words that say so."""
        own: lookup.Arch = self.event.arch
        other: lookup.Arch = "b32" if own == "b64" else "b64"
        draw = self.chance.random()
        if draw < 0.5:  # noqa: PLR2004
            return own, [f"-F arch={own}"]
        if draw < 0.56:  # noqa: PLR2004
            return other, [f"-F arch={other}"]
        if draw < 0.66:  # noqa: PLR2004
            return other, [f"-F arch!={other}"]
        return "b64", []

    def _calls(self, arch: lookup.Arch) -> list[str]:
        """Return which calls it names, mostly this one among them."""
        chance = self.chance
        draw = chance.random()
        if draw < 0.25:  # noqa: PLR2004
            return []
        if draw < 0.4:  # noqa: PLR2004
            return ["-S all"]
        numbers = [chance.randrange(450) for _ in range(chance.choice((0, 0, 1, 3)))]
        if self.event.call < 2048 and chance.random() < _HIT:  # noqa: PLR2004  (the mask's bits)
            numbers.append(self.event.call)
        names = lookup.call_names(arch)
        shown = [
            names[number] if number in names and chance.random() < 0.7 else str(number)  # noqa: PLR2004
            for number in numbers or [self.event.call % 450]
        ]
        if chance.random() < 0.5:  # noqa: PLR2004
            return [f"-S {','.join(shown)}"]
        return [f"-S {name}" for name in shown]

    def _fields(self, count: int) -> list[str]:
        makers: Sequence[Callable[[], str | None]] = (
            *(self._id,) * 4, *(self._number,) * 3, *(self._exit,) * 2, *(self._file,) * 4,
            *(self._located,) * 6, self._exe, *(self._perm,) * 2, *(self._compared,) * 3,
            self._family, self._argument, self._argument,
        )  # fmt: skip
        drawn = (self.chance.choice(makers)() for _ in range(count))
        found = [text for text in drawn if text is not None]
        if sum("exe" in text.split("=")[0] for text in found) > 1:
            found = [text for text in found if not text.startswith("-F exe")]
        return found

    def _holding(self, value: int, values: Sequence[int] = ()) -> tuple[str, int]:
        """Return an operator and a number that most often holds for a value."""
        operator = self.chance.choice((*_ORDERED, "=", "="))
        if self.chance.random() > _HIT:
            return operator, self.chance.choice((0, 1, 33, 1000, UNSET - 1, *values))
        if operator == "=":
            return operator, value
        if operator == "!=":
            return operator, self.chance.choice((7, 1234))
        nearer = {"<": (1, 1000), "<=": (0, 1), ">": (-1, -1), ">=": (0, -1)}[operator]
        return operator, min(max(value + self.chance.choice(nearer), 0), UNSET - 1)

    def _id(self) -> str:
        name = self.chance.choice(
            ("uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid", "auid")
        )
        if name == "auid" and self.chance.random() < 0.5:  # noqa: PLR2004
            unset = self.chance.choice(("unset", "-1", "4294967295"))
            return f"-F auid{self.chance.choice(('=', '!='))}{unset}"
        value = getattr(self.event, name)
        if name in {"gid", "egid"} and self.event.groups and self.chance.random() < 0.5:  # noqa: PLR2004
            value = self.chance.choice(sorted(self.event.groups))
        operator, number = self._holding(value)
        return f"-F {name}{operator}{number}"

    def _number(self) -> str:
        name = self.chance.choice(("pid", "ppid", "sessionid", "pers"))
        if name == "pid":
            return self.chance.choice(
                (f"-F pid={min(self.event.pid, 505)}", "-F pid!=502", "-F pid>3", "-F pid<1000000")
            )
        if name == "ppid":
            return f"-F ppid{self.chance.choice(('=', '!='))}{self.chance.choice((1, 501, 502))}"
        if name == "sessionid":
            unset = self.event.sessionid == UNSET
            shown = "unset" if unset else str(self.event.sessionid)
            return f"-F sessionid{self.chance.choice(('=', '!=', '>=', '<='))}{shown}"
        operator = self.chance.choice((*_ORDERED, "&", "&="))
        number = self.chance.choice((self.event.personality, 0, 8, 0x40008))
        return f"-F pers{operator}{number}"

    def _exit(self) -> str:
        returned = self.event.exit or 0
        draw = self.chance.random()
        if draw < 0.35:  # noqa: PLR2004
            operator = self.chance.choice(("=", "!="))
            holds = int(self.event.success) == (operator == "=")
            return f"-F success{operator}{int(holds) if self.chance.random() < _HIT else 0}"
        names = {number: name for name, number in lookup.errors().items()}
        if -returned in names and draw < 0.8:  # noqa: PLR2004
            shown = self.chance.choice((f"-{names[-returned]}", str(returned)))
            return f"-F exit{self.chance.choice(('=', '=', '!=', '>=', '<='))}{shown}"
        operator, number = self._holding(returned & UNSET)
        return f"-F exit{operator}{number if number < 1 << 31 else number - (1 << 32)}"

    @cached_property
    def _found(self) -> list[Name]:
        return [name for name in self.event.names if name.file.inode != NO_INODE]

    def _file(self) -> str | None:
        if not self.event.names:
            return None
        name = self.chance.choice(self.event.names)
        kind = self.chance.choice(("devmajor", "devminor", "obj_uid", "obj_gid", "filetype"))
        if kind == "filetype":
            kinds = {number: text for text, number in lookup.FILE_TYPES.items()}
            shown = kinds.get(name.mode & 0o170000, "socket")
            if self.chance.random() > _HIT:
                shown = self.chance.choice(sorted(lookup.FILE_TYPES))
            return f"-F filetype{self.chance.choice(('=', '=', '!='))}{shown}"
        value = {
            "devmajor": self.chance.choice((name.file.major, name.special_device[0])),
            "devminor": self.chance.choice((name.file.minor, name.special_device[1])),
            "obj_uid": name.uid,
            "obj_gid": name.gid,
        }[kind]
        operator, number = self._holding(value)
        if kind == "devminor" and self.chance.random() < 0.2:  # noqa: PLR2004
            operator = self.chance.choice(("&", "&="))
        return f"-F {kind}{operator}{number}"

    def _located(self) -> str | None:
        """Return a path, a tree or an inode, of which a rule can have but one."""
        if self.place:
            return None
        self.place = self.chance.choice(("path", "path", "dir", "dir", "inode", "inode!"))
        hit = self.chance.random() < _HIT
        if self.place.startswith("inode"):
            numbers = [name.file.inode for name in self._found if name.path in _WATCHABLE]
            number = self.chance.choice(numbers if hit and numbers else range(2, 70))
            return f"-F {self.place}={number}"
        paths = [name.path for name in self._found if name.path in _WATCHABLE and name.path]
        if self.place == "path":
            return f"-F path={self.chance.choice(paths if hit and paths else _WATCHED)}"
        above = [top for top in DIRECTORIES if any(name.lies_in(top) for name in self._found)]
        return f"-F dir={self.chance.choice(above if hit and above else DIRECTORIES)}"

    def _exe(self) -> str:
        return f"-F exe{self.chance.choice(('=', '!='))}{self.chance.choice(PROGRAMS)}"

    def _perm(self) -> str:
        return f"-F perm={_letters(self.chance, self.event)}"

    def _compared(self) -> str:
        pair = list(self.chance.choice(sorted(COMPARABLE)))
        self.chance.shuffle(pair)
        return f"-C {pair[0]}{self.chance.choice(('=', '!='))}{pair[1]}"

    def _family(self) -> str | None:
        if self.event.socket_family is None:
            return None
        return f"-F saddr_fam{self.chance.choice(('=', '!=', '>', '<='))}{self.event.socket_family}"

    def _argument(self) -> str:
        index = self.chance.randrange(4)
        value = self.event.arguments[index] & UNSET
        operator, number = self._holding(value)
        if self.chance.random() < 0.4:  # noqa: PLR2004
            operator, number = self.chance.choice(("&", "&=")), self.chance.choice((value, 1, 3, 64))
        shown = self.chance.choice((str(number), f"0x{number:x}"))
        if number >= 1 << 31:
            shown = str(number - (1 << 32))
        return f"-F a{index}{operator}{shown}"


def _letters(chance: random.Random, event: Event) -> str:
    """Return permissions, mostly with one that the call stands for."""
    drawn = {letter for letter in "rwxa" if chance.random() < 0.3}  # noqa: PLR2004
    held = [
        letter
        for letter, bit in {"r": 4, "w": 2, "x": 1, "a": 8}.items()
        if permissions(event) & bit
    ]
    if held and chance.random() < _HIT:
        drawn.add(chance.choice(held))
    return "".join(sorted(drawn)) or "wa"


def _keys(chance: random.Random) -> list[str]:
    count = chance.choice((0, 0, 1, 1, 1, 2))
    return [
        f"{chance.choice(('-k ', '-F key='))}{key}" for key in chance.sample(_KEYS, count)
    ]
