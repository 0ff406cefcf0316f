"""Controls whose cost an instruction count does not show, with reasons and valid values.

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
    """Why a count shows less than a control's cost; its valid `values`, empty if any is valid."""

    reason: str
    values: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()


def why_uncounted(control: Control) -> str | None:
    """Return why an instruction count misses some or all of a control's cost; else None."""
    known = _known(control)
    return None if known is None else known.reason


def wrong_value(control: Control) -> str | None:
    """Return the valid values for a boot parameter whose value no kernel accepts; else None.

    Parameters missing from the table are not checked.
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
    """Return the table's entries for boot parameters and kernel options, by name."""
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
