"""Running a battery: real system calls, in a guest, under any sets of audit rules.

    battery = run_battery(machine, ["-w /field/f1 -p wa -k one", "-a always,exit -S open"])
    battery.sets[0].recorded     # {index of a call: its key}, those recorded under the first set
    battery.events[index]        # what the kernel's filter saw of a call

`machine` is `VirtualMachine(Cache(), Hardware("tcg"))`. The calls are `repertoire.CALLS`, on the
files of `field.FIXTURE`; a rule set may be any text that `auditctl -R` takes. Each call is made
once under each set, so two sets that are equivalent have the same `recorded`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from auditrules.kernel.event import Event, FileId
from auditrules.tables.lookup import OLDEST, RELEASES, Auditctl, Release, auditctl_of
from conformance.calls import Call, Json, Step
from conformance.files_and_workers import FIXTURE, PATHS, SETTINGS, THROUGH_LINKS, WORKERS
from conformance.kernel_records import Ground, event_of, key_of, unrecorded
from conformance.program import ProgramAnswer, carry_out
from conformance.repertoire import CALLS
from hardcost.errors import TrialError
from hardcost.machines.machine import Machine
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request, Write
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import debian

_VERSION = re.compile(r"(\d+)\.(\d+)")
_LIMIT_SECONDS = 1800.0
_AHEAD = 1  # line that the program puts before a set's
_REFUSED = re.compile(r"error in line (\d+) of")


@dataclass(frozen=True)
class SetResult:
    """The result of the calls under one rule set.

    `recorded` has the key of each call that was recorded (several keys joined by `KEY_SEPARATOR`),
    `kinds` the types of all records of its event, `made` which calls were made, by their indices.
    `refused` are the lines that auditctl or the kernel refused, from 1, `complaints` its words;
    `loaded` is how many rules there were; `listing` is what `auditctl -l` prints, if asked for.
    `unsteady` are calls that did not come to the same result as when they were learned, or were
    recorded more than once: nothing can be said of them.
    """

    made: tuple[int, ...]
    recorded: Mapping[int, str]
    refused: frozenset[int]
    complaints: str
    loaded: int
    listing: str | None
    unsteady: frozenset[int]
    kinds: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Battery:
    """What a battery came to: each call's event, and each set's result.

    `files` are those that rules on paths watch, as `semantics.load` takes them; `release` is the
    kernel's, `auditctl` that of what loaded the rules.
    """

    files: Mapping[str, FileId]
    events: tuple[Event, ...]
    sets: tuple[SetResult, ...]
    release: Release = OLDEST
    auditctl: Auditctl = "3.0.9"


@dataclass(frozen=True)
class WantedRules:
    """A rule set to try, with the calls to make (all, if None), and whether to list it."""

    rules: str
    calls: tuple[int, ...] | None = None
    listed: bool = False


@dataclass(frozen=True)
class Site:
    """What lies in the guest: how it is made, and the paths whose identity is asked for.

    `first` is asked of the guest before all else.
    """

    fixture: tuple[Step, ...] = FIXTURE
    paths: tuple[str, ...] = PATHS
    first: tuple[Request, ...] = ()


FIELD_SITE = Site()


def run_battery(
    machine: Machine,
    sets: Sequence[str | WantedRules],
    calls: Sequence[Call] = CALLS,
    boot: Boot = Boot(),  # noqa: B008  (frozen)
    site: Site = FIELD_SITE,
) -> Battery:
    """Make `calls` in one guest under each of `sets`, all of them in one boot.

    Raises:
        TrialError: The guest did not do its job, lost records, or the events are not known.
    """
    wanted = [WantedRules(rules) if isinstance(rules, str) else rules for rules in sets]
    job = job_of(wanted, calls, site)
    answers = carry_out(machine, boot, prepared(site), job, _LIMIT_SECONDS)
    release = release_of(machine.environment(boot)["kernel"])
    battery = read(answers, wanted, calls, site, release)
    return replace(battery, auditctl=auditctl_of(debian.version(Cache(), "auditd")))


def release_of(version: str) -> Release:
    """Return the newest of the releases that a kernel's version, as in `uname -r`, is not before.

    Of a version before all of them, it is the oldest.
    """
    found = _VERSION.search(version)
    numbers = (int(found[1]), int(found[2])) if found else (0, 0)
    return next((one for one in reversed(RELEASES) if _numbers(one) <= numbers), OLDEST)


def _numbers(release: Release) -> tuple[int, int]:
    major, minor = map(int, release.split("."))
    return major, minor


def prepared(site: Site) -> tuple[Request, ...]:
    """Return what is asked of the guest before the program is run."""
    return (
        *site.first,
        # Each netlink socket that auditctl closes waits for a grace period, some ticks otherwise.
        Write(path="/sys/kernel/rcu_expedited", value="1"),
        *(Write(path=path, value="1") for path in SETTINGS),
    )


def job_of(
    sets: Sequence[WantedRules], calls: Sequence[Call] = CALLS, site: Site = FIELD_SITE
) -> Json:
    """Return the program's job."""
    return {
        "fixture": [step.as_json() for step in site.fixture],
        "paths": list(site.paths),
        "workers": [worker.as_json() for worker in WORKERS],
        "calls": [call.as_json() for call in calls],
        "sets": [
            {
                "rules": wanted.rules,
                "calls": None if wanted.calls is None else list(wanted.calls),
                "list": wanted.listed,
            }
            for wanted in sets
        ],
    }


def read(
    answers: Sequence[ProgramAnswer],
    sets: Sequence[WantedRules],
    calls: Sequence[Call],
    site: Site = FIELD_SITE,
    release: Release = OLDEST,
) -> Battery:
    """Return what the program's answers say of a kernel of that release.

    Raises:
        TrialError: They are not those of this job, or records were lost.
    """
    by_event: dict[str, list[ProgramAnswer]] = {"files": [], "learned": [], "set": []}
    for answer in answers:
        by_event.setdefault(answer["event"], []).append(answer)
    counts = tuple(len(by_event[name]) for name in ("files", "learned", "set"))
    if counts != (1, len(calls), len(sets)):
        raise TrialError("the guest's answers are not those of the battery")
    ground = _ground(by_event["files"][0], site)
    learned = _events(by_event["learned"], calls, ground)
    events = tuple(replace(event, release=release) for event in learned)
    every = tuple(range(len(calls)))
    results = tuple(
        _result(answer, every if wanted.calls is None else wanted.calls)
        for answer, wanted in zip(by_event["set"], sets, strict=True)
    )
    return Battery(_watched(by_event["files"][0], site), events, results, release)


def _ground(answer: ProgramAnswer, site: Site) -> Ground:
    found = {
        path: file
        for path, file in zip(site.paths, answer["files"], strict=True)
        if file is not None
    }
    real = {path: file for path, file in found.items() if path not in THROUGH_LINKS}
    return Ground(
        {path: FileId(*file["file"]) for path, file in real.items()},
        {tuple(file["file"][:2]): file["kind"] for file in found.values() if file["kind"]},
    )


def _watched(answer: ProgramAnswer, site: Site) -> dict[str, FileId]:
    """Return what rules on paths watch: of a mount point, the directory beneath."""
    pairs = zip(site.paths, answer["files"], strict=True)
    return {
        # A slash at the end goes through to the directory itself.
        path: FileId(*file["file" if path.endswith("/") else "entry"])
        for path, file in pairs
        if file is not None
    }


def _events(
    learned: Sequence[ProgramAnswer], calls: Sequence[Call], ground: Ground
) -> tuple[Event, ...]:
    """Return each call's event; of one that can't be recorded, what others of its worker show."""
    events = [
        event_of([(kind, text) for kind, text in answer["records"]], call, WORKERS, ground)
        for answer, call in zip(learned, calls, strict=True)
    ]
    of_worker: dict[int, Event] = {}
    for call, event in zip(calls, events, strict=True):
        if event is not None and not call.child:
            of_worker.setdefault(call.worker, event)
    return tuple(
        unrecorded(call, answer["result"], of_worker[call.worker]) if event is None else event
        for event, call, answer in zip(events, calls, learned, strict=True)
    )


def _result(answer: ProgramAnswer, made: tuple[int, ...]) -> SetResult:
    if answer["lost"]:
        raise TrialError(f"the kernel lost {answer['lost']} audit records")
    keys = [key_of(written) for written in answer["keys"]]
    recorded = {call: keys[key] for call, key in answer["recorded"]}
    times = Counter(call for call, _ in answer["recorded"])
    twice = {call for call, number in times.items() if number > 1}
    complaints = answer["complaints"]
    return SetResult(
        made=made,
        recorded=recorded,
        kinds={call: tuple(kinds) for call, kinds in answer.get("kinds", ())},
        refused=frozenset(int(line) - _AHEAD for line in _REFUSED.findall(complaints)),
        complaints=complaints,
        loaded=answer["loaded"],
        listing=answer["listing"],
        unsteady=frozenset(twice | {call for call, _ in answer["changed"]}),
    )
