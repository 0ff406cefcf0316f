"""The rule sets that people load are read whole: Debian's samples, and those of SCAP profiles.

No guest is booted; but the packages are fetched on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hardcost.auditrules import parse
from hardcost.auditrules.rule import Place
from hardcost.auditrules.translate import translate_all
from hardcost.machines.cache import Cache
from hardcost.machines.debianpackages import unpacked
from hardcost.profiles.importers import scap

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.vm


def test_every_sample_file_of_the_audit_package_is_read(cache_root: Path) -> None:
    files = sorted(unpacked(Cache(cache_root), "auditd").rglob("*.rules"))
    counts = {}
    for file in files:
        ((readings, faults),) = parse.read_each([file])
        rules, refused = translate_all([one.rule for one in readings if one.rule])
        assert (faults, refused, [one.fault for one in readings if one.fault]) == ([], (), [])
        counts[file.name] = len(rules)
    assert counts["30-stig.rules"] == 34
    assert counts["30-ospp-v42.rules"] == 33
    assert len(files) >= 30


# How many rules there are: counted when bash ran the repair scripts themselves, on an empty folder.
@pytest.mark.parametrize(
    ("profile", "rules", "settings"),
    [
        ("stig", 74, {"-f 2", "--loginuid-immutable", "-e 2"}),
        ("cis", 44, {"-e 2"}),
        (
            "ospp",
            96,
            {"-D", "-b 8192", "-f 1", "--backlog_wait_time 60000", "--loginuid-immutable"},
        ),
    ],
)
def test_the_rules_of_a_scap_profile_are_all_found_and_load(
    cache_root: Path, profile: str, rules: int, settings: set[str]
) -> None:
    package = unpacked(Cache(cache_root), "ssg-nondebian")
    stream = package / "usr/share/xml/scap/ssg/content/ssg-rhel9-ds.xml"
    found = scap.audit_rules(stream, profile)
    assert found.not_found == ()
    readings = [parse.read_line(line.text, Place("x", 1)) for line in found.lines]
    loaded, refused = translate_all([one.rule for one in readings if one.rule])
    assert (len(loaded), refused) == (rules, ())
    assert {one.text for one in readings if not one.rule} == settings
