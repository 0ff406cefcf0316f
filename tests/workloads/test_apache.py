"""The workloads `apache-…`: what is asked of the server, and that a wrong answer is no number."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.workloads.apache import PAGE_BYTES, PREFORK, WORKER, ApacheParameters, check
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.names import workload_named
from tests.protocol.json_messages import as_sent, typed
from tests.workloads.run_answers import ran

INSN = INSTRUMENTS["insn"]
SMALL = {"requests": "20", "concurrency": "1+4"}
SAID = """\
Server Software:        Apache/2.4.71
Server Port:            80

Document Path:          /
Document Length:        10240 bytes

Concurrency Level:      {clients}
Time taken for tests:   0.140 seconds
Complete requests:      {requests}
Failed requests:        {failed}
{more}Total transferred:      5488500 bytes
HTML transferred:       {bytes} bytes
Requests per second:    3560.39 [#/sec] (mean)
"""


def said(clients: int, **other: object) -> str:
    facts: dict[str, object] = {"requests": 20, "failed": 0, "more": "", "bytes": 20 * PAGE_BYTES}
    return SAID.format(**(facts | {"clients": clients} | other))


def answers(context: str | None = None) -> list[dict[str, Any]]:
    return [
        {"event": "started", "name": "apache", "context": context},
        ran("warm up", said(1)),
        ran("ab-1", said(1), ticks=4000),
        ran("ab-4", said(4), ticks=6000),
        {"event": "stopped", "name": "apache"},
    ]


def requested(apache: WorkloadKind[ApacheParameters], name: str) -> dict[str, Any]:
    found = [
        one
        for one in as_sent(apache.requests(apache.read_parameters(SMALL), INSN))
        if one.get("name") == name
    ]
    return found[0]


@pytest.mark.parametrize("apache", [PREFORK, WORKER])
def test_each_way_to_work_is_a_workload(apache: WorkloadKind[ApacheParameters]) -> None:
    assert workload_named(apache.name) is apache
    assert apache.name.removeprefix("apache-") in requested(apache, "set up Apache")["argv"][2]


def test_every_concurrency_is_measured_and_the_warm_up_is_not() -> None:
    loads = [
        one
        for one in as_sent(PREFORK.requests(PREFORK.read_parameters(SMALL), INSN))
        if one.get("argv", [])[:1] == ["ab"]
    ]
    assert [(one["name"], one["clock"]) for one in loads] == [
        ("warm up", None),
        ("ab-1", INSN.clock),
        ("ab-4", INSN.clock),
    ]
    assert loads[2]["argv"] == ["ab", "-q", "-n", "20", "-c", "4", "http://127.0.0.1/"]
    assert {(one["user"], one["login"]) for one in loads} == {("user", 1000)}


def test_the_page_has_the_size_that_is_checked() -> None:
    pages = [
        one
        for one in as_sent(PREFORK.requests(PREFORK.read_parameters(SMALL), INSN))
        if "index" in one.get("path", "")
    ]
    assert len(base64.b64decode(pages[0]["base64"])) == PAGE_BYTES


def test_a_request_costs_what_all_took_over_their_number() -> None:
    found = PREFORK.measured(PREFORK.read_parameters(SMALL), typed(answers()), INSN)
    assert [(one.metric, one.unit, one.samples) for one in found] == [
        ("ab-1", INSN.per_op, (200,)),
        ("ab-4", INSN.per_op, (300,)),
        ("all", INSN.whole, (10000,)),
    ]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"requests": 19}, "Complete requests 19 instead of 20"),
        ({"failed": 1}, "Failed requests 1 instead of 0"),
        ({"bytes": 0}, "HTML transferred 0 instead of 204800"),
        ({"more": "Non-2xx responses:      20\n"}, "Non-2xx responses"),
    ],
)
def test_a_request_without_its_answer_fails_the_trial(
    other: dict[str, object], message: str
) -> None:
    check(said(1), 20, 1)
    with pytest.raises(TrialError, match=message):
        check(said(1, **other), 20, 1)


def test_output_that_is_not_of_ab_fails_the_trial() -> None:
    with pytest.raises(TrialError, match="Complete requests not said instead of 20"):
        check("", 20, 1)


def test_a_load_that_failed_is_reported_in_its_own_words() -> None:
    failed = [*answers()[:2], ran("ab-1", status=104, stderr="apr_socket_recv: reset")]
    with pytest.raises(TrialError, match="ab with 1 clients ended with status 104: apr_socket"):
        PREFORK.measured(PREFORK.read_parameters(SMALL), typed(failed), INSN)


def test_a_server_in_another_domain_than_its_own_fails_the_trial() -> None:
    assert PREFORK.measured(
        PREFORK.read_parameters(SMALL), typed(answers("system_u:system_r:httpd_t:s0")), INSN
    )
    assert PREFORK.measured(PREFORK.read_parameters(SMALL), typed(answers("unconfined")), INSN)
    with pytest.raises(TrialError, match="apache runs as system_u:system_r:initrc_t:s0"):
        PREFORK.measured(
            PREFORK.read_parameters(SMALL), typed(answers("system_u:system_r:initrc_t:s0")), INSN
        )
    with pytest.raises(TrialError, match="apache was not started"):
        PREFORK.measured(PREFORK.read_parameters(SMALL), typed(answers()[1:]), INSN)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"concurrency": "0"}, "can't take '0' for concurrency"),
        ({"concurrency": "1+256"}, "can't take '256' for concurrency"),
        ({"concurrency": "1+"}, "can't take '' for concurrency"),
        ({"requests": "many"}, "can't take 'many' for requests"),
        ({"requests": "5", "concurrency": "6"}, "can't take '6' for concurrency"),
    ],
)
def test_what_makes_no_load_is_refused(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        WORKER.requests(WORKER.read_parameters(parameters), INSN)


def test_a_load_with_more_clients_than_requests_says_how_much_work_there_is() -> None:
    with pytest.raises(InputError) as raised:
        PREFORK.requests(PREFORK.read_parameters({"requests": "5", "concurrency": "6"}), INSN)
    assert raised.value.problems[0].hint == (
        "it is numbers from 1 to 5, joined by '+'; there is work for 5"
    )
