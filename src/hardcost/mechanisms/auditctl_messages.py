"""auditctl's messages: which line it refused, why, and the remedy."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from auditrules.model.rule import Rule
from hardcost.errors import Problem, TrialError

if TYPE_CHECKING:
    from hardcost.protocol.answers import AuditAnswer

MOST_SHOWN = 2000
"""The number of characters of a program's output that an error repeats."""

_ADVICE = re.compile(r" (is|are) slower$")  # auditctl 4.0.2, of rules that it takes
_REFUSED = re.compile(r"There was an error in line (\d{1,9}) of ")
_WARNED = re.compile(r"in line (\d{1,9})\b")

_REMEDIES = (
    ("arch elf mapping not found", "write arch=b64 or arch=b32"),
    ("must be before -S", "write -F arch= in front of -S"),
    ("Syscall name unknown", "`ausyscall --dump` lists the names; 32-bit and 64-bit ones differ"),
    ("Unknown user", "the machine has no such account: write the number"),
    ("Unknown group", "the machine has no such group: write the number"),
    ("Rule exists", "an earlier line says the same: leave this one out"),
    ("No such file or directory", "check the path that the rule names"),
    ("Invalid argument", "the kernel does not take these fields, or these values, together"),
    ("bad keyword", "a list and an action are one word, such as always,exit"),
    ("List must be given before field", "begin the rule with -a always,exit"),
    ("key option needs a watch or syscall", "write -S all in front of -k"),
    ("Key field needs a watch", "write -S all in front of the key"),
    ("key option exceeds size limit", "all keys of a rule together have at most 256 characters"),
    ("unknown errno", "name it as errno(3) does, with a minus sign: exit=-EACCES"),
    ("missing operation", "a field is NAME=VALUE, or with another of auditctl's operators"),
    ("missing value", "a field is NAME=VALUE, or with another of auditctl's operators"),
    ("value should be number", "write a number"),
    ("rwxa", "perm takes the letters r, w, x and a"),
    ("isn't supported", "-p takes the letters r, w, x and a"),
    ("must start with '/'", "write the whole path, without quotes"),
    ("incompatible comparison", "-C compares user ids with user ids, group ids with group ids"),
)

_FIELDS = (
    "a0 a1 a2 a3 arch auid devmajor devminor dir egid euid exe exit filetype fsgid fstype fsuid gid"
    " inode key loginuid msgtype obj_gid obj_lev_high obj_lev_low obj_role obj_type obj_uid"
    " obj_user path perm pers pid ppid saddr_fam sessionid sgid subj_clr subj_role subj_sen"
    " subj_type subj_user success suid uid"
)


@dataclass
class AuditctlMessages:
    """auditctl's messages, by the line of the rules that they are about."""

    refused: dict[int, str] = field(default_factory=dict)
    warned: list[tuple[int | None, str]] = field(default_factory=list)
    other: list[str] = field(default_factory=list)


def parse_messages(text: str) -> AuditctlMessages:
    """Return the messages on auditctl's standard error; a reason precedes the line's number."""
    found = AuditctlMessages()
    for line in text.splitlines():
        refused = _REFUSED.match(line)
        if refused:
            message = "; ".join(found.other) or "auditctl gives no reason"
            found.refused[int(refused[1])] = message
            found.other = []
        elif line.lower().startswith("warning"):
            warned = _WARNED.search(line)
            found.warned.append(
                (int(warned[1]) if warned else None, _WARNED.sub("in this line", line))
            )
        elif line.strip() and not _ADVICE.search(line):
            found.other.append(line.strip())
    return found


def problem_of_line(line: str, rule: Rule | None, message: str) -> Problem:
    """Return the problem of a line that auditctl refused; `rule` is None for an option."""
    place = rule.place if rule else None
    remedy = _remedy(message) if rule else "auditctl(8) says what the option takes"
    return Problem(f"auditctl refuses `{line}`: {message}", place, remedy)


def _remedy(message: str) -> str | None:
    """Return the remedy; None if the message is not known."""
    unknown = re.search(r"unknown field: (\S+)", message)
    if unknown:
        close = difflib.get_close_matches(unknown[1], _FIELDS.split(), n=1)
        return f"did you mean {close[0]}?" if close else "auditctl(8) lists the fields"
    return next((remedy for part, remedy in _REMEDIES if part in message), None)


def auditctl_error(answer: AuditAnswer, message: str = "auditctl failed") -> TrialError:
    """Return the error of a guest that holds other rules than it was sent."""
    said = (answer.stderr.strip() or answer.stdout.strip() or "nothing")[:MOST_SHOWN]
    return TrialError(f"{message}; auditctl ended with {answer.exit} and said: {said}")
