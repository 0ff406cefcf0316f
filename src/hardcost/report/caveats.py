"""Signs at numbers that don't show all, and the sentences below a table that explain them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.text import MARK, listed, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.analysis.finding import Item


def marked(text: str, item: Item) -> str:
    """Return a cost with a sign where the item has a caveat."""
    return f"{text}{MARK}" if item.caveat else text


def caveat_words(items: Iterable[Item]) -> list[str]:
    """Return what a control's row says of its caveat, if it has one."""
    return [f"{MARK} see below"] if any(item.caveat for item in items) else []


def caveat_notes(items: Iterable[Item]) -> list[str]:
    """Return each caveat once, behind its sign and the controls that it is about."""
    about: dict[str, dict[str, None]] = {}
    for item in items:
        if item.caveat:
            about.setdefault(item.caveat, {})[visible(item.control)] = None
    return [f"{MARK} {listed(names)}: {visible(caveat)}" for caveat, names in about.items()]
