from __future__ import annotations

from typing import Any

import pytest

from hardcost.errors import TrialError
from hardcost.mechanisms.fapolicyd import APPLICATION_CONTROL, Fapolicyd
from hardcost.mechanisms.sysctl import Sysctl
from tests.protocol.json_messages import as_sent, typed

CONTROL = Fapolicyd()
LOG = "/run/hardcost/fapolicyd.log"
REPORT = """\
Permissive: false
q_size: 640
Inter-thread max queue depth 1
Allowed accesses: 6277
Denied accesses: 1
Trust database max pages: 12800
"""
ENDED = """\
rule=13 dec=deny_audit perm=execute auid=-1 pid=9 : path=/usr/local/bin/hardcost-untrusted
Object hits: 77
Object misses: 25
"""


def ran(name: str, status: int, stdout: str = "", stderr: str = "") -> dict[str, Any]:
    return {"event": "ran", "name": name, "status": status, "stdout": stdout, "stderr": stderr}


def answers(
    *,
    denies: int = 126,
    allows: int = 0,
    prepared: str = "",
    report: str | None = REPORT,
    log: str = ENDED,
) -> list[dict[str, Any]]:
    return [
        ran("fapolicyd-prepare", 0, prepared),
        {"event": "started", "name": "fapolicyd", "pid": 7, "context": None},
        ran("fapolicyd-denies", denies),
        ran("fapolicyd-allows", allows, stderr="Operation not permitted\n"),
        {"event": "stopped", "name": "fapolicyd", "logs": {LOG: log}},
        {"event": "content", "name": "fapolicyd-report", "text": report},
    ]


def test_without_the_control_nothing_is_asked_or_checked() -> None:
    others = (Sysctl("kernel.kptr_restrict", "2"),)
    assert (
        as_sent(APPLICATION_CONTROL.requests(others))
        == as_sent(APPLICATION_CONTROL.finish(others))
        == ()
    )
    assert APPLICATION_CONTROL.verify(others, typed([])) == ()


def test_the_daemon_is_started_before_it_is_tried_and_stopped_before_its_report_is_read() -> None:
    before = [
        request.get("name", request["do"])
        for request in as_sent(APPLICATION_CONTROL.requests([CONTROL]))
    ]
    assert before == [
        "install",
        "install",
        "fapolicyd-prepare",
        "fapolicyd",
        "fapolicyd-denies",
        "fapolicyd-allows",
    ]
    after = [
        (request["do"], request["name"])
        for request in as_sent(APPLICATION_CONTROL.finish([CONTROL]))
    ]
    assert after == [("stop", "fapolicyd"), ("read", "fapolicyd-report")]


def test_an_ordinary_user_tries_the_programs() -> None:
    tries = [one for one in as_sent(APPLICATION_CONTROL.requests([CONTROL])) if one["do"] == "run"][
        1:
    ]
    assert {one["user"] for one in tries} == {"user"}


def test_each_set_of_rules_denies_what_none_of_its_rules_allows() -> None:
    for rules in ("known-libs", "restrictive"):
        words = next(
            one["argv"]
            for one in as_sent(APPLICATION_CONTROL.requests([Fapolicyd(rules=rules)]))
            if one.get("name") == "fapolicyd-prepare"
        )
        names = [word.rpartition("/")[2] for word in words]
        assert names.index("90-deny-execute.rules") > names.index("41-shared-obj.rules")
        assert names[-1] == "95-allow-open.rules"


def test_what_was_decided_is_noted() -> None:
    assert APPLICATION_CONTROL.verify([CONTROL], typed(answers())) == (
        "fapolicyd allowed 6277 accesses and denied 1; of the files it knew 77 and not 25",
    )


def test_what_debian_13s_says_is_read_alike() -> None:
    """Its report has the cache's numbers, and each message has its time and kind before it."""
    kind = "01/01/26 00:00:07 [ \x1b[34mDEBUG\x1b[0m ]: "
    refusal = "rule=3 dec=deny_audit perm=open : path=/srv/x.so ftype=application/x-sharedlib"
    cache = "\nObject hits: 18\nObject misses: 56\nObject evictions: 0 (0%)\n"
    said = [*ENDED.splitlines(), refusal]
    found = answers(
        report=REPORT.replace("Denied accesses: 1", "Denied accesses: 2") + cache,
        log="".join(f"{kind}{line}\n" for line in said),
    )
    assert APPLICATION_CONTROL.verify([CONTROL], typed(found)) == (
        "fapolicyd allowed 6277 accesses and denied 2; of the files it knew 18 and not 56",
        f"fapolicyd denied 1 accesses of others than our test: {refusal}",
    )


def test_a_program_that_is_not_trusted_and_runs_is_a_failed_trial() -> None:
    with pytest.raises(TrialError, match="a program that is not trusted could be executed"):
        APPLICATION_CONTROL.verify([CONTROL], typed(answers(denies=0)))


def test_a_trusted_program_that_is_denied_is_a_failed_trial() -> None:
    with pytest.raises(TrialError, match="denies /usr/bin/true: Operation not permitted"):
        APPLICATION_CONTROL.verify([CONTROL], typed(answers(allows=126)))


@pytest.mark.parametrize("report", [None, "", REPORT.replace("6277", "0")])
def test_a_daemon_that_was_never_asked_or_wrote_no_report_is_a_failed_trial(
    report: str | None,
) -> None:
    with pytest.raises(TrialError, match=r"did not report|was never asked") as caught:
        APPLICATION_CONTROL.verify([CONTROL], typed(answers(report=report)))
    assert caught.value.console == ENDED


def test_what_the_workload_was_denied_is_noted_with_the_rule() -> None:
    refusal = "rule=3 dec=deny_audit perm=open : path=/srv/x.so ftype=application/x-sharedlib"
    found = answers(
        report=REPORT.replace("Denied accesses: 1", "Denied accesses: 3"),
        log=f"{ENDED}{refusal}\n",
    )
    assert APPLICATION_CONTROL.verify([CONTROL], typed(found))[1] == (
        f"fapolicyd denied 2 accesses of others than our test: {refusal}"
    )


def test_a_list_that_was_made_in_the_guest_is_noted() -> None:
    notes = APPLICATION_CONTROL.verify([CONTROL], typed(answers(prepared="trust list made\n")))
    assert "no list of trusted files" in notes[0]


def test_before_the_workload_has_run_nothing_is_said_of_what_was_decided() -> None:
    assert APPLICATION_CONTROL.verify([CONTROL], typed(answers()[:4])) == ()


def test_a_daemon_that_was_not_started_is_a_failed_trial() -> None:
    with pytest.raises(TrialError, match="did not answer to 'fapolicyd'"):
        APPLICATION_CONTROL.verify([CONTROL], typed(answers()[2:4]))


def test_the_name_says_what_is_unlike_the_default() -> None:
    assert CONTROL.name == "fapolicyd.service"
    unlike = Fapolicyd(rules="restrictive", integrity="sha256")
    assert unlike.name == "fapolicyd.service rules=restrictive integrity=sha256"
