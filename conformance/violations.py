"""For each assumption of a proof, two sets that it makes equal, and a guest where it does not hold.

`SCENARIOS` violate one assumption each, by its code (`prove.assumptions`). The prover calls both
sets equal; a kernel records something else under one of them once the assumption is violated.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from auditrules.auditctl.translate import Target, translate
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.location import Location
from auditrules.prove.prove import prove_equal
from auditrules.prove.relation import Relation, Result
from auditrules.read.parse import read_line
from auditrules.tables.lookup import Arch
from conformance.battery import Site, WantedRules, run_battery
from conformance.calls import Call, Step, Text, directory, file, remove, symlink
from conformance.files_and_workers import FIXTURE
from hardcost.machines.machine import Machine
from hardcost.protocol.requests import Install, Request

_ROOT, _USER = 0, 1  # workers
_CHMOD, _GETPPID, _GETTID, _OPEN, _FCHMODAT2 = 90, 110, 186, 2, 452
_AT = -100 & 0xFFFFFFFF  # AT_FDCWD
_B32_GETPPID = 64
_TAG = 0x7000


@dataclass(frozen=True)
class Scenario:
    """An assumption's code, two sets that rest on it, and how it is violated.

    `calls` are those of the guest, of which `made` are made under both sets. `violated` are steps
    of the fixture; `settings` are control lines below B's rules, `directories` what the proof takes
    for directories, `first` what is asked of the guest before all else.
    """

    code: str
    a: tuple[str, ...]
    b: tuple[str, ...]
    calls: tuple[Call, ...]
    made: tuple[int, ...] = (0,)
    violated: tuple[Step, ...] = ()
    relation: Relation = field(default_factory=Relation)
    settings: tuple[str, ...] = ()
    directories: frozenset[str] | None = None
    first: tuple[Request, ...] = ()


def proof(one: Scenario) -> Result:
    """Return what the prover says of the two sets."""
    return prove_equal(_rules(one, one.a), _rules(one, one.b), one.relation)


def _rules(one: Scenario, lines: tuple[str, ...]) -> list[KernelRule]:
    directories = one.directories
    target = Target()
    if directories is not None:
        target = replace(target, is_directory=lambda path: path.rstrip("/") in directories)
    readings = [read_line(line, Location("set", number)) for number, line in enumerate(lines, 1)]
    return [translate(reading.rule, target) for reading in readings if reading.rule is not None]


def recorded(machine: Machine, one: Scenario) -> tuple[Mapping[int, str], Mapping[int, str]]:
    """Return which calls a kernel records under A and under B, with their keys."""
    sets = [WantedRules(_text(lines), one.made) for lines in (one.a, (*one.b, *one.settings))]
    site = Site(fixture=(*FIXTURE, *one.violated), first=one.first)
    found = run_battery(machine, sets, one.calls, site=site)
    return found.sets[0].recorded, found.sets[1].recorded


def _text(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _call(  # noqa: PLR0913  (what a call can have)
    name: str,
    number: int,
    *arguments: Text | int,
    worker: int = _ROOT,
    arch: Arch = "b64",
    before: tuple[Step, ...] = (),
    after: tuple[Step, ...] = (),
) -> Call:
    padded = (*arguments, *(0,) * (3 - len(arguments)), _TAG + number + worker)
    return Call(name, worker, arch, number, padded, before=before, after=after)


def _chmod(path: str, before: tuple[Step, ...] = ()) -> Call:
    return _call("chmod", _CHMOD, Text(path), 0o666, before=before)


def _passwd(name: str, number: int) -> str:
    line = f"root:x:0:0::/:/bin/sh\n{name}:x:{number}:{number}::/:/bin/sh\n"
    return base64.b64encode(line.encode()).decode()


def _passwd_is(which: str) -> Step:
    return symlink("/etc/passwd", f"/etc/passwd.{which}")


_NEW = "/field/u1"
_ON = "-a always,exit -F arch=b64 -S chmod"
_ASK = "-a always,exit -F arch=b64 -S getppid"

LATER = Scenario(
    "tools",
    (f"-a always,exit -F arch=b64 -S {_FCHMODAT2} -F perm=a -k k", f"{_ASK} -k other"),
    (f"{_ASK} -k other",),
    (Call("fchmodat2", _ROOT, "b64", _FCHMODAT2, (_AT, Text("/field/f1"), 0o644, 0)),),
)
"""Linux 6.1 does not know fchmodat2; under later ones, from 6.12.75 on, A records it."""

NARROWED = (
    "-a always,exit -F dir=/field -F perm=a -k k",
    "-a always,exit -S 2045,2044 -F dir=/field -k k",
    "-a always,exit -S chmod,fchmod,fchmodat -F dir=/field -F perm=a -k k",
)
"""A rule on a tree, narrowed by the kernel's class of calls, and by names that 6.1 knows."""

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "loaded",
        (f"{_ASK} -F uid=nosuch -k k", f"{_ASK} -F uid!=nosuch -k k"),
        (f"{_ASK} -k k",),
        (_call("getppid", _GETPPID),),
    ),
    Scenario(
        "settings",
        (f"{_ASK} -k k",),
        (f"{_ASK} -k k",),
        (_call("getppid", _GETPPID),),
        settings=("-e 0",),
    ),
    Scenario(
        "kinds",
        (f"-w {_NEW} -p a -k k",),
        (f"-a always,exit -F path={_NEW} -F perm=a -k k",),
        (_chmod(f"{_NEW}/in"),),
        violated=(directory(_NEW), file(f"{_NEW}/in", 0o666)),
        directories=frozenset(),
    ),
    Scenario(
        "replaced",
        (f"{_ON} -F path={_NEW} -k one", f"{_ON} -F path={_NEW} -k two"),
        (f"{_ON} -F path={_NEW} -k one",),
        (_chmod(_NEW, (remove(_NEW), file(_NEW, 0o666))),),
        violated=(file(_NEW, 0o666),),
    ),
    Scenario(
        "links",
        (f"{_ON} -F path=/field/f5 -k one", f"{_ON} -F path=/field/dir/hard -k two"),
        (f"{_ON} -F path=/field/dir/hard -k two", f"{_ON} -F path=/field/f5 -k one"),
        (_chmod("/field/f5"),),
    ),
    Scenario(
        "trees",
        (f"{_ON} -F dir=/field/dir -k k", f"{_ON} -F path=/field/dir/ln/y1 -k k"),
        (f"{_ON} -F dir=/field/dir -k k",),
        (_chmod("/yard/y1"),),
        violated=(symlink("/field/dir/ln", "/yard"),),
    ),
    Scenario(
        "spelling",
        (f"{_ON} -F dir=/field/dirlink/ -k k",),
        (f"{_ON} -F dir=/field/dirlink -k k",),
        (_chmod("/field/dir/a"),),
    ),
    Scenario(
        "names",
        (f"{_ASK} -F uid=somebody -k k",),
        (f"{_ASK} -F uid=somebody -k k",),
        # Both are made once when they are learned, so that A finds the first file, and B the other.
        (
            _call("getppid", _GETPPID, worker=_USER, after=(_passwd_is("other"),)),
            _call("gettid", _GETTID, worker=_USER, after=(_passwd_is("one"),)),
        ),
        first=(
            Install(path="/etc/passwd.one", mode=0o644, base64=_passwd("somebody", 1000)),
            Install(path="/etc/passwd.other", mode=0o644, base64=_passwd("somebody", 7)),
        ),
    ),
    Scenario(
        "labels",
        (f"{_ASK} -F subj_role=nosuch -k k", f"{_ASK} -F subj_role!=nosuch -k k"),
        (f"{_ASK} -F subj_role=unconfined -k k", f"{_ASK} -F subj_role!=unconfined -k k"),
        (_call("getppid", _GETPPID),),
    ),
    Scenario(
        "b32",
        ("-a always,exit -F arch=b32 -S getppid -k k",),
        ("-a always,exit -F arch=b32 -S getpgrp -k k",),
        (_call("getppid", _B32_GETPPID, arch="b32"),),
        relation=Relation(no_b32=True),
    ),
    Scenario(
        "raised",
        ("-a never,exit -F arch=b64 -S open",),
        ("-a never,exit -F arch=b64 -S getppid",),
        (_call("open", _OPEN, Text("/field/sticky/link"), 0, worker=_USER),),
        relation=Relation(ignore_raised=True),
    ),
    Scenario(
        "keys",
        (f"{_ASK} -k one",),
        (f"{_ASK} -k two",),
        (_call("getppid", _GETPPID),),
        relation=Relation(ignore_keys=True),
    ),
)  # fmt: skip
"""One for each assumption but those about other kernels and tools, which are another guest's."""
