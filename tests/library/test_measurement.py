"""What a request says of how it is measured is checked before anything is."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import pytest

import hardcost
from hardcost.errors import InputError
from hardcost.library import bill
from hardcost.library.measurement import Measuring
from hardcost.measure.expected_time import Stage
from hardcost.measure.workers.lab import lab_at

DEBIAN_12 = {"ID": "debian", "VERSION_ID": "12", "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)"}


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("record", ("foo",), "there is no recorder 'foo'"),
        ("instrument", "foo", "there is no 'foo'"),
        ("start", "fresh", "there is no 'fresh'"),
        ("init", "sysv", "there is no 'sysv'"),
        ("jobs", 0, "0 is less than 1"),
        ("repetitions", 0, "0 is less than 1"),
        ("seeds", (), "there is no seed"),
        ("timeout", 0.0, "0 is no number of seconds above 0"),
        ("timeout", float("nan"), "nan is no number of seconds above 0"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(
    field: str, value: object, problem: str
) -> None:
    own: dict[str, Any] = {field: value}
    with pytest.raises(InputError, match=f"`{field}`: {problem}"):
        Measuring(machine="fake", **own).check()


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as raised:
        Measuring(machine="fake", jobs=0, repetitions=0).check()
    assert len(raised.value.problems) == 2


def test_another_qemu_is_for_guests_of_this_host(tmp_path: Path) -> None:
    brought = hardcost.MachineOptions(qemu="debian:13")
    lab = lab_at("tcp://127.0.0.1:8786", None, None, None, insecure=True)
    with pytest.raises(InputError, match="workers run guests under their own hosts' QEMU"):
        Measuring(machine="fake", wanted=brought, lab=lab).check()
    with pytest.raises(InputError, match="--qemu: a real machine is measured as it is"):
        Measuring(machine="host", wanted=brought).check()
    with pytest.raises(InputError, match=f"there is no QEMU at {tmp_path}/none"):
        Measuring(wanted=hardcost.MachineOptions(qemu=str(tmp_path / "none"))).check()


def test_several_processors_have_an_instrument_of_their_own(tmp_path: Path) -> None:
    several = hardcost.MachineOptions(processors=2)
    for how in (Measuring(wanted=several), Measuring(instrument="parallel")):
        with pytest.raises(InputError, match="belong together"):
            how.check()
    lab = lab_at("tcp://127.0.0.1:8786", None, None, None, insecure=True)
    with pytest.raises(InputError, match="workers measure on one"):
        Measuring(instrument="parallel", wanted=several, lab=lab).check()
    with pytest.raises(InputError, match="--processors: a real machine is measured as it is"):
        Measuring(machine="host", instrument="parallel", wanted=several).check()
    with pytest.raises(InputError, match="single calls are measured on one processor"):
        hardcost.workloads_of("syscalls calls=null", "parallel")
    Measuring(machine="fake", instrument="parallel", wanted=several, store=tmp_path).check()


def test_another_release_is_for_guests() -> None:
    other = hardcost.MachineOptions(guest="debian:13")
    with pytest.raises(InputError, match="--guest: a real machine is measured as it is"):
        Measuring(machine="host", wanted=other).check()
    with pytest.raises(InputError, match="no 'debian:11' that guests are made of"):
        Measuring(wanted=hardcost.MachineOptions(guest="debian:11")).check()


def test_profiles_are_read_from_packages_of_the_release_that_guests_are_made_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str | None] = []
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: DEBIAN_12)

    def root(_package: str, release: str | None) -> Path:
        asked.append(release)
        raise InputError("not here")

    monkeypatch.setattr("hardcost.supply.packages.debian.package_root", root)
    for guest in (None, "debian:12", "debian:13"):
        how = Measuring(machine="fake", wanted=hardcost.MachineOptions(guest=guest))
        with pytest.raises(InputError, match="not here"):
            hardcost.bill(hardcost.BillRequest("audit-samples", how=how))
        with pytest.raises(InputError, match="not here"):
            hardcost.gate(hardcost.GateRequest("audit-samples", "/etc/passwd", how=how))
        with pytest.raises(InputError, match="not here"):
            hardcost.run(hardcost.RunRequest("stig-filecopy", how=how))
    assert asked == [None] * 6 + ["trixie"] * 3


def test_a_store_may_be_named_by_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.rules").write_text("-a always,exit -F arch=b64 -S open -k a\n")
    store = str(tmp_path / "s.sqlite")
    how = Measuring(machine="fake", store=store, workloads=hardcost.workloads_of("syscalls"))
    found = hardcost.bill(hardcost.BillRequest(str(tmp_path / "a.rules"), how=how))
    compared = hardcost.compare(hardcost.CompareRequest(found.run, "last", store=store))
    assert compared is not None
    assert Path(store).is_file()


def test_a_plan_expects_the_time_of_its_machine_s_own_number_of_trials_at_once(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.rules").write_text("-a always,exit -F arch=b64 -S open -k a\n")

    def stages(machine: str, jobs: int) -> tuple[Stage, ...]:
        how = Measuring(
            machine=machine,
            store=tmp_path / "s.sqlite",
            instrument="time",
            jobs=jobs,
            workloads=hardcost.workloads_of("syscalls"),
        )
        return bill.preview(hardcost.BillRequest(tmp_path / "a.rules", how=how)).stages

    assert stages("fakehost", 4) == stages("fakehost", 1)  # a host runs one trial at a time
