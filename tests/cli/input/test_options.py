"""Options become values once, and what is wrong with them is reported."""

from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner

from hardcost.cli.command import hardcost
from hardcost.cli.input.options import LSM_MODES
from hardcost.errors import InputError
from hardcost.library.measurement import workloads_of
from hardcost.mechanisms.lsm import LsmMode
from hardcost.model.workload import Workload


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("syscalls", [Workload("syscalls")]),
        ("syscalls calls=null+open", [Workload("syscalls", (("calls", "null+open"),))]),
        (
            " syscalls , command file=/bin/true args=a=b+c ",
            [Workload("syscalls"), Workload("command", (("file", "/bin/true"), ("args", "a=b+c")))],
        ),
    ],
)
def test_workloads_are_read_with_their_parameters(text: str, expected: list[Workload]) -> None:
    assert workloads_of(text) == tuple(expected)
    assert workloads_of(",".join(map(str, expected))) == tuple(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no workload ''"),
        ("syscals", "no workload 'syscals'"),
        ("syscalls,", "no workload ''"),
        ("syscalls,dd,syscalls", "'syscalls' is named twice"),
        ("syscalls calls=nul", "can't take 'nul' for calls"),
        ("syscalls calls=null+open+null", "can't take 'null' twice for calls"),
        ("fio size=99999999", "can't take '99999999' for size"),
        ("filecopy concurrency=0", "can't take '0' for concurrency"),
        (f"dd count={'9' * 5000}", "can't take '9999"),
        ("command", "needs the parameter file"),
        ("command file=/dev/zero", "it is a device, not a regular file"),
        ("syscalls call=null", "no parameter 'call'"),
        ("syscalls null", "'null' after 'syscalls' is not KEY=VALUE"),
        ("syscalls calls=null,open", "no workload 'open'"),
        ("syscalls calls=null calls=open", "'calls' is given twice after 'syscalls'"),
    ],
)
def test_a_workload_that_does_not_exist_is_an_error_with_a_remedy(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        workloads_of(text)
    assert error.value.problems[0].hint


def test_all_that_is_wrong_with_workloads_is_said_at_once() -> None:
    with pytest.raises(InputError) as error:
        workloads_of("syscalls calls=nul+opn,dd,nothing,fio size=0 cases=x,dd", "insn")
    assert [problem.message for problem in error.value.problems] == [
        "`workloads`: the workload syscalls can't take 'nul' for calls",
        "`workloads`: the workload syscalls can't take 'opn' for calls",
        "`workloads`: there is no workload 'nothing'",
        "`workloads`: the workload fio can't take '0' for size",
        "`workloads`: the workload fio can't take 'x' for cases",
        "`workloads`: 'dd' is named twice",
    ]


def test_a_time_limit_is_a_number() -> None:
    with pytest.raises(InputError, match="nan is no number of seconds"):
        CliRunner().invoke(
            hardcost, ["run", "cis-audit", "--timeout", "nan"], catch_exceptions=False
        )


def test_figures_that_nobody_published_are_reported_before_anything_runs(tmp_path: Path) -> None:
    study = tmp_path / "mine.toml"
    study.write_text(
        'title = "Mine"\nworkloads = ["syscalls"]\nbaseline = "a"\npublished = "nothing"\n'
        '[[configuration]]\nname = "a"\n'
    )
    with pytest.raises(InputError, match="no published figures are called 'nothing'"):
        CliRunner().invoke(hardcost, ["run", str(study), "--dry-run"], catch_exceptions=False)


def test_a_guest_has_one_root(tmp_path: Path) -> None:
    words = ["run", "cis-audit", "--image", "disk.img", "--rootfs", str(tmp_path)]
    with pytest.raises(InputError, match="take one of them"):
        CliRunner().invoke(hardcost, words, catch_exceptions=False)


def test_the_command_line_takes_every_security_module() -> None:
    assert get_args(LsmMode) == LSM_MODES


STUDY = """title = "x"
workloads = [
    "dd",
    "filecopy concurrency=0",
    "dd",
    "syscalls calls=nul",
    "fio size=99999999 sizes=1",
]
baseline = "a"
[[configuration]]
name = "a"
profile = "rhel9-stig"
"""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "STUDY"], ":4: the workload filecopy can't take '0' for concurrency"),
        (["run", "STUDY"], ":5: the workload 'dd' is named twice"),
        (["run", "STUDY"], ":6: the workload syscalls can't take 'nul' for calls"),
        (["run", "STUDY"], ":7: the workload fio can't take '99999999' for size"),
        (["run", "STUDY"], ":7: the workload fio has no parameter 'sizes'"),
        (["run", "cis-audit", "--workload", "fio sizes=1"], "--workload: the workload fio has no"),
        (
            ["run", "cis-audit", "--workload", "filecopy concurrency=0"],
            "--workload: the workload filecopy can't take '0' for concurrency",
        ),
        (
            ["run", "cis-audit", "--workload", "fio seconds=3"],
            "--workload: the workload fio has no use for seconds",
        ),
        (["run", "cis-audit", "--workload", "fio size=0"], "--workload: the workload fio can't"),
        (["run", "cis-audit", "--cpu", "nonesuch"], "--cpu: QEMU has no processor model"),
        (
            ["bill", "rhel9-stig", "--workload", "syscalls calls=nul"],
            "--workload: the workload sys",
        ),
        (
            ["bill", "rhel9-stig", "--workload", "fio seconds=3", "--instrument", "insn"],
            "--workload: the workload fio has no use for seconds",
        ),
        (["bill", "stig-reduced", "--workload", "fio seconds=3"], "--workload: the workload fio"),
        (["bill", "stig-reduced", "--cpu", "Skylak"], "processor model 'Skylak'"),
    ],
)
def test_wrong_words_are_reported_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    cache, study = tmp_path / "cache", tmp_path / "study.toml"
    study.write_text(STUDY)
    monkeypatch.setenv("HARDCOST_CACHE", str(cache))
    argv = [str(study) if word == "STUDY" else word for word in words]
    ended = CliRunner().invoke(hardcost, [*argv, "--store", str(tmp_path / "s")])
    assert isinstance(ended.exception, InputError)
    assert ended.exception.exit_status == 2
    said = [f"{problem.place}: {problem.message}" for problem in ended.exception.problems]
    assert any(message in one for one in said), said
    assert not cache.exists()
    assert not (tmp_path / "s").exists()
