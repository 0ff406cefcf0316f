"""A profile of any controls as a TOML file, whole or in pieces, which `catalogue.load` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tomli_w

from hardcost.controls.control import Control, Profile
from hardcost.errors import InputError
from hardcost.mechanisms import facts
from hardcost.mechanisms.registry import ALL
from hardcost.toml import write
from hardcost.toml.write import TomlEntry, TomlPiece


def tables(profile: Profile) -> dict[str, Any]:
    """Return the keys of a profile's file, with their values.

    Raises:
        InputError: A control has no key.
    """
    named = {one.name for one in ALL if one.toml}
    for control in profile.controls:
        if control.mechanism not in named:
            raise InputError(f"'{control.name}' can't be written into a profile")
    head: dict[str, Any] = {"title": profile.title, "source": profile.source}
    if profile.notes:
        head["notes"] = list(profile.notes)
    return head | write.tables(_entries(profile.controls))


def text(profile: Profile) -> str:
    """Return a profile's file.

    Raises:
        InputError: A control has no key.
    """
    return tomli_w.dumps(tables(profile))


def pieces(profile: Profile) -> tuple[TomlPiece, ...]:
    """Return a profile's file in pieces, so that any part of its controls is a file too.

    What a bill's baseline has, which is the kernel to build and audit's daemon, is always wanted;
    the daemon creates what any of the rules watches, so that a part is billed in the same guest. A
    kernel option that does not hold on its base is refused when such a file is read, even where the
    catalogue brought it.
    """
    head = (
        TomlEntry(("title",), f"A choice of: {profile.title or profile.name}"),
        TomlEntry(("source",), profile.source or profile.name),
    )
    return write.pieces([*head, *_entries(facts.steady(profile.controls))])


def _entries(controls: Sequence[Control]) -> Iterator[TomlEntry]:
    for mechanism in ALL:
        yield from mechanism.write(controls)
    for one in controls:
        if one.ids:
            yield TomlEntry(("ids", one.name), list(one.ids), (one.name,))
    for one in controls:
        if one.severity:
            yield TomlEntry(("severity", one.name), one.severity, (one.name,))
