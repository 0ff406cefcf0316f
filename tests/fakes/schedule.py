"""What a fake guest that is traced has noted: a call whose record goes to the daemon, or not."""

from __future__ import annotations

from hardcost.model.call_tree import Frame
from hardcost.protocol.plugin.schedule import Schedule, ScheduleNote
from hardcost.protocol.plugin.stacks import CountedWindow

BEFORE, CALL, THREAD, DAEMON, AFTER = 1000, 1500, 600, 900, 400
"""Instructions of what the program does before, the call, kauditd, the daemon, and behind it."""

_RETURN = 100  # of the call, once the others have run
_NAMES = ("hardcost-caller", "kauditd", "init")
FRAMES = (
    Frame(0, "process", _NAMES[0]),
    Frame(1, "kernel", "do_syscall_64"),
    Frame(2, "kernel", "__x64_sys_fake"),
    Frame(3, "kernel", "audit_log_end"),
    Frame(3, "kernel", "__cond_resched"),
    Frame(0, "process", _NAMES[1]),
    Frame(6, "kernel", "kauditd_thread"),
    Frame(7, "kernel", "schedule"),
    Frame(0, "process", _NAMES[2]),
    Frame(9, "kernel", "do_syscall_64"),
    Frame(10, "kernel", "__x64_sys_recvfrom"),
    Frame(11, "kernel", "netlink_recvmsg"),
    Frame(12, "kernel", "skb_free_datagram"),
    Frame(11, "kernel", "schedule"),
)


def window(*, recorded: bool) -> CountedWindow:
    """Return what was seen of a program that makes one call, which is recorded or is not."""
    entry, wakes, turn = BEFORE + 10, BEFORE + CALL // 2, BEFORE + CALL
    daemon = turn + THREAD
    back = daemon + DAEMON
    end = back + _RETURN if recorded else turn
    notes = [
        ScheduleNote("runs", 0, 1),
        ScheduleNote("reads", BEFORE),
        ScheduleNote("begins", entry, place=3),
    ]
    counts = [(3, end - BEFORE), (1, BEFORE + AFTER)]
    if recorded:
        notes += [
            ScheduleNote("wakes", wakes, 2, 4),
            ScheduleNote("runs", turn, 2, 5),
            ScheduleNote("wakes", turn + THREAD // 2, 3, 7),
            ScheduleNote("runs", daemon, 3, 8),
            ScheduleNote("begins", daemon + 10, place=11),
            ScheduleNote("begins", daemon + DAEMON // 2, place=13),
            ScheduleNote("leaves", daemon + DAEMON // 2 + 10),
            ScheduleNote("begins", daemon + DAEMON // 2 + 20, place=11),
            ScheduleNote("runs", back, 1, 14),
        ]
        counts = [(3, CALL + _RETURN), (1, BEFORE + AFTER), (7, THREAD), (11, DAEMON)]
    notes += [ScheduleNote("leaves", end - 1), ScheduleNote("reads", end)]
    whole = end + AFTER
    return CountedWindow(whole, 0, tuple(sorted(counts)), Schedule(_NAMES, tuple(notes)))
