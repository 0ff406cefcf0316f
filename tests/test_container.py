"""The container image holds what scripts/container puts there, where Containerfile expects it."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).parents[1]
CONTAINERFILE = (PROJECT / "Containerfile").read_text()
SCRIPT = (PROJECT / "scripts/container").read_text()


def test_the_image_is_made_of_the_root_alone() -> None:
    assert re.findall(r"^FROM (.*)$", CONTAINERFILE, re.MULTILINE) == ["scratch"]
    assert re.findall(r"^(?:ADD|COPY|RUN) (.*)$", CONTAINERFILE, re.MULTILINE) == ["root.tar /"]


def test_the_cache_that_is_prepared_is_the_one_that_is_used() -> None:
    places = set(re.findall(r"HARDCOST_(?:CACHE|STORE)=\S+", CONTAINERFILE))
    assert len(places) == 2
    assert places <= set(SCRIPT.split())


def test_packages_are_those_of_the_script_for_packages() -> None:
    assert "/opt/setup/scripts/packages --installed\n" in SCRIPT
