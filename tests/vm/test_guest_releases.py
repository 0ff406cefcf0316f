"""Guests made of the release that is named: the host's own are the same ones, others are that's."""

from __future__ import annotations

import pytest

from hardcost.supply.packages import guest_release
from tests.studies import of_rules
from tests.vm.conftest import Command

pytestmark = [pytest.mark.vm, pytest.mark.slow]

STUDY = of_rules("rules in guests of another release", "null+open", (0, 10))
JSON = ("--format", "json")
KERNELS = {"debian:12": "6.1.", "debian:13": "6.12."}


@pytest.mark.lengthy
def test_guests_are_made_of_the_release_that_is_named(hardcost: Command) -> None:
    codenames = {name: guest_release.codename(name) for name in KERNELS}
    (own,) = (name for name, codename in codenames.items() if codename is None)
    (other,) = (name for name in KERNELS if name != own)
    study = hardcost.write("rules.toml", STUDY)
    planned, named = (
        hardcost("run", study, "--dry-run", *JSON, *words).data()["trials"]
        for words in ((), ("--guest", own))
    )
    assert named == planned
    hosts, first, again = (
        hardcost("run", study, *JSON, *words)
        for words in ((), ("--guest", other), ("--guest", other, "--fresh"))
    )
    assert again.raw_cells() == first.raw_cells()
    assert first.values("null")["rules=0"] != hosts.values("null")["rules=0"]
    environment = first.data()["environment"]
    assert environment["kernel"].startswith(KERNELS[other])
    codename = codenames[other]
    assert codename is not None
    assert environment["guest"].startswith(f"{guest_release.title(codename)}, auditd 1:")
    assert "guest" not in hosts.data()["environment"]
    titles = [one["title"] for one in hardcost("image", "list", *JSON).data()]
    assert f"Debian package auditd of {codename}" in titles
    assert f"the kernel of Debian's {codename}" in titles
