"""What a fake guest that is traced has noted: a call whose record goes to the daemon, or not."""

from __future__ import annotations

from hardcost.machines.noted import Note, Noted
from hardcost.machines.stacks import Place, Stretch

BEFORE, CALL, THREAD, DAEMON, AFTER = 1000, 1500, 600, 900, 400
"""Instructions of what the program does before, the call, kauditd, the daemon, and behind it."""

_RETURN = 100  # of the call, once the others have run
_NAMES = ("hardcost-caller", "kauditd", "init")
PLACES = (
    Place(0, "process", _NAMES[0]),
    Place(1, "kernel", "do_syscall_64"),
    Place(2, "kernel", "__x64_sys_fake"),
    Place(3, "kernel", "audit_log_end"),
    Place(3, "kernel", "__cond_resched"),
    Place(0, "process", _NAMES[1]),
    Place(6, "kernel", "kauditd_thread"),
    Place(7, "kernel", "schedule"),
    Place(0, "process", _NAMES[2]),
    Place(9, "kernel", "do_syscall_64"),
    Place(10, "kernel", "__x64_sys_recvfrom"),
    Place(11, "kernel", "netlink_recvmsg"),
    Place(12, "kernel", "skb_free_datagram"),
    Place(11, "kernel", "schedule"),
)


def stretch(*, recorded: bool) -> Stretch:
    """Return what was seen of a program that makes one call, which is recorded or is not."""
    entry, wakes, turn = BEFORE + 10, BEFORE + CALL // 2, BEFORE + CALL
    daemon = turn + THREAD
    back = daemon + DAEMON
    end = back + _RETURN if recorded else turn
    notes = [Note("runs", 0, 1), Note("reads", BEFORE), Note("begins", entry, place=3)]
    counts = [(3, end - BEFORE), (1, BEFORE + AFTER)]
    if recorded:
        notes += [
            Note("wakes", wakes, 2, 4),
            Note("runs", turn, 2, 5),
            Note("wakes", turn + THREAD // 2, 3, 7),
            Note("runs", daemon, 3, 8),
            Note("begins", daemon + 10, place=11),
            Note("begins", daemon + DAEMON // 2, place=13),
            Note("leaves", daemon + DAEMON // 2 + 10),
            Note("begins", daemon + DAEMON // 2 + 20, place=11),
            Note("runs", back, 1, 14),
        ]
        counts = [(3, CALL + _RETURN), (1, BEFORE + AFTER), (7, THREAD), (11, DAEMON)]
    notes += [Note("leaves", end - 1), Note("reads", end)]
    whole = end + AFTER
    return Stretch(whole, 0, tuple(sorted(counts)), Noted(_NAMES, tuple(notes)))
