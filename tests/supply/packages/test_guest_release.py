"""The release that guests are made of: the host's own needs no name, another is known by it."""

from __future__ import annotations

import platform

import pytest

from hardcost.errors import InputError
from hardcost.supply.packages import guest_release

HOSTS = {
    number: {"ID": "debian", "VERSION_ID": number, "PRETTY_NAME": f"Debian {number}"}
    for number in ("12", "13")
}


@pytest.mark.parametrize(("number", "other", "codename"), [("12", "13", "trixie"),
                                                           ("13", "12", "bookworm")])  # fmt: skip
def test_the_host_s_own_release_is_the_same_named_or_not(
    number: str, other: str, codename: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: HOSTS[number])
    assert guest_release.codename(None) is None
    assert guest_release.codename(f"debian:{number}") is None
    assert guest_release.codename(f"debian:{other}") == codename


@pytest.mark.parametrize("name", ["debian:11", "debian:", "13", "trixie", "", "debian:13=1"])
def test_an_unknown_release_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(InputError, match=f"no '{name}' that guests are made of") as caught:
        guest_release.codename(name)
    assert caught.value.problems[0].hint == "there are debian:12, debian:13"


def test_a_release_has_the_title_that_it_gives_itself() -> None:
    assert guest_release.title("trixie") == "Debian GNU/Linux 13 (trixie)"
