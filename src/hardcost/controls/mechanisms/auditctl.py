"""Audit: a daemon that takes the records, and rules that the audit package's own auditctl loads.

auditctl 3.0.9 has two peculiarities, both verified. When reading a file, it logs to syslog until it
has sent its first rule, so that a rule refused before that is refused silently. Therefore a rule
that can match nothing is added and deleted again first. And it stops at the first refused rule,
unless the file says `-c`: then it continues, and reports the refusal in its exit status.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hardcost.controls import watchedpaths
from hardcost.controls.control import AuditDaemon, AuditRule
from hardcost.controls.mechanisms import answered, auditd, placebo
from hardcost.errors import InputError, Place, Problem, TrialError
from hardcost.protocol import requests as ask
from hardcost.protocol.answers import AuditAnswer, RanAnswer, find, only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.rule import Rule
    from hardcost.controls.control import Control
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

# No process has this number: it is the kernel's PID_MAX_LIMIT, and numbers stay below it.
_PREAMBLE = ("-c", "-a never,user -F pid=4194304", "-d never,user -F pid=4194304")

_ADVICE = re.compile(r" (is|are) slower$")  # auditctl 4.0.2, of rules that it takes
_REFUSED = re.compile(r"There was an error in line (\d{1,9}) of ")
_RULES = "/etc/audit/audit.rules"
_SHOWN = 2000  # characters of what auditctl said that an error repeats
_PATH_FAILED = re.compile(r"(/[^:]+): (.*?)(?: \(os error \d+\))?$")
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
class _Complaints:
    """What auditctl said on standard error, by the line of the text that it read."""

    refused: dict[int, str] = field(default_factory=dict)
    warned: list[tuple[int | None, str]] = field(default_factory=list)
    other: list[str] = field(default_factory=list)


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what the probe is asked to do: make what the rules watch, then load them.

    Raises:
        InputError: There are rules and no daemon.
    """
    daemon, rules = _daemon(controls), _rules(controls)
    if daemon is None:
        if rules:
            raise InputError("there are audit rules, and audit is not switched on")
        return ()
    directories, files = watchedpaths.paths(rules, daemon.directories, daemon.files)
    lines = (*_lines(daemon, rules), *placebo.rules(controls))
    text = "".join(f"{line}\n" for line in lines) if len(lines) > len(_PREAMBLE) else ""
    if auditd.daemon_of(controls) is None:
        load: list[Request] = [ask.Audit(rules=text, backlog_limit=daemon.backlog_limit)]
    else:
        load = _beside_auditd(text, daemon.backlog_limit)
    if not directories and not files:
        return tuple(load)
    return (ask.make(directories, files), *load)


def verify(controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
    """Check that the kernel holds just the rules that were asked for.

    Returns notes: auditctl's warnings and, where the rules' files ask to go on, what was refused.

    Raises:
        InputError: auditctl refused rules; each is named with its place.
        TrialError: The kernel holds another number of rules, or auditctl failed.
    """
    daemon, rules = _daemon(controls), _rules(controls)
    if daemon is None:
        return ()
    by_probe = auditd.daemon_of(controls) is None
    answer = only(answers, AuditAnswer) if by_probe else _auditctl(answers)
    complaints = _complaints(answer.stderr)
    first = len(_PREAMBLE) + len(daemon.options) + 1
    by_line = dict(enumerate(rules, first))
    sent = _lines(daemon, rules)
    ours = range(len(_PREAMBLE) + 1, len(sent) + 1)
    if answer.exit not in {0, 1} or any(line not in ours for line in complaints.refused):
        raise _failed(answer)
    problems = tuple(
        _problem(sent[line - 1], by_line.get(line), message)
        for line, message in sorted(complaints.refused.items())
    )
    if problems and not daemon.tolerant:
        raise InputError.of(problems)
    refused_rules = sum(line >= first for line in complaints.refused)
    if answer.loaded != len(rules) - refused_rules or (answer.exit and not problems):
        raise _failed(answer, f"{answer.loaded} of {len(rules)} audit rules are loaded")
    notes = [f"{_at(problem.place)}{problem.message}" for problem in problems]
    for line, text in complaints.warned:
        rule = by_line.get(line) if line else None
        place = f"{rule.place}: " if rule and rule.place else ""
        notes.append(f"{place}auditctl warns: {_WARNED.sub('in this line', text)}")
    return tuple(notes)


def explain(controls: Sequence[Control], message: str) -> InputError | None:
    """Return the user's error behind a watched path that the guest can't make; None if another."""
    found = _PATH_FAILED.search(message)
    if found is None:
        return None
    for rule in _rules(controls):
        for path in (*rule.watched_directories, *rule.watched_files):
            if path == found[1] or path.startswith(f"{found[1]}/"):
                place = Place(rule.place.file, rule.place.line) if rule.place else None
                return InputError(
                    f"the machine can't have {path}, which the rule watches: {found[2]}",
                    place=place,
                    hint="is a part of the path a file there, or too long?",
                )
    return None


def _beside_auditd(text: str, backlog_limit: int) -> list[Request]:
    """Return what loads rules where auditd takes the records, and the mark of a beginning."""
    asked: list[Request] = [ask.run("audit-backlog", ["auditctl", "-b", str(backlog_limit)])]
    if text:
        asked += [
            ask.install(_RULES, text, 0o640),
            ask.run("audit-rules", ["auditctl", "-R", _RULES], expect=None),
        ]
    return [
        *asked,
        ask.run("audit-list", ["sh", "-c", "auditctl -l | grep -c ^-"], expect=None),
        ask.run("audit-status", ["auditctl", "-s"]),
        ask.run("audit-begin", ["auditctl", "-m", auditd.BEGIN], expect=None),
    ]


def _auditctl(answers: Sequence[Answer]) -> AuditAnswer:
    """Return what loading rules beside auditd came to, as the probe would answer."""
    said = answered.output(answers, "audit-list").strip() or "0"
    if not answered.is_number(said):
        raise TrialError(f"the machine does not say how many rules are loaded: {said[:_SHOWN]!r}")
    ran = find(answers, RanAnswer, "audit-rules")
    if ran is None:
        return AuditAnswer(exit=0, stdout="", stderr="", loaded=int(said))
    return AuditAnswer(exit=ran.status, stdout=ran.stdout, stderr=ran.stderr, loaded=int(said))


def _daemon(controls: Sequence[Control]) -> AuditDaemon | None:
    return next((control for control in controls if isinstance(control, AuditDaemon)), None)


def _rules(controls: Sequence[Control]) -> tuple[Rule, ...]:
    return tuple(control.rule for control in controls if isinstance(control, AuditRule))


def _lines(daemon: AuditDaemon, rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the lines that auditctl reads; a rule is found again by its line."""
    return (*_PREAMBLE, *daemon.options, *(rule.text for rule in rules))


def _complaints(text: str) -> _Complaints:
    """Sort what auditctl said: a message stands before the line that says where it belongs."""
    found = _Complaints()
    for line in text.splitlines():
        refused = _REFUSED.match(line)
        if refused:
            message = "; ".join(found.other) or "auditctl gives no reason"
            found.refused[int(refused[1])] = message
            found.other = []
        elif line.lower().startswith("warning"):
            warned = _WARNED.search(line)
            found.warned.append((int(warned[1]) if warned else None, line))
        elif line.strip() and not _ADVICE.search(line):
            found.other.append(line.strip())
    return found


def _problem(line: str, rule: Rule | None, message: str) -> Problem:
    """Return what is wrong with a line that auditctl refused."""
    place = Place(rule.place.file, rule.place.line) if rule and rule.place else None
    remedy = _remedy(message) if rule else "auditctl(8) says what the option takes"
    return Problem(f"auditctl refuses `{line}`: {message}", place, remedy)


def _remedy(message: str) -> str | None:
    """Return what to do about a message of auditctl's, where that is known."""
    unknown = re.search(r"unknown field: (\S+)", message)
    if unknown:
        close = difflib.get_close_matches(unknown[1], _FIELDS.split(), n=1)
        return f"did you mean {close[0]}?" if close else "auditctl(8) lists the fields"
    return next((remedy for part, remedy in _REMEDIES if part in message), None)


def _at(place: Place | None) -> str:
    return f"{place}: " if place else ""


def _failed(answer: AuditAnswer, message: str = "auditctl failed") -> TrialError:
    """Return the error of a guest whose rules are not what was asked for, with auditctl's words."""
    said = (answer.stderr.strip() or answer.stdout.strip() or "nothing")[:_SHOWN]
    return TrialError(f"{message}; auditctl ended with {answer.exit} and said: {said}")
