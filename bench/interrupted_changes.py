"""Whether a machine is as it was, however a run that changes it is interrupted.

    .venv/bin/python bench/interrupted_changes.py --moments 100

A Debian guest with sshd is the machine. A run changes its audit rules, audit's state and sysctls,
and makes files that rules watch; every other time another process changes files, services and
mounts, too, by the same keeper. It is interrupted at a random moment: hardcost, the probe, the
keeper or sshd are killed (SIGKILL), the guest loses its power, or hardcost falls silent
(SIGSTOP) while its connection stays, or Ctrl-C is pressed. Then `hardcost restore` is
called, or nothing is done, so that the machine's own guard is alone. After that everything that
could have changed is compared with what it was: settings and rules as the kernel lists them, files
by their digests, units, mounts.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.vm.sshguest import ssh_guest

from hardcost.machines.cache import Cache
from hardcost.machines.real import changes, keeping
from hardcost.machines.real.sshhost import SshReach
from hardcost.protocol.requests import Audit, Write, install, mount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.vm.sshguest import Running, SshGuest

STUDY = """\
title = "what is changed and undone"
baseline = "as it is"
workloads = ["syscalls calls=null"]
instrument = "time"
[[configuration]]
name = "as it is"
[[configuration]]
name = "rules"
audit.rules = [
    "-a always,exit -F arch=b64 -S chmod,fchmod -k modes",
    "-w /opt/made/for/a/rule -p wa -k made",
    "-a always,exit -F arch=b32 -S all -F uid=70000 -k nobody",
]
sysctl = { "kernel.kptr_restrict" = "2", "vm.dirty_bytes" = "100000000" }
[[configuration]]
name = "settings"
sysctl = { "net.ipv4.conf.all.rp_filter" = "2", "net.ipv4.ip_forward" = "1" }
"""
KILLED = {
    "probe": "pkill -9 -x hardcost-probe",
    "keeper": "pkill -9 -f 'hardcost-keeper [h]old'",
    "sshd": "pkill -9 -x sshd",
}
"""What is killed in the guest, and how."""

KINDS = ("hardcost", *KILLED, "power", "silence", "ctrl-c")
HELD = (
    install("/etc/rsyslog.conf", "*.* /var/log/all\n", 0o600),
    install("/etc/rsyslog.d/made/here.conf", "# nothing\n"),
    install("/etc/audit/auditd.conf", "log_file = /var/log/audit/audit.log\n", 0o640),
    keeping.Unit(name="rsyslog.service", active=False),
    keeping.Unit(name="auditd.service", active=True),
    mount("/srv", ["noexec", "nosuid"]),
    Audit(rules="-a always,exit -F arch=b64 -S chmod -k a\n", backlog_limit=512),
    Write(path="/proc/sys/vm/dirty_bytes", value="100000000"),
)
"""What a process holds that is no run."""

GUARD_SECONDS = 120.0
"""How long the machine has to restore itself: it takes note of silence after 60 s."""

_ENDS_SECONDS = 240.0


@dataclass(frozen=True)
class Outcome:
    """What came of an interruption: `pending` changes at the moment; what is not as it was."""

    kind: str
    by: str
    pending: bool
    seconds: float
    differences: tuple[str, ...]


def interrupt(
    guest: SshGuest, kind: str, by: str, after: float | None, *, holding: bool = False
) -> Outcome:
    """Interrupt a run, and return what became of the machine.

    It is interrupted so many seconds after its first trial began; None: while changes are held.
    `holding`: it is no run, but a process that does what the keeper can do besides.
    """
    before = guest.state()
    process = hold_in(guest) if holding else start(guest, rounds=40)
    try:
        wait_for(guest, "made" if after is None else "begin", process)
        time.sleep(after or 0.0)
        pending = any(guest.journals())
        if kind == "hardcost":
            process.kill()
        elif kind == "ctrl-c":
            process.send_signal(signal.SIGINT)
            process.wait()
        elif kind == "silence":
            process.send_signal(signal.SIGSTOP)
            left = differences(before, settled(guest, before))  # before the connection ends, too
            process.kill()
            if left:
                return Outcome(kind, by, pending, GUARD_SECONDS, tuple(left))
        elif kind == "power":
            guest.power_off()
            process.kill()
            process.wait()
            guest.start()
        else:
            guest.said(f"{KILLED[kind]}; true", may_fail=kind == "sshd")
            if kind != "sshd":
                time.sleep(1.0)  # a run that goes on after its trial failed would change it again
            process.kill()
        process.wait()
    finally:
        process.kill()
        process.wait()
    begun = time.monotonic()
    if by == "restore":
        guest.restore()
    after_that = settled(guest, before)
    found = tuple(differences(before, after_that))
    guest.restore()  # closes the journal that is kept here
    return Outcome(kind, by, pending, time.monotonic() - begun, found)


def start(guest: SshGuest, rounds: int, *more: str) -> Running:
    """Start a run that changes the guest."""
    study = guest.folder / "study.toml"
    study.write_text(STUDY)
    words = ["run", str(study), "--machine", guest.machine, "--repetitions", str(rounds)]
    words += [
        "--store",
        str(guest.folder / "store.sqlite"),
        "--fresh",
        *(more or ("--progress", "none")),
    ]
    return guest.start_hardcost(*words)


def hold_in(guest: SshGuest) -> Running:
    """Start a process that changes files, services and mounts of the guest over and over."""
    return guest.start_python(f"from {__name__} import hold; hold()")


def hold() -> None:
    """Change files, services and mounts of the guest, and put them back, over and over."""
    reach = SshReach("root@guest")

    async def once() -> None:
        async with changes.held(reach, changes.Asked("bench", HELD)):
            await asyncio.sleep(1.0)

    asyncio.run(reach.prepare())
    while True:
        asyncio.run(once())


def wait_for(guest: SshGuest, entry: str, process: Running) -> None:
    """Wait until the journal that is kept here has such an entry.

    Raises:
        TimeoutError: It never has.
    """
    until = time.monotonic() + _ENDS_SECONDS
    while not any(f'"entry":"{entry}"' in text for text in guest.journals()):
        if time.monotonic() > until or process.poll() is not None:
            raise TimeoutError(guest.said_by_hardcost())
        time.sleep(0.01)


def settled(guest: SshGuest, wanted: str) -> str:
    """Return the guest's state once it is as wanted, or its guard has had its time."""
    until = time.monotonic() + GUARD_SECONDS
    while True:
        state = guest.reached_state()
        if state == wanted or time.monotonic() > until:
            return state
        time.sleep(0.5)


def differences(before: str, after: str) -> Sequence[str]:
    """Return the lines that are only in one of two states."""
    one, other = Counter(before.splitlines()), Counter(after.splitlines())
    return [f"- {line}" for line in one - other] + [f"+ {line}" for line in other - one]


def main() -> int:
    """Interrupt a run at random moments, and print what became of the machine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    chosen = parser.parse_args()
    draw = random.Random(chosen.seed)  # noqa: S311  (moments, which are to be the same each time)
    kinds = chosen.kinds.split(",")
    outcomes: list[Outcome] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        ssh_guest(Cache(), Path(folder)) as guest,
    ):
        for number in range(chosen.moments):
            kind, by = kinds[number % len(kinds)], ("guard", "restore")[number // len(kinds) % 2]
            holding = kind != "probe" and number // len(kinds) % 4 > 1
            outcome = interrupt(guest, kind, by, draw.uniform(0.0, 12.0), holding=holding)
            outcomes.append(outcome)
            print(
                f"{number + 1:3} {kind:9} {by:8} {'hold' if holding else 'run':5}"
                f"{'changed' if outcome.pending else 'as it was':10}"
                f"{outcome.seconds:6.1f} s  {'; '.join(outcome.differences) or 'the same'}",
                flush=True,
            )
    print()
    for kind in kinds:
        own = [one for one in outcomes if one.kind == kind]
        same = sum(not one.differences for one in own)
        changed = sum(one.pending for one in own)
        print(f"{kind:9} {len(own):3} moments, {changed:3} with changes pending: {same:3} the same")
    return int(any(one.differences for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
