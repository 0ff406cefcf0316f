"""Earlier bills decide which trials a verified bill runs, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.library.bill import BillRequest, bill
from hardcost.library.bills import verification
from hardcost.library.measurement import Measuring, workloads_of
from hardcost.model.finding.bill import Bill
from hardcost.store.store import Store
from tests.cli.verbs.conversations import EIGHT

FIRST = EIGHT.replace("vm.overcommit_memory = 2\n", "")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def how_of(store: str, *, fresh: bool = False) -> Measuring:
    calls = workloads_of("syscalls calls=null+chmod")
    return Measuring(machine="fake", jobs=1, workloads=calls, store=store, fresh=fresh)


def bill_of(text: str, *, store: str = "runs.sqlite", fresh: bool = False) -> Bill:
    """Return the bill of a file of sysctls on the machine that computes its answers."""
    Path("ours.conf").write_text(text)
    found = bill(BillRequest(("ours.conf",), how=how_of(store, fresh=fresh)))
    assert isinstance(found, Bill)
    return found


def number_of_records(path: Path) -> int:
    with Store(path, read_only=True) as store:
        return sum(1 for _ in store.records())


def known(found: Bill) -> dict[tuple[str, str], tuple[float, str]]:
    return {(one.control, str(one.metric)): (one.cost, one.known) for one in found.items}


def costs(found: Bill) -> dict[tuple[str, str], float]:
    return {where: cost for where, (cost, _) in known(found).items()}


def test_what_was_measured_before_is_verified_and_costs_are_the_same() -> None:
    first = bill_of(FIRST)
    assert first.verification is not None
    wrong = set(first.verification.wrong)
    assert wrong
    assert first.verification.earlier == ()
    second, anew = bill_of(EIGHT), bill_of(EIGHT, fresh=True)
    assert costs(second) == costs(anew)
    assert second.totals == anew.totals
    assert second.verification is not None
    assert set(second.verification.earlier) == wrong
    assert not wrong & set(second.verification.wrong)
    assert {how for (control, _), (_, how) in known(second).items() if control in wrong} == {
        "verified"
    }
    assert anew.verification is not None
    assert anew.verification.earlier == ()
    assert wrong <= set(anew.verification.wrong)


def test_a_bill_that_is_made_again_starts_from_the_same(tmp_path: Path) -> None:
    bill_of(FIRST)
    once = bill_of(EIGHT)
    assert once.verification is not None
    assert once.verification.earlier
    size = number_of_records(tmp_path / "runs.sqlite")
    again = bill_of(EIGHT)
    assert (once.items, once.verification) == (again.items, again.verification)
    assert number_of_records(tmp_path / "runs.sqlite") == size


def test_a_single_control_is_left_out_by_itself() -> None:
    """The profile without it is the baseline, and yet its item needs that trial's role."""
    Path("ours.conf").write_text("kernel.randomize_va_space = 2\n")
    found = bill(BillRequest(("ours.conf",), how=how_of("runs.sqlite"), method="verify"))
    assert isinstance(found, Bill)
    assert {one.known for one in found.items} == {"measured"}
    assert [one.cost for one in found.items] == [one.cost for one in found.totals]


def test_an_earlier_cost_that_no_longer_holds_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = bill_of(EIGHT)
    wrong = {"kernel.randomize_va_space=2": 900.0, "net.ipv4.tcp_syncookies=1": -5.0}
    metrics = [one.metric for one in right.totals]
    earlier = {name: dict.fromkeys(metrics, by) for name, by in wrong.items()}
    assert earlier.keys() <= set(right.controls)
    monkeypatch.setattr(verification, "earlier_costs", lambda *_: earlier)
    misled = bill_of(EIGHT, store="others.sqlite")
    assert costs(misled) == costs(right)
    assert misled.totals == right.totals
