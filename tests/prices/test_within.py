"""A control's cost within a profile, compared with its cost by itself."""

from __future__ import annotations

import pytest

from hardcost.prices.price_list import CostInterval, ListedPrice, PriceList
from hardcost.prices.within import compare
from tests.prices.test_price_list import HEAD

BASE = {"null": 500.0, "open": 5000.0, "userns": 100_000.0}
LEAST = {"null": 0.0, "open": 4.0, "userns": 50.0}


def of(
    costs: dict[str, CostInterval], base: dict[str, float] = BASE, why: str | None = None
) -> PriceList:
    head = HEAD.model_copy(update={"base": {"syscalls": base}, "least": {"syscalls": LEAST}})
    price = ListedPrice(control="a=1", costs={"syscalls": costs}, why=why)
    return PriceList(name="x", head=head, prices=(price,))


def exact(cost: float) -> CostInterval:
    return (cost, cost, cost)


ALONE = of({"open": exact(50.0), "userns": exact(2000.0)})


@pytest.mark.parametrize(
    ("inside", "compared", "apart"),
    [
        ({"open": exact(50.0), "userns": exact(2000.0)}, 2, []),
        ({"open": exact(57.0), "userns": exact(2000.0)}, 2, []),  # within both lists' chance
        ({"open": exact(59.0), "userns": exact(2000.0)}, 2, [("open", 59.0)]),
        ({"open": exact(50.0)}, 2, [("userns", 0.0)]),
        ({"null": exact(90.0), "open": exact(50.0), "userns": exact(2000.0)}, 2, []),
    ],
)
def test_costs_differ_by_more_than_chance(
    inside: dict[str, CostInterval], compared: int, apart: list[tuple[str, float]]
) -> None:
    found = compare("a=1", ALONE, of(inside))
    assert found is not None
    assert found.compared == compared
    assert [(metric, cost[0]) for _, metric, cost in found.apart] == apart


def test_a_call_that_the_profile_refuses_or_the_list_lacks_is_not_compared() -> None:
    for base in (BASE | {"userns": 900.0}, {"null": 500.0, "open": 5000.0}):
        found = compare("a=1", ALONE, of({"open": exact(50.0)}, base))
        assert found is not None
        assert (found.compared, found.apart) == (1, ())


def test_without_a_price_there_is_nothing_to_compare() -> None:
    assert compare("a=1", ALONE, of({}, why="it does not boot")) is None
    assert compare("b=1", ALONE, ALONE) is None
