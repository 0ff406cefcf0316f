"""A study's other sizes, and how its guests come to their work."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.controls.configuration import Setup
from hardcost.errors import InputError
from hardcost.study.read import read, scale_of_processors
from hardcost.supply.packages.debian import package_root

STUDY = """\
title = "x"
workloads = ["syscalls calls=null"]
baseline = "plain"
fresh-boot = true
init = "systemd"
record = ["avc", "cpu", "avc"]
timeout = 7

[scale.full]
workloads = ["syscalls", "syscalls calls=open"]
timeout = 70

[scale.other]
workloads = ["syscalls calls=open"]

[[configuration]]
name = "plain"

[[configuration]]
name = "large"
scale = "full"
boot = ["quiet"]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(STUDY)
    return file


def test_a_configuration_of_a_scale_is_not_in_the_study_at_its_own_size(path: Path) -> None:
    study = read(str(path))
    assert [one.name for one in study.configurations] == ["plain"]
    assert [str(one) for one in study.workloads] == ["syscalls calls=null"]
    assert (study.name, study.timeout) == ("mine", 7)


def test_a_scale_has_workloads_limit_and_configurations_of_its_own(path: Path) -> None:
    study = read(str(path), scale="full")
    assert [one.name for one in study.configurations] == ["plain", "large"]
    assert [str(one) for one in study.workloads] == ["syscalls", "syscalls calls=open"]
    assert (study.name, study.timeout) == ("mine-full", 70)


def test_a_scale_without_a_limit_has_the_studys(path: Path) -> None:
    assert read(str(path), scale="other").timeout == 7


def test_the_setup_names_each_riding_instrument_once(path: Path) -> None:
    assert read(str(path)).setup == Setup(fresh=True, init="systemd", record=("avc", "cpu"))


def test_a_scale_that_is_not_there_is_refused_with_those_that_are(path: Path) -> None:
    with pytest.raises(InputError, match="no scale 'fulll'") as caught:
        read(str(path), scale="fulll")
    assert caught.value.problems[0].hint == "there are: full, other"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('scale = "full"', 'scale = "ful"', 21, "there is no scale 'ful'"),
        ('"avc", "cpu"', '"avc", "gpu"', 6, "there is no recorder 'gpu'"),
        ('"syscalls calls=open"]\ntimeout', '"syscals"]\ntimeout', 10, "no workload 'syscals'"),
        ('name = "plain"', 'name = "plain"\nscale = "full"', 18, "at every scale"),
        ("timeout = 70", "timeout = 0", 11, "greater than or equal to 1"),
    ],
)
def test_a_mistake_is_reported_at_its_line(
    path: Path, old: str, new: str, line: int, message: str
) -> None:
    path.write_text(STUDY.replace(old, new))
    with pytest.raises(InputError) as caught:
        read(str(path), scale="full")
    told = [(one.place.line if one.place else None, one.message) for one in caught.value.problems]
    assert any(at == line and message in said for at, said in told), told


def test_a_size_for_so_many_processors_is_found_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "sizes.toml"
    path.write_text(STUDY + '[scale.processors-4]\nworkloads = ["syscalls calls=null"]\n')
    assert scale_of_processors(str(path), 4) == "processors-4"
    assert scale_of_processors(str(path), 8) is None
    for name in ("stig-filecopy", "cis-audit"):
        for number in (2, 4, 8):
            scale = scale_of_processors(name, number)
            workloads = read(name, package_root, scale, "parallel").workloads
            copies = [dict(one.parameters) for one in workloads]
            assert {one.get("concurrency") or one.get("copies") for one in copies} == {
                "1",
                str(number),
            }
