"""The order of a rule's fields: `arch` before the calls, and cheap conditions before costly ones.

A rule's conditions must all hold, so their order makes no difference to what it matches.
"""

from __future__ import annotations

from auditrules.cost import events
from auditrules.cost.call_classes import Alike
from auditrules.cost.constants import Constants
from auditrules.kernel import semantics
from auditrules.lint import prices
from auditrules.lint.context import Context
from auditrules.model.kernel_rule import Condition, KernelRule, is_test
from auditrules.prove.unknown_ids import numbers_for, resolve_ids
from auditrules.repair.line_words import LineWords
from auditrules.tables.lookup import ARCHES

_ARCH, _KEY = "arch", "key"


def arch_first(raw: str) -> str:
    """Return a line with its one `arch` in front of its first -S; else as it is."""
    words = LineWords(raw)
    arches = [at for at, (option, value) in enumerate(words.options) if _is_arch(option, value)]
    calls = [at for at, (option, _) in enumerate(words.options) if option == "-S"]
    if len(arches) != 1 or not calls or arches[0] < calls[0]:
        return raw
    order = list(range(len(words.options)))
    order.insert(calls[0], order.pop(arches[0]))
    return words.with_texts({at: words.text_of(of) for at, of in enumerate(order)})


def cheap_first(raw: str, rule: KernelRule, context: Context) -> str:
    """Return a line with its conditions in the order of the cost of testing them; else as it is.

    `rule` is the line as the kernel holds it.
    """
    words = LineWords(raw)
    places = [at for at, (option, value) in enumerate(words.options) if _tests(option, value)]
    conditions = [one for one in rule.conditions if not _tests_arch(one)]
    costs = [prices.cost_of_testing(context, one) for one in conditions]
    known = [cost for cost in costs if cost is not None]
    if len(places) != len(conditions) or len(known) != len(costs):
        return raw
    order = sorted(range(len(places)), key=lambda at: known[at])
    texts = {place: words.text_of(places[of]) for place, of in zip(places, order, strict=True)}
    return words.with_texts(texts)


def is_cheaper(new: KernelRule, old: KernelRule, constants: Constants) -> bool:
    """Say whether a rule costs some typical call less than another, and none more (predicted)."""
    numbers = numbers_for((new, old), {})
    first, second = (
        Alike(constants, semantics.load(resolve_ids([rule], numbers))) for rule in (new, old)
    )
    less = False
    for arch in ARCHES:
        for event in events.events(arch).values():
            by = first.cost(event) - second.cost(event)
            if by > 0:
                return False
            less = less or by < 0
    return less


def _is_arch(option: str, value: str) -> bool:
    return option == "-F" and value.startswith(f"{_ARCH}=")


def _tests(option: str, value: str) -> bool:
    if option == "-C":
        return True
    return option == "-F" and not value.startswith((f"{_ARCH}=", f"{_ARCH}!", f"{_KEY}="))


def _tests_arch(condition: Condition) -> bool:
    return is_test(condition, _ARCH)
