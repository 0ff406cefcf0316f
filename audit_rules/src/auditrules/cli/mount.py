"""The program in which the verbs are mounted: `auditrules` itself, or one with more to offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:  # it takes a while to import
    from auditrules.library.caller import Caller


@dataclass(frozen=True)
class Mounting:
    """What makes the verbs' calls, and what TAB offers for RULES: the object of a click context.

    `words` are what the help of verbs says instead of words here.
    """

    caller: Callable[[], Caller]
    complete: Callable[[str], list[CompletionItem]]
    words: Mapping[str, str] = field(default_factory=dict)


def caller_of_verb() -> Caller:
    """Return who makes the calls of the verb that runs."""
    return mount_of(click.get_current_context()).caller()


def complete_rules(
    context: click.Context, _word: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer what RULES may be."""
    return mount_of(context).complete(begun)


def mount_of(context: click.Context) -> Mounting:
    """Return how the verb of a context is mounted."""
    mount = context.find_object(Mounting)
    if mount is None:
        raise RuntimeError("a verb is in no group that says whose it is")
    return mount
