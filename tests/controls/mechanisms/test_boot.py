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
