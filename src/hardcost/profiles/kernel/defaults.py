"""What every system has by default, and which controls switch off what others do."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from hardcost.controls.control import BootParameter, Kernel, Sysctl
from hardcost.errors import InputError
from hardcost.profiles import tomlfile
from hardcost.profiles.importers.sysctld import assignment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.controls.control import Control
    from hardcost.errors import Problem

By = Literal["kernel", "distribution"]

_FILE = Path(str(resources.files("hardcost.profiles"))) / "catalogue" / "kernel" / "defaults.toml"
_INITS = ("init_on_alloc=1", "init_on_free=1")
_POISON = "page_poison=1"
_SLUB = re.compile(r"sl[ua]b_debug(?:=(?P<blocks>.*))?")
_LAST_ACTS = ("slub_debug", "slab_debug", "init_on_alloc", "init_on_free", "page_poison")
"""Boot parameters of which the kernel takes the last, if there are several."""
_ON = re.compile(r"1|y|yes|on|true", re.IGNORECASE)
_OFF = re.compile(r"0|n|no|off|false", re.IGNORECASE)


class _Default(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    control: str
    by: By
    option: str | None = None
    source: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    sysctl: tuple[_Default, ...]
    boot: tuple[_Default, ...]


def default_of(control: Control, controls: Sequence[Control]) -> By | None:
    """Return whose default a control of `controls` is anyway; None if it is nobody's.

    On a kernel that the profile names itself, no option is the distribution's.
    """
    found = _by_setting().get(_setting(control))
    if found is None:
        return None
    own = any(isinstance(one, Kernel) for one in controls)
    return None if own and found.option is not None else found.by


def switched_off(controls: Sequence[Control]) -> Iterator[tuple[str, str]]:
    """Yield each control that another switches off, whose cost is then 0 or less, and which does.

    Source: `init_mem_debugging_and_hardening` of mm/page_alloc.c (later mm/mm_init.c),
    `slab_want_init_on_alloc` and `_free` of mm/slab.h, `setup_slub_debug` of mm/slub.c.
    """
    words = {one.text: _setting(one) for one in controls if isinstance(one, BootParameter)}
    last = {name: text for text in words if (name := text.partition("=")[0]) in _LAST_ACTS}
    for text in tuple(words):
        acts = last.get(text.partition("=")[0], text)
        if acts != text:
            del words[text]
            yield text, f"{acts} replaces {text}: the kernel takes the last of them"
    inits = [text for text, setting in words.items() if setting in _INITS]
    for text, setting in words.items():
        objects = _poisoned(text)
        if setting == _POISON:
            off = "switches off {}: the kernel poisons pages instead of initialising memory"
            source = "mm/page_alloc.c"
        elif objects is not None:
            off = f"switches off {{}} for {objects}: poisoned ones are not initialised"
            source = "mm/slab.h"
        else:
            continue
        for init in inits:
            yield init, f"{text} {off.format(init)} ({source})"


def _poisoned(text: str) -> str | None:
    """Return which objects a boot parameter has poisoned, in words; None if none are.

    Source: `setup_slub_debug` and `parse_slub_debug_flags` of mm/slub.c.
    """
    found = _SLUB.fullmatch(text)
    if found is None:
        return None
    if not found["blocks"]:
        return "objects"  # without flags everything is checked
    every, named = None, False
    for block in filter(None, found["blocks"].split(";")):
        flags, listed, _ = block.partition(",")
        poison = "p" in flags.lower().rpartition("-")[2] or (not flags and bool(listed))
        if listed:
            named |= poison
        else:
            every = poison
    if every:
        return "objects"
    return "objects of the slabs that it names" if named else None


def _setting(control: Control) -> str:
    """Return what a control sets, the same however it is written."""
    if isinstance(control, Sysctl):
        return f"{control.path}={control.value}"
    if not isinstance(control, BootParameter):
        return control.name
    name, sign, value = control.text.partition("=")
    switch = "1" if _ON.fullmatch(value) else "0" if _OFF.fullmatch(value) else value
    return f"{name.replace('-', '_')}{sign}{switch}"


@cache
def _by_setting() -> dict[str, _Default]:
    problems: list[Problem] = []
    file = tomlfile.parse(_FILE.read_bytes(), _FILE.name)
    found = tomlfile.validated(file, _File, problems)
    if found is None:
        raise InputError.of(tuple(problems))
    defaults = found.model
    return {
        **{_setting(assignment(one.control)): one for one in defaults.sysctl},
        **{_setting(BootParameter(one.control)): one for one in defaults.boot},
    }
