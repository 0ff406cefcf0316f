"""How much of the catalogue a kernel's configuration meets, and which options it misses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hardcost.mechanisms.kconfig import KernelOption
from hardcost.profiles.kernel import options
from hardcost.profiles.kernel.options import CatalogueOption, CatalogueSeverity
from hardcost.supply.kernels.config import NOT_SET


@dataclass(frozen=True)
class MissingOption:
    """An option that is not as recommended; `found` is `n` if it isn't set."""

    name: str
    wanted: str
    found: str
    severity: CatalogueSeverity


@dataclass(frozen=True)
class OptionScore:
    """How many of `total` options are as recommended, and the others in published order.

    Each option of the catalogue counts once. Options that are gone in 6.1, and those whose
    published value does not harden (`Entry.scored`), are left out.
    """

    total: int
    missing: tuple[MissingOption, ...]

    @property
    def met(self) -> int:
        """Return how many options are as recommended."""
        return self.total - len(self.missing)


def score_of(config: Mapping[str, str]) -> OptionScore:
    """Return the score of a configuration; `config` maps names without `CONFIG_` to values.

    Numbers may be larger than recommended. An option recommended as `n` may not be a module either,
    nor set by its old name; one recommended as `y` must be built in.
    """
    asked: dict[KernelOption, CatalogueOption] = {}
    for entry in options.entries():
        if entry.scored and entry.status != "gone":
            asked.setdefault(entry.option, entry)
    missing = tuple(
        MissingOption(option.option, option.value, _found_value(entry, config), entry.severity)
        for option, entry in asked.items()
        if not _is_met(entry, config)
    )
    return OptionScore(len(asked), missing)


def _is_met(entry: CatalogueOption, config: Mapping[str, str]) -> bool:
    """Say whether an option is as recommended, or its purpose is met in another way."""
    ways = ((entry.option,), *entry.met_by)
    set_by_old_name = entry.option.value == NOT_SET and not holds(entry.published, config)
    return not set_by_old_name and any(all(holds(one, config) for one in way) for way in ways)


def holds(option: KernelOption, config: Mapping[str, str]) -> bool:
    """Say whether a configuration has an option with its value; a number may be larger."""
    found = config.get(option.option) or NOT_SET
    wanted, number = _number(option.value), _number(found)
    if wanted is not None:
        # A bit field is not an amount: it is written in hexadecimal, and must match exactly.
        exact = option.value.startswith("0x")
        return number is not None and (number == wanted if exact else number >= wanted)
    return found == option.value


def _found_value(entry: CatalogueOption, config: Mapping[str, str]) -> str:
    """Return the value found instead of the recommended one, by the current name or the old."""
    found = config.get(entry.option.option) or NOT_SET
    if found == entry.option.value:
        return config.get(entry.published.option) or NOT_SET
    return found


def _number(text: str) -> int | None:
    """Return the number in `text`, decimal or hexadecimal; None if it is not a number."""
    try:
        return int(text, 16 if text[:2].lower() == "0x" else 10)
    except ValueError:
        return None
