"""The beginning of a trace: how long it takes, who executes most of it, and who is who."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hardcost.instruments.traces import TAKES
from hardcost.model.finding.trace import ProcessShare, Traced, Traces
from hardcost.model.role import Baseline, Role, Whole
from hardcost.show.sentences.statement import Ranked, Statement
from hardcost.show.text import number, percent, shorten
from hardcost.units import count, join_in_prose, visible

LONGEST = 40
"""Most characters of what a process does."""

_NAMED = 3
_NUMBER = re.compile(r" \(\d+\)$")  # of those with one name
_UNDER: dict[Role, str] = {Whole(): "with the profile", Baseline(): "without the profile"}
_LIVES = {
    "init": "hardcost's probe, which is process 1 of the guest and, in the small one, the audit"
    " daemon",
    "hardcost-probe": "hardcost's probe, which waits for the program's end",
    "hardcost-caller": "the program that makes the call",
    "hardcost-idle": "runs when no other process wants to: the processor would be idle",
    "kauditd": "the kernel's thread that sends audit records to the daemon",
    "auditd": "the audit daemon, which writes audit.log",
    "audisp-syslog": "auditd's plug-in, which sends each record to the system's logger",
    "rsyslogd": "the system's logger, which writes /var/log/messages",
    "in:imuxsock": "the logger's thread that takes messages",
    "rs:main Q:Reg": "the logger's thread that writes /var/log/messages",
    "clamd": "the scanner, which looks at files as they are opened",
    "clamonacc": "hands files that are opened to the scanner",
    "fapolicyd": "decides whether a file may be opened or executed",
}


def process_purpose(name: str) -> str | None:
    """Return the known purpose of a process, by its name."""
    return _LIVES.get(_NUMBER.sub("", name))


def name_of(one: Traced, process: int | None) -> str:
    """Return the name of a process as it is shown; who is none is an interrupt."""
    return "an interrupt" if process is None else visible(one.processes[process])


def call_of(one: Traced) -> str | None:
    """Return the name of the call that a trace is of; None of a whole window."""
    if one.caller is None:
        return None
    return dict(one.workload.parameters).get("call", one.metric)


def title_of(one: Traced) -> str:
    """Return the subject of a trace, and its configuration."""
    call = call_of(one)
    what = f"{visible(one.workload)}: {visible(one.metric)}" if call is None else f"one {call}"
    return f"{what}, {_UNDER.get(one.configuration) or visible(one.configuration)}"


def trace_answer(finding: Traces) -> Statement:
    """Return how long each trace takes and who executes it, and of the first, the processes."""
    sentences = tuple(
        line
        for one in finding.traces
        if one.configuration != Baseline()
        for line in _sentences(one)
    )
    first = finding.traces[0]
    shares = first.shares()[: _NAMED + 2]
    ranked = tuple(
        Ranked(
            shorten(visible(share.process), LONGEST),
            f"{number(share.ran)} insn, {percent(share.ran / max(first.length, 1))}",
            share.ran / max(shares[0].ran, 1),
        )
        for share in shares
    )
    return Statement(sentences, "Who executes it", ranked)


def _most(share: ProcessShare, length: int) -> str:
    ran, whole = number(share.ran), number(length)
    return f"{visible(share.process)} executes {ran} of the {whole} instructions"


def _sentences(one: Traced) -> Iterator[str]:
    call = call_of(one)
    first, *others = one.shares()[:_NAMED]
    most = [
        _most(first, one.length),
        *(f"{visible(share.process)} {number(share.ran)}" for share in others),
    ]
    if call is None:
        yield f"{visible(one.metric)} takes {number(one.ticks)} instructions."
        yield f"{join_in_prose(most)}."
        return
    took = sum(deed.what == TAKES for piece in one.pieces for deed in piece.deeds)
    if one.arrived is None or one.returned is None:
        yield (
            f"One {call} takes {number(one.length)} instructions from its entry to its return;"
            " no process receives an audit record of it."
        )
        return
    them = "it" if took == 1 else "them"
    yield (
        f"One {call} writes {count(took, 'audit record')}; the last process that handles {them} is"
        f" done {number(one.arrived)} instructions after the call's entry. The call itself returns"
        f" after {number(one.returned)}."
    )
    yield f"{join_in_prose(most)}."
