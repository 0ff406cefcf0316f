from __future__ import annotations

import click
import pytest

from auditrules.cli.verb import Verb
from auditrules.model.errors import InputError, RequestError


def problem_of(error: InputError) -> tuple[str, str | None]:
    """Return what a verb with some options says of an error."""

    @click.command(cls=Verb)
    @click.option("seeds", "--seeds")
    @click.option("out", "-o", "--out")
    @click.option("workload", "--workload", multiple=True)
    @click.option("limits", "--max")
    def verb(**_: object) -> None:
        raise error

    with pytest.raises(InputError) as raised:
        verb.main([], standalone_mode=False)
    (problem,) = raised.value.problems
    return problem.message, problem.hint


def test_fields_of_a_request_become_the_options_that_fill_them() -> None:
    error = RequestError("`seeds`: none; `workloads` too, and `out`", hint="leave `limits` out")
    assert problem_of(error) == (
        "--seeds: none; --workload too, and --out",
        "leave --max out",
    )


def test_what_is_no_option_stays() -> None:
    said = "`base` and `hardcost list runs`"
    assert problem_of(RequestError(said)) == (said, None)


def test_errors_of_files_are_not_read_for_fields() -> None:
    said = "auditctl refuses `seeds`"
    assert problem_of(InputError(said)) == (said, None)
