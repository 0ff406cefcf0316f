"""The workload `mariadb`: transactions of sysbench, or queries of mysqlslap, on MariaDB.

The server has Debian's configuration, so each transaction is durable; clients come over its socket,
as published. The table is filled before, which is not measured.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hardcost.errors import TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.windows import Together, Windows
from hardcost.protocol.answers import Answer
from hardcost.protocol.ask import run, start, stop
from hardcost.protocol.requests import Ready, Request
from hardcost.workloads import programs, server_load
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import (
    DISTINCT,
    JOINED,
    WorkloadParameters,
    one_of,
    refusal,
    whole_number,
)

_REPORTED = re.compile(r"^ *([\w ]+): +(\d+)(?: +\(.*\))?$", re.MULTILINE)

_TOOLS = ("sysbench", "mysqlslap")
_MOST_AT_ONCE = 64
_MOST_TRANSACTIONS = 10_000_000
_MOST_ROWS = 10_000_000
_DOMAIN = "mysqld_t"
_SERVICE = "mariadb"
_FOLDER = "/run/mysqld"
_SOCKET = f"{_FOLDER}/mysqld.sock"
_DATABASE = "sbtest"
_ACCOUNT = (
    f"CREATE DATABASE {_DATABASE}; CREATE USER user@localhost IDENTIFIED VIA unix_socket;"
    f" GRANT ALL ON {_DATABASE}.* TO user@localhost"
)
# sysbench compiles Lua as it runs, which SELinux lets programs with this label do.
_LABEL = "system_u:object_r:unconfined_execmem_exec_t:s0"
_QUERIES = (
    "SELECT c FROM sbtest1 WHERE id=1",
    "UPDATE sbtest1 SET k=k+1 WHERE id=2",
)
_COUNTERS = ("Com_select", "Com_update")


_Clients = Annotated[int, whole_number(_MOST_AT_ONCE)]


class Parameters(WorkloadParameters):
    """Who makes the load, how much at each number of clients, and on how large a table."""

    tool: Annotated[Literal["sysbench", "mysqlslap"], one_of("tools", lambda: _TOOLS)] = Field(
        "sysbench", description="sysbench or mysqlslap (default: sysbench)"
    )
    concurrency: Annotated[tuple[_Clients, ...], JOINED, DISTINCT] = Field(
        (1, 4),
        description="how many clients at once, joined by '+', each 1 to 64 (default: 1+4)",
    )
    transactions: Annotated[int, whole_number(_MOST_TRANSACTIONS)] = Field(
        100, description="how many transactions, or queries, at each (default: 100)"
    )
    rows: Annotated[int, whole_number(_MOST_ROWS, least=2)] = Field(
        1000, description="how many rows the table has (default: 1000)"
    )

    @model_validator(mode="after")
    def _has_work(self) -> Self:
        if self.tool == "mysqlslap" and self.transactions % len(_QUERIES):
            hint = f"mysqlslap takes its {len(_QUERIES)} queries by turns: a multiple of that"
            raise refusal(str(self.transactions), hint, key="transactions")
        server_load.check_work(self.concurrency, self.transactions)
        return self


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return the requests to the probe."""
    tool, count, rows = parameters.tool, parameters.transactions, parameters.rows
    loads: list[Request] = []
    for clients in parameters.concurrency:
        name, argv = f"{_prefix(tool)}-{clients}", _argv(tool, clients, count, rows)
        load = programs.as_user(name, argv, instrument, limit_seconds=server_load.LIMIT_SECONDS)
        loads += [_count_queries(f"before {name}"), load, _count_queries(f"after {name}")]
    return [*_setup_requests(rows), *loads, stop(_SERVICE, limit_seconds=60)]


def read_metrics(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[MetricSamples, ...]:
    """Return the cost of a transaction at each concurrency, and of all of them.

    Raises:
        TrialError: A transaction was not carried out.
    """
    server_load.check_domain(answers, _SERVICE, _DOMAIN)
    tool, count = parameters.tool, parameters.transactions
    loads = []
    for clients in parameters.concurrency:
        name = f"{_prefix(tool)}-{clients}"
        load = programs.successful_answer(answers, name, f"{tool} with {clients} clients")
        if tool == "sysbench":
            check(load.stdout, count, clients)
        else:
            _check_queries(answers, name, count)
        loads.append((name, load))
    each = [server_load.per_operation(name, instrument, count, load) for name, load in loads]
    return (*each, server_load.whole_metric("all", instrument, [load for _, load in loads]))


def windows(
    parameters: Parameters,
    answers: Sequence[Answer],
    instrument: Instrument,  # noqa: ARG001  (the interface's)
) -> tuple[Windows | Together, ...]:
    """Return what transactions took at each concurrency, and all together."""
    names = [f"{_prefix(parameters.tool)}-{clients}" for clients in parameters.concurrency]
    return server_load.windows(answers, names, parameters.transactions)


def operations(parameters: Parameters) -> dict[str, int]:
    """Return how many transactions, or queries, each program makes."""
    tool, count = parameters.tool, parameters.transactions
    return {f"{_prefix(tool)}-{clients}": count for clients in parameters.concurrency}


def check(said: str, transactions: int, clients: int) -> None:
    """Make sure, by what sysbench printed, that each transaction was carried out at once.

    Raises:
        TrialError: One wasn't.
    """
    expected = {
        "Number of threads": clients,
        "transactions": transactions,
        "total number of events": transactions,
        "ignored errors": 0,
        "reconnects": 0,
    }
    wrong = server_load.find_deviations(said, _REPORTED, expected)
    if wrong:
        raise TrialError(
            f"sysbench with {clients} clients: {', '.join(wrong)}",
            hint="ignored errors are transactions that got in each other's way: fewer clients, or"
            " more rows",
        )


def _check_queries(answers: Sequence[Answer], name: str, queries: int) -> None:
    """Make sure that the server carried out as many queries of each kind as it was sent."""
    before, after = (
        programs.successful_answer(answers, f"{when} {name}", "counting queries").stdout
        for when in ("before", "after")
    )
    for counter in _COUNTERS:
        carried_out = _counter(after, counter) - _counter(before, counter)
        if carried_out != queries // len(_COUNTERS):
            raise TrialError(
                f"{name}: MariaDB's {counter} grew by {carried_out}, not by"
                f" {queries // len(_COUNTERS)}"
            )


def _counter(said: str, name: str) -> int:
    """Return a counter of the server's, out of lines of names and numbers."""
    words = next((line.split() for line in said.splitlines() if line.split()[:1] == [name]), [])
    if len(words) != 2 or not programs.is_number(words[1], programs.MOST):  # noqa: PLR2004  (a pair)
        raise TrialError(f"MariaDB does not say its {name}: {said[:200]!r}")
    return int(words[1])


def _prefix(tool: str) -> str:
    return "oltp" if tool == "sysbench" else "slap"


def _argv(tool: str, clients: int, count: int, rows: int) -> list[str]:
    """Return the command that makes the load."""
    if tool == "sysbench":
        return [*_sysbench(rows), f"--threads={clients}", f"--events={count}", "run"]
    return [
        "mariadb-slap",  # Debian 12 has it as mysqlslap too, Debian 13 no longer
        "--no-defaults",
        f"--socket={_SOCKET}",
        f"--create-schema={_DATABASE}",
        "--no-drop",
        "--delimiter=;",
        f"--query={';'.join(_QUERIES)}",
        f"--concurrency={clients}",
        f"--number-of-queries={count}",
    ]


def _sysbench(rows: int) -> list[str]:
    # By way of env, since SELinux looks at the label of what an unconfined program starts.
    return [
        *("env", "sysbench", "oltp_read_write", "--db-driver=mysql"),
        *(f"--mysql-socket={_SOCKET}", "--mysql-user=user", f"--mysql-db={_DATABASE}"),
        *("--tables=1", f"--table-size={rows}", "--time=0"),
        *("--rand-seed=1", "--rand-type=uniform"),
    ]


def _count_queries(name: str) -> Request:
    """Return the request for how many queries the server has carried out."""
    names = ", ".join(f"'{counter}'" for counter in _COUNTERS)
    query = f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})"
    return run(name, ["mariadb", "--skip-column-names", "--batch", "-e", query])


def _setup_requests(rows: int) -> list[Request]:
    """Return the requests that start the server and fill the table."""
    folder = ["install", "-d", "-o", "mysql", "-g", "mysql", _FOLDER]
    return [
        run("set up MariaDB", folder),
        server_load.labels(_FOLDER),
        run("label sysbench", ["chcon", _LABEL, "/usr/bin/sysbench"], expect=None),
        start(
            _SERVICE,
            ["mariadbd"],
            user="mysql",
            ready=Ready(unix=_SOCKET, expect="MariaDB"),
        ),
        run("make an account", ["mariadb", "-e", _ACCOUNT]),
        programs.as_user("prepare", [*_sysbench(rows), "prepare"], expect=0),
    ]


KIND = WorkloadKind(
    name="mariadb",
    title=(
        "a transaction of sysbench's oltp_read_write (oltp-N: N clients at once) or a query of"
        " mysqlslap (slap-N) on MariaDB over its socket, and all of them (all)"
    ),
    parameters=Parameters,
    audit_note=(
        "a transaction's cost holds what the one processor does with audit records until all are"
        " done"
    ),
    settings=(
        "MariaDB has Debian's configuration: transactions are durable"
        " (innodb_flush_log_at_trx_commit=1); sysbench draws rows evenly, from a fixed seed"
    ),
    guest="debian",
    packages=("mariadb-server", "mariadb-client", "sysbench"),
    # One change (SELinux) was +0.1 % of the baseline on one machine, +0.9 % on another.
    resolution=0.01,
    requests=requests,
    measured=read_metrics,
    windows=windows,
    operations=operations,
)
