"""The workload `postfix`: every mail must arrive once, or there is no number."""

from __future__ import annotations

from typing import Any

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.workloads import postfix
from tests.protocol.json_messages import as_sent, typed
from tests.workloads.run_answers import ran

asked = postfix.KIND.read_parameters

INSN = INSTRUMENTS["insn"]
SMALL = {"mails": "10", "concurrency": "1+5"}


def answers(**other: object) -> list[dict[str, Any]]:
    facts: dict[str, object] = {"sent-1": {}, "rest-1": {}, "queue-1": "", "mailbox-1": "10\n"}
    facts |= {name.replace("_", "-"): fact for name, fact in other.items()}
    said = [
        ran(name, fact) if isinstance(fact, str) else ran(name, **fact)
        for name, fact in facts.items()
        if isinstance(fact, (str, dict))
    ]
    second = [
        ran("sent-5", ticks=3000),
        ran("rest-5", ticks=500),
        ran("queue-5"),
        ran("mailbox-5", "10\n"),
    ]
    return [{"event": "started", "name": "postfix", "context": None}, *said, *second]


def test_sending_and_the_rest_of_delivering_are_measured_and_checks_are_not() -> None:
    clocks = {
        one["name"]: one.get("clock")
        for one in as_sent(postfix.requests(asked(SMALL), INSN))
        if "name" in one
    }
    measured = {name for name, clock in clocks.items() if clock is not None}
    assert measured == {"sent-1", "rest-1", "sent-5", "rest-5"}


def test_the_mailbox_is_emptied_before_each_load() -> None:
    names = [one.get("name", one["do"]) for one in as_sent(postfix.requests(asked(SMALL), INSN))]
    for sessions in (1, 5):
        assert names[names.index(f"sent-{sessions}") - 1] == "empty the mailbox"


def test_mails_of_the_warm_up_are_delivered_before_anything_is_measured() -> None:
    names = [one.get("name", one["do"]) for one in as_sent(postfix.requests(asked(SMALL), INSN))]
    assert names.index("warm up") < names.index("warmed up") < names.index("sent-1")


def test_the_command_is_the_published_one_over_local_addresses() -> None:
    load = next(
        one for one in as_sent(postfix.requests(asked(SMALL), INSN)) if one.get("name") == "sent-5"
    )
    assert load["argv"][:5] == ["smtp-source", "-s", "5", "-m", "10"]
    assert load["argv"][-1] == "127.0.0.1:25"


def test_a_mail_costs_what_sending_took_and_what_delivering_took() -> None:
    found = postfix.read_metrics(asked(SMALL), typed(answers()), INSN)
    assert [(one.metric, one.samples) for one in found] == [
        ("sent-1", (100,)),
        ("delivered-1", (200,)),
        ("sent-5", (300,)),
        ("delivered-5", (350,)),
        ("all", (5500,)),
    ]
    assert {one.unit for one in found} == {INSN.per_op, INSN.whole}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"mailbox_1": "9\n"}, "9 of 10 mails were delivered, in 1 sessions"),
        ({"mailbox_1": "11\n"}, "11 of 10 mails"),
        ({"mailbox_1": {"status": 2, "stderr": "no such file"}}, "counting mails ended.*no such"),
        ({"queue_1": "active/A\ndeferred/B\n"}, "2 mails are still .*: active/A, deferred/B"),
        (
            {"sent_1": {"status": 1, "stderr": "fatal: connect"}},
            "1 sessions ended .*fatal: connect",
        ),
        ({"rest_1": None}, "waiting for mails to be delivered: the guest did not run it"),
    ],
)
def test_a_mail_that_does_not_arrive_fails_the_trial(
    other: dict[str, object], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        postfix.read_metrics(asked(SMALL), typed(answers(**other)), INSN)


def test_what_makes_no_load_is_refused() -> None:
    with pytest.raises(InputError, match="can't take '1001' for concurrency"):
        postfix.requests(asked({"mails": "2000", "concurrency": "1001"}), INSN)
    with pytest.raises(InputError, match="can't take '0' for mails"):
        postfix.requests(asked({"mails": "0"}), INSN)


def test_what_differs_from_debians_configuration_is_said() -> None:
    job = str(as_sent(postfix.requests(asked(SMALL), INSN)))
    assert "in_flow_delay=0s in cleanup, one process of local" in postfix.KIND.settings
    assert "-o in_flow_delay=0s" in job


def test_the_file_that_postfix_waits_for_after_a_change_is_not_changed() -> None:
    assert "main.cf" not in str(as_sent(postfix.requests(asked(SMALL), INSN)))
