"""What every system has by default, and which controls switch off what others do."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from hardcost.controls.control import BootParameter, Kernel, KernelOption
from hardcost.errors import InputError
from hardcost.profiles import tomlfile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.controls.control import Control
    from hardcost.errors import Problem

By = Literal["kernel", "distribution"]

_FILE = Path(str(resources.files("hardcost.profiles"))) / "catalogue" / "kernel" / "defaults.toml"
_INIT = re.compile(r"init_on_(?:alloc|free)=(?:1|on|y|yes)")
_POISON = re.compile(r"page_poison=(?:1|on|y|yes)")
_SLUB = re.compile(r"slub_debug(?:=(?P<flags>[A-Z]+)(?:,.*)?)?")


class _Default(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    control: str
    by: By
    source: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    default: tuple[_Default, ...]


def default_of(control: Control, controls: Sequence[Control]) -> By | None:
    """Return whose default a control of `controls` is anyway; None if it is nobody's.

    On a kernel that the profile names itself, nothing is a distribution's default by configuration.
    """
    by = _by_name().get(control.name)
    own = any(isinstance(one, Kernel) for one in controls)
    if by == "distribution" and own and isinstance(control, BootParameter | KernelOption):
        return None
    return by


def switched_off_notes(controls: Sequence[Control]) -> Iterator[str]:
    """Yield which control switches off what another does, whose cost is then 0, or less."""
    words = [one.name for one in controls if isinstance(one, BootParameter)]
    inits = [word for word in words if _INIT.fullmatch(word)]
    for word in words:
        flags = _SLUB.fullmatch(word)
        for init in inits:
            if _POISON.fullmatch(word):
                yield (
                    f"{word} switches off {init}: the kernel rather poisons pages than initialises"
                    " memory (mm/page_alloc.c)"
                )
            elif flags is not None and "P" in (flags["flags"] or "P"):
                yield (
                    f"{word} switches off {init} for objects: poisoned ones are not initialised"
                    " (mm/slab.h)"
                )


@cache
def _by_name() -> dict[str, By]:
    problems: list[Problem] = []
    file = tomlfile.parse(_FILE.read_bytes(), _FILE.name)
    found = tomlfile.validated(file, _File, problems)
    if found is None:
        raise InputError.of(tuple(problems))
    return {one.control: one.by for one in found.model.default}
