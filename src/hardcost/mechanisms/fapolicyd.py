"""Application control in a Debian guest: fapolicyd with a list of trusted files.

Debian's build has no package database, so a list names the trusted files: every file of /usr that
can be executed, loaded, or interpreted, with size and SHA-256. An image that hardcost builds holds
the list, without what fapolicyd takes for plain text: the rules never ask for trust in that, unless
it is executed. Otherwise the guest makes the list, once for each trial, which takes long. The rules
are those that come with it, in the order of its own `README-rules`, with one exception added:
programs that copy may open untrusted scripts.

It runs in the foreground with `--debug-deny`, so that it logs why it does not start and what it
refuses; the cost of an allowed access is the same, to 0.01 % of the instructions (measured).
Nothing is simplified from the list to the verdict: each trial executes a program that is not on the
list, as an ordinary user. Files under /run are never checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import BaseModel

from hardcost.controls.control import Control, Profile, first, of_kind
from hardcost.errors import TrialError
from hardcost.mechanisms import replies
from hardcost.mechanisms.ansible import TaskGroup
from hardcost.mechanisms.export import Left
from hardcost.mechanisms.mechanism import TABLE, Mechanism, Phase, ServiceTable, TableSource
from hardcost.protocol import ask
from hardcost.protocol.answers import (
    Answer,
    ContentAnswer,
    RanAnswer,
    StartedAnswer,
    StoppedAnswer,
    answer_named,
    find,
)
from hardcost.protocol.requests import Ready, Request
from hardcost.toml.write import TomlEntry

SERVICE = "fapolicyd"
TRUST = "/etc/fapolicyd/trust.d/debian"
"""The list that an image holds: lines `PATH SIZE SHA256`."""
UNTRUSTED = "/usr/local/bin/hardcost-untrusted"
"""A program that is not on the list."""

_REPORT = "/var/log/fapolicyd-access.log"
_MADE = "trust list made"
_SECONDS = 600.0  # of the guest's time, for the list
_CANNOT_EXECUTE = 126  # the shell's status where it may not execute a program
_SHOWN = 3  # refusals that a note repeats
_REFUSAL = re.compile(r"rule=\d+ dec=deny.*")  # after the time and kind of message since Debian 13

# Upstream's defaults, but for the report of every single file when it ends.
_CONFIGURATION = """\
permissive = 0
nice_val = 14
q_size = 640
uid = fapolicyd
gid = fapolicyd
do_stat_report = 1
detailed_report = 0
db_max_size = 50
subj_cache_size = 1549
obj_cache_size = 8191
watch_fs = ext2,ext3,ext4,tmpfs,xfs,vfat,iso9660,btrfs
trust = file
integrity = {integrity}
syslog_format = rule,dec,perm,auid,pid,exe,:,path,ftype,trust
rpm_sha256_only = 0
allow_filesystem_mark = 0
"""

_SAMPLES = "/usr/share/fapolicyd/sample-rules"
_OURS = "hardcost"
_BOTH = ("10-languages", "20-dracut", "21-updaters", "30-patterns", "40-bad-elf", "41-shared-obj")
_RULES = {
    "known-libs": (
        *_BOTH,
        "42-trusted-elf",
        _OURS,
        "70-trusted-lang",
        "72-shell",
        "90-deny-execute",
        "95-allow-open",
    ),
    "restrictive": (
        *_BOTH,
        "43-known-elf",
        _OURS,
        "71-known-python",
        "72-shell",
        "73-known-perl",
        "90-deny-execute",
        "91-deny-lang",
        "95-allow-open",
    ),
}

# Without it an ordinary user could copy no source code that has scripts in it. A file's kind has
# been looked up by then, so that it makes no access cheaper.
_EXCEPTION = "".join(
    f"allow perm=open exe=/usr/bin/{name} : ftype=%languages\n" for name in ("cp", "tar", "cat")
)

# The list leaves out what can't run: documentation, data and headers, as upstream's filter does.
_PREPARE = f"""
set -e
cat "$@" > /etc/fapolicyd/compiled.rules
chgrp fapolicyd /etc/fapolicyd/compiled.rules
install -d -o root -g fapolicyd -m 0770 /run/fapolicyd
[ -e /sys/fs/selinux/enforce ] && restorecon -R /run/fapolicyd
if [ ! -s {TRUST} ]; then
  cd /
  {{ find usr/bin usr/sbin usr/lib usr/libexec usr/local -xdev -type f
    find usr/share -xdev -type f \\( -name '*.py' -o -name '*.py?' -o -name '*.p[lm]' \\)
  }} 2>/dev/null | grep -v '[[:space:]]' | LC_ALL=C sort > /run/trust.files
  xargs -d '\\n' stat -c '/%n %s' < /run/trust.files > /run/trust.sizes
  xargs -d '\\n' sha256sum < /run/trust.files | cut -c 1-64 | paste -d ' ' /run/trust.sizes - \
    > {TRUST}
  echo {_MADE}
fi
{{ cat /usr/bin/true; echo; }} > {UNTRUSTED}
chmod 0755 {UNTRUSTED}
{UNTRUSTED}
"""


_IDS = ("RHEL-09-433010", "RHEL-09-433015", "RHEL-09-433016")
"""Installed; enabled; denies everything that is not trusted (STIG V2)."""

FapolicydRules = Literal["known-libs", "restrictive"]
"""The rule sets that come with fapolicyd; `known-libs` is RHEL's default."""

Integrity = Literal["none", "size", "sha256"]
"""The values, besides the path, by which fapolicyd compares a trusted file with its list."""


@dataclass(frozen=True)
class Fapolicyd(Control):
    """Application control: only programs and libraries on a list of trusted files may run.

    A daemon decides before each file is opened or executed.
    """

    rules: FapolicydRules = "known-libs"
    integrity: Integrity = "none"

    packages: ClassVar[tuple[str, ...]] = ("fapolicyd",)
    whole_system: ClassVar[bool] = True
    suspect: ClassVar[bool] = True
    mechanism: ClassVar[str] = "fapolicyd"
    single: ClassVar[bool] = True

    @property
    def name(self) -> str:
        plain = Fapolicyd()
        words = ["fapolicyd.service"]
        words += [f"rules={self.rules}"] * (self.rules != plain.rules)
        words += [f"integrity={self.integrity}"] * (self.integrity != plain.integrity)
        return " ".join(words)


class FapolicydTable(ServiceTable):
    """`fapolicyd = true | { … }`: application control.

    `rules` is one of the sets that come with it; `integrity` is what it compares of a trusted file
    with its list, in addition to the path.
    """

    rules: FapolicydRules = Fapolicyd.rules
    integrity: Integrity = Fapolicyd.integrity


class FapolicydKeys(BaseModel):
    """`fapolicyd` is application control."""

    model_config = TABLE

    fapolicyd: FapolicydTable | None = None


class FapolicydMechanism(Mechanism[FapolicydKeys]):
    """Application control, trusting what packages hold; cp, tar and cat may open other scripts too.

    Without that no ordinary user could copy source code.
    """

    name = "fapolicyd"
    toml = '`fapolicyd = true`, or `{ rules = "restrictive", integrity = "sha256" }`'
    verified_by = "a program that has to be denied"
    keys = FapolicydKeys
    phase = Phase.APPLICATION_CONTROL

    def read(self, table: FapolicydKeys, source: TableSource) -> Iterator[Control]:
        own = table.fapolicyd
        if own is not None and own.enabled:
            yield Fapolicyd(own.rules, own.integrity, ids=_IDS, place=source.place("fapolicyd"))

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        for one in of_kind(controls, Fapolicyd):
            yield TomlEntry(("fapolicyd", "rules"), one.rules, (one.name,))
            yield TomlEntry(("fapolicyd", "integrity"), one.integrity, (one.name,))

    def ansible_tasks(self, profile: Profile) -> tuple[Sequence[TaskGroup], Sequence[Left]]:
        """Return the group of the daemon with RHEL's own rules."""
        found = of_kind(profile.controls, Fapolicyd)
        usual = [one for one in found if one.rules == Fapolicyd.rules]
        why = "a role that swaps its rules can lock a machine out"
        left = [(one.name, why) for one in found if one not in usual]
        values = {"fapolicyd_integrity": usual[-1].integrity} if usual else {}
        about = "application control"
        return [TaskGroup("fapolicyd", about, len(usual), values, can_refuse=True)], left

    def requests(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that configure the daemon, start it, and try whether it decides."""
        control = first(controls, Fapolicyd)
        if control is None:
            return ()
        rules = [f"{_SAMPLES}/{name}.rules" for name in _RULES[control.rules]]
        written = _CONFIGURATION.format(integrity=control.integrity)
        return (
            ask.install("/etc/fapolicyd/fapolicyd.conf", written),
            ask.install(f"{_SAMPLES}/{_OURS}.rules", _EXCEPTION),
            ask.run(
                "fapolicyd-prepare", ["sh", "-c", _PREPARE, "sh", *rules], limit_seconds=_SECONDS
            ),
            ask.start(
                SERVICE,
                ["/usr/sbin/fapolicyd", "--debug-deny"],
                ready=Ready(file=f"/run/hardcost/{SERVICE}.log", contains="listen for events"),
                context="unconfined_u:unconfined_r:unconfined_t:s0",
            ),
            _try("fapolicyd-denies", UNTRUSTED),
            _try("fapolicyd-allows", "/usr/bin/true"),
        )

    def finish(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that stop the daemon and read its report."""
        if first(controls, Fapolicyd) is None:
            return ()
        return (ask.stop(SERVICE), ask.read("fapolicyd-report", _REPORT))

    def verify(self, controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
        """Check that it denied the program that is not trusted, and allowed the one that is.

        Returns notes: how often it was asked, and what it denied of the workload.

        Raises:
            TrialError: It did not decide, or was not asked.
        """
        control = first(controls, Fapolicyd)
        if control is None:
            return ()
        answer_named(answers, StartedAnswer, SERVICE)
        denied = answer_named(answers, RanAnswer, "fapolicyd-denies")
        allowed = answer_named(answers, RanAnswer, "fapolicyd-allows")
        if denied.status != _CANNOT_EXECUTE:
            raise TrialError(
                f"{control.name} did not take: a program that is not trusted could be executed",
                hint=f"it ended with {denied.status}; remove /usr/local from the trusted files",
            )
        if allowed.status != 0:
            raise TrialError(
                f"{control.name} denies /usr/bin/true: {_words_of(allowed)}",
                hint=f"add this image's programs to the guest's {TRUST}",
            )
        notes = []
        if _MADE in replies.output(answers, "fapolicyd-prepare"):
            notes.append(
                f"the guest's image has no list of trusted files in {TRUST}: it was made in the"
                " trial, before anything was measured"
            )
        if find(answers, ContentAnswer, "fapolicyd-report") is not None:
            notes += _check_end(control, answers)
        return tuple(notes)


def _check_end(control: Fapolicyd, answers: Sequence[Answer]) -> list[str]:
    """Return notes of the daemon's decisions and denials, counted."""
    report = replies.text(answers, "fapolicyd-report") or ""
    stopped = answer_named(answers, StoppedAnswer, SERVICE)
    log = "\n".join(stopped.logs.values())
    allowed, denied = _number("Allowed accesses", report), _number("Denied accesses", report)
    if allowed is None or denied is None:
        raise TrialError(f"{control.name} did not report what it decided", console=log)
    if not allowed:
        raise TrialError(f"{control.name} was never asked about an access", console=log)
    # In the log of Debian 12's fapolicyd 1.1.7, and in the report of Debian 13's 1.3.4.
    said = f"{report}\n{log}"
    hits, misses = _number("Object hits", said), _number("Object misses", said)
    cache = "" if hits is None else f"; of the files it knew {hits} and not {misses}"
    notes = [f"fapolicyd allowed {allowed} accesses and denied {denied}{cache}"]
    refusals = [line for line in _REFUSAL.findall(log) if UNTRUSTED not in line]
    if denied > 1:
        shown = "; ".join(dict.fromkeys(refusals[:_SHOWN])) or "its log no longer says what"
        notes.append(f"fapolicyd denied {denied - 1} accesses of others than our test: {shown}")
    return notes


def _try(name: str, program: str) -> Request:
    """Return the request to execute a program as the user; a shell says how that went."""
    return ask.run(name, ["/bin/sh", "-c", f"exec {program}"], user="user", expect=None)


def _number(what: str, text: str) -> int | None:
    found = re.search(rf"^{what}: (\d+)", text, re.MULTILINE)
    return int(found[1]) if found and replies.is_number(found[1]) else None


def _words_of(answer: RanAnswer) -> str:
    return " ".join(answer.stderr.split()) or answer.how


APPLICATION_CONTROL = FapolicydMechanism()
