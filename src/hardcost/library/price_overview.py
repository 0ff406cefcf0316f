"""The prices of all that is known: the controls of the list, and those of benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hardcost.controls.control import Profile
from hardcost.library.price import price_of_control, price_of_listed
from hardcost.model.finding.price import Benchmark, BenchmarkControl, ControlPrice
from hardcost.prices.listed import listed
from hardcost.prices.price_list import shipped_lists
from hardcost.profiles import benchmark_ids, catalogue

_RULES = "stig-reduced"
"""A profile whose rules have pages beside those of benchmarks."""


@dataclass(frozen=True)
class Overview:
    """The price of each control, and the benchmarks whose controls these are."""

    prices: tuple[ControlPrice, ...]
    benchmarks: tuple[Benchmark, ...]


def overview(advance: Callable[[], None] = lambda: None) -> Overview:
    """Return all prices; `advance` hears of each benchmark's control that is done.

    Raises:
        InputError: A list is damaged.
    """
    lists = shipped_lists()
    found = {one.name: price_of_listed(one, lists) for one in listed()}

    def price_each(profile: Profile) -> tuple[str, ...]:
        """Price what is not priced yet; return the names of all of a profile's settings."""
        settings = [one for one in profile.controls if not one.in_baseline]
        for one in settings:
            if one.name not in found:
                found[one.name] = price_of_control(one, lists)
        return tuple(one.name for one in settings)

    benchmarks = []
    for product in benchmark_ids.PRODUCTS:
        controls = []
        for name in benchmark_ids.controls(product):
            required = catalogue.load(f"{product}:{name}")
            controls.append(BenchmarkControl(name, price_each(required)))
            advance()
        benchmarks.append(
            Benchmark(
                product,
                benchmark_ids.title_of(product),
                benchmark_ids.source_of(product),
                tuple(controls),
            )
        )
    price_each(catalogue.load(_RULES))
    return Overview(tuple(found.values()), tuple(benchmarks))


def size() -> int:
    """Return how many controls of benchmarks an overview goes through."""
    return sum(len(benchmark_ids.controls(product)) for product in benchmark_ids.PRODUCTS)
