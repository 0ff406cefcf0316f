from __future__ import annotations

import pytest

from hardcost.controls.control import BootParameter, Sysctl
from hardcost.controls.mechanisms import boot
from hardcost.errors import InputError, Place
from hardcost.machines.bootline import Verdict


def test_words_come_in_their_order() -> None:
    controls = (BootParameter("audit=0"), Sysctl("a.b", "1"), BootParameter("quiet"))
    assert boot.boot_parameters(controls) == ("audit=0", "quiet")


def test_two_words_in_one_are_refused() -> None:
    with pytest.raises(InputError, match="'audit=0 quiet' is not one word"):
        boot.boot_parameters((BootParameter("audit=0 quiet"),))


def test_the_end_of_the_kernels_words_is_refused() -> None:
    with pytest.raises(InputError, match="init's"):
        boot.boot_parameters((BootParameter("--"),))


def test_placebos_are_the_only_words_of_hardcosts_own_that_a_user_may_give() -> None:
    assert boot.boot_parameters((BootParameter("hardcost.placebo=3"),)) == ("hardcost.placebo=3",)
    with pytest.raises(InputError, match="reserved"):
        boot.boot_parameters((BootParameter("hardcost.snapshot"),))


def test_a_parameter_that_the_kernel_refuses_is_a_problem_at_its_place() -> None:
    place = Place("my.toml", 3)
    controls = (BootParameter("mitigatons=off", place=place), Sysctl("a.b", "1"))
    verdict = Verdict("mitigatons=off", refused="unknown", meant="mitigations")
    (problem,) = boot.refused(controls, [verdict, Verdict("other", refused="not here")])
    assert problem.place == place
    assert problem.hint == "did you mean mitigations?"
    assert "'mitigatons=off': unknown" in problem.message


def test_a_value_that_the_kernel_ignores_in_silence_is_a_problem() -> None:
    (problem,) = boot.refused((BootParameter("mds=ful"),), [])
    assert problem.hint == "did you mean mds=full?"
    assert boot.refused((BootParameter("mds=full"), BootParameter("audit=0")), []) == ()


def test_what_is_not_known_of_a_parameter_is_noted() -> None:
    verdicts = [Verdict("kvm.x=1", note="kvm is a module"), Verdict("other", note="not here")]
    assert boot.notes((BootParameter("kvm.x=1"),), verdicts) == (
        "boot parameter 'kvm.x=1': kvm is a module",
    )
