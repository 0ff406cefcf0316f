"""Settings that every system has by default."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from hardcost.controls.control import Control
from hardcost.errors import InputError, Problem
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.toml import read

By = Literal["kernel", "distribution"]

_FILE = Path(str(resources.files("hardcost.profiles"))) / "catalogue" / "kernel" / "defaults.toml"


class _Default(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    control: str
    by: By
    option: str | None = None
    source: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    sysctl: tuple[_Default, ...]
    boot: tuple[_Default, ...]


def default_of(control: Control, controls: Sequence[Control]) -> By | None:
    """Return whose default a control of `controls` is anyway; None if it is no default.

    On a kernel that the profile names itself, no option is the distribution's.
    """
    found = _by_setting().get(control.setting)
    if found is None:
        return None
    own = any(one.of_kernel for one in controls)
    return None if own and found.option is not None else found.by


@cache
def _by_setting() -> dict[str, _Default]:
    problems: list[Problem] = []
    file = read.parse(_FILE.read_bytes(), _FILE.name)
    found = read.validated(file, _File, problems)
    if found is None:
        raise InputError.of(tuple(problems))
    defaults = found.model
    return {
        **{Sysctl.of(one.control).setting: one for one in defaults.sysctl},
        **{BootParameter(one.control).setting: one for one in defaults.boot},
    }
