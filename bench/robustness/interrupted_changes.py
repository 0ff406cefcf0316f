"""Whether a machine is as it was, however a run that changes it is interrupted.

    .venv/bin/python -m bench.robustness.interrupted_changes --moments 1-100

A Debian guest with GRUB and sshd is the machine. A run changes its audit rules, audit's state and
sysctls, and makes files that rules watch; or another process changes files, services and mounts, by
the same keeper; or a run reboots it with further words on the kernel's command line. It is
interrupted at a random moment: hardcost, the probe, the keeper or sshd are killed (SIGKILL), the
guest loses its power, or hardcost falls silent (SIGSTOP) while its connection stays, or Ctrl-C is
pressed. Then `hardcost restore` is called, or nothing is done, so that the machine's own guard is
alone. After that everything that could have changed is compared with what it was: settings and
rules as the kernel lists them, its command line, files by their digests (the boot loader's, too),
units, mounts.
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
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hardcost.machines.real import changes, keeper_messages
from hardcost.machines.real.ssh import SshReach
from hardcost.protocol.ask import install, mount
from hardcost.protocol.requests import Audit, Write
from hardcost.supply.cache.cache import Cache
from tests.vm.ssh_guest import Running, SshGuest, ssh_guest

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
    "-a always,exit -F arch=b32 -S all -F uid=70000 -k unused",
]
sysctl = { "kernel.kptr_restrict" = "2", "vm.dirty_bytes" = "100000000" }
[[configuration]]
name = "settings"
sysctl = { "net.ipv4.conf.all.rp_filter" = "2", "net.ipv4.ip_forward" = "1" }
"""
BOOT = """\
title = "a boot that is undone"
baseline = "as it is"
workloads = ["syscalls calls=null"]
instrument = "time"
[[configuration]]
name = "as it is"
[[configuration]]
name = "booted"
boot = ["mitigations=auto", "nosmt"]
audit.rules = ["-a always,exit -F arch=b64 -S chmod,fchmod -k modes"]
sysctl = { "kernel.kptr_restrict" = "2" }
"""
KILLED = {
    "probe": "pkill -9 -x hardcost-probe",
    "keeper": "pkill -9 -f 'hardcost-keeper [h]old'",
    "sshd": "pkill -9 -x sshd",
}
"""What is killed in the guest, and how."""

What = Literal["run", "hold", "boot"]
"""A run of settings, a process that is none, or a run with boot parameters."""

TURNS: tuple[What, ...] = ("run", "hold", "run", "hold", "boot")
KINDS = ("hardcost", *KILLED, "power", "silence", "ctrl-c")
HELD = (
    install("/etc/rsyslog.conf", "*.* /var/log/all\n", 0o600),
    install("/etc/rsyslog.d/made/here.conf", "# nothing\n"),
    install("/etc/audit/auditd.conf", "log_file = /var/log/audit/audit.log\n", 0o640),
    keeper_messages.UnitState(name="rsyslog.service", active=False),
    keeper_messages.UnitState(name="auditd.service", active=True),
    mount("/srv", ["noexec", "nosuid"]),
    Audit(rules="-a always,exit -F arch=b64 -S chmod -k a\n", backlog_limit=512),
    Write(path="/proc/sys/vm/dirty_bytes", value="100000000"),
)
"""What a process holds that is no run."""

GUARD_SECONDS = 120.0
"""How long the machine has to restore itself: it takes note of silence after 60 s."""

BOOT_SECONDS = 400.0
"""The same where it takes a reboot, for which it waits three times as long at first."""

BOOT_MOMENTS = 150.0
"""For so many seconds a run with boot parameters may be interrupted: it goes there and back."""

_ENDS_SECONDS = 240.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of an interruption: `pending` changes at the moment; what is not as it was."""

    kind: str
    by: str
    what: What
    pending: bool
    seconds: float
    differences: tuple[str, ...]


def interrupt(
    guest: SshGuest, kind: str, by: str, after: float | None, what: What = "run"
) -> Outcome:
    """Interrupt what changes the machine, and return what became of the machine.

    It is interrupted so many seconds after its first change was written down; None: while changes
    are held.
    """
    before = guest.reached_state()
    process = BEGUN[what](guest)
    try:
        wait_for(guest, "made" if after is None else "begin", process)
        time.sleep(after or 0.0)
        pending = any(guest.journals())
        left = strike(guest, kind, before, process)
        if left:
            return Outcome(kind, by, what, pending, GUARD_SECONDS, tuple(left))
    finally:
        process.kill()
        process.wait()
    begun = time.monotonic()
    if by == "restore":
        if what != "boot":
            guest.reached("true")  # its sshd starts again; a boot is waited for by hardcost
        guest.restore()
    limit = BOOT_SECONDS if what == "boot" else GUARD_SECONDS
    found = tuple(differences(before, settled(guest, before, limit)))
    seconds = time.monotonic() - begun
    guest.restore()  # closes the journal that is kept here
    return Outcome(kind, by, what, pending, seconds, found)


def strike(guest: SshGuest, kind: str, before: str, process: Running) -> Sequence[str]:
    """Interrupt the process; return what is left changed where that is to be gone already."""
    if kind == "ctrl-c":
        process.send_signal(signal.SIGINT)
        process.wait()
    elif kind == "silence":
        process.send_signal(signal.SIGSTOP)
        return differences(before, settled(guest, before, BOOT_SECONDS))  # the connection stays
    elif kind == "power":
        guest.power_off()
        process.kill()
        guest.start()
    elif kind in KILLED:
        guest.try_to(f"{KILLED[kind]}; true")  # it may be down
        if kind != "sshd":
            time.sleep(1.0)  # a run that goes on after its trial failed would change it again
    process.kill()
    return ()


def start(guest: SshGuest, rounds: int, *more: str, study: str = STUDY) -> Running:
    """Start a run that changes the guest."""
    file = guest.folder / "study.toml"
    file.write_text(study)
    words = ["run", str(file), "--machine", guest.machine, "--repetitions", str(rounds)]
    words += [
        "--store",
        str(guest.folder / "store.sqlite"),
        "--fresh",
        *(more or ("--progress", "none")),
    ]
    return guest.start_hardcost(*words)


def hold_in(guest: SshGuest) -> Running:
    """Start a process that changes files, services and mounts of the guest over and over."""
    return guest.start_python("from bench.robustness.interrupted_changes import hold; hold()")


BEGUN: dict[What, Callable[[SshGuest], Running]] = {
    "run": lambda guest: start(guest, 40),
    "hold": hold_in,
    "boot": lambda guest: start(guest, 9, study=BOOT),
}
"""What changes the machine, and how it is begun."""


def hold() -> None:
    """Change files, services and mounts of the guest, and put them back, over and over."""
    reach = SshReach("root@guest")

    async def once() -> None:
        async with changes.hold_changes(reach, changes.RunClaim("bench", HELD)):
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


def settled(guest: SshGuest, wanted: str, seconds: float = GUARD_SECONDS) -> str:
    """Return the guest's state once it is as wanted, or its guard has had its time."""
    until = time.monotonic() + seconds
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
    """Interrupt changes at random moments, and print what became of the machine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", default="1-100", help="which, such as 1-50,77")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--guests", type=int, default=2, help="guests side by side")
    chosen = parser.parse_args()
    numbers = [number for part in chosen.moments.split(",") for number in range_of(part)]
    with ProcessPoolExecutor(chosen.guests) as pool:
        shares = [
            pool.submit(moments, numbers[one :: chosen.guests], chosen.seed, chosen.kinds)
            for one in range(chosen.guests)
        ]
        outcomes = [each for share in shares for each in share.result()]
    print()
    for kind in chosen.kinds.split(","):
        own = [one for one in outcomes if one.kind == kind]
        same = sum(not one.differences for one in own)
        changed = sum(one.pending for one in own)
        print(f"{kind:9} {len(own):3} moments, {changed:3} with changes pending: {same:3} the same")
    return int(any(one.differences for one in outcomes))


def range_of(words: str) -> range:
    """Return the moments that `7` or `1-100` stand for, counted from 0."""
    first, _, last = words.partition("-")
    return range(int(first) - 1, int(last or first))


def moments(numbers: Sequence[int], seed: int, names: str) -> list[Outcome]:
    """Interrupt changes of one guest at the moments of these numbers."""
    kinds, outcomes = names.split(","), []
    with tempfile.TemporaryDirectory() as folder, ssh_guest(Cache(), Path(folder)) as guest:
        for number in numbers:
            draw = random.Random(f"{seed} {number}")  # noqa: S311  (the same moments each time)
            kind, by = kinds[number % len(kinds)], ("guard", "restore")[number // len(kinds) % 2]
            what = TURNS[number % len(TURNS)]
            if kind == "probe" and what == "hold":
                what = "run"  # there is no probe
            after = draw.uniform(0.0, BOOT_MOMENTS if what == "boot" else 12.0)
            try:
                one = interrupt(guest, kind, by, after, what)
            except Exception as error:  # noqa: BLE001  (the others are interrupted all the same)
                one = Outcome(kind, by, what, pending=True, seconds=0.0, differences=(str(error),))
            outcomes.append(one)
            state = "changed" if one.pending else "as it was"
            said = "; ".join(one.differences) or "the same"
            words = f"{number + 1:3} {kind:9} {by:8} {what:5}{after:6.1f} s {state:10}"
            print(f"{words}{one.seconds:6.1f} s  {said}", flush=True)
    return outcomes


if __name__ == "__main__":
    sys.exit(main())
