"""Events drawn at random near what rules ask for, to try sets of rules against each other.

They keep the assumptions of a proof: each watched path is a file of its own, and a file's path says
in which trees it lies. Most values are those that the rules name, or one more or less.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from auditrules.kernel.event import Event, FileId, VisitedName
from auditrules.model.kernel_rule import CALLS, UNSET, FieldTest, KernelRule
from auditrules.model.rule import plain_path
from auditrules.prove.formulas import ARGUMENTS, GROUPS, OBJECT_LABELS, PLAIN, USERS
from auditrules.tables import lookup

_SUBJECT_LABELS = ("subj_user", "subj_role", "subj_type", "subj_sen", "subj_clr")
_PLACES = ("path", "dir", "exe")
_MODES = (0o100644, 0o040755, 0o020666, 0o120777)
_OFTEN = 0.9
_SELDOM = 0.15
_MOST_NAMES = 3


class Drawing:
    """Draws events for rules whose users and groups are all resolved."""

    def __init__(self, rules: Sequence[KernelRule], random: Random) -> None:
        """Take in what the rules name; `random` is the only source of chance."""
        self.random = random
        self.constants: dict[str, set[int]] = {}
        self.texts: dict[str, set[str]] = {}
        for rule in rules:
            for test in rule.conditions:
                if isinstance(test, FieldTest):
                    self._take(test)
        every_call = {call for arch in lookup.ARCHES for call in lookup.call_names(arch)}
        masks = sorted({rule.mask for rule in rules})
        self.calls = [
            [call for call in sorted(every_call) if mask >> call & 1] or [CALLS - 1]
            for mask in masks
        ] or [sorted(every_call)]
        places = sorted({plain_path(one) for kind in _PLACES for one in self.texts.get(kind, ())})
        inodes = sorted(self.constants.get("inode", ()))
        self.at = {path: self._file(index, inodes) for index, path in enumerate(places)}
        self.files = {
            text: self.at[plain_path(text)] for kind in _PLACES for text in self.texts.get(kind, ())
        }

    def _take(self, test: FieldTest) -> None:
        if isinstance(test.value, int):
            near = {(test.value + step) & UNSET for step in (-1, 0, 0, 1)}
            self.constants.setdefault(test.field, set()).update(near)
        else:
            self.texts.setdefault(test.field, set()).add(test.value)

    def _file(self, index: int, inodes: Sequence[int]) -> FileId:
        if inodes and self.random.random() < _SELDOM:
            return FileId(8, index, self.random.choice(inodes))
        return FileId(8, 1, 1000 + index)

    def event(self) -> Event:
        """Return an event; `files` says what lies where."""
        arch = self.random.choice(lookup.ARCHES)
        near = self.random.random() < _OFTEN
        call = self.random.choice(
            self.random.choice(self.calls) if near else sorted(lookup.call_names(arch))
        )
        plain: dict[str, Any] = {what: self._number(what, (0, 1)) for what in PLAIN[:3]}
        own: dict[str, Any] = {what: self._id(what) for what in (*USERS, *GROUPS)}
        arguments = [self._number(what, (0, 1, 2, 3, 1 << 40, 0o102)) for what in ARGUMENTS]
        return Event(
            arch=arch,
            call=call,
            arguments=(arguments[0], arguments[1], arguments[2], arguments[3]),
            exit=self._exit(),
            personality=self._number("pers", (0, 8)),
            **plain,
            **own,
            groups=frozenset(self._id("gid") for _ in range(self.random.randrange(3))),
            exe=self.random.choice([*self.at.values(), FileId(8, 1, 5), None]),
            names=tuple(self._name() for _ in range(self.random.randrange(_MOST_NAMES + 1))),
            open_flags=self.random.choice([None, 0, 1, 2, 3]),
            socket_family=self.random.choice([None, self._number("saddr_fam", (1, 2))]),
            subject=self._labels(_SUBJECT_LABELS),
            raised=self.random.random() < _SELDOM,
        )

    def _number(self, what: str, usual: Sequence[int]) -> int:
        return self.random.choice([*usual, *sorted(self.constants.get(what, ()))])

    def _id(self, what: str) -> int:
        usual = (0, 1000, UNSET) if what == "auid" else (0, 1000)
        return self._number(what, usual)

    def _exit(self) -> int | None:
        if self.random.random() < _SELDOM:
            return None
        value = self._number("exit", (0, 3, -13 & UNSET, -1 & UNSET))
        if self.random.random() < _SELDOM:
            return value + (1 << 32)  # an address, of which rules see the lower half
        return value - (1 << 32) if value >= 1 << 31 else value

    def _name(self) -> VisitedName:
        if self.random.random() < _SELDOM:
            return VisitedName()
        watched = sorted(self.at)
        if watched and self.random.random() < _OFTEN:
            place = self.random.choice(watched)
            if self.random.random() < _OFTEN / 2:
                return self._named(place, self.at[place])
            path = f"{place.rstrip('/')}/drawn"
        else:
            path = self.random.choice(["/elsewhere", "/etc/drawn", "/home/u/drawn"])
        inode = self._number("inode", (70001, 70002)) + (1 << 32)
        major, minor = self._number("devmajor", (8,)), self._number("devminor", (77,))
        return self._named(path, FileId(major, minor, inode))

    def _named(self, path: str, file: FileId) -> VisitedName:
        special = (self._number("devmajor", (0,)), self._number("devminor", (0,)))
        modes = [*_MODES, *sorted(self.constants.get("filetype", ()))]
        return VisitedName(
            path,
            file,
            special,
            self.random.choice(modes),
            self._number("obj_uid", (0, 1000)),
            self._number("obj_gid", (0, 1000)),
            self._labels(OBJECT_LABELS),
            self._number("fstype", (0xEF53,)),
        )

    def _labels(self, fields: Sequence[str]) -> dict[str, str]:
        if self.random.random() < _OFTEN / 2:
            return {}
        return {
            what: self.random.choice(["drawn", *sorted(self.texts.get(what, ()))])
            for what in fields
        }
