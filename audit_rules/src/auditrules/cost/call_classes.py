"""Calls that no rule distinguishes, and that a set of rules therefore treats alike.

A rule uses a call's number in two ways: its mask may contain the number, and `perm` depends on it.
Calls that the same rules name, that have the same permissions and are otherwise equal are walked
alike. A price list for about 800 calls takes only a few dozen walks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields

from auditrules.cost.constants import Constants
from auditrules.cost.predict import (
    TOLD_APART,
    Prediction,
    Walked,
    finish_prediction,
    price_walk,
    recording,
)
from auditrules.kernel.event import Event, VisitedName
from auditrules.kernel.field_tests import class_permissions
from auditrules.kernel.semantics import Loaded, Outcome, decide
from auditrules.kernel.signal_calls import sends_a_signal
from auditrules.model.kernel_rule import KernelRule
from auditrules.tables import lookup

_OWN = tuple(field.name for field in fields(Event) if field.name != "call")


def kind(event: Event) -> Hashable:
    """Return all of a call that a condition can look at, which is equal for calls that are alike.

    The number itself is no part of it, only what it stands for.
    """
    return _stands_for(event), tuple(_lookup_key(getattr(event, name)) for name in _OWN)


def _stands_for(event: Event) -> Hashable:
    """Return the meaning of a call's number: its permissions, or a name that determines them.

    Also whether the call sends a signal, since a record then lists the receivers.
    """
    name, signal = lookup.call_name(event.arch, event.call), sends_a_signal(event.arch, event.call)
    if name in TOLD_APART:
        return name, signal
    return class_permissions(event.arch, event.call, event.release), signal


def _lookup_key(value: object) -> Hashable:
    """Return a value of a call so that it can be looked up."""
    if value is None or isinstance(value, (int, str, frozenset)):
        return value
    if isinstance(value, VisitedName):
        return tuple(_lookup_key(part) for part in vars(value).values())
    if isinstance(value, tuple):
        return tuple(_lookup_key(part) for part in value)
    if isinstance(value, Mapping):
        return tuple(sorted(value.items()))
    raise TypeError(value)


class NamingRules:
    """Which rules name a call."""

    def __init__(self, rules: Iterable[KernelRule]) -> None:
        self._masks = list(dict.fromkeys(rule.mask for rule in rules))
        self._by_call: dict[int, Hashable] = {}

    def by(self, call: int) -> Hashable:
        """Return a value that is equal for calls that the same rules name."""
        if call not in self._by_call:
            self._by_call[call] = bytes(mask >> call & 1 for mask in self._masks)
        return self._by_call[call]


class Alike:
    """One set's decisions about calls, and their costs; equivalent calls are walked once."""

    def __init__(self, constants: Constants, loaded: Loaded) -> None:
        self.constants, self.loaded = constants, loaded
        self._named = NamingRules(loaded.rules)
        self._walked: dict[Hashable, Walked] = {}
        self._outcomes: dict[Hashable, Outcome] = {}

    def predict(self, event: Event) -> Prediction:
        """Return the prediction of `predict.predict`."""
        return finish_prediction(self.constants, self.loaded, event, self.price_walk(event))

    def price_walk(self, event: Event, like: Hashable = None) -> Walked:
        """Return the walk of `predict.price_walk`; `like` is the call's `kind`, if known."""
        known = self._class(event, like)
        if known not in self._walked:
            self._walked[known] = price_walk(self.constants, self.loaded, event)
        return self._walked[known]

    def cost(self, event: Event, like: Hashable = None) -> float:
        """Return the cost of the rules for a call: walk and record (instructions)."""
        found = self.price_walk(event, like)
        return found.cost + recording(self.constants, self.loaded, event, found)

    def decide(self, event: Event, like: Hashable = None) -> Outcome:
        """Return the outcome of `semantics.decide`."""
        known = self._class(event, like)
        if known not in self._outcomes:
            self._outcomes[known] = decide(self.loaded, event)
        return self._outcomes[known]

    def _class(self, event: Event, like: Hashable) -> Hashable:
        return self._named.by(event.call), kind(event) if like is None else like
