"""The workload `fio`: the nine published cases, and what of fio's report is believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.workloads import fio
from hardcost.workloads.names import check_workload
from tests.protocol.json_messages import as_sent, typed
from tests.workloads.run_answers import ran

asked = fio.KIND.read_parameters

INSN, TIME = INSTRUMENTS["insn"], INSTRUMENTS["time"]
ONE = {"cases": "iops-randrw", "size": "1"}
CASE = next(case for case in fio.CASES if case.name == "iops-randrw")
IOS = CASE.operations(fio.Disk(1))


def side(ios: int, **other: int) -> dict[str, int]:
    facts = {"io_bytes": ios << 12, "runtime": 40, "short_ios": 0, "drop_ios": 0}
    return {"total_ios": ios, **facts, **other}


def report(read: dict[str, int], write: dict[str, int], error: int = 0) -> str:
    return json.dumps({"jobs": [{"error": error, "read": read, "write": write}]})


def answers(text: str, **other: object) -> list[dict[str, Any]]:
    return [ran("lay out"), ran("iops-randrw", text, **other), ran("remove")]


def test_the_cases_are_the_published_ones() -> None:
    assert [case.name for case in fio.CASES] == [
        *("bandwidth-read", "bandwidth-write"),
        *("latency-read", "latency-write", "latency-randread", "latency-randwrite"),
        *("iops-randread", "iops-randwrite", "iops-randrw"),
    ]
    assert {(case.kind, case.block, case.depth, case.jobs) for case in fio.CASES} == {
        ("bandwidth", 128, 128, 1),
        ("latency", 4, 1, 1),
        ("iops", 4, 32, 4),
    }


def test_an_exact_instrument_counts_a_fixed_number_and_time_runs_for_a_while() -> None:
    _, exact, _ = as_sent(fio.requests(asked(ONE), INSN))
    _, timed, _ = as_sent(fio.requests(asked(ONE | {"seconds": "7"}), TIME))
    assert "--io_size=2m" in exact["argv"]
    assert {"--time_based", "--runtime=7"} < set(timed["argv"])
    assert not any(word.startswith("--runtime") for word in exact["argv"])
    for request in (exact, timed):
        assert {"--ioengine=libaio", "--direct=1", "--rw=randrw"} < set(request["argv"])


def test_files_are_laid_out_before_and_removed_after_unmeasured() -> None:
    first, *cases, last = as_sent(fio.requests(asked({}), INSN))
    assert "--create_only=1" in first["argv"]
    assert len(cases) == 9
    assert last["argv"] == ["rm", *(f"/home/user/fio.{number}.0" for number in range(4))]
    assert first["clock"] is last["clock"] is None
    assert all(case["clock"] == INSN.clock for case in cases)


def test_an_io_costs_fios_own_time_over_its_ios_of_both_directions() -> None:
    text = report(side(IOS // 2), side(IOS // 2, runtime=38))
    (found,) = fio.read_metrics(asked(ONE), typed(answers(text)), INSN)
    assert (found.metric, found.unit) == ("iops-randrw", INSN.per_op)
    assert found.samples == (40e6 / IOS,)


def test_under_time_any_number_of_ios_will_do() -> None:
    text = report(side(10), side(10))
    (found,) = fio.read_metrics(asked(ONE), typed(answers(text)), TIME)
    assert found.samples == (2e6,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (answers(report(side(IOS), side(0), error=5)), "error 5"),
        (answers(report(side(IOS, short_ios=1), side(0))), "1 unfinished"),
        (answers(report(side(IOS - 1), side(0))), f"did {IOS - 1} I/Os"),
        (answers(report(side(IOS, io_bytes=1), side(0))), "moved 1 bytes"),
        (answers(report(side(IOS, runtime=0), side(0, runtime=0))), "too short"),
        (answers("fio: bad\n{}"), "can't be read"),
        (answers("{}"), "can't be read"),
        (answers('{"jobs": []}'), "can't be read"),
        (answers(report(side(IOS), side(0)), stdout_bytes=70000), "too long"),
        (answers("", status=1, stderr="fio: No space left on device"), "No space left"),
        (answers(report(side(IOS), side(0)))[1:], "laying out"),
    ],
)
def test_a_report_of_errors_or_missing_work_is_never_a_number(
    given: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        fio.read_metrics(asked(ONE), typed(given), INSN)


def test_a_disk_of_some_speed_is_one_that_the_kernel_limits_for_fio_alone() -> None:
    _, limit, case, _ = as_sent(fio.requests(asked(ONE | {"iops": "20000", "mbps": "500"}), INSN))
    limits = "riops=20000 wiops=20000 rbps=500000000 wbps=500000000"
    assert limit["argv"][-1] == limits
    assert (case["user"], case["login"]) == ("root", 1000)
    assert {"setpriv", "--reuid=user"} < set(case["argv"][2].split())
    assert case["argv"][4] == "fio"


def test_a_limited_disk_is_given_work_for_some_tenths_of_a_second_and_no_more_than_memory() -> None:
    for case in fio.CASES:
        disk = fio.Disk(16, iops=20000, mbps=500)
        seconds = max(
            case.operations(disk) / disk.iops,
            case.operations(disk) * (case.block << 10) / (disk.mbps * 1e6),
        )
        assert 0.5 < seconds < 0.8
        assert case.operations(fio.Disk(16, iops=1_000_000)) == case.operations(fio.Disk(16))


def test_limits_that_did_not_take_are_never_a_number() -> None:
    limited = asked(ONE | {"iops": "20000"})
    ios = CASE.operations(fio.Disk(1, iops=20000))
    done = answers(report(side(ios), side(0)))
    taken = ran("limit", "259:0 rbps=max wbps=max riops=20000 wiops=20000\n")
    (found,) = fio.read_metrics(limited, typed([taken, *done]), INSN)
    assert found.samples == (40e6 / ios,)
    for said in (ran("limit", "259:0 riops=2000 wiops=20000"), ran("limit", status=1)):
        with pytest.raises(TrialError, match="limit"):
            fio.read_metrics(limited, typed([said, *done]), INSN)


@pytest.mark.parametrize(
    "parameters",
    [
        {"size": "0"},
        {"size": "513"},
        {"cases": "iops"},
        {"seconds": "3"},
        {"iops": "999"},
        {"mbps": "fast"},
    ],
)
def test_a_value_that_cannot_be_is_an_error(parameters: dict[str, str]) -> None:
    with pytest.raises(InputError):
        check_workload("fio", parameters, [INSN])
