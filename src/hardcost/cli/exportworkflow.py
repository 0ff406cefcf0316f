"""`hardcost export workflow`: the gate as a job of GitHub or GitLab."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from hardcost import files
from hardcost.cli import dataout
from hardcost.cli.console import note
from hardcost.report.text import visible

if TYPE_CHECKING:
    from pathlib import Path

_FILES = {"github": "gate.github.yml", "gitlab": "gate.gitlab-ci.yml"}


def workflow(service: str, out: Path, *, force: bool) -> None:
    """Write a service's job, whose first lines say where it goes and what to fill in."""
    if str(out) != "-":
        out.parent.mkdir(parents=True, exist_ok=True)
    files.check_new(out, force=force)
    folder = resources.files("hardcost.report.exports").joinpath("workflows")
    dataout.write(out, folder.joinpath(_FILES[service]).read_bytes())
    if str(out) != "-":
        note(
            f"written: {visible(str(out))}; fill in paths, HARDCOST_WHEEL, HARDCOST_SHA256 and"
            " RULES: hardcost is in no package index, so it is installed from a wheel of yours"
        )
