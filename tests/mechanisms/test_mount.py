from __future__ import annotations

from typing import Any

import pytest

from hardcost.errors import TrialError
from hardcost.mechanisms.mount import MOUNTS, MountOptions
from tests.protocol.json_messages import as_sent, typed

CONTROLS = (MountOptions("/var/log", ("nodev", "noexec")), MountOptions("/var", ("nodev",)))


def mounted(path: str, *options: str) -> dict[str, Any]:
    return {"event": "mounted", "path": path, "options": list(options)}


def test_outer_mounts_come_first_so_that_they_hide_no_inner_one() -> None:
    assert as_sent(MOUNTS.requests(CONTROLS)) == (
        {"do": "mount", "path": "/var", "options": ["nodev"]},
        {"do": "mount", "path": "/var/log", "options": ["nodev", "noexec"]},
    )


def test_options_that_the_kernel_shows_are_fine() -> None:
    shown = [mounted("/var", "rw", "nodev"), mounted("/var/log", "rw", "noexec", "nodev")]
    assert MOUNTS.verify(CONTROLS, typed(shown)) == ()


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (
            [mounted("/var", "nodev")],
            "mount /var/log nodev,noexec did not take: the machine did not",
        ),
        (
            [mounted("/var", "nodev"), mounted("/var/log", "rw", "noexec")],
            "mount /var/log nodev,noexec did not take: it is mounted with noexec,rw",
        ),
    ],
)
def test_an_option_that_did_not_take_fails_the_trial(
    answers: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        MOUNTS.verify(CONTROLS, typed(answers))
