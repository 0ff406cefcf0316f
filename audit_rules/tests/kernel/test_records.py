"""Which records of an event are written, and which rules of the list `exclude` drop."""

from __future__ import annotations

from dataclasses import replace

import pytest

from audit_rules.tests.prove.rule_sets import proved, rules
from auditrules.kernel.event import NO_FILE, Event, VisitedName
from auditrules.kernel.records import EventRecord
from auditrules.kernel.semantics import FilterDecision, Outcome, decide, load
from auditrules.tables import lookup

CHMOD = Event("b64", lookup.calls("b64")["chmod"], uid=1000, names=(VisitedName("/f", NO_FILE),))
RECORD = "-a always,exit -S chmod -k modes"


def outcome(*lines: str, event: Event = CHMOD) -> Outcome:
    return decide(load(rules(*lines)), event)


def written(*lines: str, event: Event = CHMOD) -> list[str]:
    records: tuple[EventRecord, ...] = outcome(*lines, event=event).records
    return [record.name for record in records if record.dropped_by is None]


def test_a_call_has_its_records_in_the_order_of_writing() -> None:
    assert written(RECORD) == ["SYSCALL", "CWD", "PATH", "PROCTITLE", "EOE"]
    run = replace(CHMOD, call=lookup.calls("b64")["execve"], names=(VisitedName(), VisitedName()))
    assert written("-a always,exit -S execve", event=run) == [
        "SYSCALL", "EXECVE", "CWD", "PATH", "PATH", "PROCTITLE", "EOE",
    ]  # fmt: skip


@pytest.mark.parametrize("dropped", ["CWD", "PATH", "PROCTITLE", "EOE"])
def test_a_dropped_record_is_the_only_one_that_is_lacking(dropped: str) -> None:
    all_of_them = ["SYSCALL", "CWD", "PATH", "PROCTITLE", "EOE"]
    found = outcome(RECORD, f"-a always,exclude -F msgtype={dropped}")
    assert found.recorded
    assert found.key == "modes"
    assert {record.name: record.dropped_by for record in found.records}[dropped] == 1
    kept = written(RECORD, f"-a always,exclude -F msgtype={dropped}")
    assert kept == [name for name in all_of_them if name != dropped]


def test_without_the_syscall_record_nothing_is_written_and_no_key_is_found() -> None:
    for excluding in ("msgtype=SYSCALL", "msgtype>0", "uid=1000", "msgtype!=CWD"):
        found = outcome(RECORD, f"-a always,exclude -F {excluding}")
        assert found.decision is FilterDecision.ALWAYS
        assert found.requested
        assert not found.recorded
        assert (found.key, found.names) == ("", ())
        assert {record.dropped_by for record in found.records} == {1}


def test_any_rule_of_the_list_drops_whatever_its_action_is() -> None:
    assert "CWD" not in written(RECORD, "-a never,exclude -F msgtype=CWD")


def test_a_dropped_denial_requests_no_record() -> None:
    denied = replace(CHMOD, raised=True)
    other = "-a always,exit -S swapoff"
    assert outcome(other, event=denied).recorded
    found = outcome(other, "-a always,exclude -F msgtype=AVC", event=denied)
    assert not found.requested
    assert not found.raised


def test_a_label_that_no_lsm_provides_leaves_the_result_before_it() -> None:
    labelled = "-a always,exclude -F msgtype=CWD -F subj_type=crond_t"
    assert "CWD" not in written(RECORD, labelled)
    selinux = replace(CHMOD, subject={"subj_type": "other_t"})
    assert "CWD" in written(RECORD, labelled, event=selinux)
    assert "CWD" in written(RECORD, "-a always,exclude -F subj_type=crond_t -F msgtype=CWD")


def test_the_proof_is_about_what_is_written() -> None:
    everything = "-a always,exclude -F msgtype>0"
    assert proved((RECORD, everything), (everything,)).equal
    syscall = "-a always,exclude -F msgtype=SYSCALL"
    # What goes with the SYSCALL record is not written either way.
    assert proved((RECORD, syscall), (RECORD, syscall, "-a always,exclude -F msgtype=CWD")).equal
    other = "-a always,exit -S swapoff -k other"
    assert proved((RECORD, other, syscall), (other, syscall)).equal
    cwd = "-a always,exclude -F msgtype=CWD"
    assert proved((RECORD, other, cwd), (other, cwd)).equal is False
    # The denial's own record needs a rule to be loaded.
    found = proved((RECORD, syscall), (syscall,)).difference
    assert found is not None
    assert found.event.raised


def test_what_some_users_records_are_dropped_for_still_differs_for_others() -> None:
    of_one = "-a always,exclude -F uid=1000 -F msgtype=SYSCALL"
    other = "-a always,exit -S swapoff -k other"
    found = proved((RECORD, other, of_one), (other, of_one)).difference
    assert found is not None
    assert found.event.uid != 1000
