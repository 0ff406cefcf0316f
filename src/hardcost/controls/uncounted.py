"""Controls whose cost a count of instructions does not show, and why; what values they may have.

The table is `uncounted.toml`.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from hardcost.controls.control import BootParameter, KernelOption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hardcost.controls.control import Control

_FILE = "uncounted.toml"


@dataclass(frozen=True)
class Uncounted:
    """Why a count shows less than a control's cost; `values` it takes, empty where any will do."""

    reason: str
    values: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()


def why_uncounted(control: Control) -> str | None:
    """Return why a control's cost is not, or not all, in a count of instructions; else None."""
    known = _known(control)
    return None if known is None else known.reason


def wrong_value(control: Control) -> str | None:
    """Return what a boot parameter may be instead of its value, which no kernel takes; else None.

    Of parameters that the table does not have, nothing is said.
    """
    known = _known(control)
    if known is None or not known.values or not isinstance(control, BootParameter):
        return None
    _, sign, value = control.text.replace('"', "").partition("=")
    if not sign or value in known.values or value.startswith(known.prefixes or "\0"):
        return None
    near = difflib.get_close_matches(value, known.values, 1)
    return near[0] if near else " or ".join(known.values)


def _known(control: Control) -> Uncounted | None:
    if isinstance(control, BootParameter):
        name = control.text.replace('"', "").partition("=")[0].replace("-", "_")
        return _table()["boot"].get(name)
    if isinstance(control, KernelOption):
        return _table()["option"].get(control.option)
    return None


@cache
def _table() -> Mapping[str, Mapping[str, Uncounted]]:
    """Return what is known of each boot parameter and kernel option, by name."""
    text = resources.files("hardcost.controls").joinpath(_FILE).read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return {
        kind: {
            name: Uncounted(
                data["reasons"][entry["reason"]],
                tuple(entry.get("values", ())),
                tuple(entry.get("prefixes", ())),
            )
            for entry in data[kind]
            for name in entry["names"]
        }
        for kind in ("boot", "option")
    }
