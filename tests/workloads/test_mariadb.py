"""The workload `mariadb`: every transaction must be carried out, or there is no number."""

from __future__ import annotations

from typing import Any

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.workloads import mariadb
from tests.protocol.json_messages import as_sent, typed
from tests.workloads.run_answers import ran

asked = mariadb.KIND.read_parameters

INSN = INSTRUMENTS["insn"]
SMALL = {"transactions": "10", "concurrency": "1+4"}
SLAP = {"tool": "mysqlslap", "transactions": "10", "concurrency": "2"}
SAID = """\
Running the test with following options:
Number of threads: {clients}
Initializing random number generator from seed (1).

SQL statistics:
    queries performed:
        read:                            756
    transactions:                        {transactions}     (16.21 per sec.)
    queries:                             1066   (345.65 per sec.)
    ignored errors:                      {ignored}      (1.30 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          3.0726s
    total number of events:              {transactions}
"""


def said(clients: int, transactions: int = 10, ignored: int = 0) -> str:
    return SAID.format(clients=clients, transactions=transactions, ignored=ignored)


def started() -> dict[str, Any]:
    return {"event": "started", "name": "mariadb", "context": "system_u:system_r:mysqld_t:s0"}


def slapped(selects: int, updates: int) -> list[dict[str, Any]]:
    return [
        started(),
        ran("before slap-2", "Com_select\t7\nCom_update\t1\n"),
        ran("slap-2", ticks=500),
        ran("after slap-2", f"Com_select\t{7 + selects}\nCom_update\t{1 + updates}\n"),
    ]


def test_the_table_is_filled_before_anything_is_measured() -> None:
    job = as_sent(mariadb.requests(asked({**SMALL, "rows": "77"}), INSN))
    names = [one.get("name", one["do"]) for one in job if one.get("clock") or one.get("argv")]
    assert names.index("prepare") < names.index("oltp-1")
    assert [one["name"] for one in job if one.get("clock")] == ["oltp-1", "oltp-4"]
    prepare = next(one for one in job if one.get("name") == "prepare")
    assert "--table-size=77" in prepare["argv"]
    assert prepare["expect"] == 0


def test_a_transaction_costs_what_all_took_over_their_number() -> None:
    answers = [started(), ran("oltp-1", said(1), ticks=50), ran("oltp-4", said(4), ticks=70)]
    found = mariadb.read_metrics(asked(SMALL), typed(answers), INSN)
    assert [(one.metric, one.unit, one.samples) for one in found] == [
        ("oltp-1", INSN.per_op, (5,)),
        ("oltp-4", INSN.per_op, (7,)),
        ("all", INSN.whole, (120,)),
    ]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (said(1, transactions=9), "transactions 9 instead of 10"),
        (said(1, ignored=2), "ignored errors 2 instead of 0"),
        (said(2), "Number of threads 2 instead of 1"),
        ("", "transactions not said instead of 10"),
    ],
)
def test_a_transaction_that_is_not_carried_out_fails_the_trial(output: str, message: str) -> None:
    mariadb.check(said(1), 10, 1)
    with pytest.raises(TrialError, match=message):
        mariadb.check(output, 10, 1)


def test_queries_of_mysqlslap_are_counted_by_the_server() -> None:
    found = mariadb.read_metrics(asked(SLAP), typed(slapped(5, 5)), INSN)
    assert [(one.metric, one.samples) for one in found] == [("slap-2", (50,)), ("all", (500,))]
    with pytest.raises(TrialError, match="slap-2: MariaDB's Com_update grew by 4, not by 5"):
        mariadb.read_metrics(asked(SLAP), typed(slapped(5, 4)), INSN)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tool": "hammer"}, "can't take 'hammer' for tool"),
        ({"tool": "mysqlslap", "transactions": "11"}, "can't take '11' for transactions"),
        ({"concurrency": "65"}, "can't take '65' for concurrency"),
        ({"rows": "1"}, "can't take '1' for rows"),
    ],
)
def test_what_makes_no_load_is_refused(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        asked(parameters)
