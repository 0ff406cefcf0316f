"""The workload `build`: what make is asked for, and that nothing but a right result is a number."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.machines.vm.content import compiler
from hardcost.workloads import build
from hardcost.workloads.parameters import parameter_meanings
from tests.protocol.json_messages import as_sent, typed

asked = build.KIND.read_parameters

INSN = INSTRUMENTS["insn"]
TWO = {"files": "2"}
RIGHT = "".join(f"{source.name} {source.check}\n" for source in build.sources()[:2])


def done(**other: object) -> dict[str, Any]:
    facts = {"status": 0, "signal": None, "stderr": "", "audit": None}
    return {
        "event": "command",
        "stdout": RIGHT,
        "ticks": 9000,
        "user": 5,
        "system": 3,
        **facts,
        **other,
    }


def test_makefile_and_check_are_installed_and_make_is_reported_what_to_build() -> None:
    *installs, run = as_sent(
        build.requests(asked({"compiler": "tcc", "files": "10", "jobs": "2"}), INSN)
    )
    assert {install["path"].rpartition("/")[2] for install in installs} == {"Makefile", "check.c"}
    assert b"int main" in base64.b64decode(installs[1]["base64"])
    assert run["clock"] == INSN.clock
    words = run["argv"]
    assert words[0] == "make"
    assert {"--jobs=2", "CC=tcc", "FILES=10", "PROGRAMS=unifdef"} < set(words)
    (library,) = [word for word in words if word.startswith("LIBRARY=")]
    assert len(library.split()) == 9


def test_every_source_lies_in_the_compiler_guest() -> None:
    there = {path.rpartition("/")[2] for path in compiler.SOURCES}
    assert {f"{source.name}.c" for source in build.sources()} <= there
    assert build.KIND.guest == "compiler"
    assert f"1 to {len(build.sources())}" in parameter_meanings(build.Parameters)["files"]


def test_as_many_files_can_be_asked_for_as_there_are() -> None:
    most = len(build.sources())
    assert asked({"files": str(most)}).files == most
    with pytest.raises(InputError):
        asked({"files": str(most + 1)})


def test_what_is_not_said_has_its_default() -> None:
    said = {"compiler": "gcc", "files": "3", "jobs": "1"}
    assert as_sent(build.requests(asked({}), INSN)) == as_sent(build.requests(asked(said), INSN))


def test_every_program_has_its_check_in_the_makefile() -> None:
    makefile = base64.b64decode(as_sent(build.requests(asked({}), INSN))[0]["base64"]).decode()
    for source in build.sources():
        assert (f"check_{source.name} = " in makefile) == (source.kind == "program")


@pytest.mark.parametrize(
    "parameters",
    [
        {"compiler": "clang"},
        {"files": "0"},
        {"files": "14"},
        {"files": "many"},
        {"files": "-1"},
        {"jobs": "0"},
        {"jobs": "17"},
        {"jobs": ""},
    ],
)
def test_a_value_that_cannot_be_is_an_error_with_a_remedy(parameters: dict[str, str]) -> None:
    with pytest.raises(InputError) as error:
        asked(parameters)
    assert error.value.problems[0].hint


def test_the_whole_run_and_its_processor_time_are_three_metrics_in_one_unit() -> None:
    audit = {"by_key": {"k": 2}, "lost": 1}
    found = build.read_metrics(asked(TWO), typed([done(audit=audit)]), INSN)
    assert {one.metric: one.samples for one in found} == {
        "wall": (9000.0,),
        "user": (5000.0,),
        "system": (3000.0,),
    }
    assert {one.unit for one in found} == {INSN.whole}
    assert all((one.fired, one.lost) == ({"k": 2}, 1) for one in found)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], "'command' 0 times"),
        ([done(status=2, stderr="fdt.c:1: error: no")], "status 2.*fdt.c:1: error: no"),
        ([done(status=None, signal=9)], "signal 9"),
        ([done(stdout="")], "works wrongly: fdt 0001080c"),
        (
            [done(stdout=RIGHT.replace("fdt 00", "fdt 10"))],
            "works wrongly: fdt 0.*fdt 1",
        ),
        ([done(stdout=RIGHT + "fdt_ro failed: -1\n")], "fdt_ro failed"),
    ],
)
def test_a_build_that_fails_or_works_wrongly_is_never_a_number(
    answers: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        build.read_metrics(asked(TWO), typed(answers), INSN)
