"""Random rules of the list `exclude`, aimed at records that calls have and at who makes them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from auditrules.model.kernel_rule import UNSET
from conformance.battery import WantedRules
from conformance.files_and_workers import PROGRAMS, WORKERS
from conformance.random_exit_rule import happens
from conformance.random_rules import RuleDrawing

_TYPES = ("SYSCALL", "PATH", "CWD", "PROCTITLE", "EOE", "EXECVE", "SOCKADDR", "OBJ_PID", "OPENAT2",
          "MMAP", "FD_PAIR", "SOCKETCALL", "AVC", "ANOM_LINK", "ANOM_CREAT")  # fmt: skip
_RANGES = ("msgtype>0", "msgtype>=PATH", "msgtype<PATH", "msgtype<=SYSCALL", "msgtype>CWD",
           "msgtype!=SYSCALL", "msgtype!=PATH", "msgtype<1000")  # fmt: skip


@dataclass(frozen=True)
class Excluding:
    """Sets of rules with a few exclude filters before, among or after them."""

    drawing: RuleDrawing

    def rule_set(self, calls: int, number: int) -> WantedRules:
        """Return a set with calls, so many of them."""
        chance = self.drawing.chance
        wanted = self.drawing.rule_set(calls, number)
        lines = wanted.rules.splitlines()
        # Without a rule that records the calls, filters would have little to drop.
        lines.insert(chance.randint(0, len(lines)), "-a always,exit -S all -k everything")
        for _ in range(chance.choice((1, 1, 2, 3))):
            lines.insert(chance.randint(0, len(lines)), _filter(chance))
        return replace(wanted, rules="\n".join(lines) + "\n")


def _filter(chance: random.Random) -> str:
    what = chance.choice((f"msgtype={chance.choice(_TYPES)}",) * 3 + (chance.choice(_RANGES),))
    words = [f"-F {what}"]
    if happens(chance, 0.45):
        words.append(f"-F {_who(chance)}")
    if happens(chance, 0.2):
        words.append(f"-F {_who(chance)}")
    if happens(chance, 0.3):
        chance.shuffle(words)
    option = chance.choice(("-a", "-a", "-A"))
    return f"{option} {chance.choice(('always', 'always', 'never'))},exclude {' '.join(words)}"


def _who(chance: random.Random) -> str:
    worker = chance.choice(WORKERS)
    operator = chance.choice(("=", "=", "!=", ">=", "<"))
    auid = UNSET if worker.auid is None else worker.auid
    fields = (
        f"uid{operator}{worker.uid[0]}",
        f"gid{operator}{worker.gid[0]}",
        # A child has another number each time, and none of a worker's.
        f"pid{'=' if operator in {'=', '<'} else '!='}{worker.pid}",
        "auid=unset" if auid == UNSET else f"auid{operator}{auid}",
        f"exe{chance.choice(('=', '!='))}{chance.choice(PROGRAMS)}",
        "subj_type=crond_t",
        "subj_role=unconfined",
    )
    return chance.choice(fields)
