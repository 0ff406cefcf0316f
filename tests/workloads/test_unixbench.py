"""The workload `unixbench`: tests, index, and UnixBench's own table."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.names import INSTRUMENTS
from hardcost.units import Unit
from hardcost.workloads import unixbench, unixbench_table
from hardcost.workloads.names import check_workload
from tests.protocol.json_messages import as_sent, typed
from tests.workloads.run_answers import ran

asked = unixbench.KIND.read_parameters

INSN, TIME = INSTRUMENTS["insn"], INSTRUMENTS["time"]
SAMPLE = (Path(__file__).parent / "unixbench-run.txt").read_text()
RUN = {"program": "/opt/UnixBench/Run"}


def result_of(name: str, operations: float = 4, ticks: int = 1000) -> dict[str, Any]:
    said = {"test": name, "copies": 1, "operations": operations, "ticks": ticks}
    return ran(name, json.dumps(said) + "\n")


def test_there_are_twelve_tests_with_a_baseline_each_and_a_name_of_unixbench() -> None:
    tests = unixbench.tests().values()
    assert len(tests) == 12
    assert {test.title for test in tests} == set(unixbench_table.WORDS)
    assert all(test.baseline > 0 and test.loops > 0 for test in tests)


def test_the_program_is_installed_and_run_once_for_each_test() -> None:
    install, *runs = as_sent(unixbench.requests(asked({"copies": "cpus"}), INSN))
    assert base64.b64decode(install["base64"]).startswith(b"\x7fELF")
    assert install["mode"] == 0o755
    assert [run["argv"][1] for run in runs] == list(unixbench.tests())
    for run in runs:
        assert run["argv"][2] == "--loops"
        assert run["argv"][4:] == ["--copies", "cpus", "--clock", "tsc"]


def test_work_multiplies_loops_and_seconds_are_those_of_each_test() -> None:
    one = {"tests": "pipe"}
    (_, run) = as_sent(unixbench.requests(asked(one | {"work": "3"}), INSN))
    assert run["argv"][2:4] == ["--loops", str(3 * unixbench.tests()["pipe"].loops)]
    (_, run) = as_sent(unixbench.requests(asked(one | {"seconds": "9"}), TIME))
    assert run["argv"][2:4] == ["--seconds", "9"]


def test_a_test_costs_ticks_for_each_operation_and_has_no_index_when_instructions_count() -> None:
    answers = [result_of(name) for name in unixbench.tests()]
    found = unixbench.read_metrics(asked({}), typed(answers), INSN)
    assert [one.metric for one in found] == list(unixbench.tests())
    assert all((one.unit, one.samples) == (INSN.per_op, (250.0,)) for one in found)


def test_the_index_is_ten_at_the_baseline_and_only_of_all_twelve() -> None:
    rates = {test.name: test.baseline for test in unixbench.tests().values()}
    assert unixbench.index(rates) == pytest.approx(10)
    rates["pipe"] *= 2**12
    assert unixbench.index(rates) == pytest.approx(20)
    answers = [
        result_of(name, operations=test.baseline / test.rate, ticks=10**9)
        for name, test in unixbench.tests().items()
    ]
    *_, index = unixbench.read_metrics(asked({}), typed(answers), TIME)
    assert (index.metric, index.unit) == ("index", Unit.INDEX)
    assert index.samples[0] == pytest.approx(10)
    (only,) = unixbench.read_metrics(asked({"tests": "pipe"}), typed(answers), TIME)
    assert only.metric == "pipe"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (ran("pipe", status=1, stderr="pipe: wrong result: 3 blocks"), "wrong result: 3 blocks"),
        (ran("pipe", "nonsense"), "nothing of use"),
        (ran("pipe", "[]"), "nothing of use"),
        (ran("pipe", '{"test": "pipe", "ticks": 5}'), "nothing of use"),
        (result_of("pipe", operations=0), "nothing of use"),
        (result_of("pipe", ticks=0), "nothing of use"),
        (ran("pipe", json.dumps({"test": "execl", "operations": 1, "ticks": 1})), "nothing of use"),
    ],
)
def test_a_test_that_fails_or_says_nothing_is_never_a_number(
    answer: dict[str, Any], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        unixbench.read_metrics(asked({"tests": "pipe"}), typed([answer]), INSN)


@pytest.mark.parametrize(
    ("parameters", "instrument"),
    [
        ({"copies": "0"}, INSN),
        ({"copies": "all"}, INSN),
        ({"tests": "dhry"}, INSN),
        ({"seconds": "3"}, INSN),
        ({"work": "2"}, TIME),
        (RUN, INSN),
        ({"program": "Run"}, TIME),
    ],
)
def test_a_value_that_cannot_be_is_an_error_with_a_remedy(
    parameters: dict[str, str], instrument: Instrument
) -> None:
    with pytest.raises(InputError) as error:
        check_workload("unixbench", parameters, [instrument])
    assert error.value.problems[0].hint


def test_unixbench_itself_is_run_where_it_is_named() -> None:
    (run,) = as_sent(
        unixbench.requests(asked(RUN | {"tests": "pipe+system-call", "copies": "2"}), TIME)
    )
    assert run["argv"][3:] == ["/opt/UnixBench/Run", "pipe", "syscall"]
    assert '-c 2 "$@"' in run["argv"][2]
    (run,) = as_sent(unixbench.requests(asked(RUN | {"copies": "cpus"}), TIME))
    assert "nproc" in run["argv"][2]


def test_unixbenchs_table_gives_the_same_metrics_as_our_own_program() -> None:
    found = unixbench.read_metrics(asked(RUN), typed([ran("Run", SAMPLE)]), TIME)
    assert [one.metric for one in found] == [*unixbench.tests(), "index"]
    values = {one.metric: one.samples[0] for one in found}
    assert values["pipe"] == pytest.approx(1e9 / 1251400.0)
    assert values["whetstone"] == pytest.approx(1e8 / 4182.9)
    assert values["shell-8"] == pytest.approx(6e10 / 1020.0)
    assert values["index"] == 973.6
    assert {one.unit for one in found[:-1]} == {TIME.per_op}


def test_an_index_of_some_tests_is_not_the_index() -> None:
    lines = [
        line.replace("Index Score", "Index Score (Partial Only)")
        for line in SAMPLE.splitlines()
        if "Dhrystone" not in line
    ]
    titles = {test.title for test in unixbench.tests().values()} - {
        unixbench.tests()["dhrystone"].title
    }
    table = unixbench_table.read("\n".join(lines), titles)
    assert table.index is None
    assert len(table.rates) == 11


def test_the_samples_score_is_the_index_of_its_rates() -> None:
    tests = unixbench.tests().values()
    table = unixbench_table.read(SAMPLE, {test.title for test in tests})
    rates = {test.name: table.rates[test.title] for test in tests}
    assert unixbench.index(rates) == pytest.approx(table.index, abs=0.06)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Pipe Throughput  ", "Pipes           "), "no rate for Pipe Throughput"),
        (("1251400.0 lps", "1251400.0 lpx"), "no rate for Pipe Throughput"),
        (("1251400.0 lps", "0.0 lps"), "none, for Pipe Throughput"),
        (("Index Score", "Index Scare"), "0 indices"),
        (("Process Creation  ", "Pipe Throughput   "), "more than one rate"),
    ],
)
def test_a_table_of_another_form_is_never_a_number(change: tuple[str, str], message: str) -> None:
    text = SAMPLE.replace(*change)
    assert text != SAMPLE
    with pytest.raises(TrialError, match=message):
        unixbench.read_metrics(asked(RUN), typed([ran("Run", text)]), TIME)
