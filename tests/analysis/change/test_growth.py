from __future__ import annotations

import dataclasses
import math

import pytest

from hardcost.analysis.bill.budget import Budget
from hardcost.analysis.change.growth import with_limits
from hardcost.errors import InputError
from hardcost.model.finding.change import Growth, Unknown
from hardcost.model.workload import MetricId
from tests.show.exports.gates import gate

PLAIN = Growth(MetricId("open"), "insn/op", base=100.0, head=110.0, low=10.0, high=10.0, limit=0.05)


def test_a_growth_is_a_share_of_the_earlier_value() -> None:
    assert PLAIN.share == 0.1
    assert PLAIN.over


def test_what_chance_could_make_is_beyond_the_limit_and_not_over_it() -> None:
    noisy = dataclasses.replace(PLAIN, low=-1.0, high=21.0)
    small = dataclasses.replace(PLAIN, least=10.0)
    for one in (noisy, small):
        assert one.exceeds
        assert not one.over


def test_of_a_rate_less_is_worse() -> None:
    rate = Growth(
        MetricId("score"), "index", base=100.0, head=90.0, low=-10.0, high=-10.0, limit=0.05
    )
    assert rate.share == 0.1
    assert rate.over
    assert not dataclasses.replace(rate, head=110.0, low=10.0, high=10.0).over


def test_from_nothing_any_growth_is_over() -> None:
    new = Growth(MetricId("x"), "insn", base=0.0, head=1.0, low=1.0, high=1.0, limit=9.0)
    assert math.isinf(new.share)
    assert new.over
    assert math.isnan(dataclasses.replace(new, head=0.0, low=0.0, high=0.0).share)


def test_without_a_limit_nothing_is_over() -> None:
    assert not dataclasses.replace(PLAIN, limit=None).exceeds


def test_lines_and_rest_add_up_to_the_difference() -> None:
    (growth,) = gate().growths
    assert growth.rest == 0
    assert dataclasses.replace(growth, parts=()).rest == growth.difference
    paid = dataclasses.replace(growth, fixed=4.0)
    assert paid.rest == -4.0


def test_a_metric_s_own_limit_is_before_that_of_any() -> None:
    found = gate()
    assert with_limits(found, Budget(0.5, {"open": 0.01})).over
    assert not with_limits(found, Budget(0.01, {"open": 0.5})).over
    assert with_limits(found, Budget(0.01)).over
    assert with_limits(found, Budget(None)).growths[0].limit is None


def test_a_limit_for_what_has_no_number_is_an_error() -> None:
    found = dataclasses.replace(gate(), unknown=(Unknown(MetricId("exec"), "an estimate"),))
    with pytest.raises(InputError, match="'exec' has no number"):
        with_limits(found, Budget(None, {"exec": 0.1}))
    with pytest.raises(InputError, match="there is no metric 'nosuch'"):
        with_limits(found, Budget(None, {"nosuch": 0.1}))
