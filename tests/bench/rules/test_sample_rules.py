from __future__ import annotations

from pathlib import Path

import pytest

from bench.rules import sample_rules
from hardcost.errors import MachineError
from hardcost.supply.cache.cache import Cache

EXAMPLES = "usr/share/doc/auditd/examples"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an unpacked package."""
    monkeypatch.setattr(sample_rules, "package_folder", lambda _cache, _name: tmp_path)
    return tmp_path


@pytest.mark.parametrize("folder", ["rules", "audit-rules"])
def test_the_examples_of_rules_are_found_in_either_folder(package: Path, folder: str) -> None:
    place = package / EXAMPLES / folder
    place.mkdir(parents=True)
    assert sample_rules.sample_rules(Cache(package)) == place


def test_a_package_without_examples_is_an_error(package: Path) -> None:
    with pytest.raises(MachineError, match="the package auditd has no"):
        sample_rules.sample_rules(Cache(package))
