from __future__ import annotations

import pytest

from hardcost.analysis.bill.budget import Budget
from hardcost.errors import InputError
from hardcost.library.bills.budgets import check_metrics
from hardcost.library.percentages import budget
from hardcost.model.workload import Workload


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5%", Budget(0.05)),
        ("50", Budget(0.5)),
        ("null=50%", Budget(None, {"null": 0.5})),
        ("open<=50%, null=20% ,5%", Budget(0.05, {"open": 0.5, "null": 0.2})),
        (
            "syscalls calls=null+open open<=5%",
            Budget(None, {"syscalls calls=null+open open": 0.05}),
        ),
    ],
)
def test_a_budget_is_for_all_metrics_or_for_some(text: str, found: Budget) -> None:
    assert budget(text) == found


@pytest.mark.parametrize(
    "text", ["", "x", "5%,6%", "=5%", "null=1%,null=2%", "null=", "-1%", "nan"]
)
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        budget(text)


def test_a_metric_that_is_not_measured_is_refused_before_anything_runs() -> None:
    workloads = (Workload("syscalls", (("calls", "null+open"),)),)
    check_metrics(budget("null=5%"), workloads)
    with pytest.raises(InputError) as raised:
        check_metrics(budget("read=5%,1%"), workloads)
    assert raised.value.problems[0].hint == "there are null, open"


def test_of_several_workloads_a_metric_s_own_name_stands_for_each() -> None:
    found = budget("null=5%").for_metrics(["a null", "b null", "b open"])
    assert found == Budget(None, {"a null": 0.05, "b null": 0.05})
