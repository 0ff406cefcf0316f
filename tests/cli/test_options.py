"""Options become values once, and what is wrong with them is told."""

import pytest

from hardcost.cli.options import workloads
from hardcost.design.plan import Workload
from hardcost.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("syscalls", [Workload("syscalls")]),
        ("syscalls calls=null+open", [Workload("syscalls", (("calls", "null+open"),))]),
        (
            " syscalls , command file=x args=a=b+c ",
            [Workload("syscalls"), Workload("command", (("file", "x"), ("args", "a=b+c")))],
        ),
        ("syscalls,syscalls", [Workload("syscalls")]),
    ],
)
def test_workloads_are_read_with_their_parameters(text: str, expected: list[Workload]) -> None:
    assert workloads(text) == tuple(expected)
    assert workloads(",".join(map(str, expected))) == tuple(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no workload ''"),
        ("syscals", "no workload 'syscals'"),
        ("syscalls,", "no workload ''"),
        ("syscalls call=null", "no parameter 'call'"),
        ("syscalls null", "'null' after 'syscalls' is not KEY=VALUE"),
        ("syscalls calls=null,open", "no workload 'open'"),
    ],
)
def test_a_workload_that_does_not_exist_is_an_error_with_a_remedy(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        workloads(text)
    assert error.value.problems[0].hint
