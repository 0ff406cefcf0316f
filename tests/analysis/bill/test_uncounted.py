from __future__ import annotations

from dataclasses import replace

from hardcost.analysis.bill.uncounted import with_caveats
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import KernelOption
from hardcost.model.finding.bill import Bill, Item, Itemised, Unmeasured
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.study import StudyFinding
from hardcost.model.workload import MetricId
from tests.show.bill_findings import billed

OFF, PTI, ZERO = map(BootParameter, ("mitigations=off", "pti=on", "init_on_alloc=1"))
SLS = KernelOption("SLS", "y")
STUDY = StudyFinding(run="r", study="s", title="t", instrument="insn", cells=())
PLAIN = {"meltdown": "Not affected", "spectre_v2": "Mitigation: Retpolines"}


def bill_of(*controls: BootParameter) -> Bill:
    items = tuple(Item(c.name, MetricId("null"), "insn/op", 0, 0, 0, 0, 0, None) for c in controls)
    return billed(Itemised(profile="p", totals=(), items=items))


def caveats(finding: Finding) -> dict[str, str]:
    assert isinstance(finding, Bill)
    return {item.control: item.caveat for item in finding.items}


def test_an_item_whose_cost_is_not_in_instructions_says_so() -> None:
    found = caveats(with_caveats(bill_of(OFF, ZERO), (OFF, ZERO), {}))
    assert "lower bound" in found["mitigations=off"]
    assert found["init_on_alloc=1"] == ""


def test_it_says_what_the_guests_kernel_did_about_it() -> None:
    faults = {(): PLAIN, (OFF.text,): {**PLAIN, "spectre_v2": "Vulnerable"}, (PTI.text,): PLAIN}
    found = caveats(with_caveats(bill_of(OFF, PTI), (OFF, PTI), faults))
    changed = "it changes only spectre_v2 from 'Mitigation: Retpolines' to 'Vulnerable'"
    assert found["mitigations=off"].endswith(changed)
    assert found["pti=on"].endswith("it changes no mitigation")


def test_what_no_word_changes_is_told_once() -> None:
    faults = {(): PLAIN, (OFF.text,): PLAIN, (PTI.text,): PLAIN}
    (note,) = with_caveats(bill_of(OFF, PTI), (OFF, PTI), faults).notes
    assert note == (
        "the kernel's mitigations without boot parameters: spectre_v2: Mitigation: Retpolines;"
        " not affected by meltdown"
    )


def test_of_a_study_it_is_a_note_each_reason_once() -> None:
    other = BootParameter("mds=full")
    found = with_caveats(replace(STUDY, notes=("n",)), (OFF, ZERO, SLS, other), {})
    first, speculation, straight = found.notes
    assert first == "n"
    assert speculation.startswith("mitigations=off, mds=full: its cost is in")
    assert straight.startswith(f"{SLS.name}: its cost is in")


def test_what_a_search_did_not_itemise_is_a_note() -> None:
    found = with_caveats(bill_of(ZERO), (ZERO, OFF), {})
    (note,) = found.notes
    assert note.startswith("mitigations=off: ")


def test_of_what_a_guest_refused_nothing_more_is_said() -> None:
    whole = replace(bill_of(ZERO), unmeasured=(Unmeasured(OFF.name, "refused", None),))
    assert with_caveats(whole, (ZERO, OFF), {}) == whole


def test_times_show_it() -> None:
    timed = replace(bill_of(OFF), instrument="time")
    assert with_caveats(timed, (OFF,), {}) == timed
