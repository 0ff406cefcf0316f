"""Random sets of audit rules, each rule aimed at a call so that many of them match.

Conditions are drawn from what is known of the call's event: most of them hold, some just miss. The
same seed gives the same sets.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from auditrules.kernel.event import Event
from auditrules.tables import lookup
from conformance.battery import WantedRules
from conformance.files_and_workers import DIRECTORIES
from conformance.random_exit_rule import (
    WATCHED,
    Aimed,
    contested,
    happens,
    keys,
    letters,
    watchable,
)

_MOST_RULES = 20
_FEW_RULES = 4
_TMPFS = 0x01021994  # linux/magic.h
_OTHER_LISTS = (
    f"-a never,filesystem -F fstype={_TMPFS}",
    f"-a never,filesystem -F fstype!={_TMPFS}",
    f"-a always,filesystem -F fstype={_TMPFS}",
    "-a never,filesystem -F fstype=tracefs",
    "-a never,user -F uid=1000",
)
_SPOILT = (
    "-a always,exit -S open -F uid>=1000 -F perm!=r",
    "-a always,exit -F path=/field/f1 -F dir=/field/dir",
    "-a always,exit -F path=/field/f1 -F inode=5",
    "-a always,exit -S nosuchcall",
    "-a always,exit -F uid=0 -F nofield=1",
    "-a always,exit -F exe=/field/prog -F exe=/yard/prog",
    "-w field/f1 -p wa",
    "-a always,exit -F filetype>file -S all",
    "-a always,task -F path=/field/f1",
    "-a always,exit -C uid!=gid -S all",
    "-a always,exit -F auid&1000 -S all",
    "-a always,exit -k early",
    "-a always,exit -S open -F arch=b64",
)
"""Rules that auditctl or the kernel refuses."""

_ODD = (
    "-a always,exit -S exit_group,exit -F success=0 -k ended",
    "-A always,exit -S exit_group -S exit -F success!=1 -k ended",
    "-A always,exit -S exit_group -S exit -F exit=0 -k ended",
    "-A always,exit -S exit_group -S exit -F pid>3 -k ended",
    "-A always,exit -F arch=b64 -S execve,execveat -F perm=x -k run",
    "-A always,exit -F arch=b32 -S execve,execveat -F perm=wra -k run",
    "-A always,exit -F arch=b32 -S socketcall -F perm=w -k bound",
    "-A always,exit -F arch=b32 -S socketcall -F a0=3 -k connected",
    "-A always,exit -F arch=b64 -S open,openat -F perm=w -k opened",
    "-A always,exit -F arch=b32 -S open,openat,openat2 -F perm=r -k opened",
    "-A always,exit -S all -F devmajor=1 -k device",
    "-a always,exit -F dir=/field/dir/hard -k tree",
    "-a always,exit -S all -F auid!=unset -F auid>=1000 -k user",
    "-A never,exit -F arch=b64 -S 2040 -k class",
    "-A always,exit -S 2047,2044 -F gid!=42 -k class",
)
"""What chance alone seldom meets."""

_IN_TURN = (
    *(f"-F {name}" for name in (
        "uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid", "auid!=u", "auid=u",
        "auid>=", "auid=1", "auid<", "pid", "ppid", "sessionid", "pers", "a0", "a1", "a2", "a3",
        "exit=-", "exit", "success", "inode!=", "devmajor", "devminor", "obj_uid", "obj_gid",
        "filetype", "perm", "dir", "exe=", "exe!=", "saddr_fam", "subj_role=u",
    )),
    "-C",
)  # fmt: skip
"""How the conditions begin of which each has its turn."""

_DELETING = {"-a": "-d", "-A": "-d", "-w": "-W"}
"""By which option a rule goes that came by another."""

_ATTEMPTS = 500  # draws until one is of the kind whose turn it is


@dataclass(frozen=True)
class RuleDrawing:
    """What sets are drawn from: a source of chance, and the calls' events."""

    chance: random.Random
    events: Sequence[Event]

    def rule_set(self, calls: int, number: int = 0) -> WantedRules:
        """Return a set with calls, so many of them, at which its rules are aimed.

        Sets of successive numbers have a rule each for every kind of condition in turn.
        """
        odd = [self.chance.choice(_ODD)] if happens(self.chance, 0.3) else []
        made = self._chosen(calls, " ".join(odd))
        most = _FEW_RULES if happens(self.chance, 0.3) else _MOST_RULES
        of_files = 85 if happens(self.chance, 0.4) else 30
        lines: list[str] = odd
        for _ in range(self.chance.randint(1, most)):
            lines += self._lines(made, lines, of_files)
        if happens(self.chance, 0.4):
            lines = self._with_deletions(lines)
        if happens(self.chance, 0.02):
            # No rule, or none that counts.
            return WantedRules(f"{self.chance.choice(('', *_OTHER_LISTS))}\n", tuple(sorted(made)))
        lines += self._in_turn(made, _IN_TURN[number % len(_IN_TURN)])
        return WantedRules("\n".join(lines) + "\n", tuple(sorted(made)))

    def _with_deletions(self, lines: Sequence[str]) -> list[str]:
        """Return lines among which some rules go again later, and some of those come back."""
        changed = list(lines)
        for _ in range(self.chance.choice((1, 2, 4))):
            at = self.chance.randrange(len(changed))
            line = changed[at]
            if line[:2] not in _DELETING:
                continue
            gone = self.chance.randint(at + 1, len(changed))
            changed.insert(gone, f"{_DELETING[line[:2]]}{line[2:]}")
            if happens(self.chance, 0.4):
                changed.insert(self.chance.randint(gone + 1, len(changed)), line)
        if happens(self.chance, 0.1):
            changed.insert(self.chance.randrange(len(changed)), "-D")
        return changed

    def _in_turn(self, made: list[int], kind: str) -> list[str]:
        """Return a rule of a kind for a call; for one that is not made yet if need be."""
        for indices in (made, range(len(self.events))):
            for _ in range(_ATTEMPTS):
                index = self.chance.choice(indices)
                line = Aimed(self.chance, self.events[index], hit=1).text_with(kind)
                if line is not None:
                    made[-1] = made[-1] if index in made else index
                    return [line]
        return []

    def _chosen(self, count: int, rule: str) -> list[int]:
        """Return the indices of calls: some that visit several files, and whole families.

        Those that `rule` names come first. A rule that names a call is so tried on all who make
        it, by which its conditions differ.
        """
        families: dict[tuple[str, int], list[int]] = {}
        for index, event in enumerate(self.events):
            families.setdefault((event.arch, event.call), []).append(index)
        several = [index for index, event in enumerate(self.events) if contested(event)]
        drawn = self.chance.sample(several, min(count // 5, len(several)))
        groups = list(families.values())
        self.chance.shuffle(groups)
        named = frozenset(re.split("[ ,]", rule))
        groups.sort(key=lambda group: self._name(group[0]) not in named)
        for group in groups:
            drawn += self.chance.sample(group, len(group))
        return list(dict.fromkeys(drawn))[:count]

    def _name(self, index: int) -> str:
        return lookup.call_name(self.events[index].arch, self.events[index].call)

    def _lines(self, made: Sequence[int], earlier: Sequence[str], of_files: int) -> list[str]:
        """Return a rule: of files or of a call, of another list, a repetition, or a wrong one."""
        ready = {"list": _OTHER_LISTS, "spoilt": _SPOILT, "earlier": earlier}
        kinds = ("files", "call", *ready)
        kind = self.chance.choices(kinds, (of_files, 95 - of_files, 1, 1.5, 2.5))[0]
        if ready.get(kind):
            return [self.chance.choice(ready[kind])]
        if kind == "files":
            return self._of_files(made)
        return [Aimed(self.chance, self.events[self.chance.choice(made)]).text()]

    def _of_files(self, made: Sequence[int]) -> list[str]:
        """Return a rule on a file, or some that contest for one call by its several files."""
        aims = [index for index in made if watchable(self.events[index])]
        several = [index for index in aims if contested(self.events[index])]
        if several and happens(self.chance, 0.4):
            event = self.events[self.chance.choice(several)]
            count = self.chance.choice((2, 2, 3))
            return [Aimed(self.chance, event).text_of_file() for _ in range(count)]
        event = self.events[self.chance.choice(aims or made)]
        watch = happens(self.chance, 0.4)
        return [self._watch(event) if watch else Aimed(self.chance, event).text_of_file()]

    def _watch(self, event: Event) -> str:
        paths = watchable(event)
        aimed = paths and happens(self.chance, 0.85)
        path = self.chance.choice(paths if aimed else WATCHED)
        slash = "/" if path in DIRECTORIES and happens(self.chance, 0.2) else ""
        words = [f"-w {path}{slash}"]
        if happens(self.chance, 0.8):
            words.append(f"-p {letters(self.chance, event)}")
        return " ".join([*words, *keys(self.chance)])
