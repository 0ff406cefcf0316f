from __future__ import annotations

import pytest

from hardcost.controls.control import BootParameter, Sysctl
from hardcost.controls.mechanisms import boot
from hardcost.errors import InputError


def test_words_come_in_their_order() -> None:
    controls = (BootParameter("audit=0"), Sysctl("a.b", "1"), BootParameter("quiet"))
    assert boot.boot_parameters(controls) == ("audit=0", "quiet")


def test_two_words_in_one_are_refused() -> None:
    with pytest.raises(InputError, match="'audit=0 quiet' is not one word"):
        boot.boot_parameters((BootParameter("audit=0 quiet"),))


def test_the_end_of_the_kernels_words_is_refused() -> None:
    with pytest.raises(InputError, match="init's"):
        boot.boot_parameters((BootParameter("--"),))


def test_a_note_says_that_a_parameter_was_not_checked() -> None:
    assert boot.verify((BootParameter("audit=0"), Sysctl("a.b", "1"))) == ()
    (note,) = boot.verify((BootParameter("init_on_aloc=1"), BootParameter("audit=0")))
    assert "init_on_aloc=1 was not checked" in note
