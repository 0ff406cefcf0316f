"""The rule sets that people load are read whole: Debian's samples, and those of SCAP profiles.

No guest is booted; but the packages are fetched on first use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from auditrules.auditctl.translate import translate_all
from auditrules.model.location import Location
from auditrules.read import parse
from hardcost.profiles.importers.scap import datastream
from hardcost.profiles.importers.scap.profile import load_scap_profile
from hardcost.profiles.importers.scap.rules import audit_rules
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import debian
from hardcost.supply.packages.debian import package_folder

T = TypeVar("T")
pytestmark = pytest.mark.vm


# By the beginning of the package's version, those of Debian 12 and 13: how many rules the files
# have, which are their lines that begin with -a or -w.
SAMPLES = {
    "1:3.0.9-": {"30-stig.rules": 34, "30-ospp-v42.rules": 33},
    "1:4.0.2-": {"30-stig.rules": 52, "30-ospp-v42.rules": 62},
}


def counted(package: str, table: Mapping[str, T], cache_root: Path) -> T:
    """Return what was counted in the version of a package that is read here."""
    version = debian.version(Cache(cache_root), package)
    found = [counts for beginning, counts in table.items() if version.startswith(beginning)]
    assert found, f"the rules of {package} {version} were not counted yet"
    return found[0]


def test_every_sample_file_of_the_audit_package_is_read(cache_root: Path) -> None:
    files = sorted(package_folder(Cache(cache_root), "auditd").rglob("*.rules"))
    counts = {}
    for file in files:
        ((readings, faults),) = parse.read_each([file])
        rules, refused = translate_all([one.rule for one in readings if one.rule])
        assert (faults, refused, [one.fault for one in readings if one.fault]) == ([], (), [])
        counts[file.name] = len(rules)
    expected = counted("auditd", SAMPLES, cache_root)
    assert {name: counts[name] for name in expected} == expected
    assert len(files) >= 30


OSPP = {"-D", "-b 8192", "-f 1", "--backlog_wait_time 60000", "--loginuid-immutable"}
OF_THE_MACHINE = {"audit_rules_privileged_commands"}  # its lines are not known without the machine

# By the beginning of the package's version: how many rules each profile has, its other lines, and
# what is not found. Counted when bash ran the repair scripts themselves, on an empty folder.
STREAM: dict[str, dict[str, tuple[int, set[str], set[str]]]] = {
    "0.1.65-": {
        "stig": (74, {"-f 2", "--loginuid-immutable", "-e 2"}, set()),
        "cis": (44, {"-e 2"}, set()),
        "ospp": (96, OSPP, set()),
    },
    "0.1.76-": {
        "stig": (66, {"-e 2"}, set()),
        "cis": (56, {"-e 2"}, OF_THE_MACHINE),
        "ospp": (126, OSPP, set()),
    },
}


@pytest.mark.parametrize("profile", ["stig", "cis", "ospp"])
def test_the_rules_of_a_scap_profile_are_all_found_and_load(cache_root: Path, profile: str) -> None:
    package = package_folder(Cache(cache_root), "ssg-nondebian")
    stream = package / "usr/share/xml/scap/ssg/content/ssg-rhel9-ds.xml"
    found = audit_rules(stream, profile)
    rules, settings, not_found = counted("ssg-nondebian", STREAM, cache_root)[profile]
    assert {one.rule for one in found.not_found} == not_found
    readings = [parse.read_line(line.text, Location("x", 1)) for line in found.lines]
    loaded, refused = translate_all([one.rule for one in readings if one.rule])
    assert (len(loaded), refused) == (rules, ())
    assert {one.text for one in readings if not one.rule} == settings


# By the beginning of the package's version: how many rules of each profile have controls, have no
# run-time cost, and are not priced.
ACCOUNTS: dict[str, dict[str, tuple[int, int, int]]] = {
    "0.1.65-": {"stig": (153, 275, 69), "cis": (94, 183, 24)},
    "0.1.76-": {"stig": (146, 281, 66), "cis": (108, 252, 25)},
}


@pytest.mark.parametrize("profile", ["stig", "cis"])
def test_every_rule_of_a_scap_profile_is_accounted_for_exactly_once(
    cache_root: Path, profile: str
) -> None:
    package = package_folder(Cache(cache_root), "ssg-nondebian")
    stream = package / "usr/share/xml/scap/ssg/content/ssg-rhel9-ds.xml"
    selected = [one.name for one in datastream.selection_of(stream, profile).rules]
    accounting = load_scap_profile(stream, profile).accounting
    assert [one.rule for one in accounting] == selected
    assert len(set(selected)) == len(selected)
    outcomes = Counter(one.outcome for one in accounting)
    counts = outcomes["priced"], outcomes["no-run-time-cost"], outcomes["not-priced"]
    expected = counted("ssg-nondebian", ACCOUNTS, cache_root)[profile]
    assert (counts, sum(counts)) == (expected, len(selected))
    for one in accounting:
        assert one.kind != "unknown kind"
        assert bool(one.controls) == (one.outcome == "priced")
        assert bool(one.why) == (one.outcome != "priced")
