"""Postfix delivers in its own domain, the same each time, and a mail that is lost is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.mechanisms.lsm import Lsm
from hardcost.protocol import ask
from hardcost.protocol.requests import RunProgram
from hardcost.workloads import postfix
from tests.vm.controls_applied import EXACT, applied

pytestmark = [pytest.mark.vm, pytest.mark.slow]

INSN = INSTRUMENTS["insn"]
SMALL = {"mails": "20", "concurrency": "1+5"}
ENFORCING = (Lsm("enforcing"),)


def costs(cache_root: Path) -> dict[str, float]:
    """Return what a mail takes under SELinux, in instructions; the controls took."""
    done = applied(
        cache_root,
        ENFORCING,
        postfix.requests(postfix.KIND.read_parameters(SMALL), INSN),
        hardware=EXACT,
    )
    done.notes()
    found = postfix.read_metrics(postfix.KIND.read_parameters(SMALL), done.answers, INSN)
    return {one.metric: one.samples[0] for one in found}


def test_mails_cost_the_same_each_time_under_selinux(cache_root: Path) -> None:
    found = costs(cache_root)
    assert found == costs(cache_root)
    assert 1e6 < found["sent-1"] < found["delivered-1"] < 1e7


def test_a_mailbox_that_can_not_be_written_fails_the_trial(cache_root: Path) -> None:
    job = postfix.requests(postfix.KIND.read_parameters(SMALL), INSN)
    begun = next(at for at, one in enumerate(job) if getattr(one, "name", None) == "warm up")
    spoilt = ask.run("spoil", ["rm", "/var/mail/user"])
    folder = ask.run("put a folder there", ["mkdir", "/var/mail/user"])
    kept = {"warm up", "queue-1", "mailbox-1"}
    work = [one for one in job[begun:] if getattr(one, "name", None) in kept]
    sent = ask.run("sent-1", ["true"], clock="tsc"), ask.run("rest-1", ["true"], clock="tsc")
    done = applied(cache_root, (), [*job[:begun], spoilt, folder, *work, *sent])
    with pytest.raises(TrialError, match=r"counting mails ended with status 2: .*Is a directory"):
        postfix.read_metrics(
            postfix.KIND.read_parameters({**SMALL, "concurrency": "1"}), done.answers, INSN
        )


def test_a_mail_that_does_not_come_is_not_waited_for_without_end(cache_root: Path) -> None:
    job = postfix.requests(postfix.KIND.read_parameters(SMALL), INSN)
    waiting = [
        one.model_copy(update={"limit": 1.0, "argv": (*one.argv[:-1], "999")})
        if isinstance(one, RunProgram) and one.name == "warmed up"
        else one
        for one in job
    ]
    with pytest.raises(TrialError, match="the program warmed up did not end within 1 s"):
        applied(cache_root, (), waiting)
