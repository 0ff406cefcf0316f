"""How a profile's options relate to a base: effective ones, unmet ones, and their requirements."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from hardcost.protocol.boot import KernelRecipe, Relations
from hardcost.supply.kernels import kconfig_expressions
from hardcost.supply.kernels.builder import Kernels
from hardcost.supply.kernels.config import NOT_SET, value
from hardcost.supply.kernels.kconfig_reasons import Kconfig


def relations(kernels: Kernels, recipe: KernelRecipe) -> Relations:
    """Return how the options of `recipe` relate to its base, by asking Kconfig."""
    options = tuple(dict(recipe.options).items())
    base = kernels.configuration(dataclasses.replace(recipe, options=()))
    full = kernels.configuration(recipe)
    unmet = kernels.unmet(recipe)
    lost = {one.option for one in unmet}
    held = [option for option in options if option[0] not in lost]
    effective = tuple(option for option in held if value(base, option[0]) != option[1])
    alone = kernels.configuration(dataclasses.replace(recipe, options=effective))
    if alone != full:
        # One that is set so on the base keeps another of the profile from changing it.
        kept = {name for name, wanted in held if value(alone, name) != wanted}
        effective = tuple(option for option in held if option in effective or option[0] in kept)
    return Relations(
        effective=effective,
        already=tuple(option for option in held if option not in effective),
        unmet=unmet,
        requires={
            name: _requirements_of(kernels.depends(recipe), name, wanted, dict(effective), base)
            for name, wanted in effective
        },
    )


def _requirements_of(
    depends: Kconfig,
    name: str,
    wanted: str,
    among: Mapping[str, str],
    base: Mapping[str, str],
) -> frozenset[str]:
    """Return the effective options `among` the given ones that `name` requires to come out.

    An option to be set needs its dependencies that the base lacks; an option to be unset needs
    those that select it to be unset.
    """
    if wanted == NOT_SET:
        return frozenset(by for by in depends.selectors(name, base) if among.get(by) == NOT_SET)
    missing = depends.missing(name, base)
    named = kconfig_expressions.names(missing)
    return frozenset(one for one in named if one in among and one != name)
