"""Each word is asked about once for each kernel, and what is refused is refused in every trial."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Control
from hardcost.errors import InputError, MachineError
from hardcost.measure.boot_parameters import BootLines, problems_of
from hardcost.measure.prepare import Prepared, prepare
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Trial
from hardcost.protocol.boot import Boot, BootAccount, WordVerdict
from tests.fakes.machine import FakeMachine

NULL = Workload("syscalls", (("calls", "null"),))
OFF = BootParameter("mitigations=off")
WRONG = BootParameter("initt=1")


def said(boot: Boot) -> BootAccount:
    """Say what a kernel does that knows no `initt`, and has one fault."""
    unknown = [WordVerdict(word, refused="unknown") for word in boot.parameters if "initt" in word]
    fault = "Vulnerable" if "mitigations=off" in boot.parameters else "Mitigation: X"
    return BootAccount(tuple(unknown), (("spectre_v2", fault),))


def asked(
    *lines: tuple[Control, ...], account: Callable[[Boot], BootAccount | None] = said
) -> tuple[FakeMachine, BootLines, list[Prepared], dict[str, InputError]]:
    machine = FakeMachine(lambda _boot, _job: [], account)
    trials = [
        prepare(Trial(Configuration(Named(str(n)), controls), NULL, "insn", seed=0), machine)
        for n, controls in enumerate(lines)
    ]
    known = BootLines()
    return machine, known, trials, asyncio.run(known.ask(trials, machine, 2))


def test_every_trial_with_a_word_that_is_unknown_is_refused() -> None:
    quiet = BootParameter("quiet")
    machine, _, trials, errors = asked((), (quiet,), (WRONG,), (quiet, WRONG))
    assert list(errors) == [trials[2].identity, trials[3].identity]
    assert [one.message for one in problems_of(errors.values())] == [
        "boot parameter 'initt=1': unknown"
    ]
    assert [boot.parameters for boot in machine.asked] == [("quiet", "initt=1")]


def test_lines_without_words_are_not_asked_about_nor_is_audit_switched_off() -> None:
    machine, _, _, errors = asked((), (BootParameter("audit=0"),))
    assert (machine.asked, errors) == ([], {})


def test_what_the_kernel_does_about_faults_is_compared_with_and_without_a_mitigation() -> None:
    quiet = BootParameter("quiet")
    _, known, _, errors = asked((), (OFF,), (quiet, OFF))
    assert errors == {}
    assert known.faults[()] == {"spectre_v2": "Mitigation: X"}
    assert known.faults[OFF.text,] == {"spectre_v2": "Vulnerable"}
    assert set(known.controls) == {OFF, quiet}


def test_a_word_is_judged_for_each_kernel_by_itself() -> None:
    def knows_it_if_built(boot: Boot) -> BootAccount:
        return BootAccount() if boot.kernel else said(boot)

    lines = (WRONG,), (Kernel(), WRONG)
    for each in (lines, lines[::-1]):
        machine, _, trials, errors = asked(*each, account=knows_it_if_built)
        assert list(errors) == [trials[each.index((WRONG,))].identity]
        assert len(machine.asked) == 2


def test_a_kernel_that_is_not_built_yet_is_asked_later() -> None:
    _, _, _, errors = asked((Kernel(), WRONG), account=lambda _: None)
    assert errors == {}


def test_a_line_that_does_not_boot_is_left_to_its_trial_with_a_note() -> None:
    def dies(boot: Boot) -> BootAccount:
        raise MachineError(f"the guest died of {boot.parameters}")

    _, known, _, errors = asked((WRONG,), account=dies)
    assert errors == {}
    (note,) = known.notes
    assert "initt=1 was not checked: the guest died" in note
